//! Whether the controller of an isolated VPC does without what has no endpoint.

use super::{ENDPOINTS, ROUTES, SUBNETS, node_subnets, path::Path};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        remedies::{listed, quote},
    },
    facts::kubernetes::node_class::NodeClass,
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "isolated-vpc",
    title: "An isolated VPC needs neither IAM nor the Price List",
    area: Area::Join,
    products: &[Product::Karpenter],
    errors: &["iam-not-reachable", "instance-profile-not-created", "pricing-not-updated"],
    needs: &["eks:DescribeCluster", SUBNETS, ROUTES, ENDPOINTS],
    doc: "\
## What
Where no subnet for nodes has a default route, every EC2NodeClass names an instance profile and not
a role, unless the VPC has an endpoint for IAM; and the controller is told that it is isolated
(`settings.isolatedVPC=true`), unless there is one for the Price List.

## Why
With `spec.role`, Karpenter makes instance profiles, and for that it calls IAM; it asks the Price
List for prices. Its guide for private clusters knows no endpoint for either. Without IAM an
EC2NodeClass never becomes ready; without prices Karpenter goes on with those of its release.

## Seen as
`InstanceProfileReady` stays Unknown on the EC2NodeClass; `retreiving on-demand pricing data ...
i/o timeout` in the controller's log.

## Fix
Create the instance profile yourself and set `spec.instanceProfile`; set `isolatedVPC`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    for subnet in node_subnets(cx)? {
        if !Path::of(cx, &subnet.id)?.way.is_isolated() {
            return Err(Stop::skipped("the VPC is not isolated: a subnet has a way out"));
        }
    }
    let kubernetes = cx.kubernetes()?;
    let endpoints = cx.facts.network.endpoints.known()?;
    let has = |part: &str| endpoints.iter().any(|one| one.service.contains(part));
    let mut judged: Vec<Judged> = Vec::new();
    for class in kubernetes.ec2_node_classes.found()?.into_iter().flatten() {
        judged.push(Judged::new(format!("EC2NodeClass {}", class.meta.name), || {
            Ok(of_class(cx, class, has("iam")))
        }));
    }
    for controller in kubernetes.controllers.known()? {
        let set = controller.env.get("ISOLATED_VPC").is_some_and(|value| value == "true");
        let told = set || has("pricing");
        judged.push(Judged::new(&controller.meta.name, || {
            Ok(of_controller(&controller.meta.name, &controller.meta.namespace, told))
        }));
    }
    Ok(judged)
}

fn of_class(cx: &Context<'_>, class: &NodeClass, iam: bool) -> Finding {
    let name = &class.meta.name;
    let Some(role) = class.role.as_deref().filter(|_| !iam && class.instance_profile.is_none())
    else {
        return Finding::pass("IAM is reached, or is not needed.");
    };
    let profile = format!("KarpenterNodeInstanceProfile-{}", cx.target.cluster);
    let patch =
        format!(r#"{{"spec":{{"role":null,"instanceProfile":{}}}}}"#, serde_json::json!(profile));
    let held = crate::facts::arn::role_name(role);
    Finding::fail(
        format!("EC2NodeClass {name} names the role {role}, and no subnet reaches IAM."),
        "Karpenter cannot make the instance profile: the EC2NodeClass never becomes ready, and \
         nothing is launched for it.",
    )
    .errors(&["iam-not-reachable", "instance-profile-not-created"])
    .evidence("EC2NodeClass", "spec.role", role)
    .mend(
        Remedy::new("Make the instance profile yourself, and name it in the EC2NodeClass.")
            .run(format!(
                "aws iam create-instance-profile --instance-profile-name {}",
                quote(&profile)
            ))
            .run(format!(
                "aws iam add-role-to-instance-profile --instance-profile-name {} --role-name {}",
                quote(&profile),
                quote(held)
            ))
            .run(format!(
                "kubectl patch ec2nodeclass {} --type merge --patch {}",
                quote(name),
                quote(&patch)
            )),
    )
}

fn of_controller(name: &str, namespace: &str, told: bool) -> Finding {
    if told {
        return Finding::pass("It does not ask for prices, or reaches them.");
    }
    Finding::warn(
        format!("No subnet reaches the Price List, and {name} is not told (ISOLATED_VPC)."),
        "Every 12 hours asking for prices times out. Karpenter goes on with the prices of its \
         release, which grow old.",
    )
    .errors(&["pricing-not-updated"])
    .evidence("Deployment", "env ISOLATED_VPC", "not true")
    .mend(
        Remedy::new(format!(
            "Set it, with Helm for good: {}.",
            listed(&["settings.isolatedVPC=true"])
        ))
        .run(format!(
            "kubectl set env deployment/{} --namespace {} ISOLATED_VPC=true",
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

    fn isolated(endpoints: &[&str]) -> Value {
        let endpoints: Vec<_> = endpoints
            .iter()
            .map(|service| json!({"id": "vpce-01", "service": service, "kind": "Interface"}))
            .collect();
        json!({"facts": {"network": {
            "route_tables": {"known": [{"id": "rtb-01", "main": true}]},
            "endpoints": {"known": endpoints},
        }}})
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Skipped, Unknown, Warn};
        let (class, controller) = ("EC2NodeClass default", "karpenter");
        let both = |one, other| [(one, class), (other, controller)];
        let mut unread = isolated(&[]);
        unread["facts"]["network"]["endpoints"] =
            json!({"denied": {"action": ENDPOINTS, "message": "no"}});
        let skipped = &[(Skipped, "demo")];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("a NAT gateway", json!({}), skipped),
                ("isolated", isolated(&[]), &both(Fail, Warn)),
                (
                    "endpoints for both",
                    isolated(&["com.amazonaws.iam", "com.amazonaws.us-west-2.pricing.api"]),
                    &both(Pass, Pass),
                ),
                ("unread", unread, &[(Unknown, "demo")]),
            ],
        );
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[("the cluster is not asked", isolated(&[]), skipped)],
        );
    }
}
