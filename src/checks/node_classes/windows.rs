//! Whether Windows nodes can give their pods addresses.

use crate::{
    checks::{
        Area, Check, Context, Stop, Verdicts,
        node_classes::{self, Class, is_windows},
        remedies::quote,
    },
    facts::arn,
    outcome::{Finding, Remedy},
    target::Product,
};

const READ: &str = "configmap kube-system/amazon-vpc-cni";
const SETTING: &str = "enable-windows-ipam";
const POLICY: &str = "AmazonEKSVPCResourceController";

pub static CHECK: Check = Check {
    id: "windows-ipam",
    title: "Windows support is on where a NodeClass is for Windows",
    area: Area::Scheduling,
    products: &[Product::Karpenter],
    errors: &["windows-support-off"],
    needs: &[],
    doc: "\
## What
Where an EC2NodeClass is for Windows, the ConfigMap `kube-system/amazon-vpc-cni` has
`enable-windows-ipam: \"true\"`.

## Why
On Windows nodes the VPC resource controller of the control plane gives pods their addresses, and does
so only where this is on. It acts with the cluster's role, which needs
`AmazonEKSVPCResourceController` for it.

## Seen as
`failed to parse Kubernetes args: pod does not have label vpc.amazonaws.com/PrivateIPv4Address`.

## Fix
Set it, and attach the policy to the cluster's role.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    node_classes::each(cx, CHECK.products, |class| judge(cx, &class))
}

fn judge(cx: &Context<'_>, class: &Class<'_>) -> Result<Finding, Stop> {
    if !is_windows(class.spec) {
        return Err(Stop::skipped("it is not for Windows"));
    }
    let set = cx.facts.kubernetes.windows_ipam.found()?;
    if set == Some(&true) {
        return Ok(Finding::pass(format!("{SETTING} is on.")));
    }
    let seen = match set {
        Some(_) => format!("{class} is for Windows, and {SETTING} is not on in amazon-vpc-cni."),
        None => format!("{class} is for Windows, and there is no ConfigMap amazon-vpc-cni."),
    };
    Ok(Finding::fail(seen, "Windows nodes join, and their pods get no addresses.")
        .errors(CHECK.errors)
        .evidence(READ, format!("data.{SETTING}"), if set.is_some() { "not true" } else { "none" })
        .mend(mend(cx, set.is_some())))
}

fn mend(cx: &Context<'_>, there: bool) -> Remedy {
    let on = match there {
        true => format!(
            "kubectl patch configmap amazon-vpc-cni --namespace kube-system --type merge --patch \
             '{{\"data\":{{\"{SETTING}\":\"true\"}}}}'"
        ),
        false => format!(
            "kubectl create configmap amazon-vpc-cni --namespace kube-system \
             --from-literal={SETTING}=true"
        ),
    };
    let role = cx.facts.cluster.value().map(|cluster| arn::role_name(&cluster.role_arn));
    Remedy::new("Let the cluster's role do it, and switch it on; the first nodes must be new ones.")
        .run(format!(
            "aws iam attach-role-policy --role-name {} --policy-arn arn:{}:iam::aws:policy/{POLICY}",
            quote(role.unwrap_or("CLUSTER_ROLE")),
            cx.target.partition
        ))
        .run(on)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn with(alias: &str, ipam: &Value) -> Value {
        json!({"facts": {"kubernetes": {"windows_ipam": ipam, "ec2_node_classes": {"known": [
            {"meta": {"name": "default"}, "ami_terms": [{"alias": alias}]}]}}}})
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Skipped, Unknown};
        let denied = json!({"denied": {"action": "get configmaps", "message": "no"}});
        let windows = |ipam: Value| with("windows2022@latest", &ipam);
        let one = |status| [(status, "EC2NodeClass/default")];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("Linux", json!({}), &one(Skipped)),
                ("on", windows(json!({"known": true})), &one(Pass)),
                ("off", windows(json!({"known": false})), &one(Fail)),
                ("no ConfigMap", windows(json!("absent")), &one(Fail)),
                ("not readable", windows(denied), &one(Unknown)),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Skipped, "demo")]),
            ],
        );
    }
}
