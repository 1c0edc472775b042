//! EKS may act as the cluster's role.

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts, remedies,
        trust::{Assumption, Refused, culprit, read},
    },
    facts::{arn, eks::Cluster, iam::Role},
    outcome::{Finding, Remedy},
    target::Product,
};

/// The same in every partition.
const EKS: &str = "eks.amazonaws.com";

pub static CHECK: Check = Check {
    id: "cluster-role-trust",
    title: "EKS may act as the cluster's role",
    area: Area::Controller,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["instance-profile-creation-failed"],
    needs: &["eks:DescribeCluster", "iam:GetRole"],
    doc: "\
## What
The trust policy of the cluster's role lets `eks.amazonaws.com` call `sts:AssumeRole`, and with
EKS Auto Mode `sts:TagSession` too.

## Why
What Auto Mode launches, it launches as this role. The AWS-managed policies of Auto Mode allow
only a session that carries the tag `eks:eks-cluster-name`, and without `sts:TagSession` there is
no such session. A cluster made before Auto Mode has a role without it, and the role of a
cluster cannot be changed for another.

## Seen as
NodeClass condition `InstanceProfileReady` false, reason `InstanceProfileCreationFailed`.

## Fix
Add the action to the trust policy: `aws iam update-assume-role-policy --role-name <role>
--policy-document file://trust.json`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let cluster = cx.cluster()?;
    let name = arn::role_name(&cluster.role_arn);
    let judge = || match cx.role(name)? {
        Some(role) => judge(cx, cluster, role),
        None => Ok(gone(cx, cluster, name)),
    };
    Ok(vec![Judged::new(name, judge).of_role(name)])
}

fn judge(cx: &Context<'_>, cluster: &Cluster, role: &Role) -> Result<Finding, Stop> {
    // EKS sends both keys (EKS user guide, cross-service confused deputy prevention).
    let account = arn::account(&cluster.arn).unwrap_or_default();
    let sent = [("aws:SourceArn", cluster.arn.as_str()), ("aws:SourceAccount", account)];
    let organization = &cx.facts.organization;
    let assumption =
        Assumption { role, organization, service: EKS, actions: needed(cx), sent: &sent };
    let refused = assumption.refused()?;
    let Some(first) = refused.first() else {
        let actions = needed(cx).join(" and ");
        return Ok(Finding::pass(format!("{EKS} may call {actions} on {}", role.name)));
    };
    let actions: Vec<_> = refused.iter().map(|refused| refused.action).collect();
    let seen = format!(
        "{}, the cluster's role, does not let {EKS} call {}.",
        culprit(role, refused.iter().all(Refused::by_organization)).trim_end_matches(','),
        actions.join(" and ")
    );
    let (api, path) = read(&first.decision);
    Ok(broken(cx, seen)
        .evidence(api, path, format!("{}: {}", first.action, first.decision))
        .mend(assumption.mend()))
}

fn needed(cx: &Context<'_>) -> &'static [&'static str] {
    if cx.target.runs(Product::AutoMode) {
        &["sts:AssumeRole", "sts:TagSession"]
    } else {
        &["sts:AssumeRole"]
    }
}

fn broken(cx: &Context<'_>, seen: String) -> Finding {
    if cx.target.runs(Product::AutoMode) {
        let effect = "EKS Auto Mode cannot act as the cluster's role: it sets up no instance \
                      profile, the NodeClass is never ready, and no node is launched.";
        Finding::fail(seen, effect).errors(&["instance-profile-creation-failed"])
    } else {
        let effect = "The control plane cannot act as the cluster's role, and so can neither look \
                      up nor tag the instances that become nodes.";
        Finding::fail(seen, effect)
    }
}

/// A cluster keeps its role for life, so a role that is gone has to come back under its name.
fn gone(cx: &Context<'_>, cluster: &Cluster, name: &str) -> Finding {
    let policies: &[&str] = if cx.target.runs(Product::AutoMode) {
        &[
            "AmazonEKSClusterPolicy",
            "AmazonEKSComputePolicy",
            "AmazonEKSBlockStoragePolicy",
            "AmazonEKSLoadBalancingPolicy",
            "AmazonEKSNetworkingPolicy",
        ]
    } else {
        &["AmazonEKSClusterPolicy"]
    };
    let remedy = Remedy::new(
        "Create the role again under the same name and path: a cluster's role cannot be changed \
         for another.",
    );
    let trust = remedies::service_trust(EKS, needed(cx));
    let role = remedies::NewRole { name, path: path(&cluster.role_arn), trust: &trust, policies };
    broken(cx, format!("The cluster's role {name} does not exist."))
        .evidence("iam:GetRole", name, "NoSuchEntity")
        .mend(remedies::create_role(remedy, cx.target.partition, &role))
}

/// The path in a role's ARN: `/team/` in `arn:aws:iam::111122223333:role/team/x`.
fn path(role_arn: &str) -> &str {
    let (start, end) = (role_arn.find('/'), role_arn.rfind('/'));
    start.zip(end).and_then(|(start, end)| role_arn.get(start..=end)).unwrap_or("/")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const ROLE: &str = "demo-cluster";

    fn trusts(statements: &Value) -> Value {
        let trust = json!({"Version": "2012-10-17", "Statement": statements}).to_string();
        json!({"facts": {"roles": {ROLE: {"known": {"trust": trust}}}}})
    }

    fn eks(actions: &[&str], condition: &Value) -> Value {
        json!({"Effect": "Allow", "Principal": {"Service": EKS}, "Action": actions, "Condition": condition})
    }

    #[test]
    fn rows() {
        let denied = json!({"denied": {"action": "iam:GetRole", "message": "not authorized"}});
        let unreadable = json!({"facts": {"roles": {ROLE: denied}}});
        let gone = json!({"facts": {"roles": {ROLE: "absent"}}});
        let assume: &[&str] = &["sts:AssumeRole"];
        let both: &[&str] = &["sts:AssumeRole", "sts:TagSession"];
        let arn = |cluster: &str| -> Value {
            let arn = format!("arn:aws:eks:us-west-2:111122223333:cluster/{cluster}");
            json!({"ArnLike": {"aws:SourceArn": arn}})
        };
        let mfa = json!({"StringEquals": {"aws:SourceOrgID": "o-1"}});
        let pass: &[(Status, &str)] = &[(Status::Pass, ROLE)];
        let fail: &[(Status, &str)] = &[(Status::Fail, ROLE)];
        let unknown: &[(Status, &str)] = &[(Status::Unknown, ROLE)];
        let ec2 = json!([{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:*"}]);
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("assume alone is enough", json!({}), pass),
                ("another service", trusts(&ec2), fail),
                ("this cluster", trusts(&eks(assume, &arn("demo"))), pass),
                ("another cluster", trusts(&eks(assume, &arn("other"))), fail),
                ("an unknown condition", trusts(&eks(assume, &mfa)), unknown),
                ("not readable", unreadable.clone(), unknown),
                ("gone", gone.clone(), fail),
                (
                    "before Auto Mode is switched on",
                    json!({"scope": {"product": "auto-mode"}}),
                    fail,
                ),
                (
                    "the cluster is not readable",
                    json!({"facts": {"cluster": {"denied": {"action": "eks:DescribeCluster", "message": "no"}}}}),
                    &[(Status::Unknown, "demo")],
                ),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                ("assume and tag", json!({}), pass),
                ("assume alone", trusts(&eks(assume, &json!({}))), fail),
                ("tag alone", trusts(&eks(&["sts:TagSession"], &json!({}))), fail),
                ("this cluster", trusts(&eks(both, &arn("demo"))), pass),
                ("not readable", unreadable, unknown),
                ("gone", gone, fail),
            ],
        );
    }
    #[test]
    fn a_role_that_is_gone_comes_back_under_its_path() {
        for (arn, create) in [
            ("role/demo-cluster", "--role-name demo-cluster --assume-role"),
            ("role/a/b/demo-cluster", "--role-name demo-cluster --path /a/b/ --assume-role"),
        ] {
            let arn = format!("arn:aws:iam::111122223333:{arn}");
            let patch = json!({"facts": {
                "cluster": {"known": {"role_arn": arn}}, "roles": {ROLE: "absent"}}});
            let outcomes = Account::Karpenter.judge(&CHECK, &patch);
            let steps = format!("{:?}", outcomes[0].remedy);
            assert!(steps.contains(create), "{steps}");
        }
    }
}
