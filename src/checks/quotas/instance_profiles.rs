//! Whether the account can have more instance profiles.

use super::is_short;
use crate::{
    checks::{Area, Check, Context, Judged, Verdicts, remedies::quote},
    facts::limits::Count,
    outcome::{Finding, Remedy},
    target::Product,
};

const API: &str = "iam:GetAccountSummary";
/// The quota code of `Instance profiles` in Service Quotas, which keeps IAM's in one region.
const CODE: &str = "L-6E65F664";

pub static CHECK: Check = Check {
    id: "instance-profile-quota",
    title: "The account can have more instance profiles",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["instance-profile-quota-exceeded"],
    needs: &[API],
    doc: "\
## What
The account has fewer instance profiles than its quota allows, with a tenth to spare, or with
`thresholds.quota_headroom` of the configuration.

## Why
Karpenter and EKS Auto Mode make an instance profile for every NodeClass, from Karpenter 1.7 a new
one whenever its role changes. What they may not list or delete stays behind, and the quota is one
for the account: 1000 unless raised. Once it is reached, no NodeClass with a role becomes ready, in
any cluster of the account.

## Seen as
`LimitExceeded: Cannot exceed quota for InstanceProfilesPerAccount: 1000` in the controller's log.

## Fix
Delete the profiles that nothing uses, and ask for a larger quota.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let account = cx.account().unwrap_or(&cx.target.cluster);
    Ok(vec![Judged::new(account, || {
        let count = cx.facts.limits.instance_profiles.known()?;
        Ok(judge(cx, count))
    })])
}

fn judge(cx: &Context<'_>, count: &Count) -> Finding {
    let Count { used, quota } = count;
    let seen = format!(
        "The account has {used} instance profiles of {quota} that it may have{}.",
        of_cluster(cx)
    );
    let finding = if used >= quota {
        Finding::fail(
            seen,
            "No further instance profile can be made: a NodeClass that needs one never becomes \
             ready.",
        )
    } else if is_short(cx, *used, *quota) {
        Finding::warn(seen, "Once it is reached, a NodeClass that needs one never becomes ready.")
    } else {
        return Finding::pass(seen);
    };
    finding
        .errors(CHECK.errors)
        .evidence(API, "SummaryMap.InstanceProfiles", used.to_string())
        .mend(
        Remedy::new(
            "Delete those that nothing uses; the first command shows which hold no role and which \
             Karpenter made for other clusters. And ask for a larger quota, up to 5000.",
        )
        .run(
            "aws iam list-instance-profiles --query \
             'InstanceProfiles[].[Path,InstanceProfileName,CreateDate,Roles[0].RoleName]' --output \
             text",
        )
        .run(format!(
            "aws service-quotas request-service-quota-increase --region {} --service-code iam \
             --quota-code {CODE} --desired-value {}",
            quote(home_region(cx.target.partition)),
            (quota * 2).min(5000)
        )),
    )
}

/// How many are this cluster's: more than it has NodeClasses are what deleted ones left behind.
fn of_cluster(cx: &Context<'_>) -> String {
    let Some(own) = cx.facts.instance_profiles.value().filter(|own| !own.is_empty()) else {
        return String::new();
    };
    let classes = cx.kubernetes().ok().and_then(|kubernetes| {
        let of_karpenter = kubernetes.ec2_node_classes.value()?.len();
        Some(of_karpenter + kubernetes.auto_node_classes.value().map_or(0, Vec::len))
    });
    match classes {
        Some(classes) => {
            format!("; {} are this cluster's, which has {classes} NodeClasses", own.len())
        }
        None => format!("; {} are this cluster's", own.len()),
    }
}

/// Where Service Quotas keeps the quotas of services that have no region.
fn home_region(partition: &str) -> &'static str {
    match partition {
        "aws-cn" => "cn-north-1",
        "aws-us-gov" => "us-gov-west-1",
        _ => "us-east-1",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn used(used: u64) -> Value {
        let count = json!({"used": used, "quota": 1000});
        json!({"facts": {"limits": {"instance_profiles": {"known": count}}}})
    }

    fn wanted(count: u64, headroom: u8) -> Value {
        let mut patch = used(count);
        patch["scope"] = json!({"thresholds": {"quota_headroom": headroom}});
        patch
    }

    #[test]
    fn rows() {
        let one = |status| [(status, "111122223333")];
        let denied = json!({"denied": {"action": API, "message": "no"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("few", json!({}), &one(Status::Pass)),
                ("many", used(899), &one(Status::Pass)),
                ("a tenth is left", used(900), &one(Status::Warn)),
                ("all", used(1000), &one(Status::Fail)),
                ("less than the user wants", wanted(899, 11), &one(Status::Warn)),
                ("as much as the user wants", wanted(899, 10), &one(Status::Pass)),
                ("the user wants none", wanted(999, 0), &one(Status::Pass)),
                (
                    "unread",
                    json!({"facts": {"limits": {"instance_profiles": denied}}}),
                    &one(Status::Unknown),
                ),
            ],
        );
    }
}
