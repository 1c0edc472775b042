//! The evaluator on whole controller policies: what is allowed, and how a refusal reads among
//! many statements that might have been meant.

use serde_json::Value;

use super::*;

const CONTROLLER: &str = "arn:aws:iam::111122223333:role/KarpenterControllerRole-prod";

fn set(text: &str) -> PolicySet {
    let policy = Policy::parse_as(PolicyKind::Identity, text).unwrap();
    PolicySet { identity: vec![NamedPolicy::new("P", policy)], ..PolicySet::default() }
}

fn new() -> PolicySet {
    set(include_str!("../../tests/data/iam/controller-new.json"))
}

fn old() -> PolicySet {
    set(include_str!("../../tests/data/iam/controller-old.json"))
}

fn auto_mode() -> PolicySet {
    set(include_str!("../../tests/data/iam/auto-mode.json"))
}

/// The request of `tests/data/iam/requests.jsonl` for this action on this type of resource.
fn ask(action: &str, kind: &str) -> Request {
    let rows = include_str!("../../tests/data/iam/requests.jsonl");
    let rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let row = rows
        .into_iter()
        .find(|row| text(row, "action") == action && text(row, "resource").contains(kind))
        .unwrap_or_else(|| panic!("no request {action} on {kind}"));
    let principal = Principal::aws(CONTROLLER).unwrap();
    let mut request = Request::new(principal, action, &text(&row, "resource"));
    for (key, value) in row["context"].as_object().unwrap() {
        request = match value {
            Value::String(one) => request.with(key, one.as_str()),
            many => request.with(key, serde_json::from_value::<Vec<String>>(many.clone()).unwrap()),
        };
    }
    request
}

#[test]
fn what_the_policy_is_for_is_allowed() {
    let rows = [
        ("ec2:RunInstances", ":instance/", "AllowScopedEC2InstanceActionsWithTags"),
        ("ec2:RunInstances", ":image/", "AllowScopedEC2InstanceAccessActions"),
        ("ec2:RunInstances", ":launch-template/", "AllowScopedEC2LaunchTemplateAccessActions"),
        ("ec2:RunInstances", ":spot-instances-request/", "AllowScopedEC2InstanceActionsWithTags"),
        ("ec2:CreateFleet", ":fleet/", "AllowScopedEC2InstanceActionsWithTags"),
        ("ec2:CreateLaunchTemplate", ":launch-template/", "AllowScopedEC2InstanceActionsWithTags"),
        ("ec2:CreateTags", ":volume/", "AllowScopedResourceCreationTagging"),
        ("ec2:TerminateInstances", ":instance/", "AllowScopedDeletion"),
        ("ec2:DescribeImages", "*", "AllowRegionalReadActions"),
        ("iam:PassRole", ":role/", "AllowPassingInstanceRole"),
        ("iam:ListInstanceProfiles", "*", "AllowUnscopedInstanceProfileListAction"),
        ("sqs:ReceiveMessage", ":prod", "AllowInterruptionQueueActions"),
        ("ssm:GetParameter", ":parameter/", "AllowSSMReadActions"),
        ("eks:DescribeCluster", ":cluster/", "AllowAPIServerEndpointDiscovery"),
    ];
    for (action, kind, sid) in rows {
        let decision = new().decide(&ask(action, kind).unknown_globals());
        assert_eq!(decision.to_string(), format!("allowed by statement {sid} of policy P"));
    }
}

#[test]
fn refusals_name_the_statement_that_was_meant() {
    let cluster = "aws:RequestTag/kubernetes.io/cluster/prod";
    let eks = "aws:RequestTag/eks:eks-cluster-name";
    let pool = "aws:RequestTag/karpenter.sh/nodepool";
    let instance = ":instance/";
    let rows = [
        (
            new(),
            ask("ec2:RunInstances", instance).with(eks, Entry::Absent),
            "statement AllowScopedEC2InstanceActionsWithTags of policy P wants \
             aws:RequestTag/eks:eks-cluster-name to be prod, but it is not sent",
        ),
        (
            new(),
            ask("ec2:CreateFleet", ":fleet/").with(cluster, "shared").with(pool, Entry::Absent),
            "statement AllowScopedEC2InstanceActionsWithTags of policy P wants \
             aws:RequestTag/kubernetes.io/cluster/prod to be owned, but shared is sent; it also \
             wants aws:RequestTag/karpenter.sh/nodepool to be like *, but it is not sent",
        ),
        (
            old(),
            ask("ec2:RunInstances", ":placement-group/"),
            "statement AllowScopedEC2InstanceAccessActions of policy P covers only the resources \
             arn:aws:ec2:eu-west-1::image/*, arn:aws:ec2:eu-west-1::snapshot/*, \
             arn:aws:ec2:eu-west-1:*:security-group/* and arn:aws:ec2:eu-west-1:*:subnet/*, but \
             arn:aws:ec2:eu-west-1:111122223333:placement-group/group is meant",
        ),
        (
            new(),
            ask("ec2:TerminateInstances", instance)
                .with("aws:ResourceTag/kubernetes.io/cluster/prod", Entry::Absent),
            "statement AllowScopedDeletion of policy P wants \
             aws:ResourceTag/kubernetes.io/cluster/prod to be owned, but it is not sent",
        ),
        (
            // Of two statements about tags, the one for tags after the start was meant.
            new(),
            ask("ec2:CreateTags", instance)
                .with("ec2:CreateAction", Entry::Absent)
                .with(cluster, Entry::Absent)
                .with(pool, Entry::Absent)
                .with("aws:ResourceTag/kubernetes.io/cluster/prod", "owned")
                .with("aws:ResourceTag/karpenter.sh/nodepool", "default")
                .with("aws:TagKeys", ["Name", "team"]),
            "statement AllowScopedResourceTagging of policy P wants every value of aws:TagKeys \
             to be eks:eks-cluster-name, karpenter.sh/nodeclaim or Name, but team is sent",
        ),
        (
            old(),
            ask("iam:PassRole", ":role/").with("iam:PassedToService", "ec2.amazonaws.com.cn"),
            "statement AllowPassingInstanceRole of policy P wants iam:PassedToService to be \
             ec2.amazonaws.com, but ec2.amazonaws.com.cn is sent",
        ),
        (
            new(),
            ask("ec2:DescribeInstanceStatus", "*"),
            "statement AllowRegionalReadActions of policy P does not list \
             ec2:DescribeInstanceStatus",
        ),
        (
            old(),
            ask("iam:ListInstanceProfiles", "*"),
            "statement AllowInstanceProfileReadActions of policy P does not list \
             iam:ListInstanceProfiles",
        ),
        (
            auto_mode(),
            ask("ec2:CreateLaunchTemplate", ":launch-template/")
                .with(eks, "prod")
                .with("aws:RequestTag/eks:kubernetes-node-pool-name", "default")
                .with("aws:TagKeys", ["eks:eks-cluster-name", "team"]),
            "statement Create of policy P wants every value of aws:TagKeys to be like \
             eks:eks-cluster-name, eks:kubernetes-node-pool-name or kubernetes.io/cluster/*, but \
             team is sent",
        ),
        (
            auto_mode(),
            ask("ec2:CreateFleet", ":launch-template/")
                .with("aws:PrincipalTag/eks:eks-cluster-name", Entry::Absent),
            "statement Templates of policy P wants aws:ResourceTag/eks:eks-cluster-name to be \
             ${aws:PrincipalTag/eks:eks-cluster-name}, but aws:PrincipalTag/eks:eks-cluster-name \
             has no value",
        ),
    ];
    for (set, request, want) in rows {
        assert_eq!(set.decide(&request).to_string(), want);
    }
}
