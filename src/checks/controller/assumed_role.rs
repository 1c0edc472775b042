//! Whether the role that the controller's settings name trusts it.

use super::{grants, running, running::Running, settings::set_env};
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts},
    facts::arn,
    iam::{Decision, NamedPolicy, Policy, PolicyKind, Principal, Request, trust},
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::{Product, cluster_says::setting},
};

const SETTING: &str = "ASSUME_ROLE_ARN";
/// From here on the setting is gone (`pkg/operator/options/options.go` at v1.0.0).
const GONE: KarpenterVersion = KarpenterVersion::new(1, 0, 0);

pub static CHECK: Check = Check {
    id: "controller-assumed-role",
    title: "The role that the controller is told to assume trusts it",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &["assume-role-denied", "ec2-connectivity-check-failed"],
    needs: &[
        "iam:GetRole",
        "eks:DescribePodIdentityAssociation",
        "eks:ListPodIdentityAssociations",
    ],
    doc: "\
## What
Where Karpenter's Deployment sets `ASSUME_ROLE_ARN`, which controllers before 1.0 read, that role
trusts the controller's own role. Where it trusts the account as a whole, the own role's policies must
allow `sts:AssumeRole` besides, which is not looked at here.

## Why
The setting is for work across accounts. Set to the role that the controller has anyway, it makes
the controller assume itself, and a role may not do that unless its trust policy names it.

## Seen as
`is not authorized to perform: sts:AssumeRole on resource` in the controller's log, where principal
and resource are the same role; the controller ends at its start.

## Fix
Take the setting off, or let the other role trust the controller's.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let all = running::all(cx)?;
    let set: Vec<_> = all
        .iter()
        .filter_map(|one| Some((one, setting(one.deployment, SETTING)?)))
        .filter(|(_, named)| !named.is_empty())
        .collect();
    if set.is_empty() {
        return Err(Stop::skipped("the controller is told to assume no other role"));
    }
    let judge = |(one, named): &(&Running<'_>, String)| {
        Judged::new(format!("{} {SETTING}", one.name()), || judge(cx, one, named))
    };
    Ok(set.iter().map(judge).collect())
}

fn judge(cx: &Context<'_>, one: &Running<'_>, named: &str) -> Result<Finding, Stop> {
    if cx.karpenter() >= GONE {
        return Ok(Finding::pass(format!(
            "Karpenter {} does not read the setting any more.",
            cx.karpenter()
        )));
    }
    for (own, grants) in grants(cx)? {
        let decision = trusts(cx, &own, grants.principal(), named)?;
        if decision.is_allowed() {
            continue;
        }
        if !decision.is_refused() {
            return Err(Stop::unknown(format!("whether {named} trusts {own} {decision}")));
        }
        return Ok(refused(one, &own, named, &decision));
    }
    Ok(Finding::pass(format!("{named} trusts it.")))
}

/// What the trust policy of a role says of the controller's role.
fn trusts(
    cx: &Context<'_>,
    own: &str,
    principal: Principal,
    named: &str,
) -> Result<Decision, Stop> {
    if arn::account(named) != arn::account(own) {
        return Err(Stop::unknown(format!(
            "{named} is in another account, whose trust policies cannot be read from here"
        )));
    }
    let role = cx.role(arn::role_name(named))?;
    let role = role.ok_or_else(|| Stop::unknown(format!("{named} does not exist")))?;
    let trust = Policy::parse_as(PolicyKind::Trust, &role.trust).map_err(|error| {
        Stop::unknown(format!("the trust policy of {named} cannot be understood: {error}"))
    })?;
    let request = Request::new(principal, "sts:AssumeRole", &role.arn);
    Ok(trust::decide(&NamedPolicy::new("trust", trust), &request))
}

fn refused(one: &Running<'_>, own: &str, named: &str, decision: &Decision) -> Finding {
    let (seen, words) = if own == named {
        (
            format!(
                "{} is told to assume {named}, the very role that it has, and that role does not \
                 trust itself: {decision}.",
                one.name()
            ),
            "Take the setting off, in the chart's values too (`settings.assumeRoleARN`).",
        )
    } else {
        (
            format!(
                "{} is told to assume {named}, which does not trust {}: {decision}.",
                one.name(),
                arn::role_name(own)
            ),
            "Let the other role's trust policy name the controller's role, and allow the \
             controller sts:AssumeRole on it; or take the setting off, if all is in one account.",
        )
    };
    Finding::fail(seen, "The controller ends at its first call to AWS.")
        .errors(CHECK.errors)
        .evidence("get deployment", format!("{} env {SETTING}", one.name()), named)
        .evidence("iam:GetRole", "Role.AssumeRolePolicyDocument", decision.to_string())
        .mend(Remedy::new(words).run(set_env(one, &format!("{SETTING}-"))))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const SUBJECT: &str = "kube-system/karpenter ASSUME_ROLE_ARN";

    fn told(version: &str, role: &str, trust: Option<&Value>) -> Value {
        let mut patch = json!({
            "scope": {"karpenter_version": version},
            "facts": {"kubernetes": {"controllers": {"known": [
                {"meta": {"name": "karpenter", "namespace": "kube-system"},
                 "service_account": "karpenter",
                 "env": {"CLUSTER_NAME": "demo", "ASSUME_ROLE_ARN": role}}]}}},
        });
        if let Some(trust) = trust {
            patch["facts"]["roles"]["demo-karpenter"]["known"]["trust"] = json!(trust.to_string());
        }
        patch
    }

    #[test]
    fn rows() {
        let own = "arn:aws:iam::111122223333:role/demo-karpenter";
        let pods = json!({"Effect": "Allow", "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"]});
        let itself =
            json!({"Effect": "Allow", "Principal": {"AWS": own}, "Action": "sts:AssumeRole"});
        let trusts = json!({"Version": "2012-10-17", "Statement": [pods, itself]});
        let account = json!({"Version": "2012-10-17", "Statement": [pods, {"Effect": "Allow",
            "Principal": {"AWS": "arn:aws:iam::111122223333:root"}, "Action": "sts:AssumeRole"}]});
        let elsewhere = "arn:aws:iam::999988887777:role/karpenter";
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("not set", json!({}), &[(Status::Skipped, "demo")]),
                ("itself", told("0.32.1", own, None), &[(Status::Fail, SUBJECT)]),
                (
                    "it trusts itself",
                    told("0.37.0", own, Some(&trusts)),
                    &[(Status::Pass, SUBJECT)],
                ),
                ("not read any more", told("1.14.1", own, None), &[(Status::Pass, SUBJECT)]),
                ("another account", told("0.37.0", elsewhere, None), &[(Status::Unknown, SUBJECT)]),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Status::Skipped, "demo")]),
            ],
        );
        // That says nothing of the own role's policies.
        let found = Account::KarpenterCluster.judge(&CHECK, &told("0.37.0", own, Some(&account)));
        assert_eq!(found[0].status, Status::Pass);
        assert_eq!(found[0].seen, format!("{own} trusts it."));
    }
}
