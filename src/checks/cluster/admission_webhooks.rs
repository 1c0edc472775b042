//! Whether those answer whom the API server asks before it takes an object.

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        remedies::{listed, quote},
    },
    facts::kubernetes::webhooks::Gatekeeper,
    outcome::{Finding, Remedy},
    target::Product,
};

const ERROR: &str = "admission-webhook-unanswered";

pub static CHECK: Check = Check {
    id: "admission-webhooks",
    title: "Somebody answers what the API server asks of admission webhooks",
    area: Area::Controller,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &[ERROR],
    needs: &[],
    doc: "\
## What
Each Service has a ready endpoint whose admission webhook is asked about pods, nodes, leases,
services, or Karpenter's own objects, and must answer (`failurePolicy: Fail`). Webhooks under a name
of Karpenter's are another check's, and those that lead out of the cluster nobody's.

## Why
While nobody answers, the API server takes no such object. Policy engines, meshes and load balancer
controllers have such webhooks. Their own pods may wait for a node, and the node's pods and leases be
refused, or the controller's that would make it: nothing gets out of that by itself. It shows when a
cluster comes back that was scaled to nothing over night.

## Seen as
`failed calling webhook ...: no endpoints available for service`, on pods, on `helm install`, or in
the controller's log.

## Fix
Bring the Service's pods back, on nodes that are not Karpenter's. To get out, delete the webhook
configuration; what made it makes it again. Leave `kube-system` and Karpenter's namespace out by a
`namespaceSelector`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let gatekeepers = cx.kubernetes()?.gatekeepers.known()?;
    if gatekeepers.is_empty() {
        let none = || Ok(Finding::pass("No Service has to answer before pods or nodes are taken."));
        return Ok(vec![Judged::new(&cx.target.cluster, none)]);
    }
    let judged = |one| Judged::new(Gatekeeper::path(one), || judge(one));
    Ok(gatekeepers.iter().map(judged).collect())
}

fn judge(gatekeeper: &Gatekeeper) -> Result<Finding, Stop> {
    let Gatekeeper { asked_about, configurations, limited, .. } = gatekeeper;
    let asked_about: Vec<_> = asked_about.iter().collect();
    let about = listed(&asked_about);
    let ready = *gatekeeper.ready.known()?;
    if ready > 0 {
        let plural = if ready == 1 { "" } else { "s" };
        let seen = format!("It is asked about {about}, and has {ready} ready endpoint{plural}.");
        return Ok(Finding::pass(seen));
    }
    let configurations: Vec<_> = configurations.iter().collect();
    let seen = format!(
        "The Service {} has no ready endpoint, and must answer what the API server asks it about \
         {about} ({}).",
        gatekeeper.path(),
        listed(&configurations)
    );
    let finding = match limited {
        true => Finding::warn(
            seen,
            "None of these is taken that has the labels which the webhook selects, or is in a \
             namespace that has them.",
        ),
        false => Finding::fail(
            seen,
            "The API server takes none of these, in any namespace that the webhook does not leave \
             out, until it is back.",
        ),
    };
    let namespace = quote(&gatekeeper.service.namespace);
    let remedy = Remedy::new(
        "Bring the pods of the Service back; if they wait for nodes, or are refused by their own \
         webhook, delete its configuration: what made it makes it again.",
    )
    .run(format!("kubectl get pods --namespace {namespace} --output wide"));
    let remedy = configurations.iter().filter_map(|of| of.split_once(' ')).fold(
        remedy,
        |remedy, (kind, name)| {
            remedy.run(format!("kubectl get {kind} {} --output yaml", quote(name)))
        },
    );
    Ok(finding
        .errors(&[ERROR])
        .evidence("list endpointslices (Kubernetes)", "endpoints[].conditions.ready", "none")
        .mend(remedy))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn gatekeeper(ready: &Value, limited: bool) -> Value {
        json!({"facts": {"kubernetes": {"gatekeepers": {"known": [{
            "service": {"namespace": "kyverno", "name": "kyverno-svc"},
            "configurations": ["validatingwebhookconfiguration kyverno-resource"],
            "asked_about": ["nodes", "pods"], "limited": limited, "ready": ready}]}}}})
    }

    #[test]
    fn rows() {
        let denied = json!({"denied": {"action": "list endpointslices", "message": "forbidden"}});
        let service = |status| [(status, "kyverno/kyverno-svc")];
        for account in [Account::KarpenterCluster, Account::AutoModeCluster] {
            assert_rows(
                account,
                &CHECK,
                &[
                    ("healthy", json!({}), &[(Status::Pass, "demo")]),
                    ("answers", gatekeeper(&json!({"known": 2}), false), &service(Status::Pass)),
                    (
                        "nobody answers",
                        gatekeeper(&json!({"known": 0}), false),
                        &service(Status::Fail),
                    ),
                    (
                        "for some namespaces",
                        gatekeeper(&json!({"known": 0}), true),
                        &service(Status::Warn),
                    ),
                    ("not readable", gatekeeper(&denied, false), &service(Status::Unknown)),
                    (
                        "nor the webhooks",
                        json!({"facts": {"kubernetes": {"gatekeepers": denied}}}),
                        &[(Status::Unknown, "demo")],
                    ),
                    (
                        "left alone",
                        json!({"scope": {"no_kube": true}}),
                        &[(Status::Skipped, "demo")],
                    ),
                ],
            );
        }
    }
}
