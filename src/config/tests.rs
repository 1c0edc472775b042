//! The file: what it takes, what it refuses and where, and what waivers do.

use std::path::Path;

use jiff::Timestamp;

use super::{waiver::apply, *};
use crate::{
    outcome::{Outcome, Status},
    report::sample::report,
};

fn config(text: &str) -> Config {
    parse(text, Path::new("c.toml")).unwrap_or_else(|error| panic!("{error}"))
}

const EVERYTHING: &str = r#"
fail_on = "warn"
allow_unknown = true
select = ["join", "queue-exists"]
exclude = ["auth-mode"]

[target]
karpenter_version = "1.14.1"
profile = "ops"
discovery_tag = "team=a"
node_roles = ["a", "b"]

[[cluster]]
name = "prod"
region = "eu-west-1"

[[cluster]]
name = "test"
region = "eu-west-1"
profile = "test"
karpenter_version = "1.6.2"
product = "auto-mode"
stage = "before"
assume_role = "arn:aws:iam::111122223333:role/reader"
no_kube = true

[thresholds]
free_addresses = 64

[severity]
subnets-zones = "fail"

[[waiver]]
check = "queue-exists"
subject = "*"
reason = "no Spot here"
owner = "team-a"
until = 2026-12-31

[[waiver]]
check = "subnets-zones"
reason = "in quotes too"
until = "2027-01-01"
"#;

#[test]
fn everything_that_there_is() {
    let config = config(EVERYTHING);
    assert_eq!(config.fail_on, Some(FailOn::Warn));
    assert_eq!(config.thresholds.free_addresses, Some(64));
    let prod = config.cluster[0].as_ref().or(&config.target);
    assert_eq!(prod.profile.as_deref(), Some("ops"));
    assert_eq!(prod.karpenter_version.map(|v| v.to_string()).as_deref(), Some("1.14.1"));
    assert_eq!(prod.node_roles, ["a", "b"]);
    let test = config.cluster[1].as_ref().or(&config.target);
    assert_eq!(test.profile.as_deref(), Some("test"));
    assert_eq!(test.karpenter_version.map(|v| v.to_string()).as_deref(), Some("1.6.2"));
    assert_eq!(
        config.waiver[1].until.map(|until| until.to_string()).as_deref(),
        Some("2027-01-01")
    );
}

#[test]
fn the_schema_takes_what_the_program_takes() {
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    let schema = serde_json::from_str(&schema_text()).unwrap();
    compiler.add_resource("config.json", schema).unwrap();
    let compiled = compiler.compile("config.json", &mut schemas).unwrap();
    let as_json = |text: &str| {
        let value: toml::Value = toml::from_str(text).unwrap();
        let text = serde_json::to_string(&value).unwrap();
        // The form in which editors hand a date to a schema.
        let text = text.replace(r#"{"$__toml_private_datetime":"2026-12-31"}"#, "\"2026-12-31\"");
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    if let Err(fault) = schemas.validate(&as_json(EVERYTHING), compiled) {
        panic!("{fault}");
    }
    for slip in [
        "serverity = 1",
        "select = [\"queue-exist\"]",
        "[severity]\nqueue-exist = \"warn\"",
        "[[waiver]]\ncheck = \"queue-exist\"\nreason = \"r\"",
        "[thresholds]\nquota_headroom = 101",
    ] {
        assert!(schemas.validate(&as_json(slip), compiled).is_err(), "{slip}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (text, says) in [
        ("\nfail_onn = \"warn\"", "c.toml:2: there is no key `fail_onn`: did you mean `fail_on`?"),
        (
            "[target]\n\nregoin = \"eu-west-1\"",
            "c.toml:3: there is no key `regoin`: did you mean `region`?",
        ),
        ("[[waiver]]\ncheck = \"x\"\nzzz = 1", "c.toml:3: there is no key `zzz`: there are check,"),
        ("fail_on = \"wran\"", "c.toml:1: there is no value `wran`: did you mean `warn`?"),
        (
            "# first\nselect = [\n  \"join\",\n  \"queue-exist\",\n]",
            "c.toml:4: there is no check or area `queue-exist`: did you mean `queue-exists`?",
        ),
        (
            "exclude = [\"zzz\"]",
            "c.toml:1: there is no check or area `zzz`: see `karpenter-preflight list checks`",
        ),
        (
            "[severity]\n\nsubnet-zones = \"fail\"",
            "c.toml:3: there is no check `subnet-zones`: did you mean `subnets-zones`?",
        ),
        (
            "\n[[waiver]]\ncheck = \"queue-exist\"\nreason = \"r\"",
            "c.toml:3: there is no check `queue-exist`: did you mean `queue-exists`?",
        ),
        ("[[waiver]]\ncheck = \"queue-exists\"", "c.toml:1: missing field `reason`"),
        (
            "[[waiver]]\ncheck = \"queue-exists\"\nreason = \" \"",
            "c.toml:3: a waiver needs a reason",
        ),
        (
            "[[waiver]]\ncheck = \"queue-exists\"\nreason = \"r\"\nuntil = \"soon\"",
            "c.toml:4: `soon` is no date such as 2026-12-31",
        ),
        ("[target]\nregion = \"EU\"", "c.toml:2: a region is written like eu-central-1"),
        ("[target]\nkarpenter_version = \"latest\"", "c.toml:2: "),
        ("[thresholds]\nfree_addresses = -1", "c.toml:2: "),
        ("\n[[cluster]]\nregion = \"eu-west-1\"", "c.toml:2: a [[cluster]] has no name"),
        (
            "[[cluster]]\nname = \"a\"\n[[cluster]]\nname = \"a\"",
            "c.toml:3: the cluster `a` is there twice",
        ),
        ("[thresholds]\nquota_headroom = 101", "c.toml:2: write a share in percent, 0 to 100"),
        ("x = ", "c.toml:1: "),
    ] {
        let error = parse(text, Path::new("c.toml")).unwrap_err().to_string();
        assert!(error.contains(says), "{text}\n{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

/// Two outcomes of a check, and one of another.
fn outcomes() -> Vec<Outcome> {
    let outcomes = report("problems").outcomes;
    let mut outcomes: Vec<_> =
        outcomes.into_iter().filter(|o| o.check.starts_with("node-role")).collect();
    for outcome in &mut outcomes {
        // Ids of this build, not of the samples.
        outcome.check = outcome.check.replace("-access-entry", "-exists");
    }
    outcomes
}

#[test]
fn waivers() {
    let day = |text: &str| text.parse::<Timestamp>().unwrap();
    let now = day("2026-11-30T23:59:59Z");
    let statuses = |text: &str, now| {
        let mut outcomes = outcomes();
        apply(&config(text), &mut outcomes, "prod", now);
        let of = |o: &Outcome| (o.status, o.waiver.as_ref().map(|waiver| waiver.expired));
        outcomes.iter().map(of).collect::<Vec<_>>()
    };
    let waiver =
        |more: &str| format!("[[waiver]]\ncheck = \"node-role-trust\"\nreason = \"r\"\n{more}\n");
    use Status::{Fail, Pass, Unknown, Waived};
    let as_judged = vec![(Fail, None), (Pass, None), (Fail, None), (Unknown, None)];
    let waived = vec![(Waived, Some(false)), (Pass, None), (Fail, None), (Unknown, None)];
    let expired = vec![(Fail, Some(true)), (Pass, None), (Fail, None), (Unknown, None)];
    for (text, now, expected) in [
        (String::new(), now, &as_judged),
        (waiver(""), now, &waived),
        (waiver("subject = \"*:role/KarpenterNodeRole-prod\""), now, &waived),
        (waiver("subject = \"arn:aws:iam::*\""), now, &waived),
        (waiver("subject = \"KarpenterNodeRole-prod\""), now, &as_judged),
        (waiver("cluster = \"prod\""), now, &waived),
        (waiver("cluster = \"te*\""), now, &as_judged),
        // All that one says must fit, and any one will do.
        (waiver("subject = \"x\"\ncluster = \"prod\""), now, &as_judged),
        (waiver("subject = \"x\"") + &waiver("cluster = \"prod\""), now, &waived),
        // It holds until the end of the day.
        (waiver("until = 2026-11-30"), now, &waived),
        (waiver("until = 2026-11-30"), day("2026-12-01T00:00:00Z"), &expired),
        (waiver("until = 2026-11-29") + &waiver("until = 2026-12-24"), now, &waived),
    ] {
        assert_eq!(&statuses(&text, now), expected, "{text}");
    }
    let of_unknown = "[[waiver]]\ncheck = \"node-role-exists\"\nreason = \"r\"";
    let found = statuses(of_unknown, now);
    assert_eq!((found[2].0, found[3].0), (Waived, Waived));
}

#[test]
fn only_a_star_stands_for_something_else() {
    let fits = |pattern: &str, text: &str| waiver::pattern(pattern).unwrap().is_match(text);
    for (pattern, text) in [
        ("*", ""),
        ("*", "arn:aws:iam::1:role/a/b"),
        ("arn:*/b", "arn:aws:iam::1:role/a/b"),
        ("a**b", "a-b"),
        ("***", "a"),
        ("*[0]", "pod[0]"),
        ("{a,b}", "{a,b}"),
        ("what?", "what?"),
        ("Standard (A, C, *)", "Standard (A, C, D)"),
        ("back\\slash", "back\\slash"),
    ] {
        assert!(fits(pattern, text), "{pattern} {text}");
    }
    for (pattern, text) in [("a", "ab"), ("a?", "ab"), ("[ab]", "a"), ("{a,b}", "a"), ("a*b", "b")]
    {
        assert!(!fits(pattern, text), "{pattern} {text}");
    }
    // Nothing has no name: it is a slip for everything.
    assert!(waiver::pattern("").is_err() && waiver::pattern(" ").is_err());
}

#[test]
fn severity_before_waivers() {
    let text = "[severity]\nnode-role-trust = \"warn\"\nnode-role-exists = \"warn\"\n\
                [[waiver]]\ncheck = \"node-role-exists\"\nreason = \"r\"";
    let mut outcomes = outcomes();
    apply(&config(text), &mut outcomes, "prod", Timestamp::UNIX_EPOCH);
    let found: Vec<_> = outcomes.iter().map(|o| (o.status, o.judged())).collect();
    assert_eq!(
        found,
        [
            (Status::Warn, Status::Fail),
            (Status::Pass, Status::Pass),
            (Status::Waived, Status::Fail),
            (Status::Waived, Status::Unknown),
        ]
    );
}

#[test]
fn a_waiver_that_fits_nothing_is_stale() {
    let stale = |text: &str| {
        let mut report = report("problems");
        report.outcomes = outcomes();
        let config = config(text);
        apply(&config, &mut report.outcomes, "prod", Timestamp::UNIX_EPOCH);
        let mut reports = [report];
        waiver::note_stale(&config, &mut reports);
        reports[0].stale_waivers.iter().map(|stale| stale.subject.clone()).collect::<Vec<_>>()
    };
    let waiver = |check: &str, subject: &str, more: &str| {
        format!("[[waiver]]\ncheck = \"{check}\"\nsubject = \"{subject}\"\nreason = \"r\"\n{more}")
    };
    for (text, expected) in [
        (waiver("node-role-trust", "*", ""), &[][..]),
        (waiver("node-role-trust", "gone", ""), &["gone"]),
        // The one that passes needs none.
        (waiver("node-role-trust", "*-gpu", ""), &["*-gpu"]),
        // Expired, but it still fits.
        (waiver("node-role-trust", "*", "until = 1969-01-01"), &[]),
        // Of another cluster, of a check that did not run, of one that is partly unknown.
        (waiver("node-role-trust", "gone", "cluster = \"test\""), &[]),
        (waiver("queue-exists", "gone", ""), &[]),
        (waiver("node-role-exists", "gone", ""), &[]),
    ] {
        assert_eq!(stale(&text), expected, "{text}");
    }
}

#[test]
fn a_waiver_is_added_and_all_else_stays() {
    let waiver = NewWaiver {
        check: "queue-exists".to_owned(),
        subject: "arn:*".to_owned(),
        cluster: None,
        reason: "say \"why\"".to_owned(),
        owner: Some("me".to_owned()),
        until: Some("2026-12-31".parse().unwrap()),
    };
    let before = "# ours\nfail_on = \"warn\"   # strict\n\n[[waiver]]\ncheck = \"auth-mode\" # old\nreason = \"r\"\n";
    let after = append(before, &waiver).unwrap();
    assert_eq!(
        after,
        format!(
            "{before}\n[[waiver]]\ncheck = \"queue-exists\"\nsubject = \"arn:*\"\n\
             reason = 'say \"why\"'\nowner = \"me\"\nuntil = 2026-12-31\n"
        )
    );
    let config = config(&after);
    assert_eq!(config.waiver[1].reason, "say \"why\"");
    assert!(append("", &waiver).unwrap().starts_with("[[waiver]]\n"));
    assert!(append("waiver = []", &waiver).is_err());
    assert!(append("x = ", &waiver).is_err());
}
