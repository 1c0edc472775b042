//! Whether workloads say what they need, which is what Karpenter sizes nodes by.

use serde_json::json;

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        remedies::{listed, quote},
        workloads::{Tally, counted, is_system, pods, workloads},
    },
    outcome::{Finding, Remedy},
    target::Product,
};

/// How many namespaces get a command of their own.
const COMMANDS: usize = 3;

pub static CHECK: Check = Check {
    id: "pod-requests",
    title: "Workloads say what they need",
    area: Area::Scheduling,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["oom-killed"],
    needs: &[],
    doc: "\
## What
Every pod requests some CPU and some memory, itself or through a LimitRange of its namespace.
Pods of `kube-system`, of AWS's own add-ons and of Karpenter are left out.

## Why
Karpenter and the scheduler place pods by their requests and by nothing else. A pod that requests
nothing takes no room in their reckoning, so that any number of them is packed on one small node,
where they then fight for CPU and are killed for memory. Consolidation packs them tighter still.

## Seen as
`OOMKilled` in the pods' status, evictions for memory pressure, and slow pods on full nodes.

## Fix
Set `resources.requests` to what the pods use. For those that nobody sets, a LimitRange with
`defaultRequest` in the namespace; it acts on pods that are made after it.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let pods = pods(cx)?;
    Ok(vec![Judged::new(&cx.target.cluster, || {
        let own = |namespace: &str| !is_system(cx, namespace);
        let bare = Tally::new(pods, |workload| match own(&workload.owner.namespace) {
            true => workload.without_requests,
            false => 0,
        });
        if bare.is_empty() {
            return Ok(Finding::pass("Every pod of yours requests CPU and memory."));
        }
        judge(cx, &bare)
    })])
}

fn judge(cx: &Context<'_>, bare: &Tally<'_>) -> Result<Finding, Stop> {
    let with_defaults = workloads(cx)?.default_requests.known()?;
    let without: Vec<_> = bare
        .namespaces()
        .into_iter()
        .filter(|namespace| !with_defaults.contains(*namespace))
        .collect();
    if without.is_empty() {
        return Ok(Finding::pass(format!(
            "{} were made without requests before their namespace had a LimitRange: {}.",
            counted(bare.pods(), "pod"),
            bare.listed()
        )));
    }
    let seen = format!(
        "{} of {} request no CPU or no memory: {}. No LimitRange gives them any in {}.",
        counted(bare.pods(), "pod"),
        counted(u32::try_from(bare.of.len()).unwrap_or(u32::MAX), "workload"),
        bare.listed(),
        listed(&without)
    );
    Ok(Finding::warn(
        seen,
        "To Karpenter they take no room: it packs any number of them on one node, where they are \
         slowed down, and killed when memory runs out.",
    )
    .errors(&["oom-killed"])
    .evidence(
        "list pods (Kubernetes)",
        "spec.containers[].resources.requests",
        format!("{} without", bare.pods()),
    )
    .mend(remedy(&without)))
}

fn remedy(namespaces: &[&str]) -> Remedy {
    let file = "limit-range.json";
    // Small on purpose: they are a floor for what nobody measured, not a recommendation.
    let document = json!({
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "default-requests"},
        "spec": {"limits": [
            {"type": "Container", "defaultRequest": {"cpu": "100m", "memory": "128Mi"}},
        ]},
    });
    let remedy = Remedy::new(
        "Set requests in the workloads to what they use. Until then let a LimitRange give small \
         ones to containers that state none; pods get them when they are made anew.",
    )
    .document(file, &document);
    namespaces.iter().take(COMMANDS).fold(remedy, |remedy, namespace| {
        remedy.run(format!("kubectl apply --namespace {} --filename {file}", quote(namespace)))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows, workloads},
        outcome::Status,
    };

    fn bare(namespace: &str, name: &str, pods: u32) -> Value {
        json!({"owner": {"namespace": namespace, "kind": "Deployment", "name": name},
               "pods": {"count": pods, "names": []}, "without_requests": pods})
    }

    #[test]
    fn rows() {
        let many: Vec<_> = (0..10_000)
            .map(|i| bare(&format!("team-{}", i % 100), &format!("app-{i}"), 1))
            .collect();
        let with_range = json!({"facts": {"kubernetes": {"workloads": {
            "default_requests": {"known": ["shop"]},
            "pods": {"known": {"workloads": [bare("shop", "web", 4)]}}}}}});
        let denied = json!({"denied": {"action": "list limitranges", "message": "forbidden"}});
        let no_ranges = json!({"facts": {"kubernetes": {"workloads": {
            "default_requests": denied,
            "pods": {"known": {"workloads": [bare("shop", "web", 4)]}}}}}});
        let no_pods = json!({"denied": {"action": "list pods", "message": "forbidden"}});
        let no_pods = json!({"facts": {"kubernetes": {"workloads": {"pods": no_pods}}}});
        for account in [Account::KarpenterCluster, Account::AutoModeCluster] {
            assert_rows(
                account,
                &CHECK,
                &[
                    ("healthy", json!({}), &[(Status::Pass, "demo")]),
                    ("bare", workloads(&[bare("shop", "web", 4)]), &[(Status::Warn, "demo")]),
                    (
                        "add-ons",
                        workloads(&[bare("kube-system", "coredns", 2)]),
                        &[(Status::Pass, "demo")],
                    ),
                    ("a LimitRange", with_range.clone(), &[(Status::Pass, "demo")]),
                    ("LimitRanges not readable", no_ranges.clone(), &[(Status::Unknown, "demo")]),
                    ("ten thousand", workloads(&many), &[(Status::Warn, "demo")]),
                    ("pods not readable", no_pods.clone(), &[(Status::Unknown, "demo")]),
                    (
                        "left alone",
                        json!({"scope": {"no_kube": true}}),
                        &[(Status::Skipped, "demo")],
                    ),
                ],
            );
        }
    }

    #[test]
    fn ten_thousand_are_told_in_a_few_lines() {
        let many: Vec<_> = (0..10_000)
            .map(|i| bare(&format!("team-{}", i % 100), &format!("app-{i}"), 1))
            .collect();
        let found = Account::KarpenterCluster.judge(&CHECK, &workloads(&many)).remove(0);
        assert!(found.seen.contains("10000 pods of 10000 workloads"), "{}", found.seen);
        assert!(found.seen.contains("and 9996 more"), "{}", found.seen);
        assert!(found.seen.len() < 500, "{}", found.seen);
    }
}
