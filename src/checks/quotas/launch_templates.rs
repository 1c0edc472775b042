//! Whether the account can have more launch templates.

use super::is_short;
use crate::{
    checks::{Area, Check, Context, Judged, Verdicts, remedies::quote},
    facts::limits::{LAUNCH_TEMPLATES, LaunchTemplates},
    outcome::{Finding, Remedy},
    target::Product,
};

const API: &str = "ec2:DescribeLaunchTemplates";
const QUOTAS: &str = "servicequotas:ListServiceQuotas";

pub static CHECK: Check = Check {
    id: "launch-template-quota",
    title: "The account can have more launch templates",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["launch-template-quota-exceeded"],
    needs: &[API, QUOTAS],
    doc: "\
## What
The account has fewer launch templates in the Region than its quota allows, with a tenth to spare, or
with `thresholds.quota_headroom` of the configuration.

## Why
A launch needs a launch template for its image, user data and NodePool. Karpenter makes one and deletes
it minutes after its last use; those that it may not delete stay behind, as do those of clusters that
are gone. The quota is one for the account and Region: 5000 unless it has been changed.

## Seen as
`MaxTemplateLimitExceeded: Account has already reached max permitted templates` in the NodeClaim and
in the controller's log.

## Fix
Let the controller delete its templates, delete those that nothing uses, and ask for a larger quota.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let account = cx.account().unwrap_or(&cx.target.cluster);
    Ok(vec![Judged::new(account, || {
        let limits = &cx.facts.limits;
        Ok(judge(cx, limits.launch_templates.known()?, *limits.launch_template_quota.known()?))
    })])
}

fn judge(cx: &Context<'_>, templates: &LaunchTemplates, quota: u64) -> Finding {
    let LaunchTemplates { used, of_cluster } = *templates;
    let seen = format!(
        "The account has {used} launch templates in {} of {quota} that it may have; {of_cluster} \
         are Karpenter's for this cluster.",
        cx.region()
    );
    let finding = if used >= quota {
        Finding::fail(
            seen,
            "No further launch template can be made: a launch that needs a new one fails, and its \
             pods stay Pending.",
        )
    } else if is_short(cx, used, quota) {
        Finding::warn(seen, "Once it is reached, launches that need a new one fail.")
    } else {
        return Finding::pass(seen);
    };
    finding
        .errors(CHECK.errors)
        .evidence(API, "LaunchTemplates", used.to_string())
        .evidence(QUOTAS, LAUNCH_TEMPLATES, quota.to_string())
        .mend(remedy(cx, quota))
}

fn remedy(cx: &Context<'_>, quota: u64) -> Remedy {
    let region = quote(cx.region());
    Remedy::new(
        "Delete those that nothing uses; the first command shows who made them, and which are of \
         clusters that are gone. Karpenter deletes its own minutes after their last use, if it may: \
         controller-permissions says whether. And ask for a larger quota.",
    )
    .run(format!(
        "aws ec2 describe-launch-templates --region {region} --query \
         'sort_by(LaunchTemplates,&CreateTime)[].[CreateTime,LaunchTemplateName,CreatedBy,Tags[?starts_with(Key,\
         `kubernetes.io/cluster/`)].Key|[0]]' --output text"
    ))
    .run(format!(
        "aws service-quotas request-service-quota-increase --region {region} --service-code ec2 \
         --quota-code {LAUNCH_TEMPLATES} --desired-value {}",
        quota * 2
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

    fn used(used: u64) -> Value {
        json!({"facts": {"limits": {
            "launch_templates": {"known": {"used": used, "of_cluster": 3}}}}})
    }

    #[test]
    fn rows() {
        let one = |status| [(status, "111122223333")];
        let denied = |what: &str, action: &str| {
            let denied = json!({"denied": {"action": action, "message": "no"}});
            json!({"facts": {"limits": {what: denied}}})
        };
        let mut wanted = used(4000);
        wanted["scope"] = json!({"thresholds": {"quota_headroom": 25}});
        let mut raised = used(5000);
        raised["facts"]["limits"]["launch_template_quota"] = json!({"known": 10_000});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("few", json!({}), &one(Status::Pass)),
                ("many", used(4499), &one(Status::Pass)),
                ("a tenth is left", used(4500), &one(Status::Warn)),
                ("all", used(5000), &one(Status::Fail)),
                ("more than there may be by now", used(5001), &one(Status::Fail)),
                ("a larger quota", raised, &one(Status::Pass)),
                ("less than the user wants", wanted, &one(Status::Warn)),
                ("uncounted", denied("launch_templates", API), &one(Status::Unknown)),
                ("no quota", denied("launch_template_quota", QUOTAS), &one(Status::Unknown)),
            ],
        );
        assert_rows(Account::AutoMode, &CHECK, &[("few", json!({}), &one(Status::Pass))]);
    }
}
