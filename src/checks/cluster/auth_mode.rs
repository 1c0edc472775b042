//! Where EKS looks to let a node in.

use crate::{
    checks::{Area, Check, Context, Judged, Verdicts, remedies::quote},
    facts::eks::{AuthenticationMode, Cluster},
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "auth-mode",
    title: "The cluster's authentication mode suits the product",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["unauthorized-node-role"],
    needs: &["eks:DescribeCluster"],
    doc: "\
## What
`accessConfig.authenticationMode` of the cluster. EKS Auto Mode wants one that reads access
entries: `API` or `API_AND_CONFIG_MAP`. Karpenter works with each of the three.

## Why
EKS lets the nodes of Auto Mode in by access entries alone. For Karpenter the mode says where the
node role must be known: `CONFIG_MAP` reads the ConfigMap `aws-auth` alone, `API` reads access
entries alone and ignores `aws-auth`, and in `API_AND_CONFIG_MAP` both count and access entries
win.

## Seen as
Auto Mode cannot be switched on; a NodeClass says `UnauthorizedNodeRole`.

## Fix
`aws eks update-cluster-config --name <cluster> --access-config
authenticationMode=API_AND_CONFIG_MAP`. There is no way back to `CONFIG_MAP`; what `aws-auth`
holds goes on counting.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    Ok(vec![Judged::new(&cx.target.cluster, || Ok(judge(cx, cx.cluster()?)))])
}

fn judge(cx: &Context<'_>, cluster: &Cluster) -> Finding {
    let mode = cluster.authentication_mode;
    let finding = match mode {
        AuthenticationMode::ConfigMap if cx.target.runs(Product::AutoMode) => needs_entries(cx),
        AuthenticationMode::ConfigMap => {
            Finding::pass("CONFIG_MAP: the ConfigMap aws-auth alone decides who may join")
        }
        AuthenticationMode::ApiAndConfigMap => Finding::pass(
            "API_AND_CONFIG_MAP: access entries decide who may join, then the ConfigMap aws-auth",
        ),
        AuthenticationMode::Api => Finding::pass(
            "API: access entries alone decide who may join; the ConfigMap aws-auth is ignored",
        ),
    };
    finding.evidence(
        "eks:DescribeCluster",
        "cluster.accessConfig.authenticationMode",
        mode.as_str(),
    )
}

fn needs_entries(cx: &Context<'_>) -> Finding {
    let cluster = &cx.target.cluster;
    Finding::fail(
        format!("The authentication mode of {cluster} is CONFIG_MAP, which has no access entries."),
        "EKS Auto Mode lets nodes in by access entries alone: it cannot be switched on, and no \
         node of it joins.",
    )
    .errors(&["unauthorized-node-role"])
    .mend(
        Remedy::new(
            "Let the cluster read access entries too. aws-auth goes on counting, and there is no \
             way back to CONFIG_MAP.",
        )
        .run(format!(
            "aws eks update-cluster-config --name {} \
             --access-config authenticationMode=API_AND_CONFIG_MAP --region {}",
            quote(cluster),
            quote(cx.region())
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

    #[test]
    fn rows() {
        let mode = |mode: &str| -> Value {
            json!({"facts": {"cluster": {"known": {"authentication_mode": mode}}}})
        };
        let failed = json!({"facts": {"cluster": {
            "failed": {"action": "eks:DescribeCluster", "message": "timed out"}}}});
        let pass: &[(Status, &str)] = &[(Status::Pass, "demo")];
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("both", json!({}), pass),
                ("entries alone", mode("API"), pass),
                ("aws-auth alone", mode("CONFIG_MAP"), pass),
                ("not readable", failed, &[(Status::Unknown, "demo")]),
                (
                    "before Auto Mode is switched on",
                    json!({"scope": {"product": "auto-mode"},
                        "facts": {"cluster": {"known": {"authentication_mode": "CONFIG_MAP"}}}}),
                    &[(Status::Fail, "demo")],
                ),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                ("entries alone", json!({}), pass),
                ("both", mode("API_AND_CONFIG_MAP"), pass),
                ("aws-auth alone", mode("CONFIG_MAP"), &[(Status::Fail, "demo")]),
            ],
        );
    }
}
