//! Whole accounts, as installers leave them, judged over HTTP.

use std::{collections::BTreeSet, fs};

use crate::{
    cli::Tool,
    emulator::{Account, CLUSTER},
    report::{Report, text},
};

fn report(seeds: &'static [&'static str], region: &'static str, args: &[&str]) -> Report {
    Tool::check(&Account::seeded(seeds, region)).args(args).report()
}

/// Nothing is wrong, and nothing could not be judged. Whether a NodeClass sets tags is not seen
/// in AWS, so that AWS's own policies for Auto Mode, which refuse them, always warn.
#[track_caller]
pub fn assert_all_well(report: &Report) {
    for status in ["fail", "unknown"] {
        assert_eq!(report.count(status), 0, "{}", report.table());
    }
    let mut warned = report.checks("warn");
    warned.remove("cluster-role-custom-tags");
    assert!(warned.is_empty(), "{}", report.table());
    assert_eq!(report.code, 0);
}

fn passed(report: &Report, checks: &[&str]) {
    let passed = report.checks("pass");
    for check in checks {
        assert!(passed.contains(*check), "{check} did not pass\n{}", report.table());
    }
}

#[test]
fn the_getting_started_guide_is_well_in_each_partition() {
    for region in ["us-west-2", "cn-north-1", "us-gov-west-1"] {
        let report = report(&["getting-started"], region, &[]);
        assert_all_well(&report);
        let not_here = [
            "auto-mode-addons",
            "auto-mode-settings",
            "cluster-role-custom-tags",
            "cluster-role-permissions",
            "organization-policies",
            "permissions-simulated",
        ];
        let skipped = report.checks("skipped");
        assert!(not_here.iter().all(|check| skipped.contains(*check)), "{}", report.table());
        let target = &report.value["target"];
        assert_eq!(target["region"]["value"], region);
        assert_eq!(target["products"][0]["value"], "karpenter");
        assert_eq!(target["node_roles"][0]["value"], "KarpenterNodeRole-demo");
        assert_eq!(target["controller_roles"][0]["value"], "demo-karpenter");
        assert_eq!(target["controller_roles"][0]["origin"], "pod-identity-association");
        assert_eq!(target["queues"][0]["value"], "demo");
    }
}

#[test]
fn auto_mode_is_well() {
    let report = report(&["auto-mode"], "us-west-2", &[]);
    assert_all_well(&report);
    passed(&report, &["cluster-role-trust", "node-role-access-entry", "node-role-trust"]);
    assert_eq!(report.value["target"]["products"][0]["value"], "auto-mode");
    assert_eq!(report.value["target"]["karpenter_version"], serde_json::Value::Null);
    let of_karpenter = ["queue-exists", "ami-alias", "kubernetes-version"];
    assert!(of_karpenter.iter().all(|check| report.checks("skipped").contains(*check)));
}

#[test]
fn the_terraform_module_is_well() {
    let report = report(&["terraform-module"], "us-west-2", &[]);
    assert_all_well(&report);
    passed(&report, &["queue-exists", "queue-rules", "node-role-access-entry"]);
    let queue = &report.value["target"]["queues"][0];
    assert_eq!(queue["value"], "Karpenter-demo");
}

/// eksctl maps the node role in `aws-auth`, which no AWS API shows.
#[test]
fn eksctl_leaves_one_thing_to_look_up_in_kubernetes() {
    let report = report(&["eksctl-irsa"], "us-west-2", &["--discovery-tag", "Name"]);
    assert_eq!(report.count("fail"), 0, "{}", report.table());
    assert_eq!(report.checks("unknown"), BTreeSet::from(["node-role-aws-auth".to_owned()]));
    let unknown = report.of_status("unknown").next().unwrap();
    let commands = serde_json::to_string(&unknown["remedy"]).unwrap();
    assert!(commands.contains("kubectl") && commands.contains("aws-auth"), "{unknown:#}");
    assert_eq!(report.code, 3);
}

const OLD: &[&str] = &["--karpenter-version", "1.0.6", "--interruption-queue", CLUSTER];

#[test]
fn the_documented_mistakes_show_their_documented_errors() {
    let report = report(&["seeds-broken"], "us-west-2", OLD);
    let errors = report.errors("fail").union(&report.errors("warn")).cloned().collect();
    let expected = BTreeSet::from(
        [
            "instance-profile-creation-failed",
            "not-a-valid-tag-key",
            "ec2-metadata-request-error",
            "non-existent-queue",
            "node-not-registered",
            "kubelet-unauthorized",
            "insufficient-free-addresses",
            "spot-service-linked-role",
        ]
        .map(str::to_owned),
    );
    let missing: Vec<_> = expected.difference(&errors).collect();
    assert!(missing.is_empty(), "{missing:?} not in {errors:?}\n{}", report.table());
    assert_eq!(report.code, 1);
    assert_eq!(report.count("unknown"), 0, "{}", report.table());
    for outcome in report.of_status("fail") {
        let steps = outcome["remedy"]["steps"].as_array().unwrap();
        assert!(!steps.is_empty() || !text(&outcome["remedy"], "words").is_empty(), "{outcome:#}");
        assert!(!text(outcome, "effect").is_empty(), "{outcome:#}");
    }
}

#[test]
fn the_mended_account_is_well() {
    let mended = |args| report(&["seeds-broken", "seeds-fixed"], "us-west-2", args);
    let report = mended(&["--interruption-queue", CLUSTER]);
    assert_all_well(&report);
    // With an old controller, its version is all that is left.
    let old = mended(OLD);
    assert_eq!(old.checks("fail"), BTreeSet::from(["kubernetes-version".to_owned()]));
    let broken = self::report(&["seeds-broken"], "us-west-2", OLD);
    let mended: Vec<_> = broken.checks("fail").into_iter().collect();
    passed(&report, &mended.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Facts of an account, collected into a file.
fn collect(account: &Account, folder: &tempfile::TempDir, args: &[&str]) -> String {
    let out = folder.path().join("facts.json").to_str().unwrap().to_owned();
    Tool::new(["collect", "--cluster", CLUSTER, "--out", &out])
        .args(args)
        .aws(account, &account.endpoint())
        .run()
        .exits(0);
    out
}

const ALL: [&[&str]; 5] = [
    &["getting-started"],
    &["getting-started", "organization"],
    &["auto-mode"],
    &["seeds-broken"],
    &["terraform-module"],
];

#[test]
fn saved_facts_are_judged_as_the_account_is() {
    for seeds in ALL {
        let account = Account::seeded(seeds, "us-west-2");
        let folder = tempfile::tempdir().unwrap();
        let file = collect(&account, &folder, &[]);
        let live = Tool::check(&account).report();
        let saved = Tool::new(["check", "--facts", &file]).report();
        assert_eq!(live.without_time(), saved.without_time(), "{seeds:?}");
        for format in ["human", "short"] {
            let print = |tool: Tool| untimed(&tool.args(["--output", format]).run().stdout);
            let (live, saved) =
                (print(Tool::check(&account)), print(Tool::new(["check", "--facts", &file])));
            assert_eq!(live, saved, "{seeds:?} {format}");
        }
    }
}

/// A report for people without when, and in what time, the account was read.
fn untimed(text: &str) -> String {
    let times = r"[0-9-]+ [0-9:]+ UTC|[0-9]+(\.[0-9]+)? (s|ms|seconds?)\b";
    regex::Regex::new(times).unwrap().replace_all(text, "#").into()
}

#[test]
fn redacted_facts_are_judged_alike_and_name_nobody() {
    for seeds in ALL {
        let account = Account::seeded(seeds, "us-west-2");
        let folder = tempfile::tempdir().unwrap();
        let file = collect(&account, &folder, &["--redact"]);
        let facts = fs::read_to_string(&file).unwrap();
        assert!(!facts.contains(&account.number), "{facts}");
        let name = regex::Regex::new(&format!(r"\b{CLUSTER}\b")).unwrap();
        assert!(!name.is_match(&facts), "{facts}");
        for made in account.made.as_object().unwrap().values().filter_map(|made| made.as_str()) {
            assert!(made == account.region || !facts.contains(made), "{made} is in {facts}");
        }
        let statuses = |report: &Report| {
            let outcomes = report.outcomes().iter();
            let mut all: Vec<_> =
                outcomes.map(|outcome| (text(outcome, "check"), text(outcome, "status"))).collect();
            all.sort();
            all
        };
        let (live, redacted) =
            (Tool::check(&account).report(), Tool::new(["check", "--facts", &file]).report());
        assert_eq!(statuses(&live), statuses(&redacted), "{seeds:?}");
        assert!(!redacted.value.to_string().contains(&account.number));
    }
}

#[test]
fn progress_stays_off_a_stderr_that_is_no_terminal() {
    let ran = Tool::check(&Account::seeded(&["getting-started"], "us-west-2")).run().exits(0);
    assert_eq!(ran.stderr, "");
}

#[test]
fn verbose_names_each_call() {
    let ran = Tool::check(&Account::seeded(&["getting-started"], "us-west-2"))
        .args(["--verbose", "--output", "json"])
        .run()
        .exits(0);
    let calls = ran.stderr.lines().filter(|line| line.contains(" ms ")).count();
    assert_eq!(ran.report().value["effort"]["calls"], calls, "{}", ran.stderr);
    assert!(ran.stderr.contains("eks:DescribeCluster"), "{}", ran.stderr);
}

#[test]
fn the_simulator_is_asked_only_where_that_is_wanted() {
    let account = Account::seeded(&["getting-started", "simulation"], "us-west-2");
    let without = Tool::check(&account).report();
    assert!(without.checks("skipped").contains("permissions-simulated"), "{}", without.table());
    let with = Tool::check(&account).args(["--simulate"]).report();
    let is_ours = |outcome: &&serde_json::Value| text(outcome, "check") == "permissions-simulated";
    let warned: Vec<_> = with.of_status("warn").filter(is_ours).collect();
    assert_eq!(warned.len(), 1, "{}", with.table());
    let seen = text(warned[0], "seen");
    assert!(seen.contains("a policy of the organisation") && seen.contains("ec2:CreateFleet"));
    let evidence = warned[0]["evidence"].to_string();
    assert!(evidence.contains("was not told aws:PrincipalTag/team"), "{evidence}");
    let passed: Vec<_> = with.of_status("pass").filter(is_ours).collect();
    assert_eq!(text(passed[0], "subject"), "KarpenterNodeRole-demo", "{}", with.table());
    let calls = |report: &Report| report.value["effort"]["calls"].as_u64().unwrap();
    eprintln!("{} calls, {} with --simulate", calls(&without), calls(&with));
    assert_eq!(with.count("fail"), 0);
}
