//! Where there is nothing to read: no region, no credentials, nobody who answers.

use std::{fs, net::TcpListener};

use crate::{
    cli::Tool,
    emulator::Account,
    proxy::{Plan, Proxy},
};

fn check() -> Tool {
    Tool::new(["check", "--cluster", "demo"])
}

#[test]
fn no_region() {
    let account = Account::empty("us-west-2");
    check().aws(&account, "http://127.0.0.1:1").without_env("AWS_REGION").run().exits(2).says(&[
        "no AWS region",
        "--region",
        "AWS_REGION",
    ]);
}

#[test]
fn no_credentials() {
    let ran = check().env("AWS_REGION", "us-west-2").run().exits(4);
    let ran = ran.says(&["no usable AWS credentials", "aws sso login", "--profile", "AWS_"]);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn a_profile_that_is_not_there_is_named() {
    check()
        .args(["--profile", "nobody", "--region", "us-west-2"])
        .run()
        .exits(4)
        .says(&["profile `nobody`"]);
}

/// The credentials in the environment are another account's.
#[test]
fn a_profile_that_was_named_wins_over_the_environment() {
    let (named, other) = (Account::empty("us-west-2"), Account::empty("us-west-2"));
    let key = named.access_key();
    check()
        .aws(&other, &other.endpoint())
        .home_file(
            ".aws/credentials",
            &format!("[named]\naws_access_key_id = {key}\naws_secret_access_key = secret\n"),
        )
        .args(["--profile", "named"])
        .run()
        .exits(4)
        .says(&["no cluster `demo`", &named.number]);
}

#[test]
fn nobody_listens() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ran = check()
        .aws(&Account::empty("us-west-2"), &format!("http://{nobody}"))
        .run()
        .exits(4)
        .says(&["no answer from AWS in us-west-2", "AWS_ENDPOINT_URL"]);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn no_such_cluster() {
    let account = Account::seeded(&["getting-started"], "us-west-2");
    Tool::new(["check", "--cluster", "prod"])
        .aws(&account, &account.endpoint())
        .run()
        .exits(4)
        .says(&["no cluster `prod` in us-west-2", &account.number, "its only cluster is demo"]);
    let empty = Account::empty("us-west-2");
    check().aws(&empty, &empty.endpoint()).run().exits(4).says(&[
        "no cluster `demo`",
        "no cluster at all",
        "another region or account",
    ]);
}

#[test]
fn an_endpoint_of_one_service() {
    let account = Account::seeded(&["getting-started"], "us-west-2");
    let proxy = Proxy::start(Plan::default());
    check().aws(&account, &account.endpoint()).env("AWS_ENDPOINT_URL_EKS", &proxy.endpoint).run();
    let log = proxy.log();
    assert!(!log.is_empty());
    assert!(log.iter().all(|logged| logged.operation.service == "eks"));
}

#[test]
fn a_failed_collect_writes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("facts.json");
    Tool::new(["collect", "--cluster", "demo", "--region", "us-west-2", "--out"])
        .args([&out])
        .run()
        .exits(4);
    assert!(!fs::exists(out).unwrap());
}

#[test]
fn a_place_that_cannot_be_written_is_named_before_any_call() {
    for place in ["/nowhere/facts.json", "/"] {
        Tool::new(["collect", "--cluster", "demo", "--region", "us-west-2", "--out", place])
            .run()
            .exits(2)
            .says(&["--out", place.trim_end_matches("/facts.json")]);
    }
}
