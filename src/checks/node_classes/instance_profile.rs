//! The instance profile that a NodeClass names.

use crate::{
    checks::{
        Area, Check, Context, Stop, Verdicts,
        node_classes::{self, Class},
        remedies::quote,
    },
    outcome::{Finding, Remedy},
    target::{Product, names},
};

/// What AWS's policy for EKS Auto Mode lets EKS change, and what names had to begin with when the
/// field came (<https://github.com/awsdocs/amazon-eks-user-guide/issues/1123>).
const EKS: &str = "eks";

pub static CHECK: Check = Check {
    id: "nodeclass-instance-profile",
    title: "The instance profiles that NodeClasses name hold a role",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["instance-profile-name-invalid", "instance-profile-creation-failed"],
    needs: &["iam:GetInstanceProfile"],
    doc: "\
## What
`spec.instanceProfile` of each NodeClass that has one is the name, and not the ARN or the path, of an
instance profile that exists and holds a role. For EKS Auto Mode its name begins with `eks`.

## Why
Instances get their role through it. Up to 1.14 Karpenter shows a profile that does not exist nowhere:
the NodeClass stays unready without a reason. A profile and its role have separate names. AWS's policy
for EKS Auto Mode covers profiles whose names begin with `eks`, and EKS took no others at first.

## Seen as
`Invalid IAM Instance Profile name` or `has no associated IAM Roles`; in EKS Auto Mode
`InstanceProfileCreationFailed`.

## Fix
Create the profile and put the node role into it; or name the role in `spec.role`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    node_classes::each(cx, CHECK.products, |class| judge(cx, &class))
}

fn judge(cx: &Context<'_>, class: &Class<'_>) -> Result<Finding, Stop> {
    let Some(name) = &class.spec.instance_profile else {
        return Err(Stop::skipped("it names a role, and its instance profile is made for it"));
    };
    if !names::is_profile_name(name) {
        let bare = name.rsplit('/').next().unwrap_or(name);
        return Ok(unusable(
            class,
            format!("{class} has {name} in spec.instanceProfile, which is no name."),
        )
        .mend(Remedy::new(format!("Write the name alone, {bare}.")).run(class.edit())));
    }
    let fact = cx.facts.named_profiles.get(name);
    let fact =
        fact.ok_or_else(|| Stop::unknown(format!("the instance profile {name} was not read")))?;
    let Some(profile) = fact.found()? else {
        let seen = format!("{class} names the instance profile {name}, which does not exist.");
        return Ok(unusable(class, seen)
            .evidence("iam:GetInstanceProfile", name, "NoSuchEntity")
            .mend(create(cx, class, name)));
    };
    let Some(role) = profile.roles.first() else {
        let seen = format!("The instance profile {name} of {class} holds no role.");
        return Ok(unusable(class, seen)
            .evidence("iam:GetInstanceProfile", "InstanceProfile.Roles", "[]")
            .mend(fill(cx, class, name)));
    };
    if class.product == Product::AutoMode
        && !name.starts_with(EKS)
        && !class.is_ready("InstanceProfileReady")
    {
        return Ok(not_of_eks(class, name));
    }
    Ok(Finding::pass(format!("{name} holds {role}.")))
}

fn unusable(class: &Class<'_>, seen: String) -> Finding {
    let effect = match class.product {
        Product::Karpenter => {
            "EC2 refuses every launch. Up to Karpenter 1.14 the NodeClass stays unready and says no \
             reason."
        }
        Product::AutoMode => "EKS launches nothing for it.",
    };
    Finding::fail(seen, effect).errors(&["instance-profile-name-invalid"])
}

/// A node role to put into the profile, where one is known.
fn node_role<'a>(cx: &'a Context<'_>, class: &Class<'_>) -> &'a str {
    let mut roles = cx.target.node_roles.iter().filter(|role| role.product == class.product);
    roles.next().map_or("NODE_ROLE", |role| &role.name)
}

fn create(cx: &Context<'_>, class: &Class<'_>, name: &str) -> Remedy {
    let role = node_role(cx, class);
    Remedy::new(format!(
        "Create the profile and put the node role {role} into it, or write spec.role: {role} in \
         {class} instead of spec.instanceProfile."
    ))
    .run(format!("aws iam create-instance-profile --instance-profile-name {}", quote(name)))
    .run(add_role(name, role))
}

fn fill(cx: &Context<'_>, class: &Class<'_>, name: &str) -> Remedy {
    let role = node_role(cx, class);
    Remedy::new(format!("Put the node role {role} into it.")).run(add_role(name, role))
}

fn add_role(profile: &str, role: &str) -> String {
    format!(
        "aws iam add-role-to-instance-profile --instance-profile-name {} --role-name {}",
        quote(profile),
        quote(role)
    )
}

fn not_of_eks(class: &Class<'_>, name: &str) -> Finding {
    Finding::warn(
        format!("{class} names the instance profile {name}, and its name does not begin with eks."),
        "EKS Auto Mode took no other names when the field came, and AWS's policy for the cluster's \
         role covers none. The NodeClass may not become ready.",
    )
    .errors(&["instance-profile-creation-failed"])
    .evidence(class.api(), "spec.instanceProfile", name)
    .mend(
        Remedy::new(
            "If the NodeClass does not become ready, make a profile whose name begins with eks, and \
             name that one.",
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

    fn named(kind: &str, name: &str, fact: &Value) -> Value {
        json!({"facts": {
            "kubernetes": {kind: {"known": [{"meta": {"name": "x"}, "instance_profile": name}]}},
            "named_profiles": {name: fact},
        }})
    }

    #[test]
    fn rows() {
        let profile = |name: &str, roles: &[&str]| {
            json!({"known": {"name": name,
            "arn": format!("arn:aws:iam::111122223333:instance-profile/{name}"), "path": "/",
            "roles": roles}})
        };
        let denied = json!({"denied": {"action": "iam:GetInstanceProfile", "message": "no"}});
        let ec2 = |name: &str, fact: &Value| named("ec2_node_classes", name, fact);
        let (pass, fail) = ((Status::Pass, "EC2NodeClass/x"), (Status::Fail, "EC2NodeClass/x"));
        let arn = "arn:aws:iam::111122223333:instance-profile/nodes";
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("a role", json!({}), &[(Status::Skipped, "EC2NodeClass/default")]),
                ("a profile", ec2("nodes", &profile("nodes", &["r"])), &[pass]),
                ("an empty one", ec2("nodes", &profile("nodes", &[])), &[fail]),
                ("none", ec2("nodes", &json!("absent")), &[fail]),
                ("an ARN", ec2(arn, &Value::Null), &[fail]),
                ("not readable", ec2("nodes", &denied), &[(Status::Unknown, "EC2NodeClass/x")]),
                ("not asked", ec2("nodes", &Value::Null), &[(Status::Unknown, "EC2NodeClass/x")]),
            ],
        );
        let auto = |name: &str| named("auto_node_classes", name, &profile(name, &["r"]));
        assert_rows(
            Account::AutoModeCluster,
            &CHECK,
            &[
                ("a name for EKS", auto("eks-nodes"), &[(Status::Pass, "NodeClass/x")]),
                ("another", auto("nodes"), &[(Status::Warn, "NodeClass/x")]),
            ],
        );
    }
}
