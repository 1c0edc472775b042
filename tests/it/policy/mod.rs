//! `policy`, as its users run it: no AWS, no network.

mod printed;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use karpenter_preflight::requirements::versions::minors;
use serde_json::{Value, json};

use crate::{cli::binary, terraform::Terraform};

const PLACE: [&str; 6] =
    ["--cluster", "prod", "--region", "eu-west-1", "--account", "111122223333"];

fn tool(args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command
        .env_clear()
        .arg("policy")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Exit code, standard output, standard error.
fn run(args: &[&str], stdin: &str) -> (i32, String, String) {
    let mut child = tool(args).spawn().unwrap();
    // A command that does not read its input has closed it, which is no matter.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn print(args: &[&str]) -> String {
    let (code, stdout, stderr) = run(&[&["print"], args].concat(), "");
    assert_eq!((code, stderr.as_str()), (0, ""), "{args:?}");
    stdout
}

fn data(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests/data/policies", name].iter().collect();
    path.display().to_string()
}

/// A file or several, the flags, the exit code, and what the report has to say.
type Row<'a> = (&'a [&'a str], &'a [&'a str], i32, &'a [&'a str]);

#[test]
fn verdicts_on_the_policies_of_other_installers() {
    let new = ["--karpenter-version", "1.14.1"];
    let with_queue = [&new[..], &["--interruption-queue", "prod"]].concat();
    let rows: [Row; 13] = [
        (
            &["single-0.32.json"],
            &["--karpenter-version", "0.32", "--queue", "prod"],
            0,
            &["2 pass"],
        ),
        // Spot requests are tagged from 0.33 on.
        (
            &["single-0.32.json"],
            &["--karpenter-version", "0.33"],
            1,
            &["ec2:CreateTags", "On spot-instances-request"],
        ),
        (
            &["single-0.32.json"],
            &new,
            1,
            &["iam:ListInstanceProfiles", "(warn)", "ec2:DescribeInstanceStatus"],
        ),
        (
            &["migration-guide.json"],
            &["--karpenter-version", "1.2", "--queue", "prod"],
            1,
            &["sqs:GetQueueUrl"],
        ),
        (&["migration-guide.json"], &new, 0, &["warn", "ec2:DescribeInstanceStatus"]),
        (&["star.json"], &[&new[..], &["--queue", "prod"]].concat(), 0, &["2 pass, 0 warn"]),
        (
            &["other-cluster.json"],
            &new,
            1,
            &["eks:DescribeCluster", "written for the cluster", "3 fail"],
        ),
        (
            &["star.json"],
            &[&new[..], &["--boundary", "tests/data/policies/boundary.json"]].concat(),
            1,
            &["ec2:CreateFleet", "may not pass", "The boundary alone is the cause", "4 fail"],
        ),
        (&["plan.json"], &["--karpenter-version", "1.8"], 0, &["3 pass"]),
        (&["plan.json"], &["--role-kind", "node"], 0, &["2 pass"]),
        // What the queue's statement is for is known after the apply only, and the rest is known.
        (&["plan-unknown.json"], &new, 0, &["3 pass, 0 warn"]),
        (
            &["plan-unknown.json"],
            &with_queue,
            3,
            &["turns on what is not known yet", "2 pass, 0 warn, 0 fail, 1 unknown"],
        ),
        (&["plan-unknown.json", "star.json"], &with_queue, 0, &["3 pass"]),
    ];
    for (files, flags, code, wanted) in rows {
        let files: Vec<_> = files.iter().map(|name| data(name)).collect();
        let files: Vec<_> = files.iter().map(String::as_str).collect();
        let test = ["test", "--cluster", "prod"];
        let (found, report, stderr) = run(&[&test, flags, &files[..]].concat(), "");
        assert_eq!(found, code, "{files:?} {flags:?}: {report}{stderr}");
        let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
        for text in wanted {
            assert!(report.contains(text), "{files:?} {flags:?} {text}: {report}");
        }
    }
}

#[test]
fn verdicts_on_the_roles_of_an_account() {
    let rows: [(&str, &[&str], i32, &str); 6] = [
        ("prod-karpenter", &["--namespace", "karpenter"], 0, "\"status\": \"pass\""),
        ("prod-karpenter", &[], 0, "system:serviceaccount:kube-system:karpenter is sent"),
        ("fenced-karpenter", &[], 3, "give --boundary FILE"),
        ("opaque-karpenter", &[], 3, "PowerUserAccess"),
        ("KarpenterNodeRole-prod", &["--role-kind", "node"], 0, "VPC CNI has a role of its own"),
        ("nobody", &[], 2, ""),
    ];
    for (role, flags, code, wanted) in rows {
        let test = ["test", "--cluster", "prod", "--karpenter-version", "1.8", "--output", "json"];
        let file = data("account.json");
        let rest = ["--role", role, &file];
        let (found, report, stderr) = run(&[&test, flags, &rest[..]].concat(), "");
        assert_eq!(found, code, "{role}: {report}{stderr}");
        assert!(report.contains(wanted), "{role}: {report}");
        if code == 2 {
            assert!(stderr.contains("there is no role `nobody`"), "{stderr}");
        }
    }
}

/// Policies of an organisation are layers of the same verdicts.
#[test]
fn an_organisations_policies_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, statement: Value| {
        let path = folder.path().join(name);
        let document = json!({"Version": "2012-10-17", "Statement": [statement]});
        fs::write(&path, document.to_string()).unwrap();
        path.display().to_string()
    };
    let deny = file(
        "no-tags.json",
        json!({"Sid": "NoTags", "Effect": "Deny", "Action": "ec2:CreateTags", "Resource": "*"}),
    );
    let other = file(
        "others.json",
        json!({"Sid": "Other", "Effect": "Deny", "Action": "s3:*", "Resource": "*"}),
    );
    let queue = file(
        "no-queue.json",
        json!({"Sid": "NoQueue", "Effect": "Deny", "Principal": "*", "Action": "sqs:*",
            "Resource": "*", "Condition": {"StringNotEquals": {"aws:PrincipalAccount": "1"}}}),
    );
    let only = file("only-s3.json", json!({"Effect": "Allow", "Action": "s3:*", "Resource": "*"}));
    let both = format!("{deny},{other}");
    let rows: [(&[&str], i32, &str); 6] = [
        (&["--scp", &other], 0, "FullAWSAccess is taken to be attached there too"),
        (&["--scp", &both], 1, "The service control policy no-tags.json of the organisation takes"),
        (&["--scp", &other, "--scp", &deny], 1, "The organisation alone is the cause"),
        (&["--scp", &only], 1, "attach one to level 1."),
        (&["--rcp", &queue], 0, "The resource control policy no-queue.json"),
        (&["--rcp", &queue, "--scp", &other], 0, "sqs:ReceiveMessage"),
    ];
    for (flags, code, wanted) in rows {
        let star = data("star.json");
        let test = ["test", "--karpenter-version", "1.14.1", "--interruption-queue", "prod"];
        let (found, report, stderr) = run(&[&test[..], &PLACE, flags, &[&star]].concat(), "");
        assert_eq!(found, code, "{flags:?}: {report}{stderr}");
        let flat = report.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(wanted), "{flags:?} {wanted}: {report}");
        assert!(!flat.contains("aws organizations"), "no command can name a file: {report}");
    }
}

/// The findings are those of `check`, in an account with the same policies.
#[test]
fn the_findings_are_those_of_check() {
    let file = data("getting-started-0.32.json");
    let policy = fs::read_to_string(&file).unwrap();
    let account = fs::read_to_string(data("../accounts/karpenter.json")).unwrap();
    let mut account: Value = serde_json::from_str(&account).unwrap();
    account["facts"]["role_policies"]["demo-karpenter"] = json!({"attached": {"known": []},
        "inline": {"known": {"getting-started-0.32.json": {"known": policy}}}});
    let folder = tempfile::tempdir().unwrap();
    let facts = folder.path().join("facts.json").display().to_string();
    fs::write(&facts, account.to_string()).unwrap();
    let ids = "controller-permissions,controller-pass-role";
    let check = Command::new(binary())
        .args(["check", "--output", "json", "--no-kube", "--select", ids, "--facts", &facts])
        .output()
        .unwrap();
    let (code, tested, _) = run(
        &[
            "test",
            "--output",
            "json",
            "--cluster",
            "demo",
            "--region",
            "us-west-2",
            "--account",
            "111122223333",
            "--role",
            "demo-karpenter",
            "--karpenter-version",
            "1.14.1",
            "--interruption-queue",
            "demo",
            &file,
        ],
        "",
    );
    let outcomes = |text: &str| {
        let report: Value = serde_json::from_str(text).unwrap();
        report["outcomes"].as_array().unwrap().clone()
    };
    let (checked, tested) =
        (outcomes(&String::from_utf8(check.stdout).unwrap()), outcomes(&tested));
    assert_eq!(check.status.code(), Some(code));
    assert!(checked.len() > 3, "{checked:?}");
    for (of_check, of_test) in checked.iter().zip(&tested) {
        for field in ["check", "status", "subject", "seen", "effect", "errors", "remedy"] {
            assert_eq!(of_check[field], of_test[field], "{field}");
        }
    }
    assert_eq!(checked.len(), tested.len());
}

/// What was found in the documents, or made up, is not called a flag.
#[test]
fn origins_are_told() {
    let star = data("star.json");
    let test = ["test", "--cluster", "prod", "--karpenter-version", "1.14.1", "-o", "json"];
    let origins = |file: &str, flags: &[&str]| {
        let (_, report, _) = run(&[&test[..], flags, &[file]].concat(), "");
        let target = serde_json::from_str::<Value>(&report).unwrap()["target"].clone();
        ["region", "karpenter_version"]
            .map(|key| target[key]["origin"].clone())
            .into_iter()
            .chain(["node_roles", "queues"].map(|key| target[key][0]["origin"].clone()))
            .map(|origin| origin.as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(origins(&star, &[]), ["stand-in", "flag", "stand-in", ""]);
    let old = data("single-0.32.json");
    assert_eq!(origins(&old, &[]), ["documents", "flag", "documents", "documents"]);
    let flags = ["--region", "eu-west-1", "--node-role", "N", "--queue", "q"];
    assert_eq!(origins(&old, &flags), ["flag"; 4]);
}

#[test]
fn usage_errors_help() {
    let star = data("star.json");
    let rows: [(&[&str], &str); 9] = [
        (&["print", "controller", "--cluster", "prod"], "--karpenter-version is needed"),
        (
            &["print", "controller", "--cluster", "prod", "--karpenter-version", "1.8"],
            "give --region and --account",
        ),
        (&["print", "queue"], "--cluster is needed"),
        (&["print", "node", "--karpenter-version", "1.99x"], "Known are 0.32"),
        (&["test", "--cluster", "prod", &star], "--karpenter-version is needed"),
        (&["test", "--karpenter-version", "1.8", &star], "--cluster is needed"),
        (&["test", "--karpenter-version", "1.8", "--cluster", "a", "Cargo.toml"], "not JSON"),
        (&["test", "--cluster", "a", "--role-kind", "queue", &star], "no policy of a queue"),
        (
            &["test", "--karpenter-version", "1.8", "--cluster", "a", "nowhere"],
            "cannot read nowhere",
        ),
    ];
    for (args, wanted) in rows {
        let (code, stdout, stderr) = run(args, "");
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}");
        assert!(stderr.contains(wanted), "{args:?}: {stderr}");
    }
}

#[test]
fn a_newer_version_is_judged_by_the_newest_known() {
    let flags = [&["--karpenter-version", "1.99.0"], &PLACE[..]].concat();
    let (code, stdout, stderr) = run(&[&["print", "controller"], &flags[..]].concat(), "");
    assert_eq!(code, 0);
    assert!(stderr.contains("newer than this build knows"), "{stderr}");
    let (code, _, _) = run(&[&["test", "-"], &flags[..]].concat(), &stdout);
    assert_eq!(code, 0);
}

#[test]
fn documents_come_alone_too() {
    let flags = [&["--karpenter-version", "1.8"], &PLACE[..]].concat();
    let controller = [&["controller"], &flags[..]].concat();
    let read = |part: &str| -> Value {
        serde_json::from_str(&print(&[&controller[..], &["--only", part]].concat())).unwrap()
    };
    assert!(read("policy")["Statement"][0]["Resource"].is_array());
    assert_eq!(read("trust")["Statement"][0]["Principal"]["Service"], "pods.eks.amazonaws.com");
    let split = [&["print"], &controller[..], &["--split", "--only", "policy"]].concat();
    let (code, _, stderr) = run(&split, "");
    assert!(code == 2 && stderr.contains("--out DIRECTORY"), "{stderr}");
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().display().to_string();
    let paths = print(&[&controller[..], &["--split", "--out", &out]].concat());
    assert_eq!(paths.lines().count(), fs::read_dir(&out).unwrap().count());
    assert!(paths.lines().all(|path| Path::new(path).exists()), "{paths}");
}

#[test]
fn a_difference_is_told_to_programs() {
    let (code, stdout, _) = run(&["diff", "--from", "1.6.8", "--to", "1.14.1", "-o", "json"], "");
    let diff: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(code, 0);
    assert_eq!(diff["if_policy_stays"].as_array().unwrap().len(), 6);
    assert_eq!(diff["if_policy_is_ahead"], json!([]));
    assert_eq!(diff["kubernetes"][1], json!(["1.26", "1.36"]));
    let (_, same, _) = run(&["diff", "--from", "1.14.1", "--to", "1.14.1"], "");
    assert!(same.contains("No change."), "{same}");
}

#[test]
fn simulate_answers_line_by_line_and_survives_its_reader() {
    let line = json!({"id": "x", "request": {"principal": "arn:aws:iam::111122223333:role/R",
        "action": "ec2:RunInstances", "resource": "*"},
        "identityPolicies": [{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}]});
    let (code, stdout, _) = run(&["simulate"], &format!("{line}\nnonsense\n"));
    let words: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(code, 0);
    assert_eq!((&words[0]["decision"], &words[0]["id"]), (&json!("allowed"), &json!("x")));
    assert_eq!((&words[1]["decision"], &words[1]["id"]), (&json!("error"), &Value::Null));
    let mut child = tool(&["simulate"]).spawn().unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    for _ in 0..20_000 {
        if writeln!(input, "{line}").is_err() {
            break;
        }
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}
