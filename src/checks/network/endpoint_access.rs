//! Whether the cluster's endpoint lets the nodes in.

use super::{
    NATS, ROUTES, SUBNETS,
    cidr::covers,
    node_subnets,
    path::{Path, Way},
};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        remedies::{listed, quote},
    },
    facts::ec2::Subnet,
    outcome::{Finding, Remedy},
    target::Product,
};

const CLUSTER: &str = "eks:DescribeCluster";

pub static CHECK: Check = Check {
    id: "cluster-endpoint-access",
    title: "The cluster's endpoint lets the nodes in",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["node-not-registered", "network-timeout"],
    needs: &[CLUSTER, SUBNETS, ROUTES, NATS],
    doc: "\
## What
The cluster's private endpoint is on. Where it is not, the public endpoint admits the addresses
that nodes come from: those of the NAT gateways that their subnets route to.

## Why
With the private endpoint off, nodes reach the cluster over the internet like everybody else. A
list of admitted blocks (`publicAccessCidrs`) that was made for people's offices leaves the nodes
out, and nodes of before the change keep their open connections: only new ones fail. A subnet
without a way out reaches no public endpoint at all.

## Seen as
`Node not registered with cluster` in the NodeClaim; the kubelet's log says `i/o timeout`.

## Fix
Turn the private endpoint on; it changes nothing for those who use the public one.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let network = &cx.cluster()?.network;
    if network.endpoint_private_access {
        let seen = "The private endpoint is on.";
        return Ok(vec![Judged::new(&cx.target.cluster, || Ok(Finding::pass(seen)))]);
    }
    let subnets = node_subnets(cx)?;
    Ok(subnets
        .into_iter()
        .map(|subnet| Judged::new(&subnet.id, || judge(cx, subnet, &network.public_access_cidrs)))
        .collect())
}

fn judge(cx: &Context<'_>, subnet: &Subnet, admitted: &[String]) -> Result<Finding, Stop> {
    let id = &subnet.id;
    let path = Path::of(cx, id)?;
    if path.way.is_isolated() {
        return Ok(shut_out(cx, format!("{id} has no way to the internet.")));
    }
    if admitted.is_empty() || covers(admitted, "0.0.0.0/0") {
        return Ok(Finding::pass("The private endpoint is off, and the public one admits all."));
    }
    let blocks = listed(admitted);
    match path.way {
        Way::Nat(nat) => {
            let gateways = cx.facts.network.nat_gateways.known()?;
            let gateway = gateways.iter().find(|gateway| gateway.id == nat);
            let addresses = gateway.map(|gateway| gateway.public_ips.as_slice());
            let addresses = addresses.unwrap_or_default();
            let out: Vec<_> =
                addresses.iter().filter(|address| !covers(admitted, address)).collect();
            if addresses.is_empty() {
                Err(Stop::unknown(format!("{NATS} shows no public address of {nat}")))
            } else if out.is_empty() {
                Ok(Finding::pass(format!("The public endpoint admits {nat}.")))
            } else {
                let seen = format!(
                    "Nodes in {id} come from {} ({nat}), and the public endpoint admits {blocks} \
                     only.",
                    listed(&out)
                );
                Ok(shut_out(cx, seen))
            }
        }
        Way::Internet(_) => Ok(shut_out(
            cx,
            format!(
                "Nodes in {id} come from public addresses of their own, and the public endpoint \
                 admits {blocks} only."
            ),
        )),
        Way::Beyond(target) => Err(Stop::unknown(format!(
            "the public endpoint admits {blocks} only, and from which address nodes in {id} come, \
             behind {target}, is not seen"
        ))),
        Way::Gone(_) | Way::Private(_) | Way::None => {
            Err(Stop::skipped("its default route is gone (see subnet-routes)"))
        }
    }
}

fn shut_out(cx: &Context<'_>, seen: String) -> Finding {
    let remedy =
        Remedy::new("Turn the private endpoint on. The update takes some minutes.").run(format!(
            "aws eks update-cluster-config --region {} --name {} --resources-vpc-config \
             endpointPrivateAccess=true",
            quote(cx.region()),
            quote(&cx.target.cluster)
        ));
    Finding::fail(
        format!("The cluster's private endpoint is off. {seen}"),
        "New nodes cannot reach the cluster: they start, never join, and are replaced every 15 \
         minutes.",
    )
    .errors(CHECK.errors)
    .evidence(CLUSTER, "cluster.resourcesVpcConfig.endpointPrivateAccess", "false")
    .mend(remedy)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn public_only(admitted: &[&str]) -> Value {
        let network = json!({"endpoint_private_access": false, "public_access_cidrs": admitted});
        json!({"facts": {"cluster": {"known": {"network": network}}}})
    }

    fn routed(target: &str) -> Value {
        let mut patch = public_only(&["203.0.113.0/24"]);
        let routes = json!([{"destination": "0.0.0.0/0", "target": target}]);
        let routes = if target.is_empty() { json!([]) } else { routes };
        patch["facts"]["network"] =
            json!({"route_tables": {"known": [{"id": "rtb-01", "main": true, "routes": routes}]}});
        patch
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Unknown};
        let all = |status| [(status, "subnet-01"), (status, "subnet-02"), (status, "subnet-03")];
        let mut isolated = routed("");
        isolated["facts"]["cluster"]["known"]["network"]["public_access_cidrs"] = json!([]);
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("private too", json!({}), &[(Pass, "demo")]),
                ("open to all", public_only(&["0.0.0.0/0"]), &all(Pass)),
                ("no list", public_only(&[]), &all(Pass)),
                ("the NAT's address", public_only(&["192.0.2.10/32"]), &all(Pass)),
                ("a block around it", public_only(&["192.0.2.0/24"]), &all(Pass)),
                ("offices only", public_only(&["203.0.113.0/24"]), &all(Fail)),
                ("public subnets", routed("igw-01"), &all(Fail)),
                ("a transit gateway", routed("tgw-01"), &all(Unknown)),
                ("isolated", routed(""), &all(Fail)),
                ("isolated, open to all", isolated, &all(Fail)),
            ],
        );
    }
}
