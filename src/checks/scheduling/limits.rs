//! Whether NodePools may still grow.

use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    facts::kubernetes::{node_pool::NodePool, quantity},
    outcome::{Finding, Remedy},
    target::Product,
};

/// From this part of a limit on, in per cent, the next large node may be one too many.
const NEAR: u64 = 90;

pub static CHECK: Check = Check {
    id: "nodepool-limits",
    title: "NodePools have room below their limits",
    area: Area::Scheduling,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["nodepool-limits-reached"],
    needs: &[],
    doc: "\
## What
What a NodePool's nodes have together is below nine tenths of each of its `spec.limits`. A limit
of 0 is taken as meant.

## Why
Karpenter makes no node that would take a NodePool past one of its limits. It says so only in
events of the pods that wait, and the smallest node that is left may be too small for them.

## Seen as
`all available instance types exceed limits for nodepool` in the pod's events.

## Fix
Raise `spec.limits`, or remove what is not needed. A warning stands for a pool that is full and
for which no pod waits yet.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let pools = cx.kubernetes()?.node_pools.found()?.map_or(&[][..], Vec::as_slice);
    let limited: Vec<_> = pools.iter().filter(|pool| !pool.limits.is_empty()).collect();
    if limited.is_empty() {
        return Err(Stop::skipped("no NodePool has limits"));
    }
    let judge =
        |pool: &&NodePool| Judged::new(format!("nodepool/{}", pool.meta.name), || judge(cx, pool));
    Ok(limited.iter().map(judge).collect())
}

/// A limit, what is used of it, and how many per cent that is.
struct Use<'a> {
    resource: &'a str,
    used: &'a str,
    limit: &'a str,
    per_cent: u64,
}

fn judge(cx: &Context<'_>, pool: &NodePool) -> Result<Finding, Stop> {
    let uses: Vec<_> = uses(pool).collect::<Result<_, _>>()?;
    let Some(fullest) = uses.into_iter().max_by_key(|used| used.per_cent) else {
        return Ok(Finding::pass("Its limits are 0: it makes no such nodes, which is meant."));
    };
    let Use { resource, used, limit, per_cent } = fullest;
    let seen = format!("NodePool {} uses {used} of {limit} {resource}.", pool.meta.name);
    if per_cent < NEAR {
        return Ok(Finding::pass(seen));
    }
    let waits = waits_for(cx, pool);
    let finding = if waits {
        Finding::fail(seen, "Pods wait, and Karpenter makes no node for them from this NodePool.")
    } else if per_cent >= 100 {
        Finding::warn(seen, "The next pod that needs a node of this NodePool stays Pending.")
    } else {
        Finding::warn(
            seen,
            "Little is left: Karpenter makes no node that would pass the limit, so that a larger \
             pod stays Pending.",
        )
    };
    let finding = finding
        .errors(&["nodepool-limits-reached"])
        .evidence("list nodepools (Kubernetes)", format!("status.resources.{resource}"), used)
        .evidence("list nodepools (Kubernetes)", format!("spec.limits.{resource}"), limit)
        .mend(
            Remedy::new(
                "Raise the limit to what you are willing to pay for, or remove what is not needed.",
            )
            .run(format!(
                "kubectl patch nodepool {} --type merge --patch {}",
                quote(&pool.meta.name),
                quote(&format!(r#"{{"spec":{{"limits":{{"{resource}":"FILL_IN_NEW_LIMIT"}}}}}}"#))
            )),
        );
    Ok(finding)
}

/// What is used of each limit that is not 0.
fn uses(pool: &NodePool) -> impl Iterator<Item = Result<Use<'_>, Stop>> {
    let amount = |text: &str, what: &str| {
        quantity::milli(text)
            .ok_or_else(|| Stop::unknown(format!("{what} {text} is no amount that can be read")))
    };
    pool.limits.iter().filter_map(move |(resource, limit)| {
        let used = pool.resources.get(resource).map_or("0", String::as_str);
        let of_limit = || {
            let most = amount(limit, &format!("the limit of {resource}"))?;
            let used = amount(used, &format!("the use of {resource}"))?;
            // Memory in thousandths of bytes times 100 is past 64 bits.
            let part = (u128::from(used) * 100).checked_div(u128::from(most));
            Ok(part.map(|part| u64::try_from(part).unwrap_or(u64::MAX)))
        };
        match of_limit() {
            Ok(part) => part.map(|per_cent| Ok(Use { resource, used, limit, per_cent })),
            Err(stop) => Some(Err(stop)),
        }
    })
}

/// Whether Karpenter said of a pod that still waits that this NodePool's limits are in the way.
fn waits_for(cx: &Context<'_>, pool: &NodePool) -> bool {
    let workloads = &cx.facts.kubernetes.workloads;
    let pending = workloads.pods.value().map_or(&[][..], |pods| &pods.pending);
    let events = workloads.scheduling_events.value().map_or(&[][..], |events| &events.events);
    events.iter().any(|event| {
        let about_limits = names_in_limits(&event.message).any(|name| name == pool.meta.name);
        let waits = pending
            .iter()
            .any(|pod| pod.meta.name == event.object && pod.meta.namespace == event.namespace);
        about_limits && waits
    })
}

/// The words after Karpenter's text about limits, which are the NodePool's name and what stands
/// around it: `(NodePool={"name":"default"})`, or `"default"` before 1.4.
fn names_in_limits(message: &str) -> impl Iterator<Item = &str> {
    let after = message.split("exceed limits for nodepool").skip(1);
    let parts = after.filter_map(|after| after.split(';').next());
    parts.flat_map(|part| part.split(|c: char| !(c.is_ascii_alphanumeric() || "-.".contains(c))))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn pool(limits: &Value, used: &Value) -> Value {
        json!({"facts": {"kubernetes": {"node_pools": {"known": [
            {"meta": {"name": "default"}, "limits": limits, "resources": used}]}}}})
    }

    #[test]
    fn rows() {
        let cpu = |used: &str| pool(&json!({"cpu": "1000"}), &json!({"cpu": used}));
        let mut waiting = cpu("995");
        json_patch::merge(
            &mut waiting,
            &json!({"facts": {"kubernetes": {"workloads": {
                "pods": {"known": {"pending_total": 1, "pending": [
                    {"meta": {"name": "web-1", "namespace": "shop"}}]}},
                "scheduling_events": {"known": {"events": [{"namespace": "shop", "object": "web-1",
                    "message": "Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool={\"name\":\"default\"})"}]}},
            }}}}),
        );
        let memory = pool(&json!({"memory": "10Ti"}), &json!({"memory": "10240Gi"}));
        let denied = json!({"denied": {"action": "list nodepools", "message": "forbidden"}});
        let default = |status| [(status, "nodepool/default")];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("healthy", json!({}), &default(Status::Pass)),
                ("near", cpu("900"), &default(Status::Warn)),
                ("below", cpu("899"), &default(Status::Pass)),
                ("full and nobody waits", cpu("1000"), &default(Status::Warn)),
                ("full and a pod waits", waiting, &default(Status::Fail)),
                ("memory", memory, &default(Status::Warn)),
                ("off", pool(&json!({"cpu": "0"}), &json!({})), &default(Status::Pass)),
                (
                    "no amount",
                    pool(&json!({"cpu": "1000"}), &json!({"cpu": "abc"})),
                    &default(Status::Unknown),
                ),
                ("large", pool(&json!({"memory": "1Ei"}), &json!({})), &default(Status::Pass)),
                ("no limits", pool(&json!({}), &json!({})), &[(Status::Skipped, "demo")]),
                (
                    "not readable",
                    json!({"facts": {"kubernetes": {"node_pools": denied}}}),
                    &[(Status::Unknown, "demo")],
                ),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Status::Skipped, "demo")]),
            ],
        );
        let rows = [("no limits", json!({}), &[(Status::Skipped, "demo")][..])];
        assert_rows(Account::AutoModeCluster, &CHECK, &rows);
    }
}
