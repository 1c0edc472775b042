//! Whether the VPC resolves names.

use jiff::Timestamp;

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts, discovery::cluster_vpc, remedies::quote,
    },
    facts::{Fact, ec2::Image, network::DhcpOptions},
    outcome::{Finding, Remedy},
    target::Product,
};

const ATTRIBUTE: &str = "ec2:DescribeVpcAttribute";
const OPTIONS: &str = "ec2:DescribeDhcpOptions";
const AMAZON: &str = "AmazonProvidedDNS";

pub static CHECK: Check = Check {
    id: "vpc-dns",
    title: "The VPC resolves names",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &[
        "cluster-name-not-resolved",
        "network-dns",
        "kubelet-node-not-found",
        "kubelet-node-forbidden",
    ],
    needs: &["eks:DescribeCluster", ATTRIBUTE, "ec2:DescribeVpcs", OPTIONS, "ec2:DescribeImages"],
    doc: "\
## What
DNS resolution and DNS host names are on in the cluster's VPC, and its DHCP options name a server
and a domain: a domain of your own only if no NodeClass takes an AL2023 image of before March 2024.

## Why
The cluster's private endpoint, and interface endpoints with private DNS, are names in private
zones that only the VPC's own server knows, and only while both attributes are on: without them,
EKS says, nodes cannot register. DHCP options with servers of your own must forward these names to
the VPC's server. Without a domain name in them, a kubelet may not find its own node. The first
AL2023 images took the node's name from the host name, and so from the domain of the DHCP options,
where the cluster admits the name that EC2 has for the instance.

## Seen as
`no such host` for the cluster's endpoint in the kubelet's log, or `node \"\" not found`.

## Fix
Turn both attributes on, and use AmazonProvidedDNS or have your own servers forward to it.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let vpc = cluster_vpc(cx)?;
    let dhcp = cx.facts.network.vpc.value().and_then(|vpc| vpc.dhcp_options_id.clone());
    Ok(vec![
        Judged::new(vpc, || attributes(cx, vpc)),
        Judged::new(dhcp.unwrap_or_else(|| format!("DHCP options of {vpc}")), || {
            cx.facts.network.vpc.known()?;
            let none = DhcpOptions::default();
            Ok(options(cx, vpc, cx.facts.network.dhcp_options.found()?.unwrap_or(&none)))
        }),
    ])
}

fn attributes(cx: &Context<'_>, vpc: &str) -> Result<Finding, Stop> {
    let network = &cx.facts.network;
    let (support, hostnames) = (*network.dns_support.known()?, *network.dns_hostnames.known()?);
    let off: Vec<_> = [("resolution", "support", support), ("host names", "hostnames", hostnames)]
        .into_iter()
        .filter(|(_, _, on)| !on)
        .collect();
    if off.is_empty() {
        return Ok(Finding::pass("DNS resolution and DNS host names are on."));
    }
    let names: Vec<_> = off.iter().map(|(name, _, _)| format!("DNS {name}")).collect();
    let remedy = off.iter().fold(
        Remedy::new("Turn both attributes on; each is a call of its own."),
        |remedy, (_, option, _)| {
            remedy.run(format!(
                "aws ec2 modify-vpc-attribute --region {} --vpc-id {} --enable-dns-{option} \
                 '{{\"Value\":true}}'",
                quote(cx.region()),
                quote(vpc)
            ))
        },
    );
    Ok(Finding::fail(
        format!("{vpc} has {} off.", names.join(" and ")),
        "Nodes do not resolve the cluster's private endpoint, nor those of VPC endpoints, and do \
         not register.",
    )
    .errors(&["cluster-name-not-resolved", "network-dns"])
    .evidence(ATTRIBUTE, "EnableDnsSupport, EnableDnsHostnames", format!("{support}, {hostnames}"))
    .mend(remedy))
}

fn options(cx: &Context<'_>, vpc: &str, options: &DhcpOptions) -> Finding {
    let servers = &options.domain_name_servers;
    let own = servers.iter().any(|server| server.eq_ignore_ascii_case(AMAZON));
    let domain = options.domain_names.join(" ");
    if servers.is_empty() {
        return Finding::fail(
            format!("The DHCP options of {vpc} name no DNS server."),
            "Instances get no DNS server, resolve no name, and never join.",
        )
        .errors(&["network-dns", "cluster-name-not-resolved"])
        .evidence(OPTIONS, "domain-name-servers", "none")
        .mend(amazon_options(cx, vpc, AMAZONS));
    }
    if !own {
        let servers = servers.join(", ");
        return Finding::warn(
            format!("{vpc} hands out the DNS servers {servers} and not the VPC's own."),
            "Names of the cluster's private endpoint and of VPC endpoints resolve only if these \
             servers forward them to the VPC's own server.",
        )
        .errors(&["cluster-name-not-resolved", "network-dns"])
        .evidence(OPTIONS, "domain-name-servers", servers)
        .mend(amazon_options(cx, vpc, AMAZONS));
    }
    if domain.is_empty() {
        return Finding::warn(
            format!("The DHCP options of {vpc} have no domain name."),
            "A kubelet that takes its node's name from the host name may not find its node.",
        )
        .errors(&["kubelet-node-not-found"])
        .evidence(OPTIONS, "domain-name", "none")
        .mend(amazon_options(cx, vpc, AMAZONS));
    }
    if domain != default_domain(cx)
        && let Some(image) = early_al2023(cx)
    {
        return Finding::fail(
            format!(
                "{vpc} gives instances the domain {domain}, and a NodeClass takes {} ({}), which \
                 names the node after it.",
                image.id, image.name
            ),
            "The cluster admits a node only under the name that EC2 has for it: nodes are refused, \
             and replaced every 15 minutes.",
        )
        .errors(&["kubelet-node-forbidden"])
        .evidence(OPTIONS, "domain-name", domain)
        .evidence("ec2:DescribeImages", "CreationDate", &image.name)
        .mend(amazon_options(
            cx,
            vpc,
            "Take a later image: those since March 2024 name the node as EC2 does. Or give the VPC \
             DHCP options with the default domain.",
        ));
    }
    Finding::pass(format!("Its instances ask {AMAZON}, in the domain {domain}."))
}

/// When AL2023 images began to name nodes as EC2 does
/// (<https://github.com/awslabs/amazon-eks-ami/pull/1715>).
const NAMED_BY_EC2: Timestamp = Timestamp::constant(1_710_460_800, 0);

/// An AL2023 image of before that, which a NodeClass names.
fn early_al2023<'a>(cx: &Context<'a>) -> Option<&'a Image> {
    let named = cx.facts.images.values().filter_map(Fact::value);
    let selected = cx.facts.selected_images.iter().filter_map(|one| one.found.value()).flatten();
    named.chain(selected).find(|image| {
        let early = image.created.is_some_and(|created| created < NAMED_BY_EC2);
        early && image.name.contains("al2023")
    })
}

const AMAZONS: &str = "Give the VPC DHCP options with the VPC's own server, or have your servers \
                       forward the names of amazonaws.com to it. Instances take new options with \
                       their next lease.";

/// The domain that EC2 gives by default.
fn default_domain(cx: &Context<'_>) -> String {
    match cx.region() {
        "us-east-1" => "ec2.internal".to_owned(),
        other => format!("{other}.compute.internal"),
    }
}

/// The options that EC2 makes by default.
fn amazon_options(cx: &Context<'_>, vpc: &str, words: &str) -> Remedy {
    let region = quote(cx.region());
    let domain = quote(&default_domain(cx));
    Remedy::new(words).run(format!(
        "aws ec2 associate-dhcp-options --region {region} --vpc-id {} --dhcp-options-id \"$(aws \
         ec2 create-dhcp-options --region {region} --dhcp-configurations \
         Key=domain-name,Values={domain} Key=domain-name-servers,Values={AMAZON} --query \
         DhcpOptions.DhcpOptionsId --output text)\"",
        quote(vpc)
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

    fn network(change: &Value) -> Value {
        json!({"facts": {"network": change}})
    }

    fn dhcp(servers: &[&str], domains: &[&str]) -> Value {
        let options = json!({"domain_name_servers": servers, "domain_names": domains});
        network(&json!({"dhcp_options": {"known": options}}))
    }

    fn with_image(mut patch: Value, created: &str) -> Value {
        let image = json!({"id": "ami-1", "created": created, "state": "available",
            "name": "amazon-eks-node-al2023-x86_64-standard-1.29-v20240209"});
        patch["facts"]["images"] = json!({"ami-1": {"known": image}});
        patch
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Unknown, Warn};
        let both = |vpc, dhcp| [(vpc, "vpc-01"), (dhcp, "dopt-01")];
        let denied = |action: &str| json!({"denied": {"action": action, "message": "no"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("as AWS makes it", json!({}), &both(Pass, Pass)),
                (
                    "resolution off",
                    network(&json!({"dns_support": {"known": false}})),
                    &both(Fail, Pass),
                ),
                (
                    "names off",
                    network(&json!({"dns_hostnames": {"known": false}})),
                    &both(Fail, Pass),
                ),
                ("no servers", dhcp(&[], &["example.com"]), &both(Pass, Fail)),
                ("own servers", dhcp(&["10.0.0.10"], &["example.com"]), &both(Pass, Warn)),
                ("own and Amazon's", dhcp(&["10.0.0.10", AMAZON], &["a"]), &both(Pass, Pass)),
                ("no domain", dhcp(&[AMAZON], &[]), &both(Pass, Warn)),
                ("a domain of one's own", dhcp(&[AMAZON], &["corp.example"]), &both(Pass, Pass)),
                (
                    "a domain of one's own, and an early image",
                    with_image(dhcp(&[AMAZON], &["corp.example"]), "2024-02-09T00:00:00Z"),
                    &both(Pass, Fail),
                ),
                (
                    "a domain of one's own, and a later image",
                    with_image(dhcp(&[AMAZON], &["corp.example"]), "2024-03-20T00:00:00Z"),
                    &both(Pass, Pass),
                ),
                (
                    "the default domain, and an early image",
                    with_image(
                        dhcp(&[AMAZON], &["us-west-2.compute.internal"]),
                        "2024-02-09T00:00:00Z",
                    ),
                    &both(Pass, Pass),
                ),
                ("no options", network(&json!({"dhcp_options": "absent"})), &both(Pass, Fail)),
                (
                    "unread",
                    network(&json!({"dns_support": denied(ATTRIBUTE)})),
                    &both(Unknown, Pass),
                ),
                (
                    "options unread",
                    network(&json!({"dhcp_options": denied(OPTIONS)})),
                    &both(Pass, Unknown),
                ),
            ],
        );
    }
}
