//! The instance profiles through which instances get the node role.

use super::{each, existing};
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts},
    facts::iam::InstanceProfile,
    outcome::{Finding, Remedy},
    target::{NodeRole, Product},
};

pub static CHECK: Check = Check {
    id: "node-role-instance-profile",
    title: "The instance profiles hold the node role",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["pass-role-denied", "instance-profile-permission-denied"],
    needs: &[
        "iam:ListInstanceProfiles",
        "iam:ListInstanceProfilesForRole",
        "iam:GetRole",
        "eks:ListAccessEntries",
        "eks:DescribeAccessEntry",
    ],
    doc: "\
## What
Which instance profiles hold each node role, and whether one that Karpenter made for this cluster
(path `/karpenter/<region>/<cluster>/`) is empty.

## Why
An instance gets its role through an instance profile. With `spec.role` Karpenter makes the profile
itself, and EKS does so for Auto Mode: none has to be there beforehand. With
`spec.instanceProfile`, which a VPC without a way to IAM needs, the profile is yours to make. An
empty profile is left where Karpenter could create it and then not put the role into it.

## Seen as
`is not authorized to perform: iam:PassRole` or `iam:AddRoleToInstanceProfile` in the controller's
log; a NodeClass that is not ready.

## Fix
Let the controller pass the node role and add it to profiles. It mends the profile by itself then.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let mut judged = each(cx, |role| judge(cx, role));
    if !cx.target.runs(Product::Karpenter) {
        return Ok(judged);
    }
    match cx.facts.instance_profiles.found() {
        Ok(profiles) => {
            let empty = profiles.into_iter().flatten().filter(|profile| profile.roles.is_empty());
            judged
                .extend(empty.map(|profile| Judged::new(&profile.arn, || Ok(left_empty(profile)))));
        }
        Err(unseen) => judged.push(Judged::new(path(cx), || Err(unseen.into()))),
    }
    Ok(judged)
}

/// Where Karpenter puts the profiles of this cluster (`facts/karpenter.md §3.3`).
fn path(cx: &Context<'_>) -> String {
    format!("/karpenter/{}/{}/", cx.region(), cx.target.cluster)
}

fn judge(cx: &Context<'_>, node_role: &NodeRole) -> Result<Finding, Stop> {
    if node_role.product == Product::AutoMode {
        return Err(Stop::skipped("EKS makes the instance profiles of Auto Mode's nodes"));
    }
    let role = existing(cx, node_role)?;
    let profiles = match cx.facts.role_profiles.get(&node_role.name) {
        Some(profiles) => profiles.found()?.map(Vec::as_slice).unwrap_or_default(),
        None => return Err(Stop::unknown(format!("the profiles of {} were not read", role.name))),
    };
    Ok(Finding::pass(match profiles {
        [] => format!(
            "no instance profile holds {}: Karpenter makes one from spec.role; for \
             spec.instanceProfile make it yourself",
            role.name
        ),
        [one] => format!("{} holds {}", one.name, role.name),
        [first, rest @ ..] => {
            format!("{} and {} more hold {}", first.name, rest.len(), role.name)
        }
    }))
}

fn left_empty(profile: &InstanceProfile) -> Finding {
    Finding::warn(
        format!("The instance profile {}, which Karpenter made, holds no role.", profile.name),
        "Karpenter created it and did not put the node role into it, most often for want of \
         iam:PassRole or iam:AddRoleToInstanceProfile. A NodeClass that waits for it is not \
         ready and launches nothing.",
    )
    .errors(&["pass-role-denied", "instance-profile-permission-denied"])
    .evidence("iam:ListInstanceProfiles", format!("{}.Roles", profile.name), "[]")
    .mend(Remedy::new(
        "Let the controller role pass the node role and add it to profiles; Karpenter then mends \
         the profile by itself. If no NodeClass uses the profile any more, delete it.",
    ))
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

    fn profile(name: &str, roles: &[&str]) -> Value {
        json!({
            "name": name,
            "arn": format!("arn:aws:iam::111122223333:instance-profile/karpenter/us-west-2/demo/u/{name}"),
            "path": "/karpenter/us-west-2/demo/u/",
            "roles": roles,
        })
    }

    #[test]
    fn rows() {
        let denied =
            json!({"denied": {"action": "iam:ListInstanceProfiles", "message": "not authorized"}});
        let held = [profile("demo_1", &[ROLE])];
        let two = [profile("demo_1", &[ROLE]), profile("demo_2", &[])];
        let empty = "arn:aws:iam::111122223333:instance-profile/karpenter/us-west-2/demo/u/demo_2";
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("none yet", json!({}), &[(Status::Pass, ROLE)]),
                (
                    "held",
                    json!({"facts": {
                        "instance_profiles": {"known": held},
                        "role_profiles": {ROLE: {"known": held}},
                    }}),
                    &[(Status::Pass, ROLE)],
                ),
                (
                    "one held, one empty",
                    json!({"facts": {"instance_profiles": {"known": two}}}),
                    &[(Status::Pass, ROLE), (Status::Warn, empty)],
                ),
                (
                    "the role's profiles are not readable",
                    json!({"facts": {"role_profiles": {ROLE: denied}}}),
                    &[(Status::Unknown, ROLE)],
                ),
                (
                    "the role's profiles were not asked for",
                    json!({"facts": {"role_profiles": {ROLE: null}}}),
                    &[(Status::Unknown, ROLE)],
                ),
                (
                    "the cluster's profiles are not readable",
                    json!({"facts": {"instance_profiles": denied}}),
                    &[(Status::Pass, ROLE), (Status::Unknown, "/karpenter/us-west-2/demo/")],
                ),
                (
                    "no such role",
                    json!({"scope": {"node_roles": ["other"]}, "facts": {"roles": {"other": "absent"}}}),
                    &[(Status::Skipped, "other")],
                ),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[("EKS makes it", json!({}), &[(Status::Skipped, "demo-auto-node")])],
        );
    }
}
