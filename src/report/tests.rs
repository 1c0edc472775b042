//! The formats over the made-up reports.

use super::*;
use sample::{CHECKS, COLORED, NARROW, WIDE, report, text as sample_text, written};

const SAMPLES: [&str; 4] = ["problems", "all-well", "empty", "hostile"];

fn human(name: &str, style: Style) -> String {
    written(|out| human::write_with(&report(name), &CHECKS, out, style))
}

fn short(name: &str, style: Style) -> String {
    written(|out| short::write(&report(name), out, style))
}

fn json(name: &str) -> String {
    written(|out| json::write(&report(name), out))
}

#[test]
fn problems_in_short() {
    insta::assert_snapshot!(short("problems", NARROW), @r##"
warn	discovered-subnets	subnet-0a1b2c3d4e5f60718	It has 11 free addresses of 251 (eu-west-1a, 10.0.1.0/24).
unknown	imds-defaults	111122223333	not allowed to call ec2:GetInstanceMetadataDefaults: You are not authorized to perform this operation.
fail	node-role-trust	arn:aws:iam::111122223333:role/KarpenterNodeRole-prod	Its trust policy lets only `eks.amazonaws.com` take the role, and no statement names `ec2.amazonaws.com`.
fail	node-role-access-entry	arn:aws:iam::111122223333:role/KarpenterNodeRole-prod	The access entry has type STANDARD; nodes need EC2_LINUX or EC2_WINDOWS.
unknown	node-role-access-entry	arn:aws:iam::111122223333:role/KarpenterNodeRole-prod-gpu	eks:DescribeAccessEntry failed: timed out after 10 s
5 pass, 1 warn, 2 fail, 2 unknown, 0 waived, 3 skipped; 47 calls in 2.3 seconds
"##);
}

#[test]
fn the_verdict_follows_the_counts() {
    let sentence = |warn, fail, unknown| {
        let mut report = report("all-well");
        report.counts = Counts { pass: 1, warn, fail, unknown, waived: 0, skipped: 0 };
        summary::verdict(&report).1
    };
    for (sentence, expected) in [
        (sentence(0, 1, 0), "1 finding will stop or break Karpenter here."),
        (
            sentence(1, 2, 1),
            "2 findings will stop or break Karpenter here. 1 thing could not be judged.",
        ),
        (sentence(1, 0, 0), "Nothing will stop Karpenter here; 1 warning to read."),
        (
            sentence(2, 0, 3),
            "Nothing failed, but this is no all-clear: 3 things could not be judged.",
        ),
    ] {
        assert_eq!(sentence, expected);
    }
}

#[test]
fn colour_adds_escapes_and_changes_no_word() {
    let words = |text: &str| -> Vec<String> {
        let text = anstream::adapter::strip_str(text).to_string().replace('`', "");
        text.split_whitespace().map(str::to_owned).collect()
    };
    for name in SAMPLES {
        let (plain, colored) = (human(name, NARROW), human(name, COLORED));
        assert_ne!(plain, colored);
        assert_eq!(words(&plain), words(&colored), "{name}");
        let stripped = anstream::adapter::strip_str(&short(name, COLORED)).to_string();
        assert_eq!(stripped, short(name, NARROW));
    }
}

#[test]
fn nothing_from_the_account_reaches_the_terminal_as_an_escape() {
    let is_bad = |c: char| c != '\n' && text::is_unsafe(c);
    assert!(sample_text("hostile").contains('\u{9b}'), "the sample is hostile");
    for text in [human("hostile", NARROW), human("hostile", WIDE), json("hostile")] {
        assert!(!text.contains(is_bad), "{text:?}");
    }
    let short = short("hostile", NARROW);
    assert!(!short.replace('\t', "").contains(is_bad), "{short:?}");
    let tabs: Vec<_> = short.lines().map(|line| line.matches('\t').count()).collect();
    assert_eq!(tabs, [3, 0], "a forged line or field: {short:?}");
    let again: Report = serde_json::from_str(&json("hostile")).unwrap();
    assert_eq!(again, report("hostile"), "JSON keeps what was there");
}

#[test]
fn a_report_starts_from_saved_facts() {
    use crate::{checks::testing::Account, target::resolve::resolve};
    let saved = Account::Karpenter.patched(&serde_json::json!({}));
    let target = resolve(&saved.scope, &saved.facts);
    let report = Report::new(&saved, &target, Vec::new(), ExitCode::Incomplete);
    assert_eq!((report.exit_code, report.counts.pass), (3, 0));
    assert_eq!(report.target.account.as_deref(), Some("111122223333"));
    for (format, start) in
        [(Format::Human, "karpenter-preflight"), (Format::Short, "0 pass"), (Format::Json, "{\n")]
    {
        let text = written(|out| write(&Reports::one(report.clone()), format, NARROW, out));
        assert!(text.starts_with(start) && text.ends_with('\n'), "{text}");
    }
}
