//! Whether the switches of EKS Auto Mode fit together.

use serde_json::json;

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        node_classes::{self, Class},
        remedies::{NewRole, create_role, listed, quote, service_trust},
    },
    facts::{arn, eks::AutoMode, iam::Role},
    outcome::{Finding, Remedy},
    target::Product,
};

const API: &str = "eks:DescribeCluster";
/// The built-in node pools (<https://docs.aws.amazon.com/eks/latest/userguide/set-builtin-node-pools.html>).
const POOLS: [&str; 2] = ["general-purpose", "system"];

/// The NodeClass of the built-in node pools.
const BUILT_IN: &str = "default";

pub static CHECK: Check = Check {
    id: "auto-mode-settings",
    title: "The switches of EKS Auto Mode fit together",
    area: Area::Controller,
    products: &[Product::AutoMode],
    errors: &[
        "auto-mode-settings-mixed",
        "auto-mode-node-pools-and-role",
        "unauthorized-node-role",
    ],
    needs: &[API, "eks:ListAccessEntries", "eks:DescribeAccessEntry", "iam:GetRole"],
    doc: "\
## What
Compute, block storage and load balancing are all on, or all off. Where no built-in node pool is
on, an access entry of type EC2 is there for the nodes of your own NodeClasses. Where they are on,
their node role has the path `/`.

## Why
EKS takes the three switches only together, so that a cluster on which they differ refuses the next
change. EKS makes the access entry of the node role only together with built-in node pools:
without one, a NodeClass of your own stays unready until you make the entry. A misspelt name of a
pool counts as none.

## Seen as
`please ensure that all required configs ... are all either fully enabled or fully disabled`, or
`UnauthorizedNodeRole` on the NodeClass.

## Fix
Send the three switches in one request; create the access entry of type EC2.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    Ok(vec![Judged::new(&cx.target.cluster, || {
        let auto_mode = &cx.cluster()?.auto_mode;
        let on = [
            ("compute", auto_mode.compute),
            ("block storage", auto_mode.block_storage),
            ("load balancing", auto_mode.load_balancing),
        ];
        if on.iter().any(|(_, one)| *one != auto_mode.compute) {
            return Ok(mixed(cx, auto_mode, &on));
        }
        if !auto_mode.compute {
            return Err(Stop::skipped("EKS Auto Mode is off, with all its switches"));
        }
        pools(cx, auto_mode)
    })])
}

fn mixed(cx: &Context<'_>, auto_mode: &AutoMode, on: &[(&str, bool); 3]) -> Finding {
    let of = |wanted: bool| -> Vec<&str> {
        on.iter().filter(|(_, one)| *one == wanted).map(|(name, _)| *name).collect()
    };
    Finding::warn(
        format!(
            "EKS Auto Mode is on for {} and off for {}.",
            listed(&of(true)),
            listed(&of(false))
        ),
        "EKS refuses the next change of any of them, and what is off has no controller: volumes or \
         load balancers of this cluster are left to add-ons of your own.",
    )
    .errors(&["auto-mode-settings-mixed"])
    .evidence(
        API,
        "cluster.computeConfig, storageConfig, kubernetesNetworkConfig",
        listed(&of(true)),
    )
    .mend(switch_on(cx, auto_mode, "Switch all three on in one request."))
}

fn pools(cx: &Context<'_>, auto_mode: &AutoMode) -> Result<Finding, Stop> {
    if !auto_mode.node_pools.is_empty() {
        if let Some(role) = node_role_with_path(cx, auto_mode)? {
            return Ok(with_path(cx, auto_mode, role));
        }
        return Ok(Finding::pass(format!(
            "All three are on, with the node pools {}.",
            listed(&auto_mode.node_pools)
        )));
    }
    let entries = cx.facts.access_entries.known()?;
    for entry in entries.values() {
        if entry.found()?.is_some_and(|entry| entry.entry_type.eq_ignore_ascii_case("EC2")) {
            return Ok(Finding::pass(
                "No built-in node pool is on, and there is an access entry for nodes of your own.",
            ));
        }
    }
    let words = "Switch the built-in node pools on, or create the entry for the role of your \
                 NodeClass, in the place of FILL_IN_NODE_ROLE_ARN.";
    let entry = format!(
        "--region {} --cluster-name {} --principal-arn FILL_IN_NODE_ROLE_ARN",
        quote(cx.region()),
        quote(&cx.target.cluster)
    );
    let remedy = switch_on(cx, auto_mode, words)
        .run(format!("aws eks create-access-entry {entry} --type EC2"))
        .run(format!(
            "aws eks associate-access-policy {entry} --policy-arn arn:{}:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy --access-scope type=cluster",
            cx.target.partition
        ));
    Ok(Finding::warn(
        "EKS Auto Mode is on without a built-in node pool, and no access entry is of type EC2.",
        "There is no NodeClass but your own, and EKS makes no access entry for it: it stays unready, \
         and nothing is launched.",
    )
    .errors(&["auto-mode-node-pools-and-role", "unauthorized-node-role"])
    .evidence(API, "cluster.computeConfig.nodePools", "[]")
    .mend(remedy))
}

/// The node role of the built-in pools, if it has a path and their NodeClass is not known to be
/// ready with it.
fn node_role_with_path<'a>(
    cx: &Context<'a>,
    auto_mode: &AutoMode,
) -> Result<Option<&'a Role>, Stop> {
    let Some(arn) = &auto_mode.node_role_arn else { return Ok(None) };
    let ready = |class: &Class<'_>| class.name() == BUILT_IN && class.is_ready("Ready");
    if node_classes::known(cx).iter().any(ready) {
        return Ok(None);
    }
    let role = cx.role(arn::role_name(arn))?;
    Ok(role.filter(|role| role.path != "/"))
}

fn with_path(cx: &Context<'_>, auto_mode: &AutoMode, role: &Role) -> Finding {
    let name = format!("{}-auto-node", cx.target.cluster);
    let trust = service_trust("ec2.amazonaws.com", &["sts:AssumeRole"]);
    let new = NewRole {
        name: &name,
        path: "/",
        trust: &trust,
        policies: &["AmazonEKSWorkerNodeMinimalPolicy", "AmazonEC2ContainerRegistryPullOnly"],
    };
    let words = "Switch the pools to a role with the path `/`, such as this one; EKS makes its \
                 access entry.";
    let remedy = create_role(Remedy::new(words), cx.target.partition, &new);
    let account = cx.account().unwrap_or("ACCOUNT");
    let renamed = AutoMode {
        node_role_arn: Some(format!("arn:{}:iam::{account}:role/{name}", cx.target.partition)),
        ..auto_mode.clone()
    };
    Finding::warn(
        format!("The built-in node pools have the node role {}, which has a path.", role.arn),
        "EKS Auto Mode was seen to look for the role's access entry without its path: the NodeClass \
         default stays unready then, and nothing is launched.",
    )
    .errors(&["unauthorized-node-role"])
    .evidence("iam:GetRole", "Role.Path", &role.path)
    .mend(Remedy {
        steps: [remedy.steps, switch_on(cx, &renamed, words).steps].concat(),
        ..Remedy::new(words)
    })
}

fn switch_on(cx: &Context<'_>, auto_mode: &AutoMode, words: &str) -> Remedy {
    let pools: Vec<&str> = match auto_mode.node_pools.as_slice() {
        [] => POOLS.to_vec(),
        some => some.iter().map(String::as_str).collect(),
    };
    let role = auto_mode.node_role_arn.as_deref().unwrap_or("FILL_IN_NODE_ROLE_ARN");
    let compute = json!({"enabled": true, "nodePools": pools, "nodeRoleArn": role});
    let network = json!({"elasticLoadBalancing": {"enabled": true}});
    let storage = json!({"blockStorage": {"enabled": true}});
    Remedy::new(words).run(format!(
        "aws eks update-cluster-config --region {} --name {} --compute-config {} \
         --kubernetes-network-config {} --storage-config {}",
        quote(cx.region()),
        quote(&cx.target.cluster),
        quote(&compute.to_string()),
        quote(&network.to_string()),
        quote(&storage.to_string())
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

    fn auto_mode(change: &Value) -> Value {
        json!({"facts": {"cluster": {"known": {"auto_mode": change}}}})
    }

    #[test]
    fn rows() {
        use Status::{Pass, Skipped, Unknown, Warn};
        let one = |status| [(status, "demo")];
        let role = |fact: &Value| json!({"facts": {"roles": {"demo-auto-node": fact}}});
        let with_path = |path: &str| role(&json!({"known": {"path": path}}));
        let no_pools = json!({"node_pools": [], "node_role_arn": null});
        let without_entry = |entries: Value| {
            let mut patch = auto_mode(&no_pools);
            patch["facts"]["access_entries"] = entries;
            patch
        };
        let arn = "arn:aws:iam::111122223333:role/demo-auto-node";
        let denied = |action: &str| json!({"denied": {"action": action, "message": "no"}});
        let off = json!({"compute": false, "block_storage": false, "load_balancing": false});
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                ("all on", json!({}), &one(Pass)),
                ("a role with a path", with_path("/team/"), &one(Warn)),
                (
                    "its role is not read",
                    role(&json!({"denied": {"action": "iam:GetRole", "message": "no"}})),
                    &one(Unknown),
                ),
                ("no volumes", auto_mode(&json!({"block_storage": false})), &one(Warn)),
                ("no load balancers", auto_mode(&json!({"load_balancing": false})), &one(Warn)),
                ("pools off, an entry", auto_mode(&no_pools), &one(Pass)),
                ("pools off, no entry", without_entry(json!({"known": {arn: null}})), &one(Warn)),
                (
                    "an entry unread",
                    without_entry(json!({"known": {arn: denied("eks:DescribeAccessEntry")}})),
                    &one(Unknown),
                ),
                ("entries unread", without_entry(denied("eks:ListAccessEntries")), &one(Unknown)),
            ],
        );
        let mut before = auto_mode(&off);
        before["scope"] = json!({"product": "auto-mode"});
        assert_rows(Account::AutoMode, &CHECK, &[("before it is on", before, &one(Skipped))]);
        assert_rows(Account::Karpenter, &CHECK, &[("Karpenter", json!({}), &one(Skipped))]);
    }
}
