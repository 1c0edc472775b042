//! The controller knows its Region.

use super::{
    credentials::CREDENTIALS_URI,
    identity::ROLE_ARN,
    running::{self, Running},
};
use crate::{
    checks::{Area, Check, Context, Stop, Verdicts, remedies::quote},
    facts::kubernetes::controller::Pod,
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::Product,
};

/// From here on with the second SDK, which reads `AWS_DEFAULT_REGION` too.
const SECOND_SDK: KarpenterVersion = KarpenterVersion::new(1, 1, 0);

pub static CHECK: Check = Check {
    id: "controller-region",
    title: "The controller knows its Region",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &[
        "ec2-metadata-no-region",
        "ec2-metadata-request-error",
        "cluster-not-found",
        "subnets-not-found",
    ],
    needs: &[],
    doc: "\
## What
The controller's pods have `AWS_REGION`, and it is the cluster's Region. On EC2 a controller without
it can ask the instance's metadata; on Fargate there is none.

## Why
EKS sets the Region in the pods of a service account that is bound to a role. Without it Karpenter
asks the instance's metadata and ends if no answer comes: always on Fargate, and on EC2 where the
hop limit is 1. With another Region's name it looks for the cluster, its subnets and its queue
there.

## Seen as
`unable to determine region from IMDS` (before 1.1 `failed to get region from metadata server`),
and a pod in CrashLoopBackOff.

## Fix
Bind the service account to its role and restart the Deployment, or set `AWS_REGION` in the chart's
`controller.env`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    running::each(cx, |one| judge(cx, one))
}

fn judge(cx: &Context<'_>, one: &Running<'_>) -> Result<Finding, Stop> {
    if one.pods.is_empty() {
        return Err(Stop::skipped("it has no pod"));
    }
    let region = |pod: &Pod| {
        let set = |name: &str| {
            let value = pod.env.get(name).or_else(|| one.deployment.env.get(name));
            value.filter(|value| !value.is_empty()).cloned()
        };
        let default =
            || (cx.karpenter() >= SECOND_SDK).then(|| set("AWS_DEFAULT_REGION")).flatten();
        set("AWS_REGION").or_else(default)
    };
    let other = one.pods.iter().find_map(|pod| {
        let found = region(pod)?;
        (found != cx.region()).then_some((pod, found))
    });
    if let Some((pod, found)) = other {
        return Ok(elsewhere(cx, one, &pod.meta.name, &found));
    }
    let Some(without) = one.pods.iter().find(|pod| region(pod).is_none()) else {
        return Ok(Finding::pass(format!("its pods have AWS_REGION={}", cx.region())));
    };
    if !one.deployment.env_from.is_empty() && !one.deployment.env.contains_key("AWS_REGION") {
        return Err(Stop::unknown("whether its ConfigMaps and Secrets set AWS_REGION is not read"));
    }
    match one.on_fargate() {
        Some(pod) => Ok(not_given(cx, one, &pod.meta.name, true)),
        None if one.all_ready() => {
            Ok(Finding::pass("its pods have no AWS_REGION and found it in the instance's metadata"))
        }
        None if !bound(without) => {
            Err(Stop::skipped("EKS has set nothing in its pods; see controller-identity"))
        }
        None => Ok(not_given(cx, one, &without.meta.name, false)),
    }
}

/// Whether EKS has set anything in the pod, as it does with the Region.
fn bound(pod: &Pod) -> bool {
    [CREDENTIALS_URI, ROLE_ARN].iter().any(|name| pod.env.contains_key(*name))
}

fn elsewhere(cx: &Context<'_>, one: &Running<'_>, pod: &str, found: &str) -> Finding {
    Finding::fail(
        format!("{pod} has AWS_REGION={found}, and the cluster is in {}.", cx.region()),
        "Karpenter looks for the cluster, its subnets and its queue in the other Region and finds \
         none.",
    )
    .errors(&["cluster-not-found", "subnets-not-found"])
    .evidence("get pod", format!("{pod} env AWS_REGION"), found)
    .mend(set(
        cx,
        one,
        "Correct it in the chart's `controller.env`, and at once with kubectl.",
    ))
}

fn not_given(cx: &Context<'_>, one: &Running<'_>, pod: &str, fargate: bool) -> Finding {
    let error = match cx.karpenter() < SECOND_SDK {
        true => "ec2-metadata-request-error",
        false => "ec2-metadata-no-region",
    };
    let words = "Bind the service account to its role, so that EKS sets the Region in new pods; or \
                 set it in the chart's `controller.env`, and at once with kubectl.";
    let finding = match fargate {
        true => Finding::fail(
            format!("{pod} runs on Fargate and has no AWS_REGION."),
            "There is no instance metadata on Fargate: the controller ends at the start, again \
             and again, whatever the account's metadata defaults are.",
        ),
        false => Finding::warn(
            format!("{pod} has no AWS_REGION and is not ready."),
            "The controller asks the instance's metadata for its Region. Where the hop limit is 1 \
             or the endpoint is off it ends at the start.",
        ),
    };
    finding
        .errors(&[error])
        .evidence("get pod", format!("{pod} env AWS_REGION"), "not set")
        .mend(set(cx, one, words))
}

fn set(cx: &Context<'_>, one: &Running<'_>, words: &str) -> Remedy {
    Remedy::new(words).run(format!(
        "kubectl set env deployment {} --namespace {} {}",
        quote(&one.deployment.meta.name),
        quote(one.namespace()),
        quote(&format!("AWS_REGION={}", cx.region()))
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

    const SUBJECT: &str = "kube-system/karpenter";

    fn pod(env: &Value, node: &str, ready: bool) -> Value {
        json!({"facts": {"kubernetes": {"controller_pods": {"known": [
            {"meta": {"name": "p", "namespace": "kube-system"}, "service_account": "karpenter",
             "node": node, "ready": ready, "env": env}]}}}})
    }

    #[test]
    fn rows() {
        let (pass, warn) = (&[(Status::Pass, SUBJECT)][..], &[(Status::Warn, SUBJECT)][..]);
        let fail = &[(Status::Fail, SUBJECT)][..];
        let here = json!({"AWS_REGION": "us-west-2"});
        let default = json!({"AWS_DEFAULT_REGION": "us-west-2"});
        let fargate = "fargate-ip-10-0-1-2";
        let mut first_sdk =
            pod(&json!({ROLE_ARN: "r", "AWS_DEFAULT_REGION": "us-west-2"}), "n", false);
        first_sdk["scope"] = json!({"karpenter_version": "1.0.6"});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("the guide's", json!({}), pass),
                ("on Fargate", pod(&here, fargate, true), pass),
                ("on Fargate without", pod(&json!({}), fargate, false), fail),
                ("on EC2 without, and it works", pod(&json!({}), "n", true), pass),
                ("on EC2 without", pod(&json!({ROLE_ARN: "r"}), "n", false), warn),
                ("empty", pod(&json!({ROLE_ARN: "r", "AWS_REGION": ""}), "n", false), warn),
                ("on EC2, not bound", pod(&json!({}), "n", false), &[(Status::Skipped, SUBJECT)]),
                ("the default", pod(&default, "n", false), pass),
                ("the default, which the first SDK does not read", first_sdk, warn),
                ("another", pod(&json!({"AWS_REGION": "us-east-1"}), "n", true), fail),
                (
                    "no pod",
                    json!({"facts": {"kubernetes": {"controller_pods": {"known": []}}}}),
                    &[(Status::Skipped, SUBJECT)],
                ),
            ],
        );
    }

    #[test]
    fn fargate_prints_what_the_version_prints() {
        for (version, id) in
            [("1.0.6", "ec2-metadata-request-error"), ("1.14.1", "ec2-metadata-no-region")]
        {
            let mut patch = pod(&json!({}), "fargate-ip-10-0-1-2", false);
            patch["scope"] = json!({"karpenter_version": version});
            let found = Account::KarpenterCluster.judge(&CHECK, &patch).remove(0);
            assert_eq!(found.errors[0].id, id, "{version}");
        }
    }
}
