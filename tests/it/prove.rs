//! `check --prove`: every call that could make something is a dry run, with the controller's own
//! credentials, and no token is ever shown.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use crate::{
    cli::{Ran, Tool},
    cluster::{ApiServer, Cluster, TOKEN},
    emulator::{self, Account, CLUSTER},
    proxy::{At, Fault, Logged, Operation, Plan, Proxy},
    report::{Report, text},
};

const LAUNCH: [&str; 3] = ["ec2:CreateFleet", "ec2:CreateLaunchTemplate", "ec2:RunInstances"];

fn account() -> std::sync::Arc<Account> {
    Account::seeded(&["getting-started"], "us-west-2")
}

/// The guide's cluster with the controller's role in the annotation of IRSA. The instance profile
/// of the NodeClass is not among the emulated ones.
fn cluster(account: &Account) -> Cluster {
    let role = &account.made["controllerRole"];
    let annotated = json!({"metadata": {"annotations": {"eks.amazonaws.com/role-arn": role}}});
    Cluster::karpenter(account).patch("ServiceAccount", "karpenter", &annotated).patch(
        "EC2NodeClass",
        "default",
        &json!({"status": {"instanceProfile": null}}),
    )
}

fn run(server: &ApiServer, account: &Account, plan: Plan, args: &[&str]) -> (Ran, Vec<Logged>) {
    let proxy = Proxy::start(plan);
    let ran = Tool::new(["check", "--cluster", CLUSTER, "--verbose", "--output", "json"])
        .args(["--kubeconfig".into(), server.kubeconfig().into_os_string()])
        .args(args)
        .account(account, &proxy.endpoint)
        .run();
    (ran, proxy.log())
}

fn only_of(report: &Report) -> Value {
    let outcomes = report.outcomes().iter();
    let found: Vec<_> =
        outcomes.filter(|outcome| text(outcome, "check") == "proved-launch").collect();
    assert_eq!(found.len(), 1, "{}", report.table());
    found[0].clone()
}

fn reads(operation: &Operation) -> bool {
    ["Describe", "Get", "List"].iter().any(|verb| operation.name.starts_with(verb))
}

/// What is called besides reading.
fn not_reading(log: &[Logged]) -> BTreeSet<String> {
    log.iter()
        .filter(|logged| !reads(&logged.operation))
        .map(|logged| logged.operation.to_string())
        .collect()
}

#[test]
fn every_call_that_could_make_something_is_a_dry_run_as_the_controller() {
    let account = account();
    let server = ApiServer::giving_tokens(cluster(&account));
    let (ran, log) = run(&server, &account, Plan::default(), &["--prove"]);
    let mut expected = BTreeSet::from(LAUNCH.map(str::to_owned));
    for logged in log.iter().filter(|logged| logged.operation.service == "ec2") {
        let operation = &logged.operation;
        assert_eq!(logged.dry_run, !reads(operation), "{operation}");
        let own = logged.key.as_deref() == Some(account.access_key().as_str());
        assert_eq!(own, reads(operation), "{operation} is signed with {:?}", logged.key);
    }
    expected.insert("sts:AssumeRoleWithWebIdentity".to_owned());
    assert_eq!(not_reading(&log), expected);
    let asked: Vec<_> = server.log().into_iter().filter(|asked| asked.verb == "create").collect();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0].name.as_deref(), Some("karpenter"));
    let report = ran.report();
    let proved = only_of(&report);
    assert_eq!(proved["status"], "pass", "{proved:#}");
    assert_eq!(proved["subject"], "EC2NodeClass/default");
    let evidence = proved["evidence"].as_array().unwrap();
    assert!(evidence.iter().all(|one| one["value"] == "DryRunOperation"), "{proved:#}");
    let subnets = account.made["privateSubnets"].as_array().unwrap();
    assert_eq!(evidence.len(), 2 + subnets.len(), "{proved:#}");
    let said = ran.stderr.find("with DryRun=true").expect("it says what it will call");
    assert!(said < ran.stderr.find("sts:AssumeRoleWithWebIdentity ").unwrap_or(usize::MAX));
    for text in [&ran.stdout, &ran.stderr] {
        for secret in [TOKEN, "secret-token", "c2VjcmV0"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[test]
fn without_the_flag_nothing_but_reading() {
    let account = account();
    let server = ApiServer::giving_tokens(cluster(&account));
    let (ran, log) = run(&server, &account, Plan::default(), &[]);
    assert_eq!(not_reading(&log), BTreeSet::new());
    assert!(server.log().iter().all(|asked| asked.verb != "create"));
    assert_eq!(only_of(&ran.report())["status"], "skipped");
    assert!(!ran.stderr.contains("DryRun"), "{}", ran.stderr);
}

#[test]
fn the_role_is_assumed_where_it_lets_the_caller() {
    let account = account();
    let proxy = Proxy::start(Plan::default());
    let report = Tool::new(["check", "--cluster", CLUSTER, "--prove"])
        .aws(&account, &proxy.endpoint)
        .report();
    let proved = only_of(&report);
    assert_eq!(proved["status"], "pass", "{proved:#}");
    assert_eq!(proved["subject"], "karpenter.sh/discovery=demo");
    let mut expected = BTreeSet::from(LAUNCH.map(str::to_owned));
    expected.insert("sts:AssumeRole".to_owned());
    assert_eq!(not_reading(&proxy.log()), expected);
}

#[test]
fn what_refuses_a_launch_is_found_and_what_says_nothing_is_unknown() {
    let account = account();
    for (operation, fault, status, error) in [
        ("RunInstances", Fault::AccessDenied, "fail", Some("unauthorized-operation")),
        ("CreateFleet", Fault::AccessDenied, "fail", Some("unauthorized-operation")),
        ("RunInstances", Fault::Throttled, "unknown", None),
        ("RunInstances", Fault::ExpiredToken, "unknown", None),
        // An answer that is no error's, as if the flag were not kept to.
        ("CreateLaunchTemplate", Fault::Empty, "unknown", None),
    ] {
        let server = ApiServer::giving_tokens(cluster(&account));
        let at = At::One(Operation { service: "ec2".to_owned(), name: operation.to_owned() });
        let plan = Plan { fault: Some((at, fault)), ..Plan::default() };
        let (ran, _) = run(&server, &account, plan, &["--prove"]);
        let proved = only_of(&ran.report());
        assert_eq!(proved["status"], status, "{operation} {fault:?}: {proved:#}");
        let quoted = proved["errors"].as_array().and_then(|all| all.first().cloned());
        assert_eq!(quoted.map(|one| text(&one, "id")).as_deref(), error, "{proved:#}");
    }
}

#[test]
fn credentials_that_cannot_be_had_are_unknown_or_the_controllers_own_fault() {
    let account = account();
    let server = ApiServer::start(cluster(&account));
    let (ran, log) = run(&server, &account, Plan::default(), &["--prove"]);
    let proved = only_of(&ran.report());
    assert_eq!(proved["status"], "unknown", "{proved:#}");
    assert_eq!(proved["missing_action"], "create serviceaccounts/token (Kubernetes)");
    assert_eq!(not_reading(&log), BTreeSet::new());

    for (fault, status) in [(Fault::AccessDenied, "fail"), (Fault::Throttled, "unknown")] {
        let server = ApiServer::giving_tokens(cluster(&account));
        let name = "AssumeRoleWithWebIdentity".to_owned();
        let at = At::One(Operation { service: "sts".to_owned(), name });
        let plan = Plan { fault: Some((at, fault)), ..Plan::default() };
        let (ran, _) = run(&server, &account, plan, &["--prove"]);
        let proved = only_of(&ran.report());
        assert_eq!(proved["status"], status, "{fault:?}: {proved:#}");
        assert!(!ran.stdout.contains(TOKEN) && !ran.stderr.contains(TOKEN));
    }
}

/// The optional role allows exactly the request for a token of Karpenter's service account.
#[test]
fn the_published_role_allows_the_token_and_nothing_else() {
    let text = fs::read_to_string(emulator::root().join("deploy/rbac-prove.yaml")).unwrap();
    let role: Value = serde_saphyr::from_str(text.split("\n---\n").next().unwrap()).unwrap();
    assert_eq!(role["kind"], "Role");
    let rule = json!({"apiGroups": [""], "resources": ["serviceaccounts/token"],
        "resourceNames": ["karpenter"], "verbs": ["create"]});
    assert_eq!(role["rules"], json!([rule]));
}
