//! The tags that NodeClasses set.

use crate::{
    checks::{
        Area, Check, Context, Judged, Verdicts,
        node_classes::{self, Class, Tagging},
        remedies::listed,
    },
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::Product,
};

/// Limits of a tag's key and value, in characters, and of the user's tags on one resource
/// (<https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions>).
const KEY: usize = 128;
const VALUE: usize = 256;
const TAGS: usize = 50;

/// What Karpenter and EKS set themselves on one resource (`policies/karpenter/tags.toml`).
const OWN_TAGS: usize = 6;

/// From here on there is a condition for it (`pkg/controllers/nodeclass/validation.go` at v1.2.0).
const VALIDATED: KarpenterVersion = KarpenterVersion::new(1, 2, 0);
/// From here on the launch template is tried out before a launch.
const TRIED: KarpenterVersion = KarpenterVersion::new(1, 3, 0);

pub static CHECK: Check = Check {
    id: "nodeclass-tags",
    title: "NodeClasses set no tags that are reserved or not legal",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &[
        "tag-validation-failed",
        "instance-profile-not-created",
        "validation-not-finished",
        "create-fleet-failed",
        "launch-template-configs",
    ],
    needs: &[],
    doc: "\
## What
The keys in `spec.tags` of each NodeClass, or those of `--nodeclass-tag`, are none that Karpenter or
EKS Auto Mode sets itself, and tags that AWS takes: keys of up to 128 characters that do not begin
with `aws:`, values of up to 256, no more than 50 tags in all. With `spec.role`, Karpenter puts the
same tags on the instance profile, and IAM takes only letters, digits, spaces and `_.:/=+-@`, and
keys that differ in more than case.

## Why
Nodes are found again by the reserved tags. A NodeClass that sets one is not ready, and one with a
tag that EC2 or IAM refuses launches nothing. Whether a policy refuses a tag is for
`controller-permissions` and `cluster-role-custom-tags` to say; tag policies of the organisation are
not visible here.

## Seen as
`tags failed validation requirements` on the NodeClass; `InvalidParameterValue` or `ValidationError`
from EC2 or IAM in the controller's log.

## Fix
Take the tag out of the NodeClass, or give it another key.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let tagging = node_classes::tagging(cx);
    if tagging.is_empty() {
        return node_classes::each(cx, CHECK.products, |_| {
            Ok(Finding::pass("It sets no tags of its own."))
        });
    }
    let mut judged: Vec<Judged> = tagging
        .iter()
        .map(|tagging| Judged::new(tagging.subject(), || Ok(judge(cx, tagging))))
        .collect();
    // What could not be read may set tags too.
    let unread = node_classes::each_many(cx, CHECK.products, |_| Vec::new());
    judged.extend(unread.unwrap_or_default());
    Ok(judged)
}

/// Why AWS or the product refuses tags, and the error that this shows as.
struct Refusal {
    words: String,
    error: &'static str,
}

fn judge(cx: &Context<'_>, tagging: &Tagging<'_>) -> Finding {
    let refusals = refusals(cx, tagging);
    let keys: Vec<_> = tagging.tags.keys().collect();
    if refusals.is_empty() {
        return Finding::pass(format!("It sets {}, which may be set.", listed(&keys)));
    }
    let words: Vec<_> = refusals.iter().map(|refusal| &refusal.words).collect();
    let mut errors: Vec<&'static str> = Vec::new();
    for refusal in &refusals {
        if !errors.contains(&refusal.error) {
            errors.push(refusal.error);
        }
    }
    let what = tagging.words();
    let remedy = Remedy::new(
        "Take these tags out of spec.tags, or give them other keys. Nodes that run are replaced \
         when tags change.",
    );
    Finding::fail(
        format!(
            "{what} sets tags that are refused: {}.",
            words.iter().map(|w| w.as_str()).collect::<Vec<_>>().join("; ")
        ),
        "The NodeClass is never ready, or every launch for it fails.",
    )
    .errors(&errors)
    .evidence(
        tagging.class.map_or("--nodeclass-tag", |class| class.api()),
        "spec.tags",
        listed(&keys),
    )
    .mend(match tagging.class {
        Some(class) => remedy.run(class.edit()),
        None => remedy,
    })
}

fn refusals(cx: &Context<'_>, tagging: &Tagging<'_>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for product in &tagging.products {
        let reserved = tagging.tags.keys().filter(|key| is_reserved(*product, key));
        refusals.extend(reserved.map(|key| Refusal {
            words: format!("{key} is set by {} itself", product.title()),
            error: reserved_error(cx, *product),
        }));
    }
    let illegal = illegal_error(cx, &tagging.products);
    for (key, value) in tagging.tags {
        if let Some(why) = illegal_for_ec2(key, value) {
            refusals.push(Refusal { words: format!("{key} {why}"), error: illegal });
        }
    }
    if tagging.tags.len() + OWN_TAGS > TAGS {
        let words = format!(
            "with {} tags of its own and {OWN_TAGS} more there are over {TAGS} on one resource",
            tagging.tags.len()
        );
        refusals.push(Refusal { words, error: illegal });
    }
    if tagging.class.is_some_and(|class| makes_profiles(&class)) {
        refusals.extend(
            illegal_for_iam(tagging)
                .into_iter()
                .map(|words| Refusal { words, error: "instance-profile-not-created" }),
        );
    }
    refusals
}

/// With `spec.role` Karpenter makes the instance profile, with the same tags on it.
fn makes_profiles(class: &Class<'_>) -> bool {
    class.product == Product::Karpenter && class.spec.role.is_some()
}

/// `RestrictedTagPatterns` in `pkg/apis/v1/labels.go` at v1.14.1; for EKS Auto Mode
/// <https://docs.aws.amazon.com/eks/latest/userguide/create-node-class.html>.
fn is_reserved(product: Product, key: &str) -> bool {
    if key.starts_with("kubernetes.io/cluster/") || key == "kubernetes.io/cluster" {
        return true;
    }
    let reserved: &[&str] = match product {
        Product::Karpenter => &[
            "karpenter.sh/nodepool",
            "karpenter.sh/nodeclaim",
            "karpenter.k8s.aws/ec2nodeclass",
            "eks:eks-cluster-name",
        ],
        Product::AutoMode => &[
            "karpenter.sh/provisioner-name",
            "karpenter.sh/nodepool",
            "karpenter.sh/nodeclaim",
            "karpenter.sh/managed-by",
            "eks.amazonaws.com/nodeclass",
        ],
    };
    reserved.contains(&key)
}

fn reserved_error(cx: &Context<'_>, product: Product) -> &'static str {
    match product {
        Product::Karpenter if cx.karpenter() < VALIDATED => "create-fleet-failed",
        _ => "tag-validation-failed",
    }
}

/// What a tag that EC2 refuses shows as.
fn illegal_error(cx: &Context<'_>, products: &[Product]) -> &'static str {
    match products.contains(&Product::Karpenter) {
        true if cx.karpenter() < TRIED => "create-fleet-failed",
        true => "validation-not-finished",
        false => "launch-template-configs",
    }
}

fn illegal_for_ec2(key: &str, value: &str) -> Option<String> {
    if key.is_empty() {
        return Some("an empty key is no tag".to_owned());
    }
    if key.to_ascii_lowercase().starts_with("aws:") {
        return Some("begins with aws:, which is AWS's own".to_owned());
    }
    if key.chars().count() > KEY {
        return Some(format!("has more than {KEY} characters"));
    }
    (value.chars().count() > VALUE).then(|| format!("has a value of more than {VALUE} characters"))
}

/// <https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html#id_tags_rules>
fn illegal_for_iam(tagging: &Tagging<'_>) -> Vec<String> {
    let is_legal = |text: &str| {
        text.chars().all(|c| c.is_alphanumeric() || c == ' ' || "_.:/=+-@".contains(c))
    };
    let mut words: Vec<String> = tagging
        .tags
        .iter()
        .filter(|(key, value)| !is_legal(key) || !is_legal(value))
        .map(|(key, _)| format!("{key} has characters that IAM takes on no instance profile"))
        .collect();
    let mut seen: Vec<String> = Vec::new();
    for key in tagging.tags.keys() {
        let lower = key.to_lowercase();
        if seen.contains(&lower) {
            words.push(format!("{key} differs from another key in case alone, which IAM refuses"));
        }
        seen.push(lower);
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn tags(tags: &Value) -> Value {
        json!({"facts": {"kubernetes": {"ec2_node_classes": {"known": [
            {"meta": {"name": "default"}, "role": "KarpenterNodeRole-demo", "tags": tags}]}}}})
    }

    #[test]
    fn rows() {
        let subject = "EC2NodeClass/default";
        let pass: &[(Status, &str)] = &[(Status::Pass, subject)];
        let fail: &[(Status, &str)] = &[(Status::Fail, subject)];
        let mut with_profile = tags(&json!({"a*b": "c"}));
        with_profile["facts"]["kubernetes"]["ec2_node_classes"]["known"][0] = json!({
            "meta": {"name": "default"}, "instance_profile": "nodes", "tags": {"a*b": "c"}});
        let many: serde_json::Map<_, _> = (0..45).map(|n| (format!("k{n}"), json!("v"))).collect();
        let denied = json!({"denied": {"action": "list ec2nodeclasses", "message": "no"}});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("none", json!({}), pass),
                ("one's own", tags(&json!({"team": "a", "cost center": "b/c"})), pass),
                ("the cluster's", tags(&json!({"kubernetes.io/cluster/demo": "owned"})), fail),
                ("Karpenter's", tags(&json!({"karpenter.sh/nodepool": "a"})), fail),
                ("EKS's", tags(&json!({"eks:eks-cluster-name": "demo"})), fail),
                ("Auto Mode's alone", tags(&json!({"karpenter.sh/managed-by": "a"})), pass),
                ("AWS's", tags(&json!({"AWS:team": "a"})), fail),
                ("a long key", tags(&json!({"k".repeat(129): "a"})), fail),
                ("a long value", tags(&json!({"k": "a".repeat(257)})), fail),
                ("too many", tags(&many.into()), fail),
                ("not for IAM", tags(&json!({"a*b": "c"})), fail),
                ("not for IAM, which is not asked", with_profile, pass),
                ("the same to IAM", tags(&json!({"Team": "a", "team": "a"})), fail),
                (
                    "not readable",
                    json!({"facts": {"kubernetes": {"ec2_node_classes": denied}}}),
                    &[(Status::Unknown, "EC2NodeClass")],
                ),
            ],
        );
        let flag = json!({"scope": {"nodeclass_tags": {"karpenter.sh/managed-by": "a"}}});
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                ("without the cluster", json!({}), &[(Status::Skipped, "demo")]),
                ("by a flag", flag, &[(Status::Fail, "--nodeclass-tag")]),
            ],
        );
    }
}
