//! The role that nodes run with is there.

mod none_found;

use self::none_found::none_found;
use super::{
    access_entry::remedy as entry,
    creation::{create, new_name},
    each_or, nothing_to_judge,
};
use crate::{
    checks::{Area, Check, Context, Stop, Verdicts},
    facts::iam::Role,
    outcome::{Finding, Remedy},
    target::{NodeRole, Product, names},
};

pub static CHECK: Check = Check {
    id: "node-role-exists",
    title: "The node role exists",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["node-role-not-found", "instance-profile-creation-failed"],
    needs: &[
        "iam:GetRole",
        "iam:ListInstanceProfiles",
        "eks:DescribeCluster",
        "eks:ListAccessEntries",
        "eks:DescribeAccessEntry",
    ],
    doc: "\
## What
The IAM role that nodes run with exists: `spec.role` of the EC2NodeClass, or the node role of EKS
Auto Mode.

## Why
The instance profile of each node holds it. Without the role there is no profile, the NodeClass
never becomes ready, and nothing is launched. A role name has at most 64 characters, so
`KarpenterNodeRole-<cluster>` cannot be made for a cluster name of more than 46. In `spec.role`
goes the bare name: neither the ARN nor the path.

## Seen as
`NoSuchEntity` and `role not found` in the controller's log, with the NodeClass condition
`InstanceProfileReady` not true; on EKS Auto Mode `InstanceProfileCreationFailed`.

## Fix
Create the role with a trust policy for EC2 and the node policies, or name the right one in the
NodeClass. If your role has a name of its own, say so with `--node-role`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    Ok(each_or(
        cx,
        |role| judge(cx, role),
        |product| match product {
            Product::Karpenter => none_found(cx),
            Product::AutoMode => Err(nothing_to_judge(cx, product)),
        },
    ))
}

fn judge(cx: &Context<'_>, role: &NodeRole) -> Result<Finding, Stop> {
    let name = &role.name;
    if !names::is_role_name(name) {
        let limit = names::ROLE_NAME_LIMIT;
        let seen = format!(
            "{name} cannot be the name of a role: it has {} characters, and IAM allows 1 to \
             {limit} letters, digits and +=,.@_-",
            name.chars().count()
        );
        let remedy = Remedy::new("Give the node role a name that IAM allows.");
        return Ok(missing(Finding::fail, role.product, seen).mend(create(
            cx,
            remedy,
            &new_name(&cx.target.cluster),
            role.product,
        )));
    }
    if let Some(found) = cx.role(name)? {
        return Ok(Finding::pass(there(found, role.product)));
    }
    let before = cx.target.before_install() && role.product == Product::Karpenter;
    let finding = if before { Finding::warn } else { Finding::fail };
    let remedy = Remedy::new("Create the role, or name one that exists in the NodeClass.");
    let remedy = create(cx, remedy, name, role.product);
    Ok(missing(finding, role.product, format!("The account has no role {name}."))
        .evidence("iam:GetRole", name, "NoSuchEntity")
        .mend(with_entry(cx, remedy, name)))
}

/// An access entry holds the inner id of its role, so that the one of a role that was deleted is
/// dead for the role that is made under its name.
fn with_entry(cx: &Context<'_>, mut remedy: Remedy, name: &str) -> Remedy {
    let entries = cx.facts.access_entries.value().into_iter().flatten();
    let mut dead = entries.filter_map(|(arn, entry)| Some((arn, &entry.value()?.entry_type)));
    let of_role = |arn: &str| arn.ends_with(&format!(":role/{name}"));
    let Some((arn, kind)) = dead.find(|(arn, _)| of_role(arn)) else {
        return remedy;
    };
    remedy.words +=
        " The access entry that is there belonged to the role before it: it is made anew.";
    entry::create_again(cx, remedy, arn, kind)
}

fn there(role: &Role, product: Product) -> String {
    match (product, role.path.as_str()) {
        (Product::Karpenter, path) if path != "/" => {
            format!("{} exists; in spec.role write {}, without the path", role.arn, role.name)
        }
        _ => format!("{} exists", role.arn),
    }
}

/// A role that is missing, and what comes of it.
fn missing(
    finding: impl Fn(String, &'static str) -> Finding,
    product: Product,
    seen: String,
) -> Finding {
    match product {
        Product::Karpenter => finding(
            seen,
            "Karpenter cannot put the role into an instance profile, and launches nothing for a \
             NodeClass that names it.",
        )
        .errors(&["node-role-not-found"]),
        Product::AutoMode => finding(
            seen,
            "EKS cannot put the role into an instance profile, and launches nothing for a \
             NodeClass that names it.",
        )
        .errors(&["instance-profile-creation-failed"]),
    }
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

    /// No candidate exists, no profile and no entry shows one.
    fn none(rest: &Value) -> Value {
        let mut patch = json!({"facts": {
            "roles": {ROLE: "absent"},
            "access_entries": {"known": {"arn:aws:iam::111122223333:role/KarpenterNodeRole-demo": null}},
        }});
        json_patch::merge(&mut patch, rest);
        patch
    }

    /// The same, but for roles that have an entry.
    fn let_in(names: &[&str], entry_type: &str) -> Value {
        let mut patch = none(&json!({}));
        for name in names {
            let arn = format!("arn:aws:iam::111122223333:role/{name}");
            patch["facts"]["access_entries"]["known"][&arn] = json!({"known": {
                "principal_arn": arn, "entry_type": entry_type, "groups": [], "policies": "absent"}});
            patch["facts"]["roles"][name] = json!({"known": {
                "name": name, "arn": arn, "path": "/", "trust": "{}"}});
        }
        patch
    }

    #[test]
    fn rows() {
        let denied = json!({"denied": {"action": "iam:GetRole", "message": "not authorized"}});
        let long = "n".repeat(65);
        let mut never_asked = none(&json!({}));
        never_asked["facts"]["roles"][ROLE] = Value::Null;
        let mut no_entries = none(&json!({}));
        no_entries["facts"]["access_entries"] = denied.clone();
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("there", json!({}), &[(Status::Pass, ROLE)]),
                (
                    "named and missing",
                    json!({"scope": {"node_roles": ["other"]}, "facts": {"roles": {"other": "absent"}}}),
                    &[(Status::Fail, "other")],
                ),
                (
                    "named, missing, before an install",
                    json!({"scope": {"node_roles": ["other"], "stage": "before"}, "facts": {"roles": {"other": "absent"}}}),
                    &[(Status::Warn, "other")],
                ),
                (
                    "named by ARN, not readable",
                    json!({"scope": {"node_roles": ["arn:aws:iam::111122223333:role/a/other"]}, "facts": {"roles": {"other": denied}}}),
                    &[(Status::Unknown, "other")],
                ),
                (
                    "named, never asked",
                    json!({"scope": {"node_roles": ["other"]}}),
                    &[(Status::Unknown, "other")],
                ),
                (
                    "a name that cannot be",
                    json!({"scope": {"node_roles": [long]}}),
                    &[(Status::Fail, &long)],
                ),
                (
                    "one there, one missing",
                    json!({"scope": {"node_roles": [ROLE, "other"]}, "facts": {"roles": {"other": "absent"}}}),
                    &[(Status::Pass, ROLE), (Status::Fail, "other")],
                ),
                ("none found", none(&json!({})), &[(Status::Unknown, ROLE)]),
                (
                    "one of another name has an entry",
                    let_in(&["my-nodes"], "EC2_LINUX"),
                    &[(Status::Pass, "my-nodes")],
                ),
                (
                    "several of other names have an entry",
                    let_in(&["a-nodes", "b-nodes"], "EC2_WINDOWS"),
                    &[(Status::Pass, "a-nodes"), (Status::Pass, "b-nodes")],
                ),
                ("people have an entry", let_in(&["ops"], "STANDARD"), &[(Status::Unknown, ROLE)]),
                (
                    "none found before an install",
                    none(&json!({"scope": {"stage": "before"}})),
                    &[(Status::Warn, ROLE)],
                ),
                (
                    "a candidate is not readable",
                    none(&json!({"facts": {"roles": {ROLE: denied}}})),
                    &[(Status::Unknown, ROLE)],
                ),
                ("a candidate was never asked for", never_asked, &[(Status::Unknown, ROLE)]),
                (
                    "profiles are not readable",
                    none(&json!({"facts": {"instance_profiles": denied}})),
                    &[(Status::Unknown, ROLE)],
                ),
                ("entries are not readable", no_entries, &[(Status::Unknown, ROLE)]),
                (
                    "an entry is not readable",
                    none(&json!({"facts": {"access_entries": {"known": {"x": denied}}}})),
                    &[(Status::Unknown, ROLE)],
                ),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                ("there", json!({}), &[(Status::Pass, "demo-auto-node")]),
                (
                    "missing",
                    json!({"facts": {"roles": {"demo-auto-node": "absent"}}}),
                    &[(Status::Fail, "demo-auto-node")],
                ),
                (
                    "not readable",
                    json!({"facts": {"roles": {"demo-auto-node": denied}}}),
                    &[(Status::Unknown, "demo-auto-node")],
                ),
                (
                    "no built-in pools",
                    json!({"facts": {"cluster": {"known": {"auto_mode": {"node_role_arn": null}}}, "access_entries": {"known": {"arn:aws:iam::111122223333:role/demo-auto-node": null}}}}),
                    &[(Status::Skipped, "demo")],
                ),
                (
                    "the cluster is not readable",
                    json!({"scope": {"product": "auto-mode"}, "facts": {"cluster": denied, "access_entries": {"known": {"arn:aws:iam::111122223333:role/demo-auto-node": null}}}}),
                    &[(Status::Unknown, "demo")],
                ),
            ],
        );
    }

    #[test]
    fn a_name_that_is_too_long_is_explained_and_shortened() {
        let cluster = "c".repeat(50);
        let patch = none(
            &json!({"scope": {"cluster": cluster, "stage": "before", "karpenter_version": null},
            "facts": {"roles": {format!("Karpenter-{cluster}"): "absent"}, "queues": {}}}),
        );
        let outcomes = Account::Karpenter.judge(&CHECK, &patch);
        let [outcome] = outcomes.as_slice() else { panic!("{outcomes:#?}") };
        assert_eq!(outcome.status, Status::Warn, "{outcome:#?}");
        assert!(outcome.seen.contains("68 characters"), "{}", outcome.seen);
        assert!(names::is_role_name(&outcome.subject));
    }

    #[test]
    fn a_path_is_pointed_out() {
        let arn = "arn:aws:iam::111122223333:role/team/KarpenterNodeRole-demo";
        let patch = json!({"facts": {"roles": {ROLE: {"known": {"arn": arn, "path": "/team/"}}}}});
        let outcomes = Account::Karpenter.judge(&CHECK, &patch);
        assert!(outcomes[0].seen.ends_with("without the path"), "{outcomes:#?}");
    }
}
