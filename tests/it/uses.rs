//! `--wait`, `--baseline`, `--notify-command` and Terraform's `external` data source.

use std::{
    collections::BTreeMap,
    fs,
    io::Read,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    cli::Tool,
    emulator::Account,
    offline::Facts,
    report::{Report, text},
};

/// Saves the report as a baseline, and gives its path.
fn baseline(facts: &Facts) -> (String, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("last.json").to_str().unwrap().to_owned();
    facts.check().args(["--output", &format!("json={path}")]).run();
    (path, folder)
}

fn checks(report: &Report, list: &str) -> Vec<String> {
    let list = report.value["changes"][list].as_array().unwrap();
    list.iter().map(|change| text(change, "check")).collect()
}

#[test]
fn only_what_is_new_counts() {
    let (before, _folder) = baseline(&Facts::with_failure());
    let against = |facts: &Facts, args: &[&str]| {
        facts.check().args(["--baseline", &before]).args(args).report()
    };
    let same = against(&Facts::with_failure(), &["--fail-on-new"]);
    assert_eq!(same.code, 0, "{}", same.table());
    assert_eq!(same.value["changes"]["unchanged"], 1);
    assert_eq!(against(&Facts::with_failure(), &[]).code, 1);
    let gone = against(&Facts::healthy(), &["--fail-on-new"]);
    assert_eq!(
        (gone.code, checks(&gone, "gone")),
        (0, vec!["security-groups-discovered".to_owned()])
    );
    let both = Facts::with(&[
        ("/facts/discovered_security_groups", json!({"known": []})),
        ("/facts/spot_role", json!("absent")),
    ]);
    let new = against(&both, &["--fail-on-new"]);
    assert_eq!((new.code, checks(&new, "new")), (0, vec!["spot-service-linked-role".to_owned()]));
    assert_eq!(against(&both, &["--fail-on-new", "--fail-on", "warn"]).code, 1);
    let unknown = against(&Facts::with_unknown(), &["--fail-on-new"]);
    assert_eq!(unknown.code, 3, "{}", unknown.table());
    let human = both.check().args(["--baseline", &before]).run().exits(1).stdout;
    assert!(human.contains("1 new, 0 gone, 1 unchanged since 2026-"), "{human}");
    assert!(human.contains("new        spot-service-linked-role (warn):"), "{human}");
    let markdown = both.check().args(["--baseline", &before, "-o", "markdown"]).run().stdout;
    assert!(markdown.contains("- new: warn `spot-service-linked-role`"), "{markdown}");
}

#[test]
fn baselines_that_are_none() {
    let facts = Facts::healthy();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let against = |path: &str| facts.check().args(["--baseline", path]).run();
    // A slip would make everything new for ever, or nothing.
    against(&path("no/such/folder.json")).exits(2).says(&["there is no ", "no/such/folder.json"]);
    fs::write(path("last.json"), "{}").unwrap();
    let advice = ["lsat.json (there is last.json)", "--output json=", "also makes the first"];
    against(&path("lsat.json")).exits(2).says(&advice);
    let slip = ["--baseline", &path("lsat.json"), "-o", &format!("json={}", path("next.json"))];
    facts.check().args(slip).run().exits(2).says(&["lsat.json (there is last.json)"]);
    fs::write(path("newer.json"), "{\"schema_version\": 2}").unwrap();
    against(&path("newer.json")).exits(2).says(&["newer.json", "has schema version 2"]);
    for (name, half) in [("empty.json", ""), ("half.json", "{\"schema_version\": 1, \"outc")] {
        fs::write(path(name), half).unwrap();
        against(&path(name)).exits(2).says(&[name, "is no report"]);
        // Also where it would be written anew.
        let to = format!("json={}", path(name));
        facts.check().args(["--baseline", &path(name), "-o", &to]).run().exits(2);
        assert_eq!(fs::read_to_string(path(name)).unwrap(), half);
    }
    fs::write(path("bad.json"), "{}").unwrap();
    against(&path("bad.json")).exits(2).says(&["bad.json is no report of `check --output json`"]);
    against(folder.path().to_str().unwrap()).exits(2).says(&["cannot read"]);
    let other = Facts::with(&[("/scope/cluster", json!("other"))]);
    let (before, _folder) = baseline(&other);
    against(&before).exits(2).says(&["the baseline is of other in us-west-2", "demo"]);
    facts.check().args(["--fail-on-new"]).run().exits(2).says(&["--baseline"]);
    facts.check().args(["--notify-command", "true"]).run().exits(2).says(&["--baseline"]);
}

/// The file that is written may be the one that was read.
#[test]
fn a_baseline_can_follow_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("last.json").to_str().unwrap().to_owned();
    let run = |facts: &Facts| {
        let out = format!("json={path}");
        let args = ["--baseline", &path, "--fail-on-new", "--output", &out];
        facts.check().args(args).run()
    };
    // The first run makes it, and all that there is counts.
    run(&Facts::with_failure()).exits(1).says(&["last.json is not there yet", "everything is new"]);
    run(&Facts::with_failure()).exits(0);
    run(&Facts::healthy()).exits(0);
    run(&Facts::with_failure()).exits(1);
    // By another way to the same file.
    let around = folder.path().join(".").join("last.json").to_str().unwrap().to_owned();
    let out = format!("json={around}");
    let args = ["--baseline", &path, "--fail-on-new", "--output", &out];
    Facts::with_failure().check().args(args).run().exits(0);
}

/// Whoever was not told must hear of it the next time.
#[test]
fn a_baseline_waits_for_the_command_that_tells() {
    let (path, folder) = baseline(&Facts::healthy());
    let before = fs::read_to_string(&path).unwrap();
    let other = folder.path().join("other.json");
    let run = |command: &str| {
        let (out, other) = (format!("json={path}"), format!("json={}", other.display()));
        let args = ["--baseline", &path, "--notify-command", command, "-o", &out, "-o", &other];
        Facts::with_failure().check().args(args).run()
    };
    run("exit 7").exits(4).says(&["--notify-command failed", "the baseline stays as it is"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    assert!(other.exists(), "the other reports are written all the same");
    run("true").exits(1);
    assert_ne!(fs::read_to_string(&path).unwrap(), before);
    run("exit 7").exits(1);
}

/// A team adds a cluster to its configuration.
#[test]
fn a_baseline_may_grow_by_a_cluster() {
    let account = Account::seeded(&["getting-started"], "us-west-2");
    let (of_other, folder) = baseline(&Facts::with(&[("/scope/cluster", json!("other"))]));
    let config = "[[cluster]]\nname = \"demo\"\nregion = \"us-west-2\"\n";
    fs::write(folder.path().join("karpenter-preflight.toml"), config).unwrap();
    let run = |args: &[&str]| {
        let tool = Tool::new(["check", "--baseline", &of_other, "-o", "json"]);
        tool.within(folder.path()).aws(&account, &account.endpoint()).args(args).run()
    };
    let grown = run(&["--all-clusters"]).exits(0).json();
    assert!(grown["reports"][0]["changes"]["since"].is_null(), "{grown}");
    run(&["--cluster", "demo"]).exits(2).says(&["the baseline is of other in us-west-2"]);
}

#[test]
fn a_command_hears_of_changes_only() {
    let (before, folder) = baseline(&Facts::healthy());
    let heard = folder.path().join("heard");
    let run = |facts: &Facts, command: &str, args: &[&str]| {
        let args = [&["--baseline", &before, "--notify-command", command, "-o", "short"], args];
        facts.check().args(args.concat()).run()
    };
    let listen = format!("cat > '{}'", heard.display());
    run(&Facts::healthy(), &listen, &[]).exits(0);
    assert!(!heard.exists(), "nothing changed");
    run(&Facts::with_failure(), &listen, &[]).exits(1);
    let human = fs::read_to_string(&heard).unwrap();
    assert!(human.contains("1 new, 0 gone") && !human.contains('\u{1b}'), "{human}");
    run(&Facts::with_failure(), &listen, &["--notify-format", "markdown"]).exits(1);
    assert!(fs::read_to_string(&heard).unwrap().starts_with("## "));
    let ran =
        run(&Facts::with_failure(), "exit 7", &[]).exits(4).says(&["--notify-command failed", "7"]);
    assert!(ran.stdout.contains("1 fail"), "the report is printed all the same: {ran:#?}");
    run(&Facts::with_failure(), "no-such-command-here", &[]).exits(4).says(&["127"]);
    // One that reads nothing is no failure.
    run(&Facts::with_failure(), "true", &[]).exits(1);
}

/// `check --output terraform` with a query.
fn external(account: &Account, query: &str) -> crate::cli::Ran {
    Tool::new(["check", "--output", "terraform"])
        .aws(account, &account.endpoint())
        .without_env("AWS_REGION")
        .input(query.as_bytes())
        .run()
}

#[test]
fn terraform_asks_and_gets_strings() {
    let account = Account::seeded(&["getting-started"], "us-west-2");
    let query = json!({"cluster": "demo", "region": "us-west-2", "karpenter_version": "1.14.1",
                       "interruption_queue": "", "allow_unknown": "false"});
    let ran = external(&account, &query.to_string()).exits(0);
    let map: BTreeMap<String, String> = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((map["ok"].as_str(), map["exit_code"].as_str()), ("true", "0"), "{map:?}");
    let broken = Account::seeded(&["seeds-broken"], "us-west-2");
    // What was found is in the result: Terraform shows none of a program that fails.
    let ran = external(&broken, &query.to_string()).exits(0);
    let map: BTreeMap<String, String> = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((map["ok"].as_str(), map["exit_code"].as_str()), ("false", "1"), "{map:?}");
    assert!(map["problems"].starts_with("fail "), "{map:?}");
    for (query, code, says) in [
        (json!({"cluser": "demo"}).to_string(), 2, "did you mean `cluster`?"),
        (
            json!({"cluster": "demo", "region": "nowhere"}).to_string(),
            2,
            "a region is written like",
        ),
        (json!({"cluster": "gone", "region": "us-west-2"}).to_string(), 4, "no cluster `gone`"),
        ("not JSON".to_owned(), 2, "no query of Terraform's"),
        ("{}".to_owned(), 2, "name the cluster"),
    ] {
        let ran = external(&account, &query).exits(code).says(&[says]);
        assert_eq!(ran.stdout, "", "{query}");
    }
}

#[test]
fn waiting_ends_when_nothing_is_missing() {
    let mut account = Account::empty("us-west-2");
    account.seed("seeds-broken");
    let args = ["--interruption-queue", "demo", "--wait", "120s", "-o", "short"];
    let (mut child, _home) = Tool::check(&account).args(args).spawn();
    thread::sleep(Duration::from_secs(2));
    account.seed("seeds-fixed");
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("waiting, ") && stderr.contains("queue-exists (fail"), "{stderr}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains(" 0 fail"), "one report, the last: {stdout}");
}

#[test]
fn waiting_ends_with_the_time_and_with_ctrl_c() {
    let account = Account::seeded(&["seeds-broken"], "us-west-2");
    let check = |wait: &str| Tool::check(&account).args(["--wait", wait, "-o", "short"]);
    let since = Instant::now();
    let ran = check("6s").run().exits(1).says(&["waiting, ", "the time is over: "]);
    assert!(since.elapsed() < Duration::from_secs(60), "{:?}: {ran:#?}", since.elapsed());
    let (mut child, _home) = check("300s").spawn();
    let mut stderr = child.stderr.take().unwrap();
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains("waiting, ") {
        let mut byte = [0];
        assert_eq!(stderr.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&said));
        said.push(byte[0]);
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let denied = Facts::healthy();
    denied.check().args(["--wait", "5s"]).run().exits(2).says(&["--facts"]);
    check("0s").run().exits(2);
}
