//! The NodeClass that each NodePool names.

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        node_classes::{self, group, kind},
        remedies::{listed, quote},
    },
    facts::kubernetes::node_pool::{NodeClassRef, NodePool},
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "nodepool-nodeclass-ref",
    title: "Every NodePool names a NodeClass that is there",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["nodeclass-not-found", "nodeclass-terminating", "no-nodepools-found"],
    needs: &[],
    doc: "\
## What
The `nodeClassRef` of each NodePool gives group, kind and name of a NodeClass that exists and is not
being deleted: `karpenter.k8s.aws` and `EC2NodeClass` for Karpenter, `eks.amazonaws.com` and
`NodeClass` for EKS Auto Mode.

## Why
A NodePool with a NodeClass that is not there launches nothing. The group is written without a
version. A NodeClass that somebody deleted stays until its last NodeClaim is gone, and is treated
as if it were gone already.

## Seen as
`NodeClass not found on cluster` on the NodePool, `no nodepools found` in the controller's log, and
`is terminating, treating as not found` for one that is being deleted. A wrong group or kind can
leave the NodePool's `READY` column empty.

## Fix
Correct the reference, or create the NodeClass.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let pools = cx.kubernetes()?.node_pools.found()?.map(Vec::as_slice).unwrap_or_default();
    if pools.is_empty() {
        return Err(Stop::skipped("the cluster has no NodePool"));
    }
    let judge =
        |pool: &NodePool| Judged::new(format!("NodePool/{}", pool.meta.name), || judge(cx, pool));
    Ok(pools.iter().map(judge).collect())
}

fn judge(cx: &Context<'_>, pool: &NodePool) -> Result<Finding, Stop> {
    let NodeClassRef { group: named_group, kind: named_kind, name } = &pool.node_class;
    let Some(product) = product(&pool.node_class) else {
        return Ok(wrong_kind(pool));
    };
    let classes = node_classes::list(cx, product).found()?.map(Vec::as_slice).unwrap_or_default();
    let Some(class) = classes.iter().find(|class| class.meta.name == *name) else {
        return Ok(missing(cx, pool, product));
    };
    if let Some(since) = class.meta.deleting {
        let seen = format!(
            "NodePool {} uses {} {name}, which is being deleted since {since}.",
            pool.meta.name,
            kind(product)
        );
        let words = format!(
            "Let the NodePool use another NodeClass. Once the last NodeClaim of {name} is gone, it \
             can be created again."
        );
        return Ok(launches_nothing(pool, seen, "metadata.deletionTimestamp", &since.to_string())
            .errors(&["nodeclass-terminating"])
            .mend(Remedy::new(words).run(edit(pool))));
    }
    let written = [named_kind.as_str(), named_group.as_str()].join(" of ");
    Ok(Finding::pass(format!("It uses {name}, an {written}.")))
}

/// Whose NodeClass is named. Before v1 group and kind may be left out.
fn product(named: &NodeClassRef) -> Option<Product> {
    [Product::Karpenter, Product::AutoMode].into_iter().find(|product| {
        let fits = |field: &str, value| field.is_empty() || field == value;
        fits(&named.group, group(*product)) && fits(&named.kind, kind(*product))
    })
}

fn launches_nothing(pool: &NodePool, seen: String, path: &str, value: &str) -> Finding {
    Finding::fail(
        seen,
        format!("Nothing is launched for NodePool {}: its pods stay Pending.", pool.meta.name),
    )
    .evidence("list nodepools (Kubernetes)", path, value)
}

fn wrong_kind(pool: &NodePool) -> Finding {
    let NodeClassRef { group: named_group, kind: named_kind, .. } = &pool.node_class;
    let seen = format!(
        "NodePool {} names a {named_kind} of {named_group}, which neither Karpenter nor EKS Auto \
         Mode knows.",
        pool.meta.name
    );
    let words = "Write group: karpenter.k8s.aws and kind: EC2NodeClass for Karpenter, or group: \
                 eks.amazonaws.com and kind: NodeClass for EKS Auto Mode. The group has no version.";
    launches_nothing(
        pool,
        seen,
        "spec.template.spec.nodeClassRef",
        &format!("{named_group}, {named_kind}"),
    )
    .errors(&["no-nodepools-found", "nodeclass-not-found"])
    .mend(Remedy::new(words).run(edit(pool)))
}

fn missing(cx: &Context<'_>, pool: &NodePool, product: Product) -> Finding {
    let name = &pool.node_class.name;
    let there: Vec<_> = node_classes::list(cx, product)
        .value()
        .into_iter()
        .flatten()
        .map(|class| class.meta.name.as_str())
        .collect();
    let kind = kind(product);
    let others = match there[..] {
        [] => format!("the cluster has no {kind}"),
        _ => format!("there is {}", listed(&there)),
    };
    let seen =
        format!("NodePool {} uses {kind} {name}, which does not exist: {others}.", pool.meta.name);
    launches_nothing(pool, seen, "spec.template.spec.nodeClassRef.name", name)
        .errors(&["nodeclass-not-found"])
        .mend(
            Remedy::new(format!("Create {kind} {name}, or correct the reference.")).run(edit(pool)),
        )
}

fn edit(pool: &NodePool) -> String {
    format!("kubectl edit nodepool {}", quote(&pool.meta.name))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn with_ref(group: &str, kind: &str, name: &str) -> Value {
        json!({"facts": {"kubernetes": {"node_pools": {"known": [
            {"meta": {"name": "default"}, "node_class": {"group": group, "kind": kind, "name": name}}
        ]}}}})
    }

    #[test]
    fn rows() {
        let pass: &[(Status, &str)] = &[(Status::Pass, "NodePool/default")];
        let fail: &[(Status, &str)] = &[(Status::Fail, "NodePool/default")];
        let deleting = json!({"facts": {"kubernetes": {"ec2_node_classes": {"known": [
            {"meta": {"name": "default", "deleting": "2026-11-01T00:00:00Z"}}]}}}});
        let denied = json!({"denied": {"action": "list ec2nodeclasses", "message": "forbidden"}});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("there", json!({}), pass),
                ("another name", with_ref("karpenter.k8s.aws", "EC2NodeClass", "gpu"), fail),
                (
                    "a group with a version",
                    with_ref("karpenter.k8s.aws/v1", "EC2NodeClass", "default"),
                    fail,
                ),
                ("another kind", with_ref("karpenter.k8s.aws", "NodeClass", "default"), fail),
                (
                    "Auto Mode's, which is off",
                    with_ref("eks.amazonaws.com", "NodeClass", "default"),
                    fail,
                ),
                ("before v1", with_ref("", "", "default"), pass),
                ("being deleted", deleting, fail),
                (
                    "not readable",
                    json!({"facts": {"kubernetes": {"ec2_node_classes": denied}}}),
                    &[(Status::Unknown, "NodePool/default")],
                ),
                (
                    "no NodePool",
                    json!({"facts": {"kubernetes": {"node_pools": {"known": []}}}}),
                    &[(Status::Skipped, "demo")],
                ),
            ],
        );
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[("without the cluster", json!({}), &[(Status::Skipped, "demo")])],
        );
        let all: Vec<_> = ["general-purpose", "system", "batch"]
            .map(|name| (Status::Pass, format!("NodePool/{name}")))
            .into();
        let all: Vec<_> = all.iter().map(|(status, subject)| (*status, subject.as_str())).collect();
        assert_rows(Account::AutoModeCluster, &CHECK, &[("built-in", json!({}), &all)]);
    }
}
