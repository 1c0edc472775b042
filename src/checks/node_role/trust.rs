//! EC2 may give instances the node role.

use super::each;
use crate::{
    checks::{
        Area, Check, Context, Stop, Verdicts,
        trust::{Assumption, culprit, read},
    },
    facts::{arn, iam::Role},
    outcome::Finding,
    target::{NodeRole, Product},
};

const ACTIONS: &[&str] = &["sts:AssumeRole"];

pub static CHECK: Check = Check {
    id: "node-role-trust",
    title: "EC2 may give instances the node role",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["node-not-registered"],
    needs: &[
        "iam:GetRole",
        "iam:ListInstanceProfiles",
        "eks:DescribeCluster",
        "eks:ListAccessEntries",
        "eks:DescribeAccessEntry",
    ],
    doc: "\
## What
The trust policy of each node role lets EC2 call `sts:AssumeRole`: `ec2.amazonaws.com`, in the
China regions that or `ec2.amazonaws.com.cn`, and likewise where a partition has another suffix.

## Why
EC2 assumes the role of an instance's profile and hands the credentials to the instance. If it may
not, the instance starts all the same, without credentials: it can neither find its cluster nor
prove to it who it is.

## Seen as
NodeClaims that say `Node not registered with cluster` and are replaced after 15 minutes.

## Fix
Let EC2 in: `aws iam update-assume-role-policy --role-name <role> --policy-document
file://trust.json`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    Ok(each(cx, |role| judge(cx, role)))
}

fn judge(cx: &Context<'_>, node_role: &NodeRole) -> Result<Finding, Stop> {
    let role = super::existing(cx, node_role)?;
    let own = ec2(cx, role, arn::ec2_principal(cx.target.partition));
    let mut refused = own.refused();
    for service in also_ec2(cx.target.partition) {
        let by_other = ec2(cx, role, service).refused();
        if !allowed(&refused) && (allowed(&by_other) || by_other.is_err()) {
            refused = by_other;
        }
    }
    let refused = refused?;
    let Some(refused) = refused.first() else {
        return Ok(Finding::pass(format!("EC2 may assume {}", role.name)));
    };
    let (api, path) = read(&refused.decision);
    Ok(Finding::fail(
        format!(
            "{} does not let {} call sts:AssumeRole.",
            culprit(role, refused.by_organization()),
            own.service
        ),
        "Instances start without credentials, never register as nodes, and are replaced after 15 \
         minutes, again and again.",
    )
    .errors(&["node-not-registered"])
    .evidence(api, path, refused.decision.to_string())
    .mend(own.mend()))
}

/// Further names of EC2 in a partition; where it has a DNS suffix of its own, guides trust
/// `ec2.<suffix>` and `ec2.amazonaws.com` alike
/// (<https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html>; suffixes: the AWS
/// SDKs' partition list).
fn also_ec2(partition: &str) -> &'static [&'static str] {
    match partition {
        "aws-cn" => &["ec2.amazonaws.com"],
        "aws-iso" => &["ec2.c2s.ic.gov"],
        "aws-iso-b" => &["ec2.sc2s.sgov.gov"],
        "aws-iso-e" => &["ec2.cloud.adc-e.uk"],
        "aws-iso-f" => &["ec2.csp.hci.ic.gov"],
        "aws-eusc" => &["ec2.amazonaws.eu"],
        _ => &[],
    }
}

fn ec2<'a>(cx: &Context<'a>, role: &'a Role, service: &'a str) -> Assumption<'a> {
    Assumption { role, organization: &cx.facts.organization, service, actions: ACTIONS, sent: &[] }
}

fn allowed<T>(refused: &Result<Vec<T>, Stop>) -> bool {
    refused.as_ref().is_ok_and(Vec::is_empty)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const ROLE: &str = "KarpenterNodeRole-demo";

    fn trusts(service: &str, condition: &Value, rest: &Value) -> Value {
        let trust = json!({"Version": "2012-10-17", "Statement": {
            "Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole",
            "Condition": condition}});
        let mut patch =
            json!({"facts": {"roles": {ROLE: {"known": {"trust": trust.to_string()}}}}});
        json_patch::merge(&mut patch, rest);
        patch
    }

    #[test]
    fn rows() {
        let denied = json!({"denied": {"action": "iam:GetRole", "message": "not authorized"}});
        let none = json!({});
        let china = json!({"scope": {"region": "cn-north-1"}});
        let organisation = json!({"StringEquals": {"aws:SourceOrgID": "o-1"}});
        let pass: &[(Status, &str)] = &[(Status::Pass, ROLE)];
        let fail: &[(Status, &str)] = &[(Status::Fail, ROLE)];
        let unknown: &[(Status, &str)] = &[(Status::Unknown, ROLE)];
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("EC2", none.clone(), pass),
                ("EKS", trusts("eks.amazonaws.com", &none, &none), fail),
                ("EC2 in China, elsewhere", trusts("ec2.amazonaws.com.cn", &none, &none), fail),
                ("EC2 in China", trusts("ec2.amazonaws.com.cn", &none, &china), pass),
                ("EC2 in China, plain name", trusts("ec2.amazonaws.com", &none, &china), pass),
                ("neither in China", trusts("eks.amazonaws.com", &none, &china), fail),
                (
                    "EC2 under a suffix of its own",
                    trusts("ec2.c2s.ic.gov", &none, &json!({"scope": {"region": "us-iso-east-1"}})),
                    pass,
                ),
                ("perhaps", trusts("ec2.amazonaws.com", &organisation, &none), unknown),
                ("perhaps in China", trusts("ec2.amazonaws.com", &organisation, &china), unknown),
                ("not readable", json!({"facts": {"roles": {ROLE: denied}}}), unknown),
                (
                    "one there, one missing",
                    json!({"scope": {"node_roles": [ROLE, "other"]}, "facts": {"roles": {"other": "absent"}}}),
                    &[(Status::Pass, ROLE), (Status::Skipped, "other")],
                ),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[("EC2", json!({}), &[(Status::Pass, "demo-auto-node")])],
        );
    }
}
