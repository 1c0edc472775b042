//! Whether network ACLs let the nodes' traffic through.

use std::collections::BTreeMap;

use super::{SUBNETS, cidr::Block, node_subnets};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        remedies::{listed, quote},
    },
    facts::{
        ec2::Subnet,
        network::{AclEntry, NetworkAcl},
    },
    outcome::{Finding, Remedy},
    target::Product,
};

const API: &str = "ec2:DescribeNetworkAcls";
/// Ports that Linux gives to connections from its side, at both ends of the range.
const ANSWERS: [i32; 2] = [32_768, 60_999];
const API_SERVER: i32 = 443;
const KUBELET: i32 = 10_250;

pub static CHECK: Check = Check {
    id: "network-acls",
    title: "Network ACLs let the nodes' traffic through",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["node-not-registered", "network-timeout"],
    needs: &["eks:DescribeCluster", SUBNETS, API],
    doc: "\
## What
The network ACL of each subnet that nodes are launched into lets something pass in each direction,
and lets nodes and the cluster's own subnets talk: port 443 to the control plane, port 10250 from
it, and the answers to both.

## Why
A network ACL has no memory: answers need an entry of their own, for the ports that the other side
chose. An ACL that you create denies all until you add entries.

## Seen as
`Node not registered with cluster` in the NodeClaim, and time-outs in the kubelet's log.

## Fix
Add entries that allow the traffic, with a lower number than the entry that denies it.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let subnets = node_subnets(cx)?;
    let acls = cx.facts.network.acls.known()?;
    let mut of_acl: BTreeMap<&str, (&NetworkAcl, Vec<&Subnet>)> = BTreeMap::new();
    let mut judged = Vec::new();
    for subnet in subnets {
        match acls.iter().find(|acl| acl.subnets.contains(&subnet.id)) {
            Some(acl) => of_acl.entry(&acl.id).or_insert((acl, Vec::new())).1.push(subnet),
            None => judged.push(Judged::new(&subnet.id, || {
                Err(Stop::unknown(format!("{API} shows no network ACL for {}", subnet.id)))
            })),
        }
    }
    for (id, (acl, subnets)) in of_acl {
        judged.push(Judged::new(id, || judge(cx, acl, &subnets)));
    }
    Ok(judged)
}

/// Traffic that must pass, and how it is called.
struct Probe {
    egress: bool,
    port: i32,
    what: &'static str,
}

fn judge(cx: &Context<'_>, acl: &NetworkAcl, subnets: &[&Subnet]) -> Result<Finding, Stop> {
    let shut: Vec<_> = [(false, "what comes in"), (true, "what goes out")]
        .into_iter()
        .filter(|(egress, _)| lets_nothing_through(acl, *egress))
        .collect();
    if !shut.is_empty() {
        let what: Vec<_> = shut.iter().map(|(_, what)| *what).collect();
        let remedy = shut.iter().fold(Remedy::new(WORDS), |remedy, (egress, _)| {
            remedy.run(allow(cx, acl, *egress, "0.0.0.0/0", i32::MAX))
        });
        return Ok(denied(acl, subnets, &listed(&what)).mend(remedy));
    }
    let own = &cx.cluster()?.network.subnet_ids;
    let control_plane = cx.facts.vpc_subnets.known()?.iter().filter(|one| own.contains(&one.id));
    for subnet in control_plane {
        let Some(block) = subnet.cidr.as_deref().and_then(Block::parse) else { continue };
        // No ACL is between two interfaces of one subnet.
        if !subnets.iter().any(|node| node.id != subnet.id) {
            continue;
        }
        let deny = probes().into_iter().find_map(|probe| {
            let entry = deciding(acl, probe.egress, probe.port, block.host());
            let entry = entry.filter(|entry| !entry.allow).map(|entry| entry.number);
            entry.map(|number| (probe, number))
        });
        if let Some((probe, number)) = deny {
            let what = format!("{}, {} ({block})", probe.what, subnet.id);
            let remedy = Remedy::new(WORDS).run(allow(cx, acl, true, &block.to_string(), number));
            let remedy = remedy.run(allow(cx, acl, false, &block.to_string(), number));
            return Ok(denied(acl, subnets, &what).mend(remedy));
        }
    }
    Ok(Finding::pass("It lets nodes and control plane talk."))
}

fn probes() -> Vec<Probe> {
    let probe = |egress, port, what| Probe { egress, port, what };
    let mut probes = vec![
        probe(true, API_SERVER, "port 443 to the control plane's subnet"),
        probe(false, KUBELET, "port 10250 from the control plane's subnet"),
    ];
    for port in ANSWERS {
        probes.push(probe(false, port, "answers from the control plane's subnet"));
        probes.push(probe(true, port, "answers to the control plane's subnet"));
    }
    probes
}

/// The first entry that matches TCP traffic of this port with this address.
fn deciding(acl: &NetworkAcl, egress: bool, port: i32, address: Block) -> Option<&AclEntry> {
    let matches = |entry: &&AclEntry| {
        let ports = entry.from_port.zip(entry.to_port);
        let all = entry.protocol == "-1";
        entry.egress == egress
            && Block::parse(&entry.cidr).is_some_and(|block| block.contains(address))
            && (all
                || (entry.protocol == "6"
                    && ports.is_none_or(|(from, to)| (from..=to).contains(&port))))
    };
    acl.entries.iter().filter(matches).min_by_key(|entry| entry.number)
}

fn lets_nothing_through(acl: &NetworkAcl, egress: bool) -> bool {
    let all = |entry: &AclEntry| entry.protocol == "-1" && entry.cidr == "0.0.0.0/0";
    let entries = || acl.entries.iter().filter(|entry| entry.egress == egress);
    let end = entries().filter(|entry| !entry.allow && all(entry)).map(|entry| entry.number).min();
    let end = end.unwrap_or(i32::MAX);
    !entries().any(|entry| entry.allow && entry.number < end)
}

const WORDS: &str = "Add entries that allow it. They let pass more than is needed: narrow them to \
                     your rules, and think of the answers.";

fn denied(acl: &NetworkAcl, subnets: &[&Subnet], what: &str) -> Finding {
    let ids: Vec<_> = subnets.iter().map(|subnet| subnet.id.as_str()).collect();
    Finding::fail(
        format!("The network ACL {} of {} denies {what}.", acl.id, listed(&ids)),
        "Nodes there start and never join, or the control plane does not reach their kubelets.",
    )
    .errors(CHECK.errors)
    .evidence(API, "NetworkAcls[].Entries", what)
}

/// The command that allows all of a block, before the entry with this number.
fn allow(cx: &Context<'_>, acl: &NetworkAcl, egress: bool, block: &str, before: i32) -> String {
    let taken = |number: &i32| {
        acl.entries.iter().any(|entry| entry.egress == egress && entry.number == *number)
    };
    let number = (1..before.min(100)).rev().find(|number| !taken(number)).unwrap_or(1);
    format!(
        "aws ec2 create-network-acl-entry --region {} --network-acl-id {} --rule-number {number} \
         --protocol=-1 --rule-action allow --cidr-block {block} --{}",
        quote(cx.region()),
        quote(&acl.id),
        if egress { "egress" } else { "ingress" }
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

    fn entry(number: i32, egress: bool, allow: bool, protocol: &str, cidr: &str) -> Value {
        json!({"number": number, "egress": egress, "allow": allow, "protocol": protocol, "cidr": cidr})
    }

    fn of_ports(mut entry: Value, from: i32, to: i32) -> Value {
        entry["from_port"] = json!(from);
        entry["to_port"] = json!(to);
        entry
    }

    /// The ACL of all subnets with these entries, and the one that denies the rest.
    fn acl(mut entries: Vec<Value>) -> Value {
        for egress in [true, false] {
            entries.push(entry(32_767, egress, false, "-1", "0.0.0.0/0"));
        }
        let subnets = ["subnet-01", "subnet-02", "subnet-03"];
        json!({"facts": {"network": {"acls": {"known": [
            {"id": "acl-01", "subnets": subnets, "entries": entries}]}}}})
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Unknown};
        let (inward, outward) = (false, true);
        let all = "0.0.0.0/0";
        let own = "10.0.0.0/16";
        let allow_all = |egress| entry(100, egress, true, "-1", all);
        let only = |egress, from, to| of_ports(entry(100, egress, true, "6", own), from, to);
        let no_answers = vec![allow_all(outward), only(inward, 443, 443)];
        let exact = vec![
            only(outward, 443, 443),
            of_ports(entry(110, outward, true, "6", own), 1024, 65_535),
            of_ports(entry(100, inward, true, "6", own), 1024, 65_535),
        ];
        let denied_first =
            vec![entry(50, outward, false, "6", own), allow_all(outward), allow_all(inward)];
        let shadowed =
            vec![entry(50, inward, false, "-1", all), allow_all(inward), allow_all(outward)];
        let one = |status| [(status, "acl-01")];
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("as AWS makes it", json!({}), &one(Pass)),
                ("all", acl(vec![allow_all(inward), allow_all(outward)]), &one(Pass)),
                ("a new one", acl(vec![]), &one(Fail)),
                ("nothing comes in", acl(vec![allow_all(outward)]), &one(Fail)),
                ("what is needed", acl(exact), &one(Pass)),
                ("no answers", acl(no_answers), &one(Fail)),
                ("a deny before it", acl(denied_first), &one(Fail)),
                ("a deny of all before it", acl(shadowed), &one(Fail)),
                (
                    "not readable",
                    json!({"facts": {"network": {"acls": {"denied": {"action": API, "message": "no"}}}}}),
                    &[(Unknown, "demo")],
                ),
            ],
        );
    }
}
