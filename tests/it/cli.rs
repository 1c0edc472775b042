//! Runs the built binary, cut off from whatever the machine's environment says.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::{Seek, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    emulator::{Account, CLUSTER},
    report::Report,
};

/// The binary that cargo built for this test, or another one, such as a release build.
pub fn binary() -> OsString {
    let other = std::env::var_os("PREFLIGHT_BINARY");
    other.unwrap_or_else(|| env!("CARGO_BIN_EXE_karpenter-preflight").into())
}

/// The tool with arguments and an environment of its own.
pub struct Tool {
    command: Command,
    /// Its home: no profile, no cached login.
    home: TempDir,
}

/// What a run left.
#[derive(Debug, Clone)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl Tool {
    pub fn new<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Self {
        Self::started_by(&[], args)
    }

    /// The same, started by another program, whose last arguments are the tool and its own.
    pub fn started_by<A: AsRef<OsStr>>(
        starter: &[String],
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = match starter {
            [] => Command::new(binary()),
            [program, words @ ..] => {
                let mut command = Command::new(program);
                command.args(words).arg(binary());
                command
            }
        };
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.path())
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .args(args)
            .stdin(Stdio::null());
        Self { command, home }
    }

    /// `check --cluster demo` in an account, over the emulator's own endpoint.
    pub fn check(account: &Account) -> Self {
        Self::new(["check", "--cluster", CLUSTER]).aws(account, &account.endpoint())
    }

    /// Credentials and region of an account, and where its AWS is. The emulated cluster has no
    /// API server, so nobody asks for one.
    pub fn aws(self, account: &Account, endpoint: &str) -> Self {
        self.account(account, endpoint).args(["--no-kube"])
    }

    /// The same, with the cluster left to the flags.
    pub fn account(self, account: &Account, endpoint: &str) -> Self {
        self.env("AWS_ACCESS_KEY_ID", &account.access_key())
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_REGION", account.region)
            .env("AWS_ENDPOINT_URL", endpoint)
    }

    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Standard input comes from a file with this content.
    pub fn input(self, content: &[u8]) -> Self {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file.rewind().unwrap();
        self.reading(file)
    }

    /// Standard input comes from here.
    pub fn reading(mut self, from: impl Into<Stdio>) -> Self {
        self.command.stdin(from);
        self
    }

    /// In this working directory.
    pub fn within(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub fn without_env(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Puts a file into its home.
    pub fn home_file(self, path: &str, text: &str) -> Self {
        let path = self.home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub fn run(mut self) -> Ran {
        let output = self.command.output().unwrap();
        let ran = Ran {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap_or(-1),
        };
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        ran
    }

    /// Runs with `--output json` and reads the report; there must be one.
    pub fn report(self) -> Report {
        self.args(["--output", "json"]).run().report()
    }

    /// Standard output goes there; nothing is piped.
    pub fn spawn_into(mut self, out: impl Into<Stdio>) -> (Child, TempDir) {
        let child = self.command.stdout(out).spawn().unwrap();
        (child, self.home)
    }

    /// Starts it with both outputs piped. The home must outlive the child, so it comes along.
    pub fn spawn(mut self) -> (Child, TempDir) {
        let child = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        (child, self.home)
    }
}

impl Ran {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {self:#?}"))
    }

    pub fn report(&self) -> Report {
        Report::new(self.json(), self.code)
    }

    /// Holds the exit code, and shows everything if it is another.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// Holds that standard error says all of this.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is not said: {self:#?}");
        }
        self
    }
}
