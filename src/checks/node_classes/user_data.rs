//! Whether the user data of a NodeClass fits into a launch, and makes a node that Karpenter knows.

use crate::{
    checks::{
        Area, Check, Context, Verdicts,
        node_classes::{self, Class},
    },
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::Product,
};

/// Bytes of user data that EC2 takes
/// (<https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html>).
const MOST: u64 = 16 * 1024;
/// What Karpenter adds of its own: the cluster's certificate and endpoint, and the kubelet's
/// settings.
const OWN: u64 = 3 * 1024;
/// From here on Karpenter waits for the taint
/// (<https://karpenter.sh/docs/upgrading/upgrade-guide/#upgrading-to-110>).
const WAITS: KarpenterVersion = KarpenterVersion::new(1, 1, 0);
const TAINT: &str = "karpenter.sh/unregistered:NoExecute";

pub static CHECK: Check = Check {
    id: "nodeclass-user-data",
    title: "The user data of EC2NodeClasses makes nodes that Karpenter knows",
    area: Area::Launch,
    products: &[Product::Karpenter],
    errors: &["user-data-too-large", "unregistered-taint-missing", "node-not-registered"],
    needs: &[],
    doc: "\
## What
`spec.userData` and what Karpenter adds to it are together within the 16 KiB that EC2 takes. With the
AMI family `Custom`, for which Karpenter adds nothing, there is user data, and from Karpenter 1.1 on
it has the kubelet register with the taint `karpenter.sh/unregistered:NoExecute`.

## Why
For a family that Karpenter knows it writes the kubelet's settings itself. With `Custom` all is yours:
without that taint Karpenter does not take the node for registered, and removes it. An image may
bring the settings along, which nothing shows: then this is a warning for nothing.

## Seen as
`karpenter.sh/unregistered taint must be present on Karpenter-managed nodes`, or `User data is limited
to 16384 bytes`.

## Fix
`--register-with-taints=karpenter.sh/unregistered:NoExecute` among the kubelet's arguments; load what
is long from elsewhere when the node starts.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    node_classes::each(cx, CHECK.products, |class| Ok(judge(cx, &class)))
}

fn judge(cx: &Context<'_>, class: &Class<'_>) -> Finding {
    let custom = class.spec.ami_family.as_deref() == Some("Custom");
    let added = if custom { 0 } else { OWN };
    let bytes = class.spec.user_data.as_ref().map_or(0, |data| data.bytes);
    if bytes > 0 && bytes + added > MOST {
        return too_large(class, bytes);
    }
    let registers = class.spec.user_data.as_ref().is_some_and(|data| data.registers_taint);
    if custom && bytes == 0 {
        return unregistered(class, format!("{class} has the AMI family Custom and no user data."));
    }
    if custom && !registers && cx.karpenter() >= WAITS {
        return unregistered(
            class,
            format!(
                "The user data of {class}, of the AMI family Custom, does not speak of {TAINT}."
            ),
        );
    }
    Finding::pass("It fits.")
}

fn too_large(class: &Class<'_>, bytes: u64) -> Finding {
    let seen = format!("The user data of {class} has {bytes} bytes.");
    let finding = match bytes > MOST {
        true => Finding::fail(seen, "EC2 takes 16384 bytes: it refuses every launch."),
        false => Finding::warn(
            seen,
            "EC2 takes 16384 bytes, and Karpenter adds some of its own: it may refuse every launch.",
        ),
    };
    finding
        .errors(&["user-data-too-large"])
        .evidence(class.api(), "spec.userData", format!("{bytes} bytes"))
        .mend(
            Remedy::new("Shorten it, or load the long part from S3 when the node starts.")
                .run(class.edit()),
        )
}

fn unregistered(class: &Class<'_>, seen: String) -> Finding {
    Finding::warn(
        seen,
        "Unless the image itself starts the kubelet so, its nodes do not join, or Karpenter does not \
         take them for registered, and removes them after 15 minutes.",
    )
    .errors(&["unregistered-taint-missing", "node-not-registered"])
    .evidence(class.api(), "spec.userData", "without karpenter.sh/unregistered")
    .mend(
        Remedy::new(format!(
            "Have the kubelet register with --register-with-taints={TAINT}, in the user data or in the \
             image. If the image does so, leave this check out with --exclude nodeclass-user-data."
        ))
        .run(class.edit()),
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

    fn with(family: &str, user_data: &Value) -> Value {
        json!({"facts": {"kubernetes": {"ec2_node_classes": {"known": [
            {"meta": {"name": "default"}, "ami_family": family, "user_data": user_data}]}}}})
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Skipped, Unknown, Warn};
        let data = |bytes: u64, taint: bool| json!({"bytes": bytes, "registers_taint": taint});
        let mut before = with("Custom", &data(400, false));
        before["scope"] = json!({"karpenter_version": "1.0.6"});
        let denied = json!({"facts": {"kubernetes": {"ec2_node_classes":
            {"denied": {"action": "list ec2nodeclasses", "message": "no"}}}}});
        let one = |status| [(status, "EC2NodeClass/default")];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("none", json!({}), &one(Pass)),
                ("some", with("AL2023", &data(4000, false)), &one(Pass)),
                ("near the limit", with("AL2023", &data(14_000, false)), &one(Warn)),
                ("over it", with("AL2023", &data(17_000, false)), &one(Fail)),
                ("Custom, near the limit", with("Custom", &data(16_000, true)), &one(Pass)),
                ("Custom without any", with("Custom", &Value::Null), &one(Warn)),
                ("Custom without the taint", with("Custom", &data(400, false)), &one(Warn)),
                ("before it was asked for", before, &one(Pass)),
                ("not readable", denied, &[(Unknown, "EC2NodeClass")]),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Skipped, "demo")]),
            ],
        );
    }
}
