//! What the NodePools say of themselves.

use super::{Context, list, text, told, unhealthy};
use crate::{
    checks::{Area, Check, Judged, Stop, Verdicts, diagnosis::Diagnosis, remedies::quote},
    facts::kubernetes::{Condition, node_pool::NodePool},
    outcome::Finding,
    target::Product,
};

/// Whether nodes of the NodePool have registered lately. It is Unknown until enough of them
/// were launched, which may be never (core `pkg/controllers/nodepool/registrationhealth`).
const REGISTRATION: &str = "NodeRegistrationHealthy";

pub static CHECK: Check = Check {
    id: "nodepool-status",
    title: "The NodePools are ready",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["no-nodepools-found", "nodeclass-not-found"],
    needs: &[],
    doc: "\
## What
No condition of a NodePool is False, and none is Unknown for more than five minutes. What the
conditions say is looked up in the catalogue of documented errors.

## Why
Karpenter leaves a NodePool out that is not ready: because its NodeClass is not there or not
ready, or because its own values are not valid. A NodePool whose nodes failed to register says so
as well.

## Seen as
`no nodepools found` and `ignoring nodepool, not ready` in the controller's log, and pods that stay
Pending.

## Fix
Mend what the condition names; if it is `NodeClassReady`, look at the NodeClass first.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let pools = list(&cx.kubernetes()?.node_pools)?;
    if pools.is_empty() {
        return Err(Stop::skipped("there is no NodePool"));
    }
    let judge =
        |pool: &NodePool| Judged::new(format!("nodepool/{}", pool.meta.name), || judge(cx, pool));
    Ok(pools.iter().map(judge).collect())
}

fn judge(cx: &Context<'_>, pool: &NodePool) -> Result<Finding, Stop> {
    let name = &pool.meta.name;
    let counts =
        |condition: &&Condition| condition.kind != REGISTRATION || condition.status == "False";
    let mut found = unhealthy(cx, &pool.meta, &pool.conditions);
    found.retain(counts);
    if found.is_empty() {
        let says = pool.conditions.iter().any(|condition| condition.status == "True");
        return match says {
            true => Ok(Finding::pass(format!("{name} is ready"))),
            // Karpenter before 1.0 writes no conditions.
            false => Err(Stop::unknown("its status says nothing yet")),
        };
    }
    let sentences: Vec<_> = found.iter().map(|condition| told(cx, condition)).collect();
    let only_registration = found.iter().all(|condition| condition.kind == REGISTRATION);
    let effect = match only_registration {
        true => "Its nodes are launched, do not join the cluster, and are taken away again.",
        false => "Karpenter leaves it out: pods that need it stay Pending.",
    };
    let seen = format!("The NodePool {name} is not healthy: {}.", sentences.join("; "));
    let finding = found.iter().fold(Finding::fail(seen, effect), |finding, condition| {
        finding.evidence(
            "get nodepool",
            format!("status.conditions[{}]", condition.kind),
            format!("{} {} {}", condition.status, condition.reason, condition.message).trim(),
        )
    });
    let describe = format!("kubectl describe nodepool {}", quote(name));
    Ok(Diagnosis::of(&text(&found)).name_in(cx, finding, "no-nodepools-found", &[describe]))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
        json!({"facts": {"kubernetes": {"node_pools": {"known": [{"meta": {"name": "default"},
            "conditions": [{"type": kind, "status": status, "reason": reason, "message": message,
            "since": "2026-11-01T11:00:00Z"},
            {"type": "ValidationSucceeded", "status": "True", "since": null}]}]}}}})
    }

    #[test]
    fn rows() {
        let subject = "nodepool/default";
        let (pass, fail) = (&[(Status::Pass, subject)][..], &[(Status::Fail, subject)][..]);
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("ready", json!({}), pass),
                (
                    "no NodeClass",
                    condition(
                        "NodeClassReady",
                        "False",
                        "NodeClassNotFound",
                        "NodeClass not found on cluster",
                    ),
                    fail,
                ),
                (
                    "nodes do not register",
                    condition(
                        REGISTRATION,
                        "False",
                        "RegistrationFailed",
                        "Failed to register node",
                    ),
                    fail,
                ),
                (
                    "no node was launched yet",
                    condition(
                        REGISTRATION,
                        "Unknown",
                        "AwaitingReconciliation",
                        "object is awaiting reconciliation",
                    ),
                    pass,
                ),
                (
                    "nobody looks at it",
                    condition(
                        "NodeClassReady",
                        "Unknown",
                        "AwaitingReconciliation",
                        "object is awaiting reconciliation",
                    ),
                    fail,
                ),
                ("unheard of", condition("Ready", "False", "Odd", "Something odd"), fail),
                (
                    "says nothing",
                    json!({"facts": {"kubernetes": {"node_pools": {"known": [
                        {"meta": {"name": "default"}}]}}}}),
                    &[(Status::Unknown, subject)],
                ),
                (
                    "none",
                    json!({"facts": {"kubernetes": {"node_pools": {"known": []}}}}),
                    &[(Status::Skipped, "demo")],
                ),
            ],
        );
        let three = &[
            (Status::Pass, "nodepool/general-purpose"),
            (Status::Pass, "nodepool/system"),
            (Status::Pass, "nodepool/batch"),
        ];
        assert_rows(Account::AutoModeCluster, &CHECK, &[("Auto Mode", json!({}), three)]);
    }

    #[test]
    fn the_error_is_the_one_that_is_printed() {
        for (reason, message, id) in [
            ("NodeClassNotFound", "NodeClass not found on cluster", "nodeclass-not-found"),
            ("NodeClassReadinessUnknown", "Node Class Readiness Unknown", "nodeclass-not-ready"),
            ("Odd", "Something odd", "nodeclass-not-ready"),
        ] {
            let patch = condition("NodeClassReady", "False", reason, message);
            let found = Account::KarpenterCluster.judge(&CHECK, &patch).remove(0);
            assert_eq!(found.errors[0].id, id, "{found:#?}");
        }
    }
}
