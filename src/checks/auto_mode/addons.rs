//! Whether the add-ons beside EKS Auto Mode are recent enough.

use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    facts::eks::Addon,
    outcome::{Finding, Remedy},
    target::{Product, names},
};

const API: &str = "eks:DescribeAddon";

/// Versions and builds that EKS asks for beside Auto Mode
/// (<https://docs.aws.amazon.com/eks/latest/userguide/auto-enable-existing.html>).
const MINIMUMS: [(&str, Version); 4] = [
    (names::CNI_ADDON, Version([1, 19, 0, 1])),
    ("aws-ebs-csi-driver", Version([1, 37, 0, 1])),
    ("snapshot-controller", Version([8, 1, 0, 2])),
    (names::POD_IDENTITY_AGENT, Version([1, 3, 4, 1])),
];
/// Those of kube-proxy, by the cluster's Kubernetes version.
const KUBE_PROXY: [(&str, Version); 6] = [
    ("1.26", Version([1, 26, 15, 19])),
    ("1.27", Version([1, 27, 16, 14])),
    ("1.28", Version([1, 28, 15, 4])),
    ("1.29", Version([1, 29, 10, 3])),
    ("1.30", Version([1, 30, 6, 3])),
    ("1.31", Version([1, 31, 2, 3])),
];

pub static CHECK: Check = Check {
    id: "auto-mode-addons",
    title: "The add-ons beside EKS Auto Mode are recent enough",
    area: Area::Controller,
    products: &[Product::AutoMode],
    errors: &["nodes-not-ready"],
    needs: &["eks:DescribeCluster", API],
    doc: "\
## What
Where vpc-cni, kube-proxy, aws-ebs-csi-driver, snapshot-controller or eks-pod-identity-agent are
installed as EKS add-ons, they have at least the version that EKS asks for beside Auto Mode.

## Why
Nodes of EKS Auto Mode bring their own network, proxy and agent. Older add-ons do not know such
nodes, and put their DaemonSets there as well.

## Seen as
Pods of these add-ons that fail on nodes of EKS Auto Mode, and nodes that are not Ready.

## Fix
Update the add-ons before EKS Auto Mode is switched on.
",
    run,
};

/// A version with its build: `v1.19.0-eksbuild.1` is 1, 19, 0, 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Version([u32; 4]);

impl Version {
    fn parse(text: &str) -> Option<Self> {
        let (core, build) = text.trim_start_matches('v').split_once("-eksbuild.")?;
        let mut parts = core.split('.').chain([build]).map(|part| part.parse().ok());
        let version = [parts.next()??, parts.next()??, parts.next()??, parts.next()??];
        parts.next().is_none().then_some(Self(version))
    }

    fn text(self) -> String {
        let [major, minor, patch, build] = self.0;
        format!("v{major}.{minor}.{patch}-eksbuild.{build}")
    }
}

fn run(cx: &Context<'_>) -> Verdicts {
    let kubernetes = &cx.cluster()?.version;
    let kube_proxy = KUBE_PROXY.iter().find(|(version, _)| version == kubernetes);
    let kube_proxy = kube_proxy.map(|(_, minimum)| ("kube-proxy", *minimum));
    let wanted = MINIMUMS.into_iter().chain(kube_proxy);
    Ok(wanted.map(|(name, minimum)| Judged::new(name, || judge(cx, name, minimum))).collect())
}

fn judge(cx: &Context<'_>, name: &str, minimum: Version) -> Result<Finding, Stop> {
    let addon = cx.facts.addons.get(name);
    let addon = addon.ok_or_else(|| Stop::unknown(format!("{name} was not read")))?;
    let Some(addon) = addon.found()? else {
        return Ok(Finding::pass("It is not installed as an add-on."));
    };
    let text = addon.version.as_deref().unwrap_or_default();
    let version = Version::parse(text).ok_or_else(|| {
        Stop::unknown(format!("{name} has the version `{text}`, which cannot be compared"))
    })?;
    if version >= minimum {
        return Ok(Finding::pass(format!("{text} is recent enough.")));
    }
    Ok(old(cx, addon, text, minimum))
}

fn old(cx: &Context<'_>, addon: &Addon, version: &str, minimum: Version) -> Finding {
    let (name, minimum) = (&addon.name, minimum.text());
    Finding::warn(
        format!("The add-on {name} has the version {version}, and EKS asks for {minimum}."),
        "It may run on nodes of EKS Auto Mode too and get in the way of what they bring along.",
    )
    .errors(CHECK.errors)
    .evidence(API, "addon.addonVersion", version)
    .mend(
        Remedy::new("Update it, to this version or a later one for your Kubernetes version.").run(
            format!(
                "aws eks update-addon --region {} --cluster-name {} --addon-name {} \
                 --addon-version {minimum} --resolve-conflicts PRESERVE",
                quote(cx.region()),
                quote(&cx.target.cluster),
                quote(name)
            ),
        ),
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

    fn cni(version: &str) -> Value {
        let addon = json!({"name": "vpc-cni", "version": version, "status": "ACTIVE",
                           "service_account_role_arn": null});
        json!({"facts": {"addons": {"vpc-cni": {"known": addon}}}})
    }

    #[test]
    fn rows() {
        use Status::{Pass, Unknown, Warn};
        let all = |status| {
            let rest = ["aws-ebs-csi-driver", "snapshot-controller", "eks-pod-identity-agent"];
            let mut all = vec![(status, "vpc-cni")];
            all.extend(rest.map(|name| (Pass, name)));
            all
        };
        let unread = json!({"facts": {"addons": {"vpc-cni":
            {"denied": {"action": API, "message": "no"}}}}});
        let mut old_cluster = json!({"facts": {"cluster": {"known": {"version": "1.31"}}}});
        let proxy = json!({"name": "kube-proxy", "version": "v1.31.1-eksbuild.2", "status": "ACTIVE",
                           "service_account_role_arn": null});
        old_cluster["facts"]["addons"] = json!({"kube-proxy": {"known": proxy}});
        let mut with_proxy = all(Pass);
        with_proxy.push((Warn, "kube-proxy"));
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                ("none", json!({}), &all(Pass)),
                ("as asked", cni("v1.19.0-eksbuild.1"), &all(Pass)),
                ("newer", cni("v1.20.4-eksbuild.1"), &all(Pass)),
                ("older", cni("v1.18.5-eksbuild.1"), &all(Warn)),
                ("no version", cni("latest"), &all(Unknown)),
                ("unread", unread, &all(Unknown)),
                ("an old proxy", old_cluster, &with_proxy),
            ],
        );
    }
}
