//! `--output`: several at once, into files, and what goes wrong there.

use std::fs;

use super::problems;
use crate::{cli::Tool, offline::FORMATS};

#[test]
fn a_file_holds_what_a_pipe_gets() {
    let facts = problems();
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let file = folder.path().join(format);
        let to = format!("{format}={}", file.display());
        let ran = facts.check().args(["--output", &to]).run().exits(1);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{format}");
        let piped = facts.check().env("COLUMNS", "100").args(["--output", format]).run().exits(1);
        assert_eq!(fs::read_to_string(&file).unwrap(), piped.stdout, "{format}");
        let dash = format!("{format}=-");
        let ran = facts.check().env("COLUMNS", "100").args(["--output", &dash]).run().exits(1);
        assert_eq!(ran.stdout, piped.stdout, "{format}");
    }
}

#[test]
fn several_at_once() {
    let facts = problems();
    let folder = tempfile::tempdir().unwrap();
    let [sarif, json] = ["out.sarif", "out.json"].map(|name| folder.path().join(name));
    let ran = facts
        .check()
        .args(["--output", "human", "--output", &format!("sarif={}", sarif.display())])
        .args(["-o", &format!("json={}", json.display())])
        .run()
        .exits(1);
    assert!(ran.stdout.starts_with("karpenter-preflight"), "{ran:#?}");
    assert!(fs::read_to_string(sarif).unwrap().contains("\"version\": \"2.1.0\""));
    assert!(fs::read_to_string(json).unwrap().contains("\"schema_version\": 1"));
}

#[test]
fn one_place_takes_one_report() {
    let facts = problems();
    facts.check().args(["-o", "human", "-o", "json"]).run().exits(2).says(&["standard output"]);
    facts.check().args(["-o", "human", "-o", "json=-"]).run().exits(2).says(&["standard output"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out");
    let again = folder.path().join(".").join("out");
    facts
        .check()
        .args(["-o", &format!("json={}", file.display())])
        .args(["-o", &format!("sarif={}", again.display())])
        .run()
        .exits(2)
        .says(&["--output json and --output sarif both go to", "out", "json=report.json"]);
    assert!(!file.exists());
}

/// What is read and what is written beside it stay whole, by whatever way they are named.
#[test]
#[cfg(unix)]
fn nothing_is_overwritten_that_the_run_reads_or_writes_too() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (config, kept) = ("# ours\n", ["facts.json", "last.json", "kubeconfig"]);
    for name in kept {
        fs::write(at(name), "{}").unwrap();
    }
    fs::write(at("karpenter-preflight.toml"), config).unwrap();
    std::os::unix::fs::symlink("facts.json", at("link")).unwrap();
    fs::create_dir(at("sub")).unwrap();
    // There are no credentials here: had it tried, it would have said so.
    let check = |words: &str| {
        let args = words.split(' ').map(|word| word.replace('%', folder.path().to_str().unwrap()));
        Tool::new(["check"]).within(folder.path()).args(args).run()
    };
    let online = "--cluster demo --region us-west-2";
    for (words, both) in [
        ("--facts facts.json --fix-script facts.json", ["--fix-script", "--facts"]),
        ("--facts %/facts.json -o html=sub/../link", ["--output html", "--facts"]),
        ("--facts link --fix-terraform %/sub/../facts.json", ["--fix-terraform", "--facts"]),
        ("--facts facts.json -o json=facts.json", ["--output json", "--facts"]),
        ("-o sarif=karpenter-preflight.toml", ["--output sarif", "the configuration"]),
        (
            "--config karpenter-preflight.toml -o json=%/karpenter-preflight.toml",
            ["--output json", "--config"],
        ),
        ("--kubeconfig kubeconfig --fix-script ./kubeconfig", ["--fix-script", "--kubeconfig"]),
        ("--fix-script fix --fix-terraform sub/../fix", ["--fix-script", "--fix-terraform"]),
        ("-o json=fix --fix-script fix", ["--output json", "--fix-script"]),
        ("--fix-script -", ["--output human", "--fix-script"]),
        ("-o short=a --fix-script - --fix-terraform -", ["--fix-script", "--fix-terraform"]),
    ] {
        let words =
            if words.contains("--facts") { words.into() } else { format!("{words} {online}") };
        check(&words).exits(2).says(&both);
    }
    fs::copy(problems().path(), at("facts.json")).unwrap();
    let facts = fs::read_to_string(at("facts.json")).unwrap();
    check("--facts facts.json -o json=last.json").exits(1);
    let last = fs::read_to_string(at("last.json")).unwrap();
    for flag in ["-o html=last.json", "--fix-script last.json", "--fix-terraform ./last.json"] {
        check(&format!("--facts facts.json --baseline last.json {flag}"))
            .exits(2)
            .says(&["would overwrite", "which --baseline reads"]);
    }
    assert_eq!(fs::read_to_string(at("facts.json")).unwrap(), facts);
    assert_eq!(fs::read_to_string(at("last.json")).unwrap(), last);
    assert_eq!(fs::read_to_string(at("karpenter-preflight.toml")).unwrap(), config);
    let ran = Tool::new(["collect", "--out", "karpenter-preflight.toml", "--cluster", "demo"]);
    ran.within(folder.path()).run().exits(2).says(&["--out would overwrite", "the configuration"]);
}

#[test]
fn what_mends_can_be_printed_and_its_file_is_named_so_that_a_shell_takes_it() {
    let facts = problems();
    let folder = tempfile::tempdir().unwrap();
    let check = || facts.check().within(folder.path()).args(["-o", "short=report"]);
    let script = check().args(["--fix-script", "-"]).run().exits(1);
    assert!(script.stdout.starts_with("#!"), "{script:#?}");
    assert_eq!(script.stderr, "");
    check().args(["--fix-script", "my fix.sh"]).run().exits(1).says(&["`bash 'my fix.sh'`"]);
    assert_eq!(fs::read_to_string(folder.path().join("my fix.sh")).unwrap(), script.stdout);
    let terraform = check().args(["--fix-terraform", "-"]).run().exits(1);
    check().args(["--fix-terraform", "it's.tf"]).run().exits(1).says(&[r"wrote 'it'\''s.tf'"]);
    assert_eq!(fs::read_to_string(folder.path().join("it's.tf")).unwrap(), terraform.stdout);
}

/// The limit stands in for a disk that is full.
#[test]
#[cfg(unix)]
fn a_file_survives_that_could_not_be_replaced() {
    let facts = problems();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("last.json");
    fs::write(&file, "old").unwrap();
    let starter = ["bash", "-c", "trap '' XFSZ; ulimit -f 2; \"$@\"", "bash"].map(str::to_owned);
    let to = format!("json={}", file.display());
    let args = ["check", "--facts", &facts.path(), "-o", &to];
    Tool::started_by(&starter, args).run().exits(4).says(&["could not write", "last.json"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "a half-written file is left");
}

#[test]
#[cfg(unix)]
fn a_file_keeps_its_mode_and_its_protection() {
    use std::os::unix::fs::PermissionsExt;
    let facts = problems();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let to = format!("json={}", file.display());
    fs::write(&file, "old").unwrap();
    let chmod = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    chmod(0o600);
    facts.check().args(["-o", &to]).run().exits(1);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    fs::write(&file, "old").unwrap();
    chmod(0o400);
    facts.check().args(["-o", &to]).run().exits(2).says(&["--output json", "is read-only"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
}

#[test]
fn a_place_that_is_none_is_said_before_anything_is_read() {
    // There are no credentials here: had it tried, it would have said so.
    let check = || Tool::new(["check", "--cluster", "demo", "--region", "us-west-2"]);
    check()
        .args(["-o", "json=/nowhere/out.json"])
        .run()
        .exits(2)
        .says(&["--output", "no directory /nowhere"]);
    check().args(["-o", "json=/"]).run().exits(2).says(&["--output", "is a directory"]);
    check().args(["-o", "json="]).run().exits(2).says(&["name a file"]);
    check().args(["-o", "yaml"]).run().exits(2).says(&["no format `yaml`", "there are human"]);
    check().args(["-o", "sarf"]).run().exits(2).says(&["did you mean `sarif`?"]);
}

#[test]
fn a_write_that_fails_is_4_and_keeps_no_other_report_back() {
    let facts = problems();
    let ran = facts
        .check()
        .args(["-o", "json=/dev/full", "-o", "short"])
        .run()
        .exits(4)
        .says(&["could not write /dev/full", "No space left"]);
    assert!(ran.stdout.contains("fail\t"), "{ran:#?}");
    assert!(fs::exists("/dev/full").unwrap());
}

#[test]
#[cfg(unix)]
fn a_file_is_replaced_whole_through_a_link_and_for_others_to_read() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let facts = problems();
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("real.prom"), folder.path().join("link.prom"));
    fs::write(&file, "old\n".repeat(10_000)).unwrap();
    symlink(&file, &link).unwrap();
    facts.check().args(["-o", &format!("prometheus={}", link.display())]).run().exits(1);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# HELP") && !text.contains("old\n"), "{text}");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o444, 0o444, "node_exporter runs as another user: {mode:o}");
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn github_gets_annotations_and_a_summary() {
    let facts = problems();
    let folder = tempfile::tempdir().unwrap();
    let summary = folder.path().join("summary.md");
    fs::write(&summary, "what an earlier step wrote\n").unwrap();
    let ran = facts
        .check()
        .args(["-o", "github"])
        .env("GITHUB_STEP_SUMMARY", summary.to_str().unwrap())
        .run()
        .exits(1);
    assert!(ran.stdout.starts_with("::error title="), "{ran:#?}");
    assert!(ran.stdout.contains("\n::warning title="), "{ran:#?}");
    let text = fs::read_to_string(&summary).unwrap();
    assert!(text.starts_with("what an earlier step wrote\n## ✗ karpenter-preflight"), "{text}");
    facts.check().args(["-o", "github"]).env("GITHUB_STEP_SUMMARY", "").run().exits(1);
    facts
        .check()
        .args(["-o", "github"])
        .env("GITHUB_STEP_SUMMARY", "/nowhere/summary")
        .run()
        .exits(4)
        .says(&["could not write /nowhere/summary"]);
}
