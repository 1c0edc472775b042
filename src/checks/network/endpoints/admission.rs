//! Whether the security groups of interface endpoints let the nodes in.

use super::{
    super::{cidr::covers, needed},
    ENDPOINTS,
    mend::admit,
};
use crate::{
    checks::{
        Context, Judged, Stop,
        remedies::listed,
        security_groups::{self, Rules},
    },
    facts::{ec2::Subnet, network::VpcEndpoint},
    outcome::{Finding, Remedy},
};

const HTTPS: i32 = 443;

/// A verdict on each endpoint to which private DNS redirects calls of this set-up.
pub fn judged(cx: &Context<'_>, subnets: &[&Subnet]) -> Result<Vec<Judged>, Stop> {
    let services = needed::services(cx)?;
    let endpoints = cx.facts.network.endpoints.known()?.iter();
    let redirecting = endpoints.filter(|one| {
        one.kind == "Interface"
            && one.private_dns
            && needed::is_available(one)
            && services.iter().any(|service| needed::is_of(cx, one, service))
    });
    Ok(redirecting.map(|one| Judged::new(&one.id, || judge(cx, one, subnets))).collect())
}

fn judge(cx: &Context<'_>, endpoint: &VpcEndpoint, subnets: &[&Subnet]) -> Result<Finding, Stop> {
    let rules = Rules::ingress_of(cx, &endpoint.security_groups)?;
    let mut nodes = Vec::new();
    for groups in security_groups::of_nodes(cx)? {
        match groups.ids {
            Ok(ids) => nodes.push(ids),
            Err(stop @ Stop::Unknown(_)) => return Err(stop),
            Err(_) => {}
        }
    }
    let name = format!("{} ({})", endpoint.service, endpoint.id);
    let admits = |cidr: &str| rules.admit_block(HTTPS, cidr);
    if !nodes.is_empty() && nodes.iter().all(|ids| rules.admit_group(HTTPS, ids)) {
        return Ok(Finding::pass(format!("{name} admits the nodes' security groups.")));
    }
    let out: Vec<_> = subnets
        .iter()
        .filter(|subnet| !subnet.cidr.as_deref().is_some_and(admits))
        .map(|subnet| subnet.id.as_str())
        .collect();
    if out.is_empty() {
        return Ok(others(cx, endpoint, &name, &rules));
    }
    if rules.has_prefix_list(HTTPS) {
        return Err(Stop::unknown(format!(
            "the security groups of {name} name a prefix list, whose blocks are not read"
        )));
    }
    let seen = format!(
        "{name} has private DNS, and its security groups {} admit on port 443 neither {} nor the \
         nodes' groups.",
        listed(&endpoint.security_groups),
        listed(&out)
    );
    Ok(Finding::fail(
        seen,
        "Private DNS sends the nodes' calls to this endpoint, which drops them: nodes do not join, \
         even where a NAT gateway would have taken the calls.",
    )
    .errors(&["node-not-registered", "network-timeout"])
    .evidence("ec2:DescribeSecurityGroups", "SecurityGroups[].IpPermissions", "no port 443")
    .mend(mend(cx, endpoint, &rules)))
}

/// Blocks that were added to the VPC and are in use, from which nothing is admitted.
fn others(cx: &Context<'_>, endpoint: &VpcEndpoint, name: &str, rules: &Rules<'_>) -> Finding {
    let blocks = cx.facts.network.vpc.value().into_iter().flat_map(|vpc| &vpc.cidrs);
    let in_use = |block: &&String| {
        let subnets = cx.facts.vpc_subnets.value().into_iter().flatten();
        let mut cidrs = subnets.filter_map(|subnet| subnet.cidr.as_deref());
        cidrs.any(|cidr| covers(&[block.as_str()], cidr) && !rules.admit_block(HTTPS, cidr))
    };
    let out: Vec<_> = blocks.filter(in_use).map(String::as_str).collect();
    if out.is_empty() || rules.has_prefix_list(HTTPS) {
        return Finding::pass(format!("{name} admits the nodes' subnets."));
    }
    Finding::warn(
        format!("{name} admits the nodes' subnets, but not all of the VPC's {}.", listed(&out)),
        "Pods that get their addresses there, and nodes that come there later, cannot call the \
         service.",
    )
    .errors(&["network-timeout"])
    .evidence(ENDPOINTS, "VpcEndpoints[].Groups", listed(&endpoint.security_groups))
    .mend(mend(cx, endpoint, rules))
}

fn mend(cx: &Context<'_>, endpoint: &VpcEndpoint, rules: &Rules<'_>) -> Remedy {
    let group = endpoint.security_groups.first().map_or("SECURITY_GROUP_ID", String::as_str);
    let blocks = cx.facts.network.vpc.value().into_iter().flat_map(|vpc| &vpc.cidrs);
    let missing = blocks.filter(|block| !rules.admit_block(HTTPS, block));
    let words = "Let the endpoint's security group admit the VPC's blocks on port 443.";
    missing.fold(Remedy::new(words), |remedy, block| remedy.run(admit(cx, group, block)))
}
