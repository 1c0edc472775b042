//! Whether instances ended of late because they could not start.

use crate::{
    checks::{
        Area, Check, Context, Judged, Verdicts,
        remedies::{listed, quote},
    },
    facts::limits::FailedLaunch,
    outcome::{Finding, Remedy},
    target::Product,
};

const API: &str = "ec2:DescribeInstances";

pub static CHECK: Check = Check {
    id: "failed-launches",
    title: "No instance ended of late because it could not start",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["encrypted-volume-failed"],
    needs: &["eks:DescribeCluster", API],
    doc: "\
## What
Of the instances in the cluster's VPC that EC2 still shows as terminated, about an hour after
their end, none ended with `Client.InternalError` or another fault of the launch.

## Why
This is what a volume's key that may not be used looks like from outside: the launch succeeds, and
the instance never runs. It catches keys that no other check sees, such as that of an AMI's
snapshot in another account. Any instance of the VPC counts, whoever launched it.

## Seen as
`Client.InternalError: Client error on launch` as the state reason.

## Fix
See `volume-keys`; and look in CloudTrail for a denied call to KMS at that time.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let vpc = crate::checks::discovery::cluster_vpc(cx)?;
    Ok(vec![Judged::new(vpc, || {
        let all = cx.facts.limits.failed_launches.known()?;
        let here: Vec<_> = all.iter().filter(|one| one.vpc_id.as_deref() == Some(vpc)).collect();
        Ok(match here.first() {
            None => Finding::pass("None that EC2 still shows."),
            Some(first) => found(cx, vpc, &here, first),
        })
    })])
}

fn found(cx: &Context<'_>, vpc: &str, here: &[&FailedLaunch], first: &FailedLaunch) -> Finding {
    let ids: Vec<_> = here.iter().map(|one| one.id.as_str()).collect();
    let region = quote(cx.region());
    Finding::warn(
        format!("In {vpc}, {} ended within the last hour: {}.", listed(&ids), first.message),
        "If the same launches go on, no node comes of them, and Karpenter replaces each NodeClaim \
         without end.",
    )
    .errors(CHECK.errors)
    .evidence(API, "Instances[].StateReason.Code", &first.code)
    .mend(
        Remedy::new(
            "See in CloudTrail which call to KMS was refused, to whom, and with which key; then \
             let that role use the key (see volume-keys). A key of the AMI's snapshot must allow it \
             too.",
        )
        .run(format!(
            "aws ec2 describe-instances --region {region} --include-managed-resources \
             --instance-ids {} --query \
             'Reservations[].Instances[].[InstanceId,StateReason.Code,StateReason.Message,ImageId]' \
             --output text",
            quote(&first.id)
        ))
        .run(format!(
            "aws cloudtrail lookup-events --region {region} --lookup-attributes \
             AttributeKey=EventSource,AttributeValue=kms.amazonaws.com --max-results 50 --query \
             \"Events[?contains(CloudTrailEvent, 'errorCode')].CloudTrailEvent\" --output text"
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

    fn failed(vpc: &str) -> Value {
        let one = json!({"id": "i-01", "code": "Client.InternalError",
            "message": "Client.InternalError: Client error on launch", "vpc_id": vpc});
        json!({"facts": {"limits": {"failed_launches": {"known": [one]}}}})
    }

    #[test]
    fn rows() {
        let one = |status| [(status, "vpc-01")];
        let denied = json!({"denied": {"action": API, "message": "no"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("none", json!({}), &one(Status::Pass)),
                ("here", failed("vpc-01"), &one(Status::Warn)),
                ("elsewhere", failed("vpc-02"), &one(Status::Pass)),
                (
                    "unread",
                    json!({"facts": {"limits": {"failed_launches": denied}}}),
                    &one(Status::Unknown),
                ),
            ],
        );
    }
}
