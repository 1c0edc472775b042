//! The real Terraform, where it and a mirror of its AWS provider are on this machine.

use std::{fs, process::Command};

use tempfile::TempDir;

/// A folder with a configuration.
pub struct Terraform {
    work: TempDir,
}

impl Terraform {
    /// Nothing where it cannot be had; that is said.
    pub fn here() -> Option<Self> {
        // Where packages put plug-ins; a filesystem mirror has the registry's name in it.
        let places =
            ["/usr/share/terraform", "/opt"].into_iter().filter_map(|p| fs::read_dir(p).ok());
        let mirror = places
            .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
            .find(|path| path.join("registry.terraform.io/hashicorp/aws").exists());
        let is_there = || Command::new("terraform").arg("version").output().is_ok();
        let Some(mirror) = mirror.filter(|_| is_there()) else {
            eprintln!(
                "SKIPPED: terraform, or a mirror of its AWS provider, is not on this machine"
            );
            return None;
        };
        let this = Self { work: tempfile::tempdir().unwrap() };
        let configuration = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
            mirror.display().to_string()
        );
        this.write("cli.tfrc", &configuration);
        Some(this)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.work.path().join(name), text).unwrap();
    }

    #[track_caller]
    pub fn run(&self, args: &[&str]) {
        let output = Command::new("terraform")
            .args(args)
            .current_dir(self.work.path())
            .env("TF_CLI_CONFIG_FILE", self.work.path().join("cli.tfrc"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {text}{errors}");
    }
}
