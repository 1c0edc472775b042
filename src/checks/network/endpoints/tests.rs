use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::{Outcome, Status},
};

const ALL: [&str; 8] = ["ec2", "ecr.api", "ecr.dkr", "s3", "eks-auth", "ssm", "eks", "sqs"];

fn endpoint(service: &str) -> Value {
    let kind = if service == "s3" { "Gateway" } else { "Interface" };
    let tables: &[&str] = if service == "s3" { &["rtb-02"] } else { &[] };
    json!({"id": format!("vpce-{service}"), "service": format!("com.amazonaws.us-west-2.{service}"),
           "kind": kind, "state": "available", "private_dns": kind == "Interface",
           "security_groups": ["sg-01"], "route_tables": tables})
}

fn endpoints(services: &[&str]) -> Vec<Value> {
    services.iter().map(|service| endpoint(service)).collect()
}

/// The account without a NAT gateway, with these endpoints.
fn isolated(endpoints: &[Value]) -> Value {
    json!({"facts": {"network": {
        "route_tables": {"known": [
            {"id": "rtb-02", "main": true, "routes": [{"destination": "10.0.0.0/16", "target": "local"}]}]},
        "endpoints": {"known": endpoints},
    }}})
}

fn with(patch: &Value, change: &Value) -> Value {
    let mut patch = patch.clone();
    json_patch::merge(&mut patch, change);
    patch
}

/// The statuses of the route table and of those endpoints that did not pass.
fn statuses(account: Account, patch: &Value) -> (Status, Vec<(Status, String)>) {
    let mut found = account.judge(&CHECK, patch);
    let table = found.remove(0);
    let rest: Vec<Outcome> = found.into_iter().filter(|one| one.status != Status::Pass).collect();
    (table.status, rest.into_iter().map(|one| (one.status, one.subject)).collect())
}

#[test]
fn isolated_subnets_need_every_service() {
    use Status::{Fail, Pass, Warn};
    let all = endpoints(&ALL);
    assert_eq!(statuses(Account::Karpenter, &json!({})), (Pass, vec![]));
    assert_eq!(statuses(Account::Karpenter, &isolated(&all)), (Pass, vec![]));
    assert_eq!(statuses(Account::Karpenter, &isolated(&[])), (Fail, vec![]));
    for service in ALL {
        let others: Vec<_> = ALL.into_iter().filter(|one| *one != service).collect();
        let (table, rest) = statuses(Account::Karpenter, &isolated(&endpoints(&others)));
        assert_eq!((table, rest), (Fail, vec![]), "without {service}");
        let mut pending = endpoints(&ALL);
        let at = ALL.iter().position(|one| *one == service).unwrap();
        pending[at]["state"] = json!("pendingAcceptance");
        assert_eq!(statuses(Account::Karpenter, &isolated(&pending)).0, Fail, "{service} pending");
        let mut aside = endpoints(&ALL);
        aside[at]["private_dns"] = json!(false);
        aside[at]["route_tables"] = json!([]);
        assert_eq!(statuses(Account::Karpenter, &isolated(&aside)).0, Fail, "{service} aside");
    }
    let elsewhere = with(
        &isolated(&[]),
        &json!({"facts": {"network": {"route_tables": {"known": [
        {"id": "rtb-02", "main": true, "routes": [{"destination": "10.0.0.0/8", "target": "tgw-01"}]}]}}}}),
    );
    assert_eq!(statuses(Account::Karpenter, &elsewhere).0, Warn);
}

#[test]
fn what_is_needed_depends_on_the_set_up() {
    use Status::{Fail, Pass};
    let base = endpoints(&["ec2", "ecr.api", "ecr.dkr", "s3", "ssm", "eks", "sqs"]);
    let of_roles = json!({"facts": {"pod_identity_associations": {"known": []}}});
    let with_sts: Vec<_> = base.iter().cloned().chain([endpoint("sts")]).collect();
    assert_eq!(statuses(Account::Karpenter, &with(&isolated(&with_sts), &of_roles)).0, Pass);
    assert_eq!(statuses(Account::Karpenter, &with(&isolated(&base), &of_roles)).0, Fail);
    let no_queue = json!({"facts": {"queues": {"demo": "absent"}}});
    let no_sqs = endpoints(&ALL[..7]);
    assert_eq!(statuses(Account::Karpenter, &with(&isolated(&no_sqs), &no_queue)).0, Pass);
    // An AMI by its id is not looked up.
    let terms = json!([{"tags": {"karpenter.sh/discovery": "demo"}}]);
    let by_id = json!({"facts": {"kubernetes": {"ec2_node_classes": {"known": [
        {"meta": {"name": "default"}, "ami_terms": [{"id": "ami-1"}], "subnet_terms": terms,
         "security_group_terms": terms}]}}}});
    let no_ssm: Vec<_> = ALL.into_iter().filter(|one| *one != "ssm").collect();
    let patch = with(&isolated(&endpoints(&no_ssm)), &by_id);
    assert_eq!(statuses(Account::KarpenterCluster, &patch).0, Pass);
    let images = endpoints(&["ecr.api", "ecr.dkr", "s3"]);
    assert_eq!(statuses(Account::AutoMode, &isolated(&images)).0, Pass);
    assert_eq!(statuses(Account::AutoMode, &isolated(&images[..2])).0, Fail);
}

/// The account with its NAT gateway and one endpoint behind a group with this ingress rule.
fn behind(rule: &Value) -> Value {
    let group = |id: &str, ingress: Value| {
        json!({"id": id, "name": id, "vpc_id": "vpc-01", "tags": {},
               "rules": {"ingress": ingress, "egress": []}})
    };
    let mut added = endpoint("ec2");
    added["security_groups"] = json!(["sg-09"]);
    let rules = if rule.is_null() { json!([]) } else { json!([rule]) };
    json!({"facts": {
        "vpc_security_groups": {"known": [group("sg-01", json!([])), group("sg-09", rules)]},
        "network": {"endpoints": {"known": [added]}},
    }})
}

fn https(cidrs: &[&str], groups: &[&str]) -> Value {
    json!({"protocol": "tcp", "from_port": 443, "to_port": 443, "cidrs": cidrs, "groups": groups})
}

#[test]
fn endpoints_must_let_the_nodes_in() {
    use Status::{Fail, Pass, Unknown, Warn};
    let mut list = https(&[], &[]);
    list["prefix_lists"] = json!(["pl-1"]);
    let mut port = https(&["10.0.0.0/16"], &[]);
    port["from_port"] = json!(80);
    port["to_port"] = json!(80);
    let mut aside = behind(&Value::Null);
    aside["facts"]["network"]["endpoints"]["known"][0]["private_dns"] = json!(false);
    let mut other = behind(&Value::Null);
    other["facts"]["network"]["endpoints"]["known"][0]["service"] =
        json!("com.amazonaws.us-west-2.secretsmanager");
    let second = |patch: &Value| {
        let pods = json!({"id": "subnet-21", "arn": null, "vpc_id": "vpc-01", "zone": "us-west-2a",
            "zone_id": null, "cidr": "100.64.0.0/18", "free_addresses": 9, "owner": null, "tags": {}});
        with(
            patch,
            &json!({"facts": {
                "vpc_subnets": {"known": [pods]},
                "network": {"vpc": {"known": {"cidrs": ["10.0.0.0/16", "100.64.0.0/16"]}}},
            }}),
        )
    };
    let (table, vpce) = ("rtb-02", "vpce-ec2");
    let both = |status| [(Pass, table), (status, vpce)];
    let ok = https(&["10.0.0.0/16"], &[]);
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("the VPC", behind(&ok), &both(Pass)),
            ("the nodes' group", behind(&https(&[], &["sg-01"])), &both(Pass)),
            ("another group", behind(&https(&[], &["sg-08"])), &both(Fail)),
            ("one subnet of three", behind(&https(&["10.0.16.0/20"], &[])), &both(Fail)),
            ("nobody", behind(&Value::Null), &both(Fail)),
            ("another port", behind(&port), &both(Fail)),
            ("a prefix list", behind(&list), &both(Unknown)),
            ("without private DNS", aside, &[(Pass, table)]),
            ("of a service that is not called", other, &[(Pass, table)]),
            ("not the second block", second(&behind(&ok)), &both(Warn)),
            ("groups, and a second block", second(&behind(&https(&[], &["sg-01"]))), &both(Pass)),
            (
                "endpoints unread",
                json!({"facts": {"network": {"endpoints": {"denied": {"action": ENDPOINTS, "message": "no"}}}}}),
                &[(Unknown, "demo")],
            ),
        ],
    );
}

#[test]
fn the_remedy_creates_what_is_missing() {
    let mut some = endpoints(&ALL[..4]);
    some[0]["private_dns"] = json!(false);
    let found = Account::Karpenter.judge(&CHECK, &isolated(&some)).remove(0);
    let commands = serde_json::to_string(&found.remedy.expect("it is mended").steps).unwrap();
    for command in [
        "authorize-security-group-ingress --region us-west-2 --group-id sg-01 --protocol tcp --port 443 --cidr 10.0.0.0/16",
        "modify-vpc-endpoint --region us-west-2 --vpc-endpoint-id vpce-ec2 --private-dns-enabled",
        "create-vpc-endpoint --region us-west-2 --vpc-id vpc-01 --service-name com.amazonaws.us-west-2.ssm --vpc-endpoint-type Interface --subnet-ids subnet-01 subnet-02 subnet-03 --security-group-ids sg-01 --private-dns-enabled",
    ] {
        assert!(commands.contains(command), "{command}\n{commands}");
    }
    assert!(!commands.contains("us-west-2.ecr"), "{commands}");
}
