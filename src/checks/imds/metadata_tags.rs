//! The account's default that makes EC2 refuse Kubernetes' tag keys.

use super::{API, change, change_words, is, judged};
use crate::{
    checks::{Area, Check, Context, Verdicts},
    facts::ec2::ImdsDefaults,
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::Product,
};

/// From here on Karpenter's launch templates switch tags in the metadata off
/// (`pkg/providers/launchtemplate/types.go` at v1.1.0; not back-ported to 1.0).
const SETS_IT_OFF: KarpenterVersion = KarpenterVersion::new(1, 1, 0);

pub static CHECK: Check = Check {
    id: "imds-metadata-tags",
    title: "Instance tags are not put into the metadata by default",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["not-a-valid-tag-key"],
    needs: &[API],
    doc: "\
## What
The account's defaults in this region do not make instance tags readable in the metadata.

## Why
Where tags are readable in the metadata, EC2 refuses tag keys with a `/`, and nearly every tag
of Kubernetes and Karpenter has one. Before Karpenter 1.1 its launch templates say nothing of it,
so the default breaks every launch. From 1.1 on they switch it off, and only what Karpenter does
not launch is hit: managed node groups, eksctl, your own Auto Scaling groups. What EKS Auto Mode
does is not documented.

## Seen as
`InvalidParameterValue: 'karpenter.k8s.aws/ec2nodeclass' is not a valid tag key`; the key that
is named varies.

## Fix
`aws ec2 modify-instance-metadata-defaults --instance-metadata-tags no-preference`, or Karpenter
1.1 or newer. If a declarative policy sets the default, those who manage the organisation must
change it.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    judged(cx, |defaults| {
        Ok(if is(defaults.instance_metadata_tags.as_ref(), "enabled") {
            enabled(cx, defaults)
        } else {
            Finding::pass("The account's defaults keep instance tags out of the metadata.")
        })
    })
}

fn enabled(cx: &Context<'_>, defaults: &ImdsDefaults) -> Finding {
    let seen = format!(
        "By default, new instances in {} have their tags in the metadata, and EC2 then refuses \
         tag keys with a slash.",
        cx.region()
    );
    let too_old = cx.target.runs(Product::Karpenter) && cx.karpenter() < SETS_IT_OFF;
    let (finding, words) = if too_old {
        (
            Finding::fail(seen, effect(cx)),
            "Take the default away, or upgrade Karpenter to 1.1 or newer",
        )
    } else {
        (
            Finding::warn(seen, effect(cx)),
            "Take the default away, and let the launch templates that want it set it",
        )
    };
    let remedy = Remedy::new(change_words(defaults, words));
    finding
        .errors(&["not-a-valid-tag-key"])
        .evidence(API, "AccountLevel.InstanceMetadataTags", "enabled")
        .mend(change(remedy, cx, defaults, "--instance-metadata-tags no-preference"))
}

/// Whom it hits, by what runs the nodes.
fn effect(cx: &Context<'_>) -> String {
    let version = cx.karpenter();
    let mut effect = Vec::new();
    if cx.target.runs(Product::Karpenter) {
        effect.push(if version < SETS_IT_OFF {
            format!(
                "Karpenter {version} does not set this option, so every launch fails: its tags \
                 karpenter.sh/nodepool and kubernetes.io/cluster/{} have a slash.",
                cx.target.cluster
            )
        } else {
            format!(
                "Karpenter {version} switches it off for its own nodes. Managed node groups, \
                 eksctl and Auto Scaling groups whose launch template does not set it fail to \
                 launch nodes with Kubernetes' tags, those that run the controller among them."
            )
        });
    }
    if cx.target.runs(Product::AutoMode) {
        effect.push(
            "AWS does not document whether EKS Auto Mode overrides it for its own nodes; if \
             launches fail on a tag key, this is the cause."
                .to_owned(),
        );
    }
    effect.join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const REGION: &str = "us-west-2";

    #[test]
    fn rows() {
        let on = json!({"known": {"instance_metadata_tags": "enabled"}});
        let on_with = |version: &str| json!({"scope": {"karpenter_version": version}, "facts": {"imds_defaults": on}});
        let denied = json!({"denied": {"action": API, "message": "not authorized"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("no preference", json!({}), &[(Status::Pass, REGION)]),
                ("1.0 does not override", on_with("1.0.14"), &[(Status::Fail, REGION)]),
                ("1.1 does", on_with("1.1.0"), &[(Status::Warn, REGION)]),
                (
                    "not readable",
                    json!({"facts": {"imds_defaults": denied}}),
                    &[(Status::Unknown, REGION)],
                ),
            ],
        );
        let on = json!({"facts": {"imds_defaults": on}});
        assert_rows(Account::AutoMode, &CHECK, &[("undocumented", on, &[(Status::Warn, REGION)])]);
    }
}
