//! Whether the nodes' subnets have a way out of the VPC.

use super::{
    NATS, ROUTES, SUBNETS, needed, node_subnets,
    path::{Path, Way},
};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        remedies::{listed, quote},
    },
    facts::{ec2::Subnet, kubernetes::node_class::NodeClass},
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "subnet-routes",
    title: "The nodes' subnets have a way out of the VPC",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["node-not-registered", "network-timeout"],
    needs: &["eks:DescribeCluster", SUBNETS, ROUTES, NATS],
    doc: "\
## What
The default route of each subnet that nodes are launched into leads somewhere: to a NAT gateway
that works and itself reaches an internet gateway; to an internet gateway, where the subnet gives
instances public addresses; or to a transit gateway, a firewall or another VPC, behind which
nothing is read. A subnet without a default route is for `vpc-endpoints` to judge.

## Why
A node calls the cluster's endpoint, EC2 and the image registries before it is Ready. From a
public subnet it does so with a public address of its own or not at all: an internet gateway drops
packets of private addresses. The instance starts, nothing joins, and after 15 minutes Karpenter
deletes it and starts the next.

## Seen as
`Node not registered with cluster` in the NodeClaim, and time-outs in the kubelet's log.

## Fix
Launch nodes into private subnets that route to a NAT gateway, or have the public subnets give out
public addresses. An EC2NodeClass may ask for them with `associatePublicIPAddress: true`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let subnets = node_subnets(cx)?;
    Ok(subnets.into_iter().map(|subnet| Judged::new(&subnet.id, || judge(cx, subnet))).collect())
}

fn judge(cx: &Context<'_>, subnet: &Subnet) -> Result<Finding, Stop> {
    let path = Path::of(cx, &subnet.id)?;
    let table = &path.table.id;
    match path.way {
        Way::Nat(nat) => through_nat(cx, subnet, &path, nat),
        Way::Internet(gateway) => through_internet_gateway(cx, subnet, &path, gateway),
        Way::Beyond(target) => Ok(Finding::pass(format!("{table} leads to {target}."))),
        Way::Gone(target) => Ok(lost(
            subnet,
            format!(
                "The default route of {} ({table}) leads to {target}, which is gone.",
                subnet.id
            ),
        )
        .evidence(ROUTES, "RouteTables[].Routes[].State", "blackhole")
        .mend(new_route(cx, table))),
        Way::Private(_) | Way::None => Err(Stop::skipped(format!(
            "{table} has no default route: what is reached through endpoints is for vpc-endpoints \
             to judge"
        ))),
    }
}

fn through_nat(
    cx: &Context<'_>,
    subnet: &Subnet,
    path: &Path<'_>,
    nat: &str,
) -> Result<Finding, Stop> {
    let table = &path.table.id;
    let gateways = cx.facts.network.nat_gateways.known()?;
    let gateway = gateways.iter().find(|gateway| gateway.id == nat);
    let state = gateway.map_or("deleted", |gateway| gateway.state.as_str());
    if !["available", "pending"].contains(&state) {
        let seen = format!(
            "The default route of {} ({table}) leads to {nat}, which is {state}.",
            subnet.id
        );
        return Ok(lost(subnet, seen)
            .evidence(NATS, "NatGateways[].State", state)
            .mend(new_route(cx, table)));
    }
    let own = gateway.filter(|gateway| gateway.public).and_then(|one| one.subnet_id.as_deref());
    let Some(own) = own else {
        return Ok(Finding::pass(format!("{table} leads to the private NAT gateway {nat}.")));
    };
    let beyond = Path::of(cx, own)?;
    if matches!(beyond.way, Way::Internet(_) | Way::Beyond(_)) {
        return Ok(Finding::pass(format!("{table} leads to {nat}.")));
    }
    let seen = format!(
        "{} ({table}) leads to the NAT gateway {nat}, which is in {own} and has no way out \
         itself: {} leads to no internet gateway.",
        subnet.id, beyond.table.id
    );
    Ok(lost(subnet, seen)
        .evidence(ROUTES, format!("RouteTables[] of {own}"), &beyond.table.id)
        .mend(internet_route(cx, &beyond)))
}

fn through_internet_gateway(
    cx: &Context<'_>,
    subnet: &Subnet,
    path: &Path<'_>,
    gateway: &str,
) -> Result<Finding, Stop> {
    let table = &path.table.id;
    let without = classes_without_public_addresses(cx, subnet);
    if subnet.public_addresses && without.as_ref().is_none_or(Vec::is_empty) {
        return Ok(Finding::pass(format!(
            "{table} leads to {gateway}, and instances get public addresses."
        )));
    }
    if without.as_ref().is_some_and(Vec::is_empty) {
        return Ok(Finding::pass(format!(
            "{table} leads to {gateway}, and every EC2NodeClass asks for public addresses."
        )));
    }
    let private = cx.cluster()?.network.endpoint_private_access;
    if private && needed::missing(cx, path).is_ok_and(|missing| missing.is_empty()) {
        return Ok(Finding::pass(format!(
            "Instances get no public addresses for {gateway}, but endpoints serve all they need."
        )));
    }
    let unless = match &without {
        Some(classes) => format!(" {} does not ask for them either.", listed(classes)),
        None => " An EC2NodeClass may ask for them (associatePublicIPAddress).".to_owned(),
    };
    if subnet.public_addresses {
        return Ok(refused_by_class(subnet, table, gateway, &without.unwrap_or_default()));
    }
    let seen = format!(
        "{} is public: {table} leads to {gateway}. It gives instances no public addresses.{unless}",
        subnet.id
    );
    let remedy = Remedy::new(
        "Have the subnet give out public addresses, or better select private subnets that route to \
         a NAT gateway.",
    )
    .run(format!(
        "aws ec2 modify-subnet-attribute --region {} --subnet-id {} --map-public-ip-on-launch",
        quote(cx.region()),
        quote(&subnet.id)
    ));
    Ok(lost(subnet, seen).evidence(SUBNETS, "Subnets[].MapPublicIpOnLaunch", "false").mend(remedy))
}

/// The EC2NodeClasses whose nodes get no public address in a subnet, where they could be read.
fn classes_without_public_addresses(cx: &Context<'_>, subnet: &Subnet) -> Option<Vec<String>> {
    let classes = cx.facts.kubernetes.ec2_node_classes.value().filter(|all| !all.is_empty())?;
    let gets = |class: &NodeClass| class.associate_public_ip.unwrap_or(subnet.public_addresses);
    let without = classes.iter().filter(|class| !gets(class));
    Some(without.map(|class| format!("EC2NodeClass {}", class.meta.name)).collect())
}

/// The subnet gives out public addresses, and NodeClasses take none.
fn refused_by_class(subnet: &Subnet, table: &str, gateway: &str, classes: &[String]) -> Finding {
    let seen = format!(
        "{} is public: {table} leads to {gateway}. {} takes no public addresses there \
         (associatePublicIPAddress: false).",
        subnet.id,
        listed(classes)
    );
    lost(subnet, seen)
        .evidence("list ec2nodeclasses (Kubernetes)", "spec.associatePublicIPAddress", "false")
        .mend(
            Remedy::new(
                "Take associatePublicIPAddress off, or better select private subnets that route to \
                 a NAT gateway.",
            )
            .run(
                "kubectl get ec2nodeclasses --output custom-columns=\
                 NAME:.metadata.name,PUBLIC:.spec.associatePublicIPAddress",
            ),
        )
}

fn lost(subnet: &Subnet, seen: String) -> Finding {
    Finding::fail(
        seen,
        format!(
            "Nodes in {} reach neither the cluster's public endpoint nor the registries: they \
             start, never join, and are replaced every 15 minutes.",
            subnet.id
        ),
    )
    .errors(CHECK.errors)
}

fn new_route(cx: &Context<'_>, table: &str) -> Remedy {
    let nats = cx.facts.network.nat_gateways.value().into_iter().flatten();
    let mut working = nats.filter(|nat| nat.state == "available" && nat.public);
    let nat = working.next().map_or("NAT_GATEWAY_ID", |nat| nat.id.as_str());
    let words = match nat {
        "NAT_GATEWAY_ID" => {
            "Create a NAT gateway in a public subnet, and let the default route lead to it."
        }
        _ => "Let the default route lead to a NAT gateway that works, best one in the same zone.",
    };
    Remedy::new(words).run(format!(
        "aws ec2 replace-route --region {} --route-table-id {} --destination-cidr-block 0.0.0.0/0 \
         --nat-gateway-id {nat}",
        quote(cx.region()),
        quote(table)
    ))
}

fn internet_route(cx: &Context<'_>, path: &Path<'_>) -> Remedy {
    let verb = if path.way.is_isolated() { "create-route" } else { "replace-route" };
    let tables = cx.facts.network.route_tables.value().into_iter().flatten();
    let mut routes = tables.flat_map(|table| &table.routes);
    let gateway = routes.find(|route| route.target.starts_with("igw-"));
    let gateway = gateway.map_or("INTERNET_GATEWAY_ID", |route| route.target.as_str());
    Remedy::new(
        "Give the NAT gateway's subnet a default route to the VPC's internet gateway, or move the \
         NAT gateway into a subnet that has one. A subnet that nodes are in too should not become \
         public.",
    )
    .run(format!(
        "aws ec2 {verb} --region {} --route-table-id {} --destination-cidr-block 0.0.0.0/0 \
         --gateway-id {gateway}",
        quote(cx.region()),
        quote(&path.table.id)
    ))
}

#[cfg(test)]
mod tests;
