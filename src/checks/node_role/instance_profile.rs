//! The instance profiles through which instances get the node role.

use super::{each, existing};
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    facts::iam::{InstanceProfile, Role},
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
        "eks:DescribeCluster",
        "iam:ListInstanceProfiles",
        "iam:ListInstanceProfilesForRole",
        "iam:GetRole",
        "eks:ListAccessEntries",
        "eks:DescribeAccessEntry",
    ],
    doc: "\
## What
Which instance profiles hold each node role, whether there is one where Karpenter may not be able
to make it, and whether one that Karpenter made for this cluster (path
`/karpenter/<region>/<cluster>/`) is empty. Which NodeClass says `spec.instanceProfile` is in
Kubernetes alone, so a pass without any profile holds for `spec.role`.

## Why
An instance gets its role through an instance profile. With `spec.role` Karpenter makes the profile
itself, and EKS does so for Auto Mode: none has to be there beforehand. With
`spec.instanceProfile` the profile is yours to make. A VPC without a way out needs that: Karpenter's
guide to private clusters names no VPC endpoint for IAM, and so Karpenter cannot make a profile
there. A cluster whose API has no public endpoint may be in such a VPC; it is a warning, for it may
also have a NAT gateway. An empty profile is left where Karpenter could create it and then not put
the role into it.

## Seen as
`is not authorized to perform: iam:PassRole` or `iam:AddRoleToInstanceProfile` in the controller's
log; a NodeClass that is not ready.

## Fix
Let the controller pass the node role and add it to profiles. It mends the profile by itself then.
Where it cannot reach IAM, make a profile with the node role and name it in
`spec.instanceProfile`.
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

/// Where Karpenter puts the profiles of this cluster
/// (`pkg/providers/instanceprofile/instanceprofile.go` of aws/karpenter-provider-aws at v1.7.0).
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
    if profiles.is_empty() && !cx.cluster()?.network.endpoint_public_access {
        return Ok(out_of_reach(cx, role));
    }
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

/// Karpenter's docs, getting started, private clusters:
/// <https://karpenter.sh/docs/getting-started/getting-started-with-karpenter/#private-clusters>.
fn out_of_reach(cx: &Context<'_>, role: &Role) -> Finding {
    let profile = format!("KarpenterNodeInstanceProfile-{}", cx.target.cluster);
    let (quoted, role_name) = (quote(&profile), quote(&role.name));
    Finding::warn(
        format!(
            "No instance profile holds {}, and the API of the cluster has no public endpoint: its \
             VPC may have no way to IAM.",
            role.name
        ),
        "If the controller cannot reach IAM, it cannot make the profile for a NodeClass with \
         spec.role; such a NodeClass is never ready, and nothing is launched for it.",
    )
    .errors(&["instance-profile-permission-denied"])
    .evidence("iam:ListInstanceProfilesForRole", "InstanceProfiles", "[]")
    .evidence("eks:DescribeCluster", "cluster.resourcesVpcConfig.endpointPublicAccess", "false")
    .mend(
        Remedy::new(format!(
            "If the VPC has a NAT gateway or another way to IAM, there is nothing to do. Else \
             make the profile, and write spec.instanceProfile: {profile} in the EC2NodeClass \
             instead of spec.role."
        ))
        .run(format!("aws iam create-instance-profile --instance-profile-name {quoted}"))
        .run(format!(
            "aws iam add-role-to-instance-profile --instance-profile-name {quoted} \
             --role-name {role_name}"
        )),
    )
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

    /// A cluster whose API has no public endpoint.
    fn private(facts: &Value) -> Value {
        let mut patch = json!({"facts": facts});
        patch["facts"]["cluster"]["known"]["network"]["endpoint_public_access"] = false.into();
        patch
    }

    #[test]
    fn rows() {
        let denied =
            json!({"denied": {"action": "iam:ListInstanceProfiles", "message": "not authorized"}});
        let cluster_denied =
            json!({"denied": {"action": "eks:DescribeCluster", "message": "not authorized"}});
        let held = [profile("demo_1", &[ROLE])];
        let two = [profile("demo_1", &[ROLE]), profile("demo_2", &[])];
        let empty = "arn:aws:iam::111122223333:instance-profile/karpenter/us-west-2/demo/u/demo_2";
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("none yet", json!({}), &[(Status::Pass, ROLE)]),
                ("none yet, no public endpoint", private(&json!({})), &[(Status::Warn, ROLE)]),
                (
                    "held, no public endpoint",
                    private(&json!({"role_profiles": {ROLE: {"known": held}}})),
                    &[(Status::Pass, ROLE)],
                ),
                (
                    "none yet, the cluster is not readable",
                    json!({"facts": {"cluster": cluster_denied}}),
                    &[(Status::Unknown, ROLE), (Status::Unknown, "demo")],
                ),
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
