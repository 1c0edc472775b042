//! `karpenter-preflight.toml`: where it is found, what it does to a run, and `waive`.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    cli::Tool,
    emulator::Account,
    formats::problems,
    offline::{FORMATS, Facts},
    report::text,
};

/// A folder with a configuration in it.
fn folder(config: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("karpenter-preflight.toml"), config).unwrap();
    folder
}

/// `check --facts` with this configuration.
fn check(facts: &Facts, config: &str) -> (Tool, TempDir) {
    let folder = folder(config);
    (facts.check().within(folder.path()), folder)
}

const WAIVED: &str = r#"
[[waiver]]
check = "security-groups-discovered"
subject = "karpenter.sh/*"
reason = "selected by id"
owner = "team-a"
until = 2999-12-31
"#;

#[test]
fn a_waived_finding_does_not_count_and_is_shown_everywhere() {
    let facts = Facts::with_failure();
    facts.check().run().exits(1);
    for format in FORMATS {
        let (tool, _folder) = check(&facts, WAIVED);
        let ran = tool.args(["--output", format]).run().exits(0);
        assert!(ran.stdout.contains("waived"), "{format}: {ran:#?}");
        let says_why = ran.stdout.contains("selected by id") && ran.stdout.contains("team-a");
        let counts_only = ["short", "github", "prometheus"].contains(&format);
        assert!(says_why || counts_only, "{format}: {ran:#?}");
    }
    let (tool, _folder) = check(&facts, WAIVED);
    let report = tool.report();
    assert_eq!(report.count("waived"), 1);
    let waived = report.of_status("waived").next().unwrap();
    assert_eq!(text(waived, "judged"), "fail");
    assert_eq!(text(&waived["waiver"], "until"), "2999-12-31");
    assert_eq!(text(&report.value, "configuration"), "karpenter-preflight.toml");
}

#[test]
fn an_expired_waiver_counts_again_and_says_so() {
    let facts = Facts::with_failure();
    let (tool, _folder) = check(&facts, &WAIVED.replace("2999", "1999"));
    let ran = tool.run().exits(1);
    assert!(ran.stdout.contains("waiver by team-a expired on 1999-12-31"), "{}", ran.stdout);
}

#[test]
fn a_waiver_that_fits_nothing_is_stale() {
    let facts = Facts::healthy();
    for format in ["human", "json", "markdown", "github", "html", "sarif"] {
        let (tool, _folder) = check(&facts, WAIVED);
        let ran = tool.args(["--output", format]).run().exits(0);
        let word = if format == "json" { "stale_waivers" } else { "fits nothing any more" };
        let flat = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(word), "{format}: {ran:#?}");
    }
    let (tool, _folder) = check(&facts, WAIVED);
    let ran = tool.args(["--exclude", "security-groups-discovered"]).run().exits(0);
    assert!(!ran.stdout.contains("fits nothing"), "a check that did not run says nothing");
}

#[test]
fn it_is_searched_upward_and_can_be_named_or_left_out() {
    let facts = Facts::with_failure();
    let folder = folder(WAIVED);
    let deep = folder.path().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    facts.check().within(&deep).run().exits(0);
    facts.check().within(&deep).args(["--no-config"]).run().exits(1);
    let named = folder.path().join("other.toml");
    fs::write(&named, "fail_on = \"never\"").unwrap();
    let elsewhere = || facts.check().args(["--config".as_ref(), named.as_os_str()]);
    elsewhere().run().exits(0);
    elsewhere().args(["--fail-on", "fail"]).run().exits(1);
    elsewhere().args(["--no-config"]).run().exits(2);
    facts.check().args(["--config", "/nowhere.toml"]).run().exits(2).says(&["/nowhere.toml"]);
    // The nearest one decides.
    fs::write(deep.join("karpenter-preflight.toml"), "").unwrap();
    facts.check().within(&deep).run().exits(1);
}

#[test]
fn what_is_wrong_in_it_is_a_usage_error_with_its_line() {
    let facts = Facts::healthy();
    for (config, says) in [
        ("\nfail_onn = \"warn\"", "karpenter-preflight.toml:2: there is no key `fail_onn`"),
        ("[severity]\nx = \"warn\"", "karpenter-preflight.toml:2: there is no check `x`"),
        ("[[waiver]]\ncheck = ", "karpenter-preflight.toml:2: "),
        (
            "[thresholds]\nquota_headroom = -1",
            "toml:2: invalid value: integer `-1`, expected a whole",
        ),
        ("\u{feff}[thresholds]\nfree_addresses = 99999999999", "toml:2: "),
        ("\u{feff}\nselect = [\"x\"]", "toml:2: there is no check or area `x`"),
        ("x = [[[[[[[[[[[[[[", "karpenter-preflight.toml:1: "),
    ] {
        let (tool, _folder) = check(&facts, config);
        let ran = tool.run().exits(2).says(&[says]);
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:#?}");
    }
}

#[test]
fn selection_severity_and_thresholds() {
    let facts = Facts::with_failure();
    let (tool, _folder) = check(&facts, "[severity]\nsecurity-groups-discovered = \"warn\"");
    let ran = tool.run().exits(0);
    assert!(ran.stdout.contains("the configuration makes it warn"), "{}", ran.stdout);
    let (tool, _folder) = check(&facts, "exclude = [\"security-groups-discovered\"]");
    tool.run().exits(0);
    let (tool, _folder) = check(&facts, "exclude = [\"security-groups-discovered\"]");
    tool.args(["--exclude", "queue-exists"]).run().exits(1);
    let healthy = Facts::healthy();
    let (tool, _folder) = check(&healthy, "[thresholds]\nfree_addresses = 4001");
    let report = tool.report();
    assert_eq!(report.checks("warn"), ["subnets-free-addresses".to_owned()].into());
}

#[test]
fn thresholds_are_saved_with_the_facts() {
    let account = Account::seeded(&["getting-started"], "us-west-2");
    let config = "[target]\nname = \"demo\"\nregion = \"us-west-2\"\nkarpenter_version = \"1.14.1\"\n\
                  [thresholds]\nfree_addresses = 60000";
    let folder = folder(config);
    let facts = folder.path().join("facts.json").to_str().unwrap().to_owned();
    Tool::new(["collect", "--out", &facts])
        .within(folder.path())
        .aws(&account, &account.endpoint())
        .run()
        .exits(0);
    let report = Tool::new(["check", "--facts", &facts]).report();
    assert!(report.checks("warn").contains("subnets-free-addresses"), "{}", report.table());
    let target = &report.value["target"];
    assert_eq!(target["karpenter_version"]["origin"], "configuration");
    assert_eq!(target["region"]["origin"], "configuration");
    let report = Tool::new(["check", "--facts", &facts, "--karpenter-version", "1.6.2"]).report();
    assert_eq!(report.value["target"]["karpenter_version"]["origin"], "flag");
}

const CLUSTERS: &str = r#"
[target]
region = "us-west-2"
no_kube = true

[[cluster]]
name = "demo"

[[cluster]]
name = "gone"
"#;

#[test]
fn every_cluster() {
    let account = Account::seeded(&["getting-started"], "us-west-2");
    let run = |args: &[&str]| {
        let folder = folder(CLUSTERS);
        let tool = Tool::new(["check"]).within(folder.path()).args(args);
        tool.aws(&account, &account.endpoint()).run()
    };
    let ran = run(&["--all-clusters", "--output", "json"])
        .exits(4)
        .says(&["cluster gone:", "no cluster `gone`"]);
    let all: Value = ran.json();
    assert_eq!(all["reports"].as_array().unwrap().len(), 1);
    assert_eq!(all["reports"][0]["target"]["cluster"], "demo");
    assert_eq!(all["not_run"][0]["cluster"], "gone");
    assert_eq!(all["exit_code"], 4);
    let ran = run(&["--all-clusters"]).exits(4);
    assert!(ran.stdout.contains("1 cluster could not be read"), "{}", ran.stdout);
    run(&["--cluster", "demo"]).exits(0);
    run(&[]).exits(2).says(&["demo in us-west-2, gone in us-west-2", "--all-clusters"]);
    run(&["--all-clusters", "--no-config"]).exits(2).says(&["no karpenter-preflight.toml"]);
    run(&["--all-clusters", "--cluster", "demo"]).exits(2);
}

#[test]
fn waive_adds_and_refuses() {
    let facts = problems();
    let folder = folder("# ours\nfail_on = \"fail\" # as by default\n");
    let path = folder.path().join("karpenter-preflight.toml");
    let waive = |args: &[&str]| Tool::new(["waive"]).within(folder.path()).args(args).run();
    facts.check().within(folder.path()).run().exits(1);
    for (check, until) in
        [("security-groups-discovered", "2999-01-01"), ("subnets-zones", "2999-01-02")]
    {
        let ran =
            waive(&[check, "--subject", "*", "--reason", "it's fine", "--until", until]).exits(0);
        assert!(ran.stdout.contains(&format!("{check} is waived for * until {until}")), "{ran:#?}");
    }
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# ours\nfail_on = \"fail\" # as by default\n"), "{text}");
    assert_eq!(text.matches("[[waiver]]").count(), 2, "{text}");
    let ran = facts.check().within(folder.path()).run().exits(3);
    assert!(ran.stdout.contains("1 waived"), "{}", ran.stdout);
    waive(&["subnet-zones", "--subject", "*", "--reason", "r"])
        .exits(2)
        .says(&["did you mean `subnets-zones`?"]);
    waive(&["subnets-zones", "--subject", "*", "--reason", " "]).exits(2).says(&["it is empty"]);
    waive(&["subnets-zones", "--subject", "", "--reason", "r"]).exits(2).says(&["it is empty"]);
    waive(&["subnets-zones", "--subject", "*", "--reason", "again"])
        .exits(2)
        .says(&["karpenter-preflight.toml:", "is waived for * there already"]);
    waive(&["subnets-zones", "--subject", "*", "--reason", "r", "--until", "2020-01-01"])
        .exits(2)
        .says(&["is over already"]);
    waive(&["subnets-zones", "--subject", "*", "--reason", "r", "--until", "soon"]).exits(2);
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "what is refused changes nothing");
    // With a date it is renewed, where it stands.
    let args = ["subnets-zones", "--subject", "*", "--reason", "still", "--until", "2999-02-03"];
    let ran = waive(&args).exits(0);
    assert!(ran.stdout.contains("until 2999-02-03 (it was until 2999-01-02)"), "{ran:#?}");
    let renewed = fs::read_to_string(&path).unwrap();
    let expected = text.replace("until = 2999-01-02", "until = 2999-02-03");
    let (kept, changed) = expected.rsplit_once("it's fine").unwrap();
    assert_eq!(renewed, format!("{kept}still{changed}"));
    fs::write(&path, text.replace("2999-01-02", "1999-01-02")).unwrap();
    let ran = waive(&args).exits(0);
    assert!(ran.stdout.contains("(it expired on 1999-01-02)"), "{ran:#?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), renewed);
    let clusters = folder.path().join("clusters.toml");
    fs::write(&clusters, "[[cluster]]\nname = \"prod\"\n").unwrap();
    let of_cluster = |name: &str| {
        let file = clusters.to_str().unwrap();
        let args = ["subnets-zones", "--subject", "*", "--reason", "r", "--config", file];
        waive(&[&args[..], &["--cluster", name]].concat())
    };
    of_cluster("prdo").exits(2).says(&["no cluster `prdo`: did you mean `prod`?"]);
    of_cluster("prod").exits(0);
    let new = folder.path().join("new.toml");
    waive(&["subnets-zones", "--subject", "*", "--reason", "r", "--config", new.to_str().unwrap()])
        .exits(0);
    assert!(fs::read_to_string(new).unwrap().starts_with("[[waiver]]"));
}

/// Line ends, mode and links are others' business.
#[test]
#[cfg(unix)]
fn waive_touches_nothing_else() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("# ours\r\nfail_on = \"warn\"\r\n");
    let path = folder.path().join("karpenter-preflight.toml");
    let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    let waive = |subject: &str, file: &str| {
        let args = ["waive", "subnets-zones", "--subject", subject, "--reason", "r"];
        Tool::new(args).within(folder.path()).args(["--config", file]).run()
    };
    mode(0o640);
    symlink("karpenter-preflight.toml", folder.path().join("link.toml")).unwrap();
    waive("a \"b\" 'c' \\d", "link.toml").exits(0);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# ours\r\nfail_on = \"warn\"\r\n\r\n[[waiver]]\r\n"), "{text:?}");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(folder.path().join("link.toml")).unwrap().is_symlink());
    for hostile in ["a\nb", "\u{1b}[31m", &"x".repeat(3000)] {
        waive(hostile, "karpenter-preflight.toml").exits(2);
    }
    mode(0o440);
    waive("*", "karpenter-preflight.toml").exits(2).says(&["--config", "is read-only"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn waivers_of_several_at_once_are_all_kept() {
    let folder = folder("");
    let waive = |n: u32| {
        let subject = format!("subnet-{n}");
        let args = ["waive", "subnets-zones", "--subject", &subject, "--reason", "r"];
        Tool::new(args).within(folder.path()).spawn()
    };
    let running: Vec<_> = (0..8).map(waive).collect();
    for (mut child, _home) in running {
        assert!(child.wait().unwrap().success());
    }
    let text = fs::read_to_string(folder.path().join("karpenter-preflight.toml")).unwrap();
    assert_eq!(text.matches("[[waiver]]").count(), 8, "{text}");
}
