use super::{manner::Manner, *};
use crate::{
    outcome::{Outcome, Remedy},
    report::sample::{report, written},
};

const ENDPOINT: &str = "https://EXAMPLE.gr7.us-west-2.eks.amazonaws.com";

fn finding(status: Status, remedy: Remedy) -> Outcome {
    Outcome {
        check: "some-check".to_owned(),
        status,
        subject: "it's one".to_owned(),
        resource: None,
        seen: "Something is wrong.".to_owned(),
        effect: String::new(),
        errors: Vec::new(),
        evidence: Vec::new(),
        remedy: Some(remedy),
        missing_action: None,
        docs: String::new(),
        judged: None,
        waiver: None,
    }
}

fn script(outcomes: Vec<Outcome>) -> String {
    let mut report = report("problems");
    report.outcomes = outcomes;
    report.target.endpoint = Some(ENDPOINT.to_owned());
    written(|out| write(&report, "karpenter-preflight check --no-kube", out))
}

/// What comes after the functions.
fn body(outcomes: Vec<Outcome>) -> String {
    script(outcomes).split_once("export AWS_PAGER").map(|(_, body)| body.to_owned()).unwrap()
}

#[test]
fn nothing_is_said_twice_and_nothing_removed_unasked() {
    let remedy = || {
        Remedy::new("Make it anew.")
            .document("x.json", &serde_json::json!({"a": 1}))
            .run("aws iam delete-role --role-name x")
            .run("aws iam create-role --role-name x --assume-role-policy-document file://x.json")
    };
    let body = body(vec![finding(Status::Fail, remedy()), finding(Status::Warn, remedy())]);
    let confirm = body.find("if confirm 'Finding 1 runs aws iam delete-role. Go on?'; then");
    let delete = body.find("    remove aws iam delete-role --role-name x\n");
    let create = body.find("    create aws iam create-role --role-name x ");
    assert!(confirm.is_some() && confirm < delete && delete < create, "{body}");
    assert_eq!(body.matches("delete-role --role-name").count(), 1, "{body}");
    assert_eq!(body.matches("cat > x.json <<'EOF'").count(), 1, "{body}");
    assert!(body.contains("# There is nothing more to run for it here."), "{body}");
}

#[test]
fn a_command_does_what_its_worst_part_does() {
    for (command, manner) in [
        ("kubectl get nodes | grep x", Manner::Look),
        ("kubectl get nodes | kubectl delete nodes", Manner::Replace),
        ("kubectl set image deployment x | kubectl delete -f -", Manner::Replace),
        // A quote and a backtick in a name are neither the end of it nor a command.
        (r"aws eks describe-cluster --name 'a'\''`b'", Manner::Look),
        ("aws eks describe-cluster --name `kubectl delete node x`", Manner::Replace),
    ] {
        assert_eq!(Manner::of(command), manner, "{command}");
    }
}

#[test]
fn no_step_undoes_an_earlier_one() {
    let remedy = |value: u8| {
        Remedy::new("Set it.").document("x.json", &serde_json::json!({"a": value})).run(
            "aws iam put-role-policy --role-name x --policy-name y --policy-document file://x.json",
        )
    };
    let body = body(vec![finding(Status::Fail, remedy(1)), finding(Status::Fail, remedy(2))]);
    assert_eq!(body.matches("    aws iam put-role-policy").count(), 1, "{body}");
    assert!(body.contains("this one would undo it"), "{body}");
}

#[test]
fn what_only_looks_is_not_run() {
    let remedy = Remedy::new("Look.").run("kubectl get nodes").run("aws eks list-clusters");
    let body = body(vec![finding(Status::Fail, remedy)]);
    let run: Vec<_> = body.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(!run.iter().any(|line| line.contains("kubectl") || line.contains("eks")), "{body}");
    assert!(body.contains("#     kubectl get nodes"), "{body}");
}

#[test]
fn it_works_in_one_account_and_cluster_only() {
    let remedy = Remedy::new("Set it.").run("kubectl set env deployment/karpenter A=b");
    let script = script(vec![finding(Status::Fail, remedy)]);
    let account = script.find("\nin_account 111122223333\n");
    let cluster = script.find(&format!("\nin_cluster {ENDPOINT}\n"));
    let first = script.find("\nif can_use kubectl; then\n    kubectl set env");
    assert!(account.is_some() && account < cluster && cluster < first, "{script}");
}

#[test]
fn blanks_stop_it_before_anything_is_done() {
    let remedy = Remedy::new("Move.").run("aws eks update-x --ids FILL_IN_SUBNET_IDS");
    let script = script(vec![finding(Status::Warn, remedy)]);
    let blank = script.find("\nFILL_IN_SUBNET_IDS=''\n");
    let check = script.find("\nfilled_in FILL_IN_SUBNET_IDS \"$FILL_IN_SUBNET_IDS\"\n");
    let used = script.find("\naws eks update-x --ids \"$FILL_IN_SUBNET_IDS\"\n");
    assert!(blank.is_some() && blank < check && check < used, "{script}");
}

#[test]
fn hostile_names_stay_in_comments() {
    let mut hostile = finding(Status::Fail, Remedy::new("x\nrm -rf /").run("aws iam a 'b\nc'"));
    hostile.subject = "x\n$(rm -rf /)'".to_owned();
    let body = body(vec![hostile]);
    let bad = |line: &&str| !line.starts_with('#') && line.contains("rm -rf /");
    assert!(!body.lines().any(|line| bad(&line)), "{body}");
}

#[test]
fn a_document_is_written_once_and_a_new_policy_asks_nobody() {
    let remedy = |name: &str| {
        Remedy::new("Put it.").document("x.json", &serde_json::json!({"a": 1})).run(format!(
            "aws iam put-role-policy --role-name r --policy-name {name} --policy-document file://x.json"
        ))
    };
    let body = body(vec![finding(Status::Fail, remedy("a")), finding(Status::Fail, remedy("b"))]);
    assert_eq!(body.matches("cat > x.json").count(), 1, "{body}");
    let guard = "\nif is_new aws iam get-role-policy --role-name r --policy-name b || confirm \
                 'Finding 2 replaces the policy --role-name r --policy-name b. Go on?'; then\n    aws";
    assert!(body.contains(guard), "{body}");
    assert!(!body.contains("CONFIRM"), "{body}");
}

#[test]
fn kubectl_is_needed_by_its_own_steps_only() {
    let remedy = Remedy::new("Set it.").run("aws ec2 modify-x").run("kubectl set env a B=c");
    let script = script(vec![finding(Status::Warn, remedy)]);
    assert!(!script.contains("needs kubectl"), "{script}");
    assert!(script.contains("\naws ec2 modify-x\nif can_use kubectl; then\n"), "{script}");
    assert!(script.ends_with("echo 'karpenter-preflight check --no-kube'\n"), "{script}");
}

#[test]
fn without_findings_there_is_nothing_to_do() {
    let script = script(Vec::new());
    assert!(script.ends_with("\necho 'There is nothing to mend.'\n"), "{script}");
    assert!(!script.contains("aws"), "{script}");
}
