//! Auto Mode's requests, held against statements that have the conditions of AWS's managed
//! policies: the core ones are allowed, tags of one's own are not.

use serde_json::{Value, json};

use super::request::Request;
use super::setup::Setup;
use crate::iam::{NamedPolicy, Policy, PolicySet, Principal};

/// Conditions as in AmazonEKSComputePolicy and its siblings (read 2026-08-21); a stand-in, as
/// AWS revises them. <https://docs.aws.amazon.com/aws-managed-policy/latest/reference/>
fn managed() -> Vec<Value> {
    let cluster = "${aws:PrincipalTag/eks:eks-cluster-name}";
    let tag = "aws:RequestTag/eks:eks-cluster-name";
    let owned = json!({ "StringEquals": { "aws:ResourceTag/eks:eks-cluster-name": cluster } });
    let sends = |keys: Value, liked: &[&str]| {
        let mut condition = json!({
            "StringEquals": { tag: cluster },
            "ForAllValues:StringLike": { "aws:TagKeys": keys }
        });
        for key in liked {
            condition["StringLike"][format!("aws:RequestTag/{key}")] = json!("*");
        }
        condition
    };
    let compute = [
        "eks:eks-cluster-name",
        "eks:kubernetes-node-class-name",
        "eks:kubernetes-node-pool-name",
        "kubernetes.io/cluster/*",
    ];
    let cni = ["eks:eks-cluster-name", "eks:kubernetes-cni-node-name"];
    let launch = json!(["ec2:CreateFleet", "ec2:RunInstances"]);
    let given = |kinds: &[&str]| -> Value {
        kinds.iter().map(|kind| json!(format!("arn:aws:ec2:*:*:{kind}/*"))).collect()
    };
    let made =
        json!(["CreateFleet", "RunInstances", "CreateLaunchTemplate", "CreateNetworkInterface"]);
    let spot = "arn:aws:iam::*:role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot";
    [
        (launch.clone(), given(&["image", "security-group", "subnet"]), json!({})),
        (launch, given(&["launch-template"]), owned.clone()),
        (json!(["ec2:CreateFleet", "ec2:RunInstances", "ec2:CreateLaunchTemplate"]), json!("*"),
            sends(json!(compute), &compute[1..3])),
        (json!("ec2:CreateTags"), json!("*"), json!({ "StringEquals": { "ec2:CreateAction": made } })),
        (json!("iam:AddRoleToInstanceProfile"), json!("arn:aws:iam::*:instance-profile/eks*"), json!({})),
        (json!("iam:PassRole"), json!("*"), json!({ "StringEquals": { "iam:PassedToService":
            ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"] } })),
        (json!("iam:CreateServiceLinkedRole"), json!(spot),
            json!({ "StringEquals": { "iam:AWSServiceName": "spot.amazonaws.com" } })),
        (json!("ec2:CreateNetworkInterface"), json!("*"), sends(json!(cni), &cni[1..])),
        (json!("ec2:CreateNetworkInterface"), given(&["security-group", "subnet"]), json!({})),
        (json!("ec2:CreateVolume"), given(&["volume"]),
            sends(json!(["eks:eks-cluster-name", "CSIVolumeName", "Name"]), &[])),
        (json!("ec2:AttachVolume"), given(&["volume", "instance"]), owned),
        (json!(["elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateTargetGroup"]),
            json!("*"), sends(json!(["eks:eks-cluster-name"]), &[])),
    ]
    .into_iter()
    .map(|(actions, resources, condition)| {
        json!({ "Effect": "Allow", "Action": actions, "Resource": resources, "Condition": condition })
    })
    .collect()
}

fn set(statements: Vec<Value>) -> PolicySet {
    let text = json!({ "Version": "2012-10-17", "Statement": statements }).to_string();
    let identity = vec![NamedPolicy::new("cluster role", Policy::parse(&text).unwrap())];
    PolicySet { identity, ..PolicySet::default() }
}

fn requests() -> Vec<Request> {
    super::auto_mode(&Setup::new("aws", "eu-west-1", "111122223333", "prod").with_every_feature())
}

fn allowed(set: &PolicySet, request: &Request) -> bool {
    let role = Principal::aws("arn:aws:iam::111122223333:role/cluster").unwrap();
    set.decide(&request.by(role)).is_allowed()
}

#[test]
fn the_managed_policies_allow_the_core_and_refuse_tags_of_ones_own() {
    let set = set(managed());
    for request in requests() {
        let custom = request.id.starts_with("custom-tags-");
        assert_eq!(allowed(&set, &request), !custom, "{}", request.id);
    }
}

/// A circulating copy of the tag policy has the star under StringEquals, where it is a letter.
#[test]
fn a_star_under_string_equals_allows_nothing() {
    let requests = requests();
    let tagged = requests.iter().find(|r| r.id == "custom-tags-create-network-interface").unwrap();
    for (operator, expected) in [("StringLike", true), ("StringEquals", false)] {
        let set = set(vec![json!({
            "Effect": "Allow", "Action": "ec2:CreateNetworkInterface", "Resource": "*",
            "Condition": { operator: { "aws:RequestTag/eks:kubernetes-cni-node-name": "*" } }
        })]);
        assert_eq!(allowed(&set, tagged), expected, "{operator}");
    }
}
