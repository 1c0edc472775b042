//! Whether custom networking of the VPC CNI has addresses for pods in each zone.

use std::collections::BTreeSet;

use super::API;
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        network::node_subnets,
        remedies::{listed, quote},
    },
    facts::kubernetes::cni::{Cni, EniConfig},
    outcome::{Finding, Remedy},
    target::{Product, cluster_says::setting},
};

const LIST: &str = "list eniconfigs (Kubernetes)";
const ZONE: &str = "topology.kubernetes.io/zone";
const ZONE_OF_OLD: &str = "failure-domain.beta.kubernetes.io/zone";
/// The ENIConfig of nodes that nothing else assigns one to.
const DEFAULT: &str = "default";
/// The label that picks where `ENI_CONFIG_LABEL_DEF` is not set (`pkg/eniconfig/eniconfig.go` of
/// aws/amazon-vpc-cni-k8s).
const OWN: &str = "k8s.amazonaws.com/eniConfig";
const RESERVED: &str = "RESERVED_ENIS";
/// A node's first interface for pods on a `large` instance.
const FEW: u32 = 10;

pub static CHECK: Check = Check {
    id: "custom-networking",
    title: "Custom networking has addresses for pods in each zone",
    area: Area::Scheduling,
    products: &[Product::Karpenter],
    errors: &["failed-assign-ip", "cni-not-initialized"],
    needs: &["eks:DescribeCluster", API],
    doc: "\
## What
With custom networking of the VPC CNI, each zone that nodes are launched into has an ENIConfig, where
ENIConfigs are picked by zone (`ENI_CONFIG_LABEL_DEF`), or else there is one named `default`; the subnet that each names is in the VPC, and has free addresses. And
Karpenter is told that the first interface of a node has none for pods (`RESERVED_ENIS=1`).

## Why
Pods get their addresses from the ENIConfig's subnet, and not from the one that the NodeClass
selects. A zone without an ENIConfig gets nodes and no pods: they stay NotReady. So does every node
where ENIConfigs are named like zones and nothing says that zones pick them. Karpenter counts
the addresses of all interfaces for pods: without `settings.reservedENIs` it packs more onto a node
than get an address.

## Seen as
`failed to assign an IP address to container` in the pod's events, or `cni plugin not initialized`.

## Fix
An ENIConfig for each zone, named like it, and
`ENI_CONFIG_LABEL_DEF=topology.kubernetes.io/zone` on `aws-node`; larger subnets for pods; `settings.reservedENIs=1`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let kubernetes = cx.kubernetes()?;
    let cni = match kubernetes.cni.found()? {
        Some(cni) if cni.custom_networking => cni,
        Some(_) => {
            return Err(Stop::skipped("the VPC CNI gives pods addresses of their node's subnet"));
        }
        None => return Err(Stop::skipped("the VPC CNI does not run here")),
    };
    let configs = kubernetes.eni_configs.found()?.map_or(&[][..], Vec::as_slice);
    let mut judged: Vec<_> = configs
        .iter()
        .map(|one| Judged::new(format!("eniconfig/{}", one.name), || by_subnet(cx, one)))
        .collect();
    judged.push(Judged::new("ENIConfigs", || by_zone(cx, cni, configs)));
    let controllers = match kubernetes.controllers.found() {
        Ok(found) => found.map_or(&[][..], Vec::as_slice),
        Err(unseen) => {
            judged.push(Judged::new(RESERVED, || Err(unseen.into())));
            &[]
        }
    };
    for controller in controllers {
        let name = format!("{}/{}", controller.meta.namespace, controller.meta.name);
        let reserved = setting(controller, RESERVED).unwrap_or_default();
        judged.push(Judged::new(format!("{name} {RESERVED}"), || {
            Ok(match reserved.parse::<u32>() {
                Ok(1..) => Finding::pass("Karpenter leaves the first interface out."),
                _ => not_reserved(&controller.meta.name, &controller.meta.namespace),
            })
        }));
    }
    Ok(judged)
}

fn by_subnet(cx: &Context<'_>, config: &EniConfig) -> Result<Finding, Stop> {
    let name = &config.name;
    let Some(id) = &config.subnet else {
        return Ok(Finding::pass("It names no subnet: pods share that of their node."));
    };
    let subnets = cx.facts.vpc_subnets.known()?;
    let Some(subnet) = subnets.iter().find(|subnet| subnet.id == *id) else {
        let seen = format!("ENIConfig {name} names {id}, which is not in the cluster's VPC.");
        return Ok(no_addresses(name, seen, "spec.subnet", id));
    };
    let is_zone = subnets.iter().any(|other| other.zone == *name);
    if is_zone && subnet.zone != *name {
        let seen = format!("ENIConfig {name} names {id}, which is in {}.", subnet.zone);
        return Ok(no_addresses(name, seen, "spec.subnet", id));
    }
    let free = subnet.free_addresses;
    let seen = format!("{id} of ENIConfig {name} has {free} free addresses.");
    if free == 0 {
        return Ok(no_addresses(name, seen, "Subnets[].AvailableIpAddressCount", "0"));
    }
    if free >= FEW {
        return Ok(Finding::pass(seen));
    }
    let effect = format!("The next node of {} takes more, and its pods get none.", subnet.zone);
    Ok(Finding::warn(seen, effect)
        .errors(&["failed-assign-ip"])
        .evidence(API, "Subnets[].AvailableIpAddressCount", free.to_string())
        .mend(edit(name)))
}

fn no_addresses(name: &str, seen: String, path: &str, value: &str) -> Finding {
    Finding::fail(seen, "Pods of the nodes with this ENIConfig get no addresses.")
        .errors(CHECK.errors)
        .evidence(LIST, path, value)
        .mend(edit(name))
}

fn edit(name: &str) -> Remedy {
    Remedy::new(
        "Name another subnet of the same zone in the ENIConfig; nodes take it when they are made.",
    )
    .run(format!("kubectl edit eniconfig {}", quote(name)))
}

fn by_zone(cx: &Context<'_>, cni: &Cni, configs: &[EniConfig]) -> Result<Finding, Stop> {
    let named: BTreeSet<&str> = configs.iter().map(|config| config.name.as_str()).collect();
    let label = cni.eni_config_label.as_deref().unwrap_or_default();
    let zones: BTreeSet<&str> =
        node_subnets(cx)?.into_iter().map(|subnet| subnet.zone.as_str()).collect();
    if ![ZONE, ZONE_OF_OLD].contains(&label) {
        return match named.is_empty() {
            true => Ok(without(cx, &Vec::from_iter(zones), "and no ENIConfig is there")),
            false => by_label(cx, label, &named),
        };
    }
    let missing: Vec<&str> = zones.into_iter().filter(|zone| !named.contains(zone)).collect();
    if missing.is_empty() {
        return Ok(Finding::pass("Each zone of the nodes has one."));
    }
    Ok(without(cx, &missing, "and none is named like these zones"))
}

/// Where it is not zones that pick.
fn by_label(cx: &Context<'_>, label: &str, named: &BTreeSet<&str>) -> Result<Finding, Stop> {
    if !["", OWN].contains(&label) {
        return Err(Stop::unknown(format!(
            "ENIConfigs are picked by the label {label}, and its values on new nodes are not looked at"
        )));
    }
    if named.contains(DEFAULT) {
        return Ok(Finding::pass(format!("There is an ENIConfig {DEFAULT}.")));
    }
    let pools = cx.kubernetes()?.node_pools.known()?;
    if let Some(pool) = pools.iter().find(|pool| pool.labels.contains_key(OWN)) {
        return Err(Stop::unknown(format!(
            "NodePool {} picks an ENIConfig with the label {OWN}, and others are not looked at",
            pool.meta.name
        )));
    }
    let named: Vec<_> = named.iter().collect();
    Ok(Finding::warn(
        format!(
            "There is {}, but nothing picks an ENIConfig by zone: ENI_CONFIG_LABEL_DEF is not set on \
             aws-node, and no ENIConfig {DEFAULT} is there.",
            listed(&named)
        ),
        format!(
            "The VPC CNI looks for an ENIConfig {DEFAULT}, and the pods of new nodes get no \
             addresses, unless something sets the label or annotation {OWN} on each node."
        ),
    )
    .errors(CHECK.errors)
    .evidence("get daemonset", "kube-system/aws-node env ENI_CONFIG_LABEL_DEF", "not set")
    .mend(
        Remedy::new(
            "Let zones pick, with ENIConfigs that are named like zones. Where the add-on is EKS's, \
             set it in its configuration values too. Nodes take it when they are made.",
        )
        .run(format!(
            "kubectl set env daemonset aws-node -n kube-system ENI_CONFIG_LABEL_DEF={ZONE}"
        )),
    ))
}

fn without(cx: &Context<'_>, zones: &[&str], why: &str) -> Finding {
    let in_zone = |zone: &&str| {
        let all = cx.facts.vpc_subnets.value().into_iter().flatten();
        let mut all = all.filter(|subnet| subnet.zone == **zone);
        all.next().map_or("FILL_IN_SUBNET_ID", |subnet| subnet.id.as_str())
    };
    let own = cx.facts.cluster.value();
    let group = own.and_then(|cluster| cluster.network.cluster_security_group_id.as_deref());
    let group = group.unwrap_or("FILL_IN_SECURITY_GROUP_ID");
    let remedy = zones.iter().fold(
        Remedy::new(
            "Make one for each zone; put the pods' own subnet of the zone in the place of the one \
             that is filled in.",
        ),
        |remedy, zone| {
            let config = serde_json::json!({
                "apiVersion": "crd.k8s.amazonaws.com/v1alpha1", "kind": "ENIConfig",
                "metadata": {"name": zone},
                "spec": {"subnet": in_zone(zone), "securityGroups": [group]},
            });
            let file = format!("eniconfig-{zone}.json");
            remedy
                .document(&file, &config)
                .run(format!("kubectl apply --filename {}", quote(&file)))
        },
    );
    Finding::fail(
        format!("The VPC CNI gives pods the addresses of ENIConfigs, {why}: {}.", listed(zones)),
        format!("Nodes there get no addresses for pods, unless an ENIConfig {DEFAULT} is picked: they stay NotReady."),
    )
    .errors(CHECK.errors)
    .evidence(LIST, "items[].metadata.name", "without these zones")
    .mend(remedy)
}

fn not_reserved(name: &str, namespace: &str) -> Finding {
    Finding::warn(
        format!("Custom networking is on, and {namespace}/{name} does not leave out the first interface of a node ({RESERVED})."),
        "Karpenter counts that interface's addresses for pods, which get none of them: full nodes \
         have pods without an address.",
    )
    .errors(&["failed-assign-ip"])
    .evidence("get deployment", format!("{namespace}/{name} env {RESERVED}"), "0")
    .mend(
        Remedy::new("Set the chart's value `settings.reservedENIs=1`, and at once with kubectl.")
            .run(format!(
                "kubectl set env deployment {} --namespace {} {RESERVED}=1",
                quote(name),
                quote(namespace)
            )),
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

    const CONTROLLER: &str = "kube-system/karpenter RESERVED_ENIS";

    /// Custom networking by zone, with these ENIConfigs and their subnets.
    fn configs(configs: &[(&str, &str)], label: &str, reserved: &str) -> Value {
        let config = |(name, subnet): &(&str, &str)| json!({"name": name, "subnet": subnet});
        let configs: Vec<_> = configs.iter().map(config).collect();
        json!({"facts": {"kubernetes": {
            "cni": {"known": {"custom_networking": true, "eni_config_label": label}},
            "eni_configs": {"known": configs},
            "controllers": {"known": [{"meta": {"name": "karpenter", "namespace": "kube-system"},
                "env": {"RESERVED_ENIS": reserved}}]},
        }}})
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Skipped, Unknown, Warn};
        let zones =
            [("us-west-2a", "subnet-01"), ("us-west-2b", "subnet-02"), ("us-west-2c", "subnet-03")];
        let all = |a, b, c, zones, reserved| {
            [
                (a, "eniconfig/us-west-2a"),
                (b, "eniconfig/us-west-2b"),
                (c, "eniconfig/us-west-2c"),
                (zones, "ENIConfigs"),
                (reserved, CONTROLLER),
            ]
        };
        let mut gone = zones;
        gone[2].1 = "subnet-99";
        let mut crossed = zones;
        crossed[0].1 = "subnet-02";
        let none = [(Fail, "ENIConfigs"), (Pass, CONTROLLER)];
        let default = [(Pass, "eniconfig/default"), (Pass, "ENIConfigs"), (Pass, CONTROLLER)];
        let mut of_pools = configs(&zones[..1], "", "1");
        of_pools["facts"]["kubernetes"]["node_pools"] = json!({"known": [
            {"meta": {"name": "a"}, "labels": {OWN: "us-west-2a"}}]});
        let mut no_deployments = configs(&[("default", "subnet-01")], "", "1");
        no_deployments["facts"]["kubernetes"]["controllers"] =
            json!({"denied": {"action": "list deployments", "message": "no"}});
        let picked =
            |status| [(Pass, "eniconfig/us-west-2a"), (status, "ENIConfigs"), (Pass, CONTROLLER)];
        let hidden = [(Pass, "eniconfig/default"), (Pass, "ENIConfigs"), (Unknown, RESERVED)];
        let denied = json!({"facts": {"kubernetes": {"cni":
            {"denied": {"action": "get daemonsets", "message": "no"}}}}});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("off", json!({}), &[(Skipped, "demo")]),
                ("by zone", configs(&zones, ZONE, "1"), &all(Pass, Pass, Pass, Pass, Pass)),
                ("not reserved", configs(&zones, ZONE, "0"), &all(Pass, Pass, Pass, Pass, Warn)),
                ("a subnet is gone", configs(&gone, ZONE, "1"), &all(Pass, Pass, Fail, Pass, Pass)),
                (
                    "another zone's",
                    configs(&crossed, ZONE, "1"),
                    &all(Fail, Pass, Pass, Pass, Pass),
                ),
                (
                    "a zone has none",
                    configs(&zones[..2], ZONE, "1"),
                    &[
                        (Pass, "eniconfig/us-west-2a"),
                        (Pass, "eniconfig/us-west-2b"),
                        (Fail, "ENIConfigs"),
                        (Pass, CONTROLLER),
                    ],
                ),
                ("none", configs(&[], "", "1"), &none),
                ("one for all", configs(&[("default", "subnet-01")], "", "1"), &default),
                ("nothing picks by zone", configs(&zones[..1], "", "1"), &picked(Warn)),
                ("a label of one's own", configs(&zones[..1], "team", "1"), &picked(Unknown)),
                ("NodePools pick", of_pools, &picked(Unknown)),
                ("Deployments are hidden", no_deployments, &hidden),
                ("not readable", denied, &[(Unknown, "demo")]),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Skipped, "demo")]),
            ],
        );
        let mut full = configs(&[("default", "subnet-01")], "", "1");
        let subnet = |free: u32| {
            json!([{"id": "subnet-01", "arn": null, "vpc_id": "vpc-01", "zone": "us-west-2a",
                "zone_id": null, "cidr": null, "free_addresses": free, "owner": null, "tags": {}}])
        };
        for (free, status) in [(0, Fail), (9, Warn), (10, Pass)] {
            full["facts"]["vpc_subnets"] = json!({"known": subnet(free)});
            let found = Account::KarpenterCluster.judge(&CHECK, &full).remove(0);
            assert_eq!(found.status, status, "{free}: {found:#?}");
        }
    }
}
