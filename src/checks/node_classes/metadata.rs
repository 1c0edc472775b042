//! Whether nodes can read the instance metadata that they start from.

use crate::{
    checks::{
        Area, Check, Stop, Verdicts,
        node_classes::{self, Class},
    },
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "nodeclass-metadata",
    title: "Nodes can read their instance metadata",
    area: Area::Join,
    products: &[Product::Karpenter],
    errors: &["node-not-registered"],
    needs: &[],
    doc: "\
## What
No EC2NodeClass has `metadataOptions.httpEndpoint: disabled`.

## Why
A node learns from the instance metadata who it is: its user data with the cluster's endpoint, its
id, its region, and the credentials of its role. Without the metadata it never calls the cluster.
To keep pods from the metadata, one hop (`httpPutResponseHopLimit: 1`) is enough.

## Seen as
`Node not registered with cluster` on the NodeClaim; the instance runs, and is replaced after 15
minutes.

## Fix
Leave `httpEndpoint` out, or set it to `enabled`.
",
    run,
};

fn run(cx: &crate::checks::Context<'_>) -> Verdicts {
    node_classes::each(cx, CHECK.products, |class| judge(&class))
}

fn judge(class: &Class<'_>) -> Result<Finding, Stop> {
    let options = class.spec.metadata_options.as_ref();
    let endpoint = options.and_then(|options| options.http_endpoint.as_deref());
    if !endpoint.is_some_and(|endpoint| endpoint.eq_ignore_ascii_case("disabled")) {
        return Ok(Finding::pass("Its nodes have a metadata endpoint."));
    }
    Ok(Finding::fail(
        format!("{class} switches the metadata endpoint of its nodes off."),
        "Its nodes learn neither the cluster's endpoint nor their credentials: they start, never \
         join, and are replaced every 15 minutes.",
    )
    .errors(CHECK.errors)
    .evidence(class.api(), "spec.metadataOptions.httpEndpoint", "disabled")
    .mend(
        Remedy::new(
            "Switch it on. If pods are to be kept from it, let httpPutResponseHopLimit be 1.",
        )
        .run(format!(
            "kubectl patch ec2nodeclass {} --type merge --patch \
             '{{\"spec\":{{\"metadataOptions\":{{\"httpEndpoint\":\"enabled\"}}}}}}'",
            crate::checks::remedies::quote(class.name())
        )),
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

    fn endpoint(value: &str) -> Value {
        json!({"facts": {"kubernetes": {"ec2_node_classes": {"known": [
            {"meta": {"name": "default"}, "metadata_options": {"http_endpoint": value}}]}}}})
    }

    #[test]
    fn rows() {
        let one = |status| [(status, "EC2NodeClass/default")];
        let denied = json!({"denied": {"action": "list ec2nodeclasses", "message": "no"}});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("left out", json!({}), &one(Status::Pass)),
                ("on", endpoint("enabled"), &one(Status::Pass)),
                ("off", endpoint("disabled"), &one(Status::Fail)),
                (
                    "not readable",
                    json!({"facts": {"kubernetes": {"ec2_node_classes": denied}}}),
                    &[(Status::Unknown, "EC2NodeClass")],
                ),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Status::Skipped, "demo")]),
            ],
        );
    }
}
