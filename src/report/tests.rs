//! The formats over the made-up reports.

use super::*;
use crate::outcome::Status;
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
fail	node-role-trust	arn:aws:iam::111122223333:role/KarpenterNodeRole-prod	Its trust policy lets only `eks.amazonaws.com` take the role, and no statement names `ec2.amazonaws.com`.
fail	node-role-access-entry	arn:aws:iam::111122223333:role/KarpenterNodeRole-prod	The access entry has type STANDARD; nodes need EC2_LINUX or EC2_WINDOWS.
warn	discovered-subnets	subnet-0a1b2c3d4e5f60718	It has 11 free addresses of 251 (eu-west-1a, 10.0.1.0/24).
unknown	imds-defaults	111122223333	not allowed to call ec2:GetInstanceMetadataDefaults: You are not authorized to perform this operation.
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
fn a_verdict_goes_no_further_than_what_ran() {
    let mut report = report("all-well");
    report.left_out = vec!["a".to_owned(), "b".to_owned()];
    let ran = report.outcomes.iter().map(|o| &o.check).collect::<std::collections::BTreeSet<_>>();
    let made = format!("{} of {} checks were made.", ran.len(), ran.len() + 2);
    let expected = format!("All is well in what was checked. {made}");
    assert_eq!(summary::verdict(&report).1, expected);
    report.counts.warn = 1;
    let expected =
        format!("Nothing that was checked will stop Karpenter here; 1 warning to read. {made}");
    assert_eq!(summary::verdict(&report).1, expected);
}

/// A report in which one check fails for sixty subjects, each for a reason of its own or all for
/// the same, and forty checks cannot tell for one reason.
fn flood(alike: bool) -> Report {
    let mut report = report("problems");
    let fails = |o: &&Outcome| o.status == Status::Fail;
    let pattern = report.outcomes.iter().find(fails).cloned().unwrap();
    report.outcomes = (0..60)
        .map(|i| {
            let subject = format!("subnet-{i:017x}");
            let why = if alike { String::new() } else { format!(" ({i} left)") };
            let seen = format!("{subject} is full{why}.");
            Outcome { subject, seen, ..pattern.clone() }
        })
        .collect();
    let unknown = |i| Outcome {
        check: format!("check-{i}"),
        status: Status::Unknown,
        subject: "prod".to_owned(),
        seen: "the API server cannot be reached".to_owned(),
        remedy: None,
        ..pattern.clone()
    };
    report.outcomes.extend((0..40).map(unknown));
    report.counts = Counts::of(&report.outcomes);
    report
}

#[test]
fn sixty_findings_do_not_bury_the_rest() {
    for alike in [false, true] {
        let all = Reports::one(flood(alike));
        let written = |format| written(|out| write(&all, format, NARROW, out));
        for (format, most) in [
            (Format::Human, 150),
            (Format::Markdown, 150),
            (Format::Github, if alike { 3 } else { 62 }),
        ] {
            let text = written(format);
            let lines = text.lines().count();
            assert!(lines <= most, "{format:?} {alike}: {lines} lines\n{text}");
            assert_eq!(
                text.matches("API server cannot").count(),
                1 + usize::from(format == Format::Markdown)
            );
        }
        // The page folds them, and a file for programs has each.
        assert_eq!(written(Format::Html).contains("57 more like these"), !alike);
        assert_eq!(written(Format::Json).matches("\"subject\": \"subnet-").count(), 60);
        assert_eq!(written(Format::Junit).matches("<testcase").count(), 100);
        assert_eq!(written(Format::Junit).matches("For the same reason as check-0").count(), 39);
        assert_eq!(written(Format::Sarif).matches("\"ruleId\"").count(), 100);
    }
}

#[test]
fn short_marks_what_is_new_gone_and_stale() {
    let mut now = report("problems");
    let mut before = now.clone();
    before.outcomes.retain(|outcome| outcome.check != "node-role-trust");
    let gone = before.outcomes.iter().find(|o| o.status == Status::Warn).cloned().unwrap();
    now.outcomes.retain(|outcome| outcome.check != gone.check);
    now.outcomes.push(Outcome { status: Status::Pass, ..gone });
    now.changes = Some(changes::between(Some(&before), &now));
    now.stale_waivers.push(StaleWaiver {
        check: "queue-exists".to_owned(),
        subject: "*".to_owned(),
        reason: "r".to_owned(),
    });
    let text = written(|out| short::write(&now, out, NARROW));
    let fields: Vec<Vec<_>> = text.lines().map(|line| line.split('\t').collect()).collect();
    let of = |word: &str, check: &str| {
        fields.iter().find(|line| line[0] == word && line[1] == check).map(|line| line[3])
    };
    assert!(of("fail", "node-role-trust").unwrap().starts_with("new: Its trust policy"), "{text}");
    assert!(of("fail", "node-role-access-entry").unwrap().starts_with("The access"), "{text}");
    assert_eq!(of("gone", "discovered-subnets"), Some("it was warn"));
    assert!(of("stale", "queue-exists").unwrap().contains("fits nothing"), "{text}");
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
