//! Whether the nodes' security groups and the control plane's let each other through.

use super::{API, NodeGroups, Rules, of_nodes};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        network::node_subnets,
        remedies::{listed, quote},
    },
    outcome::{Finding, FindingStatus, Remedy},
    target::Product,
};

const API_SERVER: i32 = 443;
const KUBELET: i32 = 10_250;
const CLUSTER: &str = "eks:DescribeCluster";

pub static CHECK: Check = Check {
    id: "security-groups-reach",
    title: "Nodes and control plane reach each other",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["node-not-registered", "nodes-not-ready", "network-timeout"],
    needs: &[CLUSTER, "ec2:DescribeSubnets", API],
    doc: "\
## What
The nodes' security groups let something out. With the private endpoint on, they and the groups of
the control plane's interfaces let nodes reach port 443 there; and the control plane reaches port
10250 of the nodes.

## Why
EKS makes one security group for a cluster and puts it on the control plane and on managed nodes;
all that has it may talk. Where nodes get another group, both sides need rules. Without port 443
no node joins. Without port 10250 nodes join, and `kubectl logs`, `kubectl exec` and metrics fail.

## Seen as
`Node not registered with cluster`, or `dial tcp ...:10250: i/o timeout`.

## Fix
Select the cluster's own security group for the nodes, or add the rules.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let judge = |nodes: NodeGroups| Judged::new(nodes.subject, || judge(cx, &nodes.ids?));
    Ok(of_nodes(cx)?.into_iter().map(judge).collect())
}

/// One direction that must be open, from the side that starts it.
struct Way<'a> {
    port: i32,
    from: &'a [String],
    to: &'a [String],
    from_blocks: &'a [String],
    to_blocks: &'a [String],
}

fn judge(cx: &Context<'_>, nodes: &[String]) -> Result<Finding, Stop> {
    let network = &cx.cluster()?.network;
    let control_plane: Vec<String> = network
        .cluster_security_group_id
        .iter()
        .chain(&network.security_group_ids)
        .cloned()
        .collect();
    if control_plane.is_empty() {
        return Err(Stop::unknown(format!("{CLUSTER} shows no security group of the cluster")));
    }
    if Rules::egress_of(cx, nodes)?.is_empty() {
        return Ok(nothing_out(cx, nodes));
    }
    let (node_blocks, own_blocks) = blocks(cx)?;
    let up = Way {
        port: API_SERVER,
        from: nodes,
        to: &control_plane,
        from_blocks: &node_blocks,
        to_blocks: &own_blocks,
    };
    let down = Way {
        port: KUBELET,
        from: &control_plane,
        to: nodes,
        from_blocks: &own_blocks,
        to_blocks: &node_blocks,
    };
    let up = if network.endpoint_private_access { up.gaps(cx)? } else { Vec::new() };
    let down = down.gaps(cx)?;
    if up.is_empty() && down.is_empty() {
        return Ok(Finding::pass("They let each other through."));
    }
    let status = if up.is_empty() { FindingStatus::Warn } else { FindingStatus::Fail };
    Ok(shut(nodes, status, &[up, down].concat()))
}

/// The blocks of the nodes' subnets and of the cluster's own.
fn blocks(cx: &Context<'_>) -> Result<(Vec<String>, Vec<String>), Stop> {
    let nodes = node_subnets(cx)?.into_iter().filter_map(|subnet| subnet.cidr.clone()).collect();
    let own = &cx.cluster()?.network.subnet_ids;
    let in_vpc = cx.facts.vpc_subnets.known()?.iter();
    let own = in_vpc.filter(|one| own.contains(&one.id)).filter_map(|one| one.cidr.clone());
    Ok((nodes, own.collect()))
}

/// A rule that is missing: what it is for, and the command that adds it.
type Gap = (String, String);

impl Way<'_> {
    fn gaps(&self, cx: &Context<'_>) -> Result<Vec<Gap>, Stop> {
        let egress = Rules::egress_of(cx, self.from)?;
        let ingress = Rules::ingress_of(cx, self.to)?;
        let passes = |rules: &Rules<'_>, groups: &[String], blocks: &[String]| {
            rules.admit_group(self.port, groups)
                || rules.has_prefix_list(self.port)
                || (!blocks.is_empty()
                    && blocks.iter().all(|block| rules.admit_block(self.port, block)))
        };
        let mut gaps = Vec::new();
        if !passes(&egress, self.to, self.to_blocks) {
            gaps.push(self.gap(cx, "egress", &self.from[0], &self.to[0]));
        }
        if !passes(&ingress, self.from, self.from_blocks) {
            gaps.push(self.gap(cx, "ingress", &self.to[0], &self.from[0]));
        }
        Ok(gaps)
    }

    fn gap(&self, cx: &Context<'_>, direction: &str, group: &str, other: &str) -> Gap {
        let port = self.port;
        let verb = if direction == "egress" { "to" } else { "from" };
        let region = quote(cx.region());
        let permission = quote(&format!(
            "IpProtocol=tcp,FromPort={port},ToPort={port},UserIdGroupPairs=[{{GroupId={other}}}]"
        ));
        let command = match direction {
            "egress" => format!(
                "aws ec2 authorize-security-group-egress --region {region} --group-id {group} \
                 --ip-permissions {permission}"
            ),
            _ => format!(
                "aws ec2 authorize-security-group-ingress --region {region} --group-id {group} \
                 --protocol tcp --port {port} --source-group {other}"
            ),
        };
        (format!("{group} lets port {port} {verb} {other} not pass"), command)
    }
}

fn shut(nodes: &[String], status: FindingStatus, gaps: &[Gap]) -> Finding {
    let seen: Vec<_> = gaps.iter().map(|(seen, _)| seen.as_str()).collect();
    let seen = format!("Nodes get {}, and {}.", listed(nodes), seen.join("; "));
    let finding = match status {
        FindingStatus::Fail => Finding::fail(
            seen,
            "Nodes do not reach the control plane's interfaces: they start, never join, and are \
             replaced every 15 minutes.",
        )
        .errors(&["node-not-registered", "nodes-not-ready"]),
        _ => Finding::warn(
            seen,
            "Nodes join, but the control plane does not reach their kubelets: kubectl logs and \
             exec, metrics, and webhooks that run there time out.",
        )
        .errors(&["network-timeout"]),
    };
    let remedy = gaps.iter().fold(
        Remedy::new(
            "Select the cluster's own security group for the nodes too, or add these rules.",
        ),
        |remedy, (_, command)| remedy.run(command),
    );
    finding.evidence(API, "SecurityGroups[].IpPermissions", "no such rule").mend(remedy)
}

fn nothing_out(cx: &Context<'_>, nodes: &[String]) -> Finding {
    let permission = "IpProtocol=-1,IpRanges=[{CidrIp=0.0.0.0/0}]";
    Finding::fail(
        format!(
            "{} {} no rule for what goes out.",
            listed(nodes),
            if nodes.len() == 1 { "has" } else { "have" }
        ),
        "Nodes reach nothing: they start, never join, and are replaced every 15 minutes.",
    )
    .errors(&["node-not-registered", "network-timeout"])
    .evidence(API, "SecurityGroups[].IpPermissionsEgress", "[]")
    .mend(Remedy::new("Let the nodes out, or add narrower rules of your own.").run(format!(
        "aws ec2 authorize-security-group-egress --region {} --group-id {} --ip-permissions {}",
        quote(cx.region()),
        quote(&nodes[0]),
        quote(permission)
    )))
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn rule(protocol: &str, port: Option<i32>, cidrs: &[&str], groups: &[&str]) -> Value {
        json!({"protocol": protocol, "from_port": port, "to_port": port, "cidrs": cidrs,
               "groups": groups})
    }

    fn group(id: &str, ingress: &[Value], egress: &[Value]) -> Value {
        json!({"id": id, "name": id, "vpc_id": "vpc-01", "tags": {},
               "rules": {"ingress": ingress, "egress": egress}})
    }

    /// Nodes with the group sg-02, and these rules of it and of the cluster's own.
    fn apart(own: &[Value], nodes: &[Value], egress: &[Value]) -> Value {
        let all = rule("-1", None, &["0.0.0.0/0"], &[]);
        let nodes = group("sg-02", nodes, egress);
        json!({"facts": {
            "discovered_security_groups": {"known": [nodes]},
            "vpc_security_groups": {"known": [group("sg-01", own, &[all]), nodes]},
        }})
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Unknown, Warn};
        let out = [rule("-1", None, &["0.0.0.0/0"], &[])];
        let to_443 = rule("tcp", Some(443), &[], &["sg-02"]);
        let to_443_by_block = rule("tcp", Some(443), &["10.0.0.0/16"], &[]);
        let part_of_443 = rule("tcp", Some(443), &["10.0.16.0/20"], &[]);
        let to_kubelet = rule("tcp", Some(10_250), &[], &["sg-01"]);
        let only_web = [rule("tcp", Some(80), &["0.0.0.0/0"], &[])];
        let mut public = apart(&[], from_ref(&to_kubelet), &out);
        public["facts"]["cluster"] =
            json!({"known": {"network": {"endpoint_private_access": false}}});
        let mut additional = apart(&[], from_ref(&to_kubelet), &out);
        additional["facts"]["cluster"] =
            json!({"known": {"network": {"security_group_ids": ["sg-03"]}}});
        let third = group("sg-03", from_ref(&to_443), &[]);
        additional["facts"]["vpc_security_groups"]["known"].as_array_mut().unwrap().push(third);
        let no_rules = json!([{"id": "sg-01", "name": "n", "vpc_id": "vpc-01", "tags": {}}]);
        let one = |status| [(status, "sg-02")];
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("the cluster's own", json!({}), &[(Pass, "sg-01")]),
                ("both ways", apart(from_ref(&to_443), from_ref(&to_kubelet), &out), &one(Pass)),
                ("by block", apart(&[to_443_by_block], from_ref(&to_kubelet), &out), &one(Pass)),
                (
                    "one subnet's block",
                    apart(&[part_of_443], from_ref(&to_kubelet), &out),
                    &one(Fail),
                ),
                ("not up", apart(&[], from_ref(&to_kubelet), &out), &one(Fail)),
                ("not down", apart(from_ref(&to_443), &[], &out), &one(Warn)),
                ("public only", public, &one(Pass)),
                ("by an additional group", additional, &one(Pass)),
                ("nothing out", apart(from_ref(&to_443), from_ref(&to_kubelet), &[]), &one(Fail)),
                ("the wrong port out", apart(&[to_443], &[to_kubelet], &only_web), &one(Fail)),
                (
                    "rules unread",
                    json!({"facts": {"vpc_security_groups": {"known": no_rules}}}),
                    &[(Unknown, "sg-01")],
                ),
                (
                    "groups unread",
                    json!({"facts": {"vpc_security_groups": {"denied": {"action": API, "message": "no"}}}}),
                    &[(Unknown, "sg-01")],
                ),
            ],
        );
    }
}
