//! Whether VPC endpoints serve subnets without a way out, and let the nodes in.

mod admission;
mod mend;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::{
    ENDPOINTS, ROUTES, SUBNETS,
    needed::{self, Service, is_available, is_of},
    node_subnets,
    path::{Path, Way},
};
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::listed},
    facts::ec2::Subnet,
    outcome::Finding,
    target::Product,
};

pub static CHECK: Check = Check {
    id: "vpc-endpoints",
    title: "VPC endpoints serve what the nodes need, and let them in",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &[
        "node-not-registered",
        "network-timeout",
        "ec2-connectivity-check-failed",
        "image-pull-failed",
        "sts-not-reachable",
        "pod-identity-credentials-failed",
        "ami-alias-not-resolved",
        "cluster-endpoint-not-resolved",
        "sqs-provider-not-created",
    ],
    needs: &[
        "eks:DescribeCluster",
        "eks:DescribePodIdentityAssociation",
        "eks:ListPodIdentityAssociations",
        SUBNETS,
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeVpcs",
        ROUTES,
        ENDPOINTS,
    ],
    doc: "\
## What
Subnets for nodes without a default route have, in their VPC, an available endpoint for each
service that this set-up calls: `ec2`, `ecr.api`, `ecr.dkr`, `s3`, `sts` or with Pod Identity
`eks-auth`, `ssm`, `eks`, and `sqs` if there is a queue; for EKS Auto Mode those of images. Interface
endpoints have private DNS, gateway endpoints are in the subnets' route table.

Wherever the VPC has an interface endpoint with private DNS for one of these services, its security
groups admit the nodes on port 443: by their subnets' blocks or by their security groups.

## Why
Private DNS redirects every call in the VPC to the endpoint. An endpoint that somebody adds for
another purpose, with a security group that does not know the nodes, breaks a cluster that has
worked for years, even where there is a NAT gateway. Blocks that are added to a VPC later are
easily forgotten.

## Seen as
`i/o timeout` for `sts`, `ec2`, `ssm` or `api.ecr` in the controller's log, images that cannot be
pulled, nodes that never join. A public address in the time-out means that private DNS is off.

## Fix
Create the endpoints with private DNS, and let their security groups admit the VPC's blocks.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let mut judged = Vec::new();
    let mut by_table: BTreeMap<String, (Path<'_>, Vec<&Subnet>)> = BTreeMap::new();
    let subnets = node_subnets(cx)?;
    for subnet in &subnets {
        match Path::of(cx, &subnet.id) {
            Ok(path) => {
                let entry = by_table.entry(path.table.id.clone());
                entry.or_insert((path, Vec::new())).1.push(subnet);
            }
            Err(stop) => judged.push(Judged::new(&subnet.id, || Err(stop))),
        }
    }
    for (table, (path, subnets)) in &by_table {
        judged.push(Judged::new(table, || of_table(cx, path, subnets)));
    }
    judged.extend(admission::judged(cx, &subnets)?);
    Ok(judged)
}

/// The subnets of a route table: either it leads out, or endpoints serve them.
fn of_table(cx: &Context<'_>, path: &Path<'_>, subnets: &[&Subnet]) -> Result<Finding, Stop> {
    let table = &path.table.id;
    if !path.way.is_isolated() {
        return Ok(Finding::pass(format!("{table} has a default route.")));
    }
    let missing = needed::missing(cx, path)?;
    if missing.is_empty() {
        return Ok(Finding::pass(format!("Endpoints serve what {table} leads nowhere for.")));
    }
    let ids: Vec<_> = subnets.iter().map(|subnet| subnet.id.as_str()).collect();
    let names: Vec<_> = missing.iter().map(|service| state_of(cx, service)).collect();
    let seen = format!(
        "{} ({table}) {} no default route, and no endpoint of the VPC serves {}.",
        listed(&ids),
        if ids.len() == 1 { "has" } else { "have" },
        names.join(", ")
    );
    let finding = match path.way {
        Way::Private(target) => Finding::warn(
            seen,
            format!(
                "{table} leads some networks to {target}. Unless these services are reached there, \
                 nodes do not join and the controller cannot act."
            ),
        ),
        _ => Finding::fail(seen, effect(&missing)),
    };
    let mut errors = vec!["node-not-registered", "network-timeout"];
    errors.extend(missing.iter().map(|service| service.error));
    errors.dedup();
    Ok(finding
        .errors(&errors)
        .evidence(ENDPOINTS, "VpcEndpoints[].ServiceName", "without these")
        .mend(mend::create(cx, path, subnets, &missing)))
}

/// `ssm`, or `ssm (vpce-01 has no private DNS)` where something is there and does not serve.
fn state_of(cx: &Context<'_>, service: &Service) -> String {
    let endpoints = cx.facts.network.endpoints.value().into_iter().flatten();
    let mut why = endpoints.filter(|one| is_of(cx, one, service)).map(|one| {
        let what = match one.kind.as_str() {
            _ if !is_available(one) => format!("is {}", one.state),
            "Gateway" => "is not in this route table".to_owned(),
            _ => "has no private DNS".to_owned(),
        };
        format!("{} ({} {what})", service.name, one.id)
    });
    why.next_back().unwrap_or_else(|| service.name.to_owned())
}

fn effect(missing: &[&'static Service]) -> String {
    let uses: Vec<_> = missing.iter().map(|one| format!("{} {}", one.name, one.what_for)).collect();
    format!("They are needed: {}. Without them, calls time out.", uses.join("; "))
}
