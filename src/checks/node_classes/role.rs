//! The role that a NodeClass gives to its nodes.

use crate::{
    checks::{
        Area, Check, Context, Stop, Verdicts,
        node_classes::{self, Class},
    },
    facts::arn,
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::Product,
};

/// From here on Karpenter takes the last part of a path where it puts the role into a profile
/// (`ensureRole` in `pkg/providers/instanceprofile/instanceprofile.go`, at v1.2.0 and not at
/// v1.1.0) …
const TRIMS: KarpenterVersion = KarpenterVersion::new(1, 2, 0);
/// … and from here on it makes a new profile where the profile's role is not spec.role letter by
/// letter (`pkg/controllers/nodeclass/instanceprofile.go` at v1.7.0).
const COMPARES: KarpenterVersion = KarpenterVersion::new(1, 7, 0);

pub static CHECK: Check = Check {
    id: "nodeclass-role",
    title: "NodeClasses name their role by its bare name",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &[
        "role-or-instance-profile",
        "node-role-name-invalid",
        "instance-profile-quota-exceeded",
        "instance-profile-creation-failed",
        "unauthorized-node-role",
    ],
    needs: &["iam:GetRole"],
    doc: "\
## What
Each NodeClass has either `spec.role` or `spec.instanceProfile`. `spec.role` is the bare name of a
role, neither its ARN nor its path and name; in EKS Auto Mode the role itself has the path `/`.

## Why
Up to 1.1 IAM refuses a name with a path. From 1.7 on Karpenter compares the name in the instance
profile with `spec.role` letter by letter: with an ARN or a path they never agree, and it makes a new
profile again and again, up to the account's quota. EKS Auto Mode was seen to look a role with a path
up without it. Whether the role exists, may join and may be passed is judged by other checks.

## Seen as
`The specified value for roleName is invalid`, `Cannot exceed quota for InstanceProfilesPerAccount`;
in EKS Auto Mode `is unauthorized to join nodes to the cluster`.

## Fix
Write the role's bare name. For EKS Auto Mode, use a role with the path `/`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    node_classes::each(cx, CHECK.products, |class| judge(cx, &class))
}

fn judge(cx: &Context<'_>, class: &Class<'_>) -> Result<Finding, Stop> {
    let role = match (&class.spec.role, &class.spec.instance_profile) {
        (Some(role), None) => role,
        (None, Some(_)) => {
            return Err(Stop::skipped(
                "it names an instance profile (see nodeclass-instance-profile)",
            ));
        }
        (role, _) => return Ok(none_or_both(class, role.is_some())),
    };
    let name = arn::role_name(role);
    if name != role {
        return written_with_more(cx, class, role, name);
    }
    if class.product == Product::AutoMode
        && let Some(found) = cx.role(name)?
        && found.path != "/"
        && !class.is_ready("InstanceProfileReady")
    {
        return Ok(with_a_path(class, &found.arn));
    }
    Ok(Finding::pass(format!("It names the role {name}.")))
}

fn none_or_both(class: &Class<'_>, both: bool) -> Finding {
    let seen = if both {
        format!(
            "{class} has spec.role and spec.instanceProfile, and only one of them may be there."
        )
    } else {
        format!("{class} has neither spec.role nor spec.instanceProfile.")
    };
    Finding::fail(seen, "The NodeClass cannot be used, and nothing is launched for it.")
        .errors(&["role-or-instance-profile"])
        .evidence(
            class.api(),
            "spec.role, spec.instanceProfile",
            if both { "both" } else { "none" },
        )
        .mend(
            Remedy::new(
                "Name the node role in spec.role; or, where nobody but you may make instance \
                 profiles, a profile that holds it in spec.instanceProfile.",
            )
            .run(class.edit()),
        )
}

fn written_with_more(
    cx: &Context<'_>,
    class: &Class<'_>,
    role: &str,
    name: &str,
) -> Result<Finding, Stop> {
    let seen = format!("{class} has {role} in spec.role, where the bare name {name} belongs.");
    let finding = match class.product {
        Product::AutoMode if class.is_ready("InstanceProfileReady") => {
            return Ok(Finding::pass(format!("It names {role}, and EKS made its instance profile.")));
        }
        Product::AutoMode => Finding::warn(
            seen,
            "EKS may find no role of that name, and then makes no instance profile.",
        )
        .errors(&["instance-profile-creation-failed"]),
        Product::Karpenter if cx.karpenter() < TRIMS => Finding::fail(
            seen,
            "IAM refuses the name, so that the role gets into no instance profile and nothing is \
             launched.",
        )
        .errors(&["node-role-name-invalid"]),
        Product::Karpenter if cx.karpenter() < COMPARES => {
            return Ok(Finding::pass(format!(
                "It names {role}, of which Karpenter {} takes {name}; from {COMPARES} on, write the \
                 bare name.",
                cx.karpenter()
            )));
        }
        Product::Karpenter => Finding::fail(
            seen,
            format!(
                "Karpenter {} makes a new instance profile for it again and again, until the account \
                 may have no more.",
                cx.karpenter()
            ),
        )
        .errors(&["instance-profile-quota-exceeded"]),
    };
    Ok(finding
        .evidence(class.api(), "spec.role", role)
        .mend(Remedy::new(format!("Write {name} in spec.role of {class}.")).run(class.edit())))
}

fn with_a_path(class: &Class<'_>, role: &str) -> Finding {
    Finding::warn(
        format!("{class} runs its nodes with {role}, which has a path."),
        "EKS Auto Mode was seen to look such a role up without its path. Its nodes may then not be \
         let in.",
    )
    .errors(&["unauthorized-node-role"])
    .evidence("iam:GetRole", "Role.Arn", role)
    .mend(
        Remedy::new(
            "If the NodeClass does not become ready, use a role with the path / (the path of a role \
             cannot be changed, so create another), and give it an access entry of type EC2.",
        )
        .run(class.edit()),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const ARN: &str = "arn:aws:iam::111122223333:role/team/nodes";

    fn karpenter(version: &str, class: &Value) -> Value {
        let mut of = json!({"meta": {"name": "default"}});
        json_patch::merge(&mut of, class);
        json!({"scope": {"karpenter_version": version},
               "facts": {"kubernetes": {"ec2_node_classes": {"known": [of]}}}})
    }

    #[test]
    fn rows() {
        let subject = "EC2NodeClass/default";
        let pass: &[(Status, &str)] = &[(Status::Pass, subject)];
        let fail: &[(Status, &str)] = &[(Status::Fail, subject)];
        let arn = json!({"role": ARN});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("a name", json!({}), pass),
                ("an ARN, where IAM refuses it", karpenter("1.1.0", &arn), fail),
                ("an ARN, where it is trimmed", karpenter("1.6.0", &arn), pass),
                ("an ARN, where it is compared", karpenter("1.7.0", &arn), fail),
                ("a path and name", karpenter("1.14.1", &json!({"role": "team/nodes"})), fail),
                ("neither", karpenter("1.14.1", &json!({})), fail),
                ("both", karpenter("1.14.1", &json!({"role": "a", "instance_profile": "b"})), fail),
                (
                    "a profile",
                    karpenter("1.14.1", &json!({"instance_profile": "b"})),
                    &[(Status::Skipped, subject)],
                ),
            ],
        );
    }

    #[test]
    fn rows_of_auto_mode() {
        let class = |ready: &str, role: &str| {
            json!({"facts": {
                "kubernetes": {"auto_node_classes": {"known": [{"meta": {"name": "batch"}, "role": role,
                    "conditions": [{"type": "InstanceProfileReady", "status": ready}]}]}},
                "roles": {"nodes": {"known": {"name": "nodes", "arn": ARN, "path": "/team/", "trust": "{}"}}},
            }})
        };
        let subject = "NodeClass/batch";
        let unread = json!({"facts": {"roles": {"nodes":
            {"denied": {"action": "iam:GetRole", "message": "no"}}}}});
        let mut unread_role = class("False", "nodes");
        json_patch::merge(&mut unread_role, &json!({"facts": {"roles": {"nodes": null}}}));
        json_patch::merge(&mut unread_role, &unread);
        assert_rows(
            Account::AutoModeCluster,
            &CHECK,
            &[
                (
                    "names",
                    json!({}),
                    &[(Status::Pass, "NodeClass/default"), (Status::Pass, subject)],
                ),
                ("a role with a path", class("False", "nodes"), &[(Status::Warn, subject)]),
                ("one that EKS took", class("True", "nodes"), &[(Status::Pass, subject)]),
                ("an ARN", class("Unknown", ARN), &[(Status::Warn, subject)]),
                ("not readable", unread_role, &[(Status::Unknown, subject)]),
            ],
        );
    }
}
