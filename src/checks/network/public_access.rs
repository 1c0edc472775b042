//! Whether the region's block of public access cuts the nodes off.

use super::{
    NATS, ROUTES, SUBNETS, node_subnets,
    path::{Path, Way},
};
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    facts::{ec2::Subnet, network::PublicAccessExclusion},
    outcome::{Finding, Remedy},
    target::Product,
};

const OPTIONS: &str = "ec2:DescribeVpcBlockPublicAccessOptions";
const EXCLUSIONS: &str = "ec2:DescribeVpcBlockPublicAccessExclusions";

pub static CHECK: Check = Check {
    id: "vpc-block-public-access",
    title: "The nodes' way out is not blocked for the whole region",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["node-not-registered", "network-timeout"],
    needs: &["eks:DescribeCluster", SUBNETS, ROUTES, NATS, OPTIONS, EXCLUSIONS],
    doc: "\
## What
VPC Block Public Access leaves the internet gateway open to the nodes' subnets, or to the subnet
of the NAT gateway that they use: it is off, its mode spares what they use, or an exclusion does.

## Why
It is one switch for all VPCs of an account and region, and an organisation can set it for all its
accounts. In the mode `block-bidirectional` nothing passes internet gateways, not even for NAT
gateways; in the mode `block-ingress` NAT gateways work, and instances with public addresses do
not. Routes and security groups look as they always did.

## Seen as
`Node not registered with cluster` in the NodeClaim, and time-outs everywhere on the node.

## Fix
Exclude the subnet that has the way out, or the VPC.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let subnets = node_subnets(cx)?;
    Ok(subnets.into_iter().map(|subnet| Judged::new(&subnet.id, || judge(cx, subnet))).collect())
}

fn judge(cx: &Context<'_>, subnet: &Subnet) -> Result<Finding, Stop> {
    let mode = |subnet: &Subnet| subnet.public_access_block.clone().unwrap_or_default();
    let off = |mode: &str| !mode.starts_with("block-");
    let all = cx.facts.vpc_subnets.known()?;
    if off(&mode(subnet)) && all.iter().all(|other| off(&mode(other))) {
        return Ok(Finding::pass("Public access is not blocked."));
    }
    let path = Path::of(cx, &subnet.id)?;
    let (hop, by_nat) = match path.way {
        Way::Internet(_) => (subnet.id.clone(), false),
        Way::Nat(nat) => {
            let gateways = cx.facts.network.nat_gateways.known()?;
            let gateway = gateways.iter().find(|gateway| gateway.id == nat && gateway.public);
            match gateway.and_then(|gateway| gateway.subnet_id.clone()) {
                Some(own) => (own, true),
                None => return Ok(Finding::pass("No internet gateway is on its way out.")),
            }
        }
        _ => return Ok(Finding::pass("No internet gateway is on its way out.")),
    };
    let blocked = all.iter().find(|other| other.id == hop).map_or_else(|| mode(subnet), mode);
    match blocked.as_str() {
        "block-ingress" if by_nat => {
            return Ok(Finding::pass("NAT gateways pass in the mode block-ingress."));
        }
        "block-ingress" | "block-bidirectional" => {}
        _ => return Ok(Finding::pass("Public access is not blocked.")),
    }
    let exclusions = cx.facts.network.public_access_exclusions.known()?;
    let excluded = exclusions.iter().find(|one| excludes(one, &hop, &subnet.vpc_id, by_nat));
    if let Some(excluded) = excluded {
        let seen = format!("{} is excluded ({}).", excluded.resource, excluded.mode);
        return Ok(Finding::pass(seen));
    }
    Ok(cut_off(cx, subnet, &hop, by_nat, &blocked))
}

/// Whether an exclusion in force lets the hop's traffic pass: of a NAT gateway, which only goes
/// out, or in both directions.
fn excludes(exclusion: &PublicAccessExclusion, hop: &str, vpc: &str, by_nat: bool) -> bool {
    let of = exclusion.resource.rsplit('/').next().unwrap_or_default();
    let in_force =
        !["delete", "disable", "failed"].iter().any(|word| exclusion.state.contains(word));
    let passes = exclusion.mode == "allow-bidirectional" || by_nat;
    in_force && passes && (of == hop || of == vpc)
}

fn cut_off(cx: &Context<'_>, subnet: &Subnet, hop: &str, by_nat: bool, mode: &str) -> Finding {
    let through = if by_nat {
        format!("through a NAT gateway in {hop}")
    } else {
        "through an internet gateway".to_owned()
    };
    Finding::fail(
        format!(
            "Nodes in {} go out {through}, and VPC Block Public Access is in the mode {mode} in {}.",
            subnet.id,
            cx.region()
        ),
        "Nothing that nodes send reaches the internet: they start, never join, and are replaced \
         every 15 minutes.",
    )
    .errors(CHECK.errors)
    .evidence(SUBNETS, "Subnets[].BlockPublicAccessStates.InternetGatewayBlockMode", mode)
    .mend(remedy(cx, hop, by_nat))
}

fn remedy(cx: &Context<'_>, hop: &str, by_nat: bool) -> Remedy {
    let options = cx.facts.network.public_access.value();
    let managed = options.and_then(|options| options.managed_by.as_deref());
    if options.and_then(|one| one.exclusions_allowed.as_deref()) == Some("not-allowed") {
        return Remedy::new(
            "The organisation sets the block by a declarative policy and allows no exclusions: ask \
             its administrators to allow them, or use subnets that need no internet gateway.",
        );
    }
    let by = match managed {
        Some("declarative-policy") => " (the organisation sets the block, and allows exclusions)",
        _ => "",
    };
    let mode = if by_nat { "allow-egress" } else { "allow-bidirectional" };
    Remedy::new(format!("Exclude the subnet that has the way out{by}. It takes some minutes.")).run(
        format!(
            "aws ec2 create-vpc-block-public-access-exclusion --region {} --subnet-id {} \
             --internet-gateway-exclusion-mode {mode}",
            quote(cx.region()),
            quote(hop)
        ),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    /// The account with this mode in every subnet, and with these exclusions.
    fn blocked(mode: &str, exclusions: &Value) -> Value {
        let subnet = |id: &str, zone: &str| {
            json!({"id": id, "arn": null, "vpc_id": "vpc-01", "zone": zone, "zone_id": null,
                   "cidr": null, "free_addresses": 4000, "owner": null, "tags": {},
                   "public_addresses": true, "public_access_block": mode})
        };
        let node = subnet("subnet-01", "us-west-2a");
        json!({"facts": {
            "discovered_subnets": {"known": [node]},
            "vpc_subnets": {"known": [node, subnet("subnet-11", "us-west-2a")]},
            "network": {"public_access_exclusions": {"known": exclusions}},
        }})
    }

    fn exclusion(of: &str, mode: &str, state: &str) -> Value {
        json!([{"resource": format!("arn:aws:ec2:us-west-2:111122223333:{of}"), "mode": mode,
                "state": state}])
    }

    fn public(mut patch: Value) -> Value {
        patch["facts"]["network"]["route_tables"] = json!({"known": [{"id": "rtb-01", "main": true,
            "routes": [{"destination": "0.0.0.0/0", "target": "igw-01"}]}]});
        patch
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Unknown};
        let one = |status| [(status, "subnet-01")];
        let done = "create-complete";
        let both = "block-bidirectional";
        let none = json!([]);
        let mut unread = blocked(both, &none);
        unread["facts"]["network"]["public_access_exclusions"] =
            json!({"denied": {"action": EXCLUSIONS, "message": "no"}});
        let nat_subnet = exclusion("subnet/subnet-11", "allow-egress", done);
        let own_subnet = exclusion("subnet/subnet-01", "allow-egress", done);
        let vpc = |mode: &str| exclusion("vpc/vpc-01", mode, done);
        let gone = exclusion("vpc/vpc-01", "allow-egress", "delete-in-progress");
        let other = exclusion("vpc/vpc-02", "allow-bidirectional", done);
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("off", blocked("off", &none), &one(Pass)),
                ("NAT, ingress blocked", blocked("block-ingress", &none), &one(Pass)),
                ("public, ingress blocked", public(blocked("block-ingress", &none)), &one(Fail)),
                ("NAT, all blocked", blocked(both, &none), &one(Fail)),
                ("the NAT's subnet excluded", blocked(both, &nat_subnet), &one(Pass)),
                ("the nodes' subnet excluded", blocked(both, &own_subnet), &one(Fail)),
                ("the VPC excluded", blocked(both, &vpc("allow-egress")), &one(Pass)),
                ("public, egress only", public(blocked(both, &vpc("allow-egress"))), &one(Fail)),
                (
                    "public, both directions",
                    public(blocked(both, &vpc("allow-bidirectional"))),
                    &one(Pass),
                ),
                ("an exclusion that goes", blocked(both, &gone), &one(Fail)),
                ("another VPC's", blocked(both, &other), &one(Fail)),
                ("exclusions unread", unread, &one(Unknown)),
            ],
        );
    }
}
