//! What the node classes say of themselves.

use super::{Context, node_classes, text, told, unhealthy};
use crate::{
    checks::{
        Area, Check, Judged, Stop, Verdicts,
        diagnosis::Diagnosis,
        remedies::{listed, quote},
    },
    facts::kubernetes::node_class::NodeClass,
    outcome::Finding,
    target::Product,
};

pub static CHECK: Check = Check {
    id: "nodeclass-status",
    title: "The NodeClasses are ready",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["nodeclass-not-ready", "awaiting-reconciliation"],
    needs: &[],
    doc: "\
## What
No condition of an EC2NodeClass or of an Auto Mode NodeClass is False, and none is Unknown for
more than five minutes. What the conditions say is looked up in the catalogue of documented
errors, and the finding names the likeliest cause.

## Why
A NodeClass that is not ready launches nothing. A call that is denied while a condition is
reconciled leaves the condition Unknown without a reason: only its age tells that it fails, and
only the controller's log tells why.

## Seen as
`READY` is False or Unknown in `kubectl get ec2nodeclasses` (Auto Mode: `nodeclasses`), and pods
stay Pending.

## Fix
Mend what the condition names. `karpenter-preflight explain <error> --cluster <cluster>` says which
of its causes holds.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    cx.kubernetes()?;
    let mut judged = Vec::new();
    for product in cx.target.products.iter().map(|product| product.value) {
        match node_classes(cx, product) {
            Ok((kind, classes)) => {
                judged.extend(classes.iter().map(|class| {
                    let subject = format!("{kind}/{}", class.meta.name);
                    Judged::new(subject, || judge(cx, kind, class))
                }));
            }
            Err(stop) => judged.push(Judged::new(product.title(), || Err(stop))),
        }
    }
    match judged.is_empty() {
        true => Err(Stop::skipped("there is no NodeClass")),
        false => Ok(judged),
    }
}

fn judge(cx: &Context<'_>, kind: &str, class: &NodeClass) -> Result<Finding, Stop> {
    if class.meta.deleting.is_some() {
        return Err(Stop::skipped("it is being deleted; see node-termination"));
    }
    let found = unhealthy(cx, &class.meta, &class.conditions);
    if found.is_empty() {
        return healthy(class);
    }
    let name = &class.meta.name;
    let sentences: Vec<_> = found.iter().map(|condition| told(cx, condition)).collect();
    let finding = Finding::fail(
        format!("The NodeClass {name} is not ready: {}.", sentences.join("; ")),
        "No node is launched for the NodePools that name it, and their pods stay Pending.",
    );
    let finding = found.iter().fold(finding, |finding, condition| {
        finding.evidence(
            format!("get {kind}"),
            format!("status.conditions[{}]", condition.kind),
            format!("{} {} {}", condition.status, condition.reason, condition.message).trim(),
        )
    });
    let describe = format!("kubectl describe {kind} {}", quote(name));
    let otherwise = match found.iter().any(|condition| condition.status == "False") {
        true => "nodeclass-not-ready",
        false => "awaiting-reconciliation",
    };
    Ok(Diagnosis::of(&text(&found)).name_in(cx, finding, otherwise, &[describe]))
}

/// Nothing is wrong, if the controller has said anything at all.
fn healthy(class: &NodeClass) -> Result<Finding, Stop> {
    let ready = class.conditions.iter().any(|condition| condition.status == "True");
    if !ready {
        // Karpenter before 0.37 writes no conditions.
        return Err(Stop::unknown("its status says nothing yet"));
    }
    let kinds: Vec<_> = class.conditions.iter().map(|condition| &condition.kind).collect();
    Ok(Finding::pass(format!("{} is ready: {}", class.meta.name, listed(&kinds))))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn conditions(conditions: &Value) -> Value {
        json!({"facts": {"kubernetes": {"ec2_node_classes": {"known": [
            {"meta": {"name": "default", "created": "2026-10-01T00:00:00Z"},
             "conditions": conditions}]}}}})
    }

    fn condition(kind: &str, status: &str, reason: &str, message: &str, since: &str) -> Value {
        let since = format!("2026-11-01T{since}Z");
        json!({"type": kind, "status": status, "reason": reason, "message": message, "since": since})
    }

    fn no_subnets() -> Value {
        conditions(&json!([
            condition("Ready", "False", "UnhealthyDependents", "SubnetsReady=False", "11:00:00"),
            condition(
                "SubnetsReady",
                "False",
                "SubnetsNotFound",
                "SubnetSelector did not match any Subnets",
                "11:00:00"
            ),
        ]))
    }

    #[test]
    fn rows() {
        let subject = "ec2nodeclass/default";
        let waiting = |since: &str| {
            conditions(&json!([condition(
                "AMIsReady",
                "Unknown",
                "AwaitingReconciliation",
                "object is awaiting reconciliation",
                since
            )]))
        };
        let ready = condition("Ready", "True", "Ready", "", "11:00:00");
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("ready", json!({}), &[(Status::Pass, subject)]),
                ("no subnets", no_subnets(), &[(Status::Fail, subject)]),
                ("unknown for an hour", waiting("11:00:00"), &[(Status::Fail, subject)]),
                (
                    "unknown for a minute, the rest is well",
                    conditions(&json!([
                        ready,
                        condition(
                            "AMIsReady",
                            "Unknown",
                            "AwaitingReconciliation",
                            "object is awaiting reconciliation",
                            "11:59:00"
                        )
                    ])),
                    &[(Status::Pass, subject)],
                ),
                ("new", waiting("11:59:00"), &[(Status::Unknown, subject)]),
                (
                    "unknown with a reason",
                    conditions(&json!([condition(
                        "ValidationSucceeded",
                        "Unknown",
                        "DependenciesNotReady",
                        "Awaiting AMI, Instance Profile, Security Group, \
                        and Subnet resolution",
                        "11:59:30"
                    )])),
                    &[(Status::Fail, subject)],
                ),
                ("says nothing", conditions(&json!([])), &[(Status::Unknown, subject)]),
                (
                    "none",
                    json!({"facts": {"kubernetes": {"ec2_node_classes": {"known": []}}}}),
                    &[(Status::Skipped, "demo")],
                ),
                (
                    "not readable",
                    json!({"facts": {"kubernetes": {"ec2_node_classes": {"denied": {
                        "action": "list ec2nodeclasses", "message": "forbidden"}}}}}),
                    &[(Status::Unknown, "Karpenter")],
                ),
                ("not asked", json!({"scope": {"no_kube": true}}), &[(Status::Skipped, "demo")]),
            ],
        );
        let both = &[(Status::Pass, "nodeclass/default"), (Status::Pass, "nodeclass/batch")];
        assert_rows(Account::AutoModeCluster, &CHECK, &[("Auto Mode", json!({}), both)]);
    }

    #[test]
    fn the_fault_is_named_with_its_cause() {
        let found = Account::KarpenterCluster.judge(&CHECK, &no_subnets()).remove(0);
        let ids: Vec<_> = found.errors.iter().map(|error| error.id.as_str()).collect();
        assert_eq!(ids, ["subnets-not-found"], "the sum of the conditions is folded under it");
        assert!(found.seen.contains("SubnetsReady is False for 60 minutes"), "{}", found.seen);
        let remedy = found.remedy.expect("it is mended");
        assert!(remedy.words.contains("tag"), "{}", remedy.words);
    }

    #[test]
    fn auto_modes_conditions_are_read_too() {
        let patch = json!({"facts": {"kubernetes": {"auto_node_classes": {"known": [
            {"meta": {"name": "custom"}, "conditions": [condition("InstanceProfileReady", "False",
                "UnauthorizedNodeRole", "Role custom is unauthorized to join nodes to the cluster",
                "11:00:00")]}]}}}});
        let found = Account::AutoModeCluster.judge(&CHECK, &patch).remove(0);
        assert_eq!(found.errors[0].id, "unauthorized-node-role", "{found:#?}");
        assert_eq!(found.subject, "nodeclass/custom");
    }
}
