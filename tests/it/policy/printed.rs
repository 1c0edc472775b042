//! `policy print`: what is printed passes its own test, and Terraform takes it.

use super::*;

#[test]
fn what_is_printed_passes() {
    for minor in minors() {
        let version = minor.newest.to_string();
        let of = ["--karpenter-version", &version, "--queue", "prod", "--uses", "all"];
        let flags = [&of[..], &PLACE, &["--ami-parameter", "golden/al2023"]].concat();
        let printed = print(&[&["controller"], &flags[..]].concat());
        let (code, report, _) = run(&[&["test", "-"], &flags[..]].concat(), &printed);
        assert_eq!(code, 0, "{version}: {report}");
        let flags = [&["--karpenter-version", &version][..], &PLACE].concat();
        let printed = print(&[&["node"], &flags[..]].concat());
        let test = [&["test", "--role-kind", "node", "-"], &flags[..]].concat();
        let (code, report, _) = run(&test, &printed);
        assert_eq!(code, 0, "{version}: {report}");
    }
}

#[test]
fn what_is_printed_without_a_version_passes() {
    let rows: [(&str, &[&str]); 7] = [
        ("node", &["--product", "auto-mode"]),
        ("node", &["--karpenter-version", "1.14.1", "--uses", "ipv6"]),
        ("cluster", &[]),
        ("cluster", &["--product", "auto-mode"]),
        ("cluster", &["--product", "auto-mode", "--nodeclass-tag", "team=a"]),
        ("queue", &[]),
        ("preflight", &[]),
    ];
    for (kind, flags) in rows {
        let flags = [&PLACE, flags].concat();
        let printed = print(&[&[kind], &flags[..]].concat());
        let test = ["test", "--role-kind", kind, "-", "--fail-on", "warn"];
        let (code, report, _) = run(&[&test, &flags[..]].concat(), &printed);
        assert_eq!(code, 0, "{kind}: {report}");
        assert!(!report.contains("0 pass"), "{kind}: {report}");
    }
}

/// The Terraform that is printed, held against the real one where it is there.
#[test]
fn terraform_takes_what_is_printed() {
    let Some(terraform) = Terraform::here() else { return };
    // One document, one that is about to be too large, and several.
    for (at, version) in ["0.32", "1.8", "1.14.1"].into_iter().enumerate() {
        let cluster = ["--cluster", "prod", "--format", "terraform"];
        for (kind, flags) in [
            ("controller", &["--karpenter-version", version, "--queue", "q"][..]),
            ("node", &["--karpenter-version", version, "--uses", "ipv6"]),
            ("cluster", &["--product", "auto-mode", "--nodeclass-tag", "team=a"]),
            ("queue", &[]),
            ("preflight", &[]),
        ] {
            let text = print(&[&[kind], flags, &cluster[..]].concat());
            terraform.write(&format!("{kind}.tf"), &text);
        }
        if at == 0 {
            terraform.run(&["init", "-input=false"]);
        }
        terraform.run(&["fmt", "-check"]);
        terraform.run(&["validate"]);
    }
}
