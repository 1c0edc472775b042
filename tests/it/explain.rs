//! `explain` and `list errors`, as a person with an error on the screen uses them.

use std::{
    collections::BTreeSet,
    fs,
    io::Read,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    cli::Tool,
    emulator::{self, Account, CLUSTER},
    report::text,
};

const TAG_KEY: &str =
    "InvalidParameterValue: 'karpenter.k8s.aws/ec2nodeclass' is not a valid tag key.";

fn explain(args: &[&str]) -> Tool {
    Tool::new(["explain"]).args(args)
}

/// The JSON answer, held against the published schema and the exit code.
fn answer(tool: Tool) -> Value {
    let ran = tool.args(["--output", "json"]).run();
    let value = ran.json();
    let schema = include_str!("../../schema/explanation.v1.json");
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("explanation.json", serde_json::from_str(schema).unwrap()).unwrap();
    let compiled = compiler.compile("explanation.json", &mut schemas).unwrap();
    if let Err(fault) = schemas.validate(&value, compiled) {
        panic!("{fault}\n{value:#}");
    }
    assert_eq!(value["exit_code"], ran.code, "{value:#}");
    value
}

fn ids(answer: &Value) -> Vec<String> {
    answer["errors"].as_array().unwrap().iter().map(|error| text(&error["entry"], "id")).collect()
}

/// A log as `kubectl logs` prints it, with colours, wrapped lines and bytes that are no UTF-8.
fn log() -> Vec<u8> {
    let error = |second: u32, error: &str| {
        let error = Value::from(error);
        format!(
            "{{\"level\":\"ERROR\",\"time\":\"2025-05-01T10:00:{second:02}.000Z\",\"logger\":\
             \"controller\",\"message\":\"Reconciler error\",\"error\":{error}}}\n"
        )
    };
    let denied = "creating nodeclaim, api error UnauthorizedOperation: You are not authorized to \
        perform this operation. User: arn:aws:sts::111122223333:assumed-role/nodes/i-0abc1234def567890 \
        is not authorized to perform: ec2:RunInstances on resource: \
        arn:aws:ec2:us-west-2:111122223333:launch-template/* because no identity-based policy \
        allows the ec2:RunInstances action";
    let lost = "Post \"https://sts.us-west-2.amazonaws.com/\": dial tcp 10.0.1.2:443: i/o timeout";
    let mut log = [
        "\u{1b}[32mINFO\u{1b}[0m all is well\n".to_owned(),
        error(1, "no nodepools found"),
        error(2, "SubnetSelector did not match any Subnets"),
        error(7, "SubnetSelector did not match any Subnets"),
        error(8, denied),
        error(9, lost),
    ]
    .concat()
    .into_bytes();
    log.extend_from_slice(b"\xff\xfe not UTF-8 \xc3\n");
    log
}

#[test]
fn every_form_of_input_gives_the_same_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("error.txt");
    fs::write(&path, TAG_KEY).unwrap();
    let words: Vec<_> = TAG_KEY.split(' ').collect();
    for (form, tool) in [
        ("one argument", explain(&[TAG_KEY])),
        ("words", explain(&words)),
        ("stdin", explain(&["-"]).input(TAG_KEY.as_bytes())),
        ("a pipe and no argument", explain(&[]).input(TAG_KEY.as_bytes())),
        ("a file", explain(&["--file", path.to_str().unwrap()])),
    ] {
        let answer = answer(tool);
        assert_eq!(ids(&answer), ["not-a-valid-tag-key"], "{form}");
        assert_eq!(answer["errors"][0]["seen"]["count"], 1, "{form}");
        assert_eq!(answer["exit_code"], 0, "{form}");
    }
}

#[test]
fn a_log_is_grouped_counted_and_folded() {
    let answer = answer(explain(&["-"]).input(&log()));
    assert_eq!(ids(&answer), ["subnets-not-found", "create-fleet-denied", "sts-not-reachable"]);
    let first = &answer["errors"][0];
    assert_eq!(first["seen"]["count"], 2);
    assert_eq!(first["seen"]["first"]["text"], "2025-05-01T10:00:02.000Z");
    assert_eq!(first["seen"]["last"]["text"], "2025-05-01T10:00:07.000Z");
    assert_eq!(first["follow_ups"][0]["id"], "no-nodepools-found");
    let denied = &answer["denials"][0]["what"];
    assert_eq!(denied["action"], "ec2:RunInstances");
    assert_eq!(denied["layer"], "identity");
    assert_eq!(denied["principal"]["kind"]["node-credentials"]["instance"], "i-0abc1234def567890");
    assert_eq!(answer["network"][0]["what"]["kind"], "timeout");
    assert_eq!(answer["network"][0]["what"]["public"], false);
    assert_eq!(answer["input"]["lines"], 7);
}

#[test]
fn people_read_what_it_means_and_how_to_mend_it() {
    let page = explain(&["-"]).input(&log()).run().exits(0).stdout;
    for words in [
        "3 documented errors in 7 lines",
        "twice, first in line 3, from 2025-05-01T10:00:02.000Z",
        "Leads to    `no-nodepools-found` (once)",
        "Denied call: ec2:RunInstances",
        "These are the credentials of the node i-0abc1234def567890",
        "Failed connection: sts.us-west-2.amazonaws.com (10.0.1.2, a private address)",
        "Signs",
        "Fix",
        "Sources",
        "--cluster NAME",
    ] {
        assert!(page.contains(words), "`{words}` is not in\n{page}");
    }
    assert!(!page.contains('\u{1b}'), "{page}");
}

#[test]
fn ids_of_errors_and_checks() {
    let page = explain(&["node-not-registered"]).run().exits(0).stdout;
    assert!(page.starts_with("node-not-registered\n") && page.contains("Reads "), "{page}");
    let answer = answer(explain(&["node-not-registered"]));
    assert_eq!(ids(&answer), ["node-not-registered"]);
    assert!(answer.get("input").is_none() && answer["errors"][0].get("seen").is_none());
    // A check and an error of one name: both.
    let both = explain(&["spot-service-linked-role"]).run().exits(0).stdout;
    assert!(both.contains("\nSeen as\n") && both.contains("documented error of the same name"));
    explain(&["node-not-registred"]).run().exits(2).says(&["did you mean `node-not-registered`?"]);
    explain(&["queue-exist"]).run().exits(2).says(&["did you mean `queue-exists`?"]);
    explain(&["queue-exists", "--cluster", "demo"]).run().exits(2).says(&["check --select"]);
}

#[test]
fn nothing_matches() {
    let ran = explain(&["the controller says that subnet selectors did match no subnets"]).run();
    assert_eq!(ran.code, 1);
    for words in ["No documented error is in this line", "subnets-not-found", "please report it"] {
        assert!(ran.stdout.contains(words), "{ran:#?}");
    }
    let answer = answer(explain(&["-"]).input(b"all is well\nso far\n"));
    assert_eq!((ids(&answer).len(), &answer["exit_code"]), (0, &json!(1)));
    // There are no credentials here: nothing is read for a text that is not recognised.
    explain(&["all is well", "--cluster", "demo", "--region", "us-west-2"]).run().exits(1);
}

#[test]
fn usage_errors() {
    for args in [
        &[][..],
        &[""],
        &["-"],
        &["--file", "/no/such/file"],
        &["--file", "/"],
        &["--file", "x", "text"],
        &[TAG_KEY, "--facts", "/no/such/file"],
    ] {
        let ran = explain(args).run().exits(2);
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{args:?}");
    }
}

/// Facts of the healthy account with some values replaced by JSON pointer.
fn facts(changes: &[(&str, Value)]) -> (tempfile::TempDir, String) {
    let healthy = fs::read_to_string(emulator::data("accounts/karpenter.json")).unwrap();
    let mut facts: Value = serde_json::from_str(&healthy).unwrap();
    for (pointer, value) in changes {
        *facts.pointer_mut(pointer).unwrap() = value.clone();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.json");
    fs::write(&path, facts.to_string()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

const DEFAULTS: &str = "/facts/imds_defaults";

#[test]
fn facts_say_which_cause_it_is() {
    let version = ("/scope/karpenter_version", json!("1.0.6"));
    let tags = json!({"known": {"instance_metadata_tags": "enabled"}});
    let denied = json!({"denied": {"action": "ec2:GetInstanceMetadataDefaults", "message": "no"}});
    for (changes, verdict, code) in [
        (vec![version.clone(), (DEFAULTS, tags.clone())], "holds", 1),
        (vec![version.clone()], "ruled_out", 0),
        (vec![version.clone(), (DEFAULTS, denied)], "unknown", 3),
    ] {
        let (_folder, path) = facts(&changes);
        let answer = answer(explain(&[TAG_KEY, "--facts", &path]));
        let error = &answer["errors"][0];
        assert_eq!(error["verdicts"], json!([verdict, "not_checked"]), "{error:#}");
        assert_eq!(answer["exit_code"], code);
        let outcomes = answer["report"]["outcomes"].as_array().unwrap();
        let checks: BTreeSet<_> = outcomes.iter().map(|outcome| text(outcome, "check")).collect();
        assert_eq!(checks, ["imds-metadata-tags", "proved-launch"].map(str::to_owned).into());
    }
    let (_folder, path) = facts(&[version, (DEFAULTS, tags)]);
    let page = explain(&[TAG_KEY, "--facts", &path]).run().exits(1).stdout;
    for words in
        ["✗ This is it", "By default, new instances in us-west-2", "--instance-metadata-tags no"]
    {
        assert!(page.contains(words), "{page}");
    }
}

#[test]
fn an_account_says_which_cause_it_is() {
    let account = Account::seeded(&["seeds-broken"], "us-west-2");
    let tool = explain(&["Node not registered with cluster", "--cluster", CLUSTER]);
    let answer = answer(tool.aws(&account, &account.endpoint()));
    assert_eq!(answer["errors"][0]["verdicts"][0], "holds", "{answer:#}");
    assert_eq!(answer["exit_code"], 1);
    explain(&[TAG_KEY, "--cluster", CLUSTER, "--region", "us-west-2"]).run().exits(4);
}

/// A denial whose encoded message the emulator can decode: the base64 of a document with an
/// explicit deny of `ec2:CreateFleet` by the statement `NoFleets`.
const ENCODED: &str = "api error UnauthorizedOperation: You are not authorized to perform this \
    operation. Encoded authorization failure message: \
    eyJleHBsaWNpdERlbnkiOnRydWUsIm1hdGNoZWRTdGF0ZW1lbnRzIjp7Iml0ZW1zIjpbeyJzdGF0ZW1lbnRJZCI6Ik5v\
    RmxlZXRzIn1dfSwiY29udGV4dCI6eyJhY3Rpb24iOiJlYzI6Q3JlYXRlRmxlZXQifX0";

#[test]
fn encoded_messages_are_decoded_when_asked() {
    let account = Account::empty("us-west-2");
    let decode = |text: &str| {
        let text = text.replace('\n', "");
        explain(&[&text, "--decode"]).aws(&account, &account.endpoint())
    };
    let answer = answer(decode(ENCODED));
    let message = &answer["denials"][0]["decoded"]["message"];
    assert_eq!(message["action"], "ec2:CreateFleet", "{answer:#}");
    assert_eq!(message["statements"], json!(["NoFleets"]));
    let page = decode(ENCODED).run().exits(0).stdout;
    assert!(page.contains("Denied call: ec2:CreateFleet") && page.contains("NoFleets"), "{page}");
    let wrong = decode(&ENCODED[..ENCODED.len() - 5]).run().exits(0).stdout;
    assert!(wrong.contains("not decoded: sts:DecodeAuthorizationMessage"), "{wrong}");
    let hint = explain(&[ENCODED]).run().exits(0).stdout;
    assert!(hint.contains("add `--decode`"), "{hint}");
    explain(&[ENCODED, "--decode", "--region", "us-west-2"]).run().exits(4);
    let (_, alone) = ENCODED.rsplit_once(' ').unwrap();
    let ran = explain(&["-", "--decode"])
        .input(format!("{alone}\n").as_bytes())
        .aws(&account, &account.endpoint())
        .run()
        .exits(0);
    assert!(ran.stdout.contains("Denied call: ec2:CreateFleet"), "{}", ran.stdout);
}

#[test]
fn a_long_log_is_read_and_a_closed_pipe_is_no_error() {
    let noise = "{\"level\":\"INFO\",\"message\":\"all is well\"}\n".repeat(120_000);
    let long = [noise.as_bytes(), &log()].concat();
    let answer = answer(explain(&["-"]).input(&long));
    assert_eq!(answer["errors"][0]["seen"]["line"], 120_003);
    let (mut child, _home) = explain(&["-"]).input(&log()).spawn();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((stderr.as_str(), child.wait().unwrap().code()), ("", Some(0)));
}

#[test]
fn ctrl_c_ends_it_while_the_log_still_comes() {
    let (reader, _writer) = std::io::pipe().unwrap();
    let (mut child, _home) = explain(&["-"]).reading(reader).spawn();
    std::thread::sleep(Duration::from_millis(300));
    let since = Instant::now();
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    assert!(!child.wait().unwrap().success());
    assert!(since.elapsed() < Duration::from_secs(3));
}
