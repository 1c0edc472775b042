use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::Status,
};

/// The account with one subnet for nodes, whose default route leads there.
fn routed(target: &str) -> Value {
    let subnet = json!({"id": "subnet-01", "arn": null, "vpc_id": "vpc-01", "zone": "us-west-2a",
        "zone_id": null, "cidr": "10.0.16.0/20", "free_addresses": 4000, "owner": null, "tags": {}});
    let blackhole = target.ends_with("gone");
    let route = json!({"destination": "0.0.0.0/0", "target": target, "blackhole": blackhole});
    let routes = if target.is_empty() { json!([]) } else { json!([route]) };
    json!({"facts": {
        "discovered_subnets": {"known": [subnet]},
        "network": {"route_tables": {"known": [
            {"id": "rtb-02", "subnets": ["subnet-01"], "routes": routes},
            {"id": "rtb-03", "subnets": ["subnet-11"],
             "routes": [{"destination": "0.0.0.0/0", "target": "igw-01"}]},
        ]}},
    }})
}

fn nat(mut patch: Value, change: &Value) -> Value {
    let mut nat = json!({"id": "nat-01", "subnet_id": "subnet-11", "state": "available",
        "public": true, "public_ips": ["192.0.2.10"]});
    json_patch::merge(&mut nat, change);
    patch["facts"]["network"]["nat_gateways"] = json!({"known": [nat]});
    patch
}

fn public_addresses(mut patch: Value) -> Value {
    patch["facts"]["discovered_subnets"]["known"][0]["public_addresses"] = json!(true);
    patch
}

const ONE: &str = "subnet-01";

#[test]
fn rows() {
    use Status::{Fail, Pass, Skipped, Unknown};
    let through = |change: &Value| nat(routed("nat-01"), change);
    let mut main = routed("nat-01");
    main["facts"]["network"]["route_tables"]["known"][0] =
        json!({"id": "rtb-01", "main": true, "routes": []});
    let mut none = routed("nat-01");
    none["facts"]["network"]["route_tables"] = json!({"known": []});
    let denied = |action: &str| json!({"denied": {"action": action, "message": "no"}});
    let mut no_nats = routed("nat-01");
    no_nats["facts"]["network"]["nat_gateways"] = denied(NATS);
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            (
                "as eksctl makes it",
                json!({}),
                &[(Pass, ONE), (Pass, "subnet-02"), (Pass, "subnet-03")],
            ),
            ("NAT", routed("nat-01"), &[(Pass, ONE)]),
            ("NAT that comes", through(&json!({"state": "pending"})), &[(Pass, ONE)]),
            ("NAT that failed", through(&json!({"state": "failed"})), &[(Fail, ONE)]),
            ("NAT that goes", through(&json!({"state": "deleting"})), &[(Fail, ONE)]),
            ("NAT in the nodes' subnet", through(&json!({"subnet_id": ONE})), &[(Fail, ONE)]),
            ("private NAT", through(&json!({"public": false})), &[(Pass, ONE)]),
            ("NAT of before", nat(routed("nat-02"), &json!({})), &[(Fail, ONE)]),
            ("gone", routed("nat-gone"), &[(Fail, ONE)]),
            ("transit gateway", routed("tgw-01"), &[(Pass, ONE)]),
            ("NAT instance", routed("eni-01"), &[(Pass, ONE)]),
            ("public", public_addresses(routed("igw-01")), &[(Pass, ONE)]),
            ("public without addresses", routed("igw-01"), &[(Fail, ONE)]),
            ("the main table without a route", main, &[(Skipped, ONE)]),
            ("no route", routed(""), &[(Skipped, ONE)]),
            ("no table", none, &[(Unknown, ONE)]),
            ("NAT gateways unread", no_nats, &[(Unknown, ONE)]),
        ],
    );
}

#[test]
fn a_node_class_may_ask_for_public_addresses() {
    let asks = |asks: &Value| {
        let mut patch = routed("igw-01");
        let terms = json!([{"tags": {"karpenter.sh/discovery": "demo"}}]);
        let class = json!({"meta": {"name": "default"}, "associate_public_ip": asks,
            "subnet_terms": terms});
        patch["facts"]["kubernetes"] = json!({"ec2_node_classes": {"known": [class]}});
        patch
    };
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("it does", asks(&json!(true)), &[(Status::Pass, ONE)]),
            ("it refuses", asks(&json!(false)), &[(Status::Fail, ONE)]),
            ("it says nothing", asks(&Value::Null), &[(Status::Fail, ONE)]),
        ],
    );
}

#[test]
fn the_nodes_of_auto_mode_are_in_the_clusters_subnets() {
    use Status::{Fail, Pass};
    let all = |status| [(status, ONE), (status, "subnet-02"), (status, "subnet-03")];
    let mut public = routed("igw-01");
    public["facts"]["network"]["route_tables"]["known"][0]["main"] = json!(true);
    public["facts"].as_object_mut().unwrap().remove("discovered_subnets");
    assert_rows(
        Account::AutoMode,
        &CHECK,
        &[("as it is", json!({}), &all(Pass)), ("public without addresses", public, &all(Fail))],
    );
}

#[test]
fn a_new_route_leads_to_a_gateway_that_works() {
    for (target, command) in [
        (
            "nat-gone",
            "--route-table-id rtb-02 --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-01",
        ),
        ("igw-01", "--subnet-id subnet-01 --map-public-ip-on-launch"),
    ] {
        let found = Account::Karpenter.judge(&CHECK, &routed(target)).remove(0);
        let steps = serde_json::to_string(&found.remedy.expect("it is mended").steps).unwrap();
        assert!(steps.contains(command), "{steps}");
    }
}
