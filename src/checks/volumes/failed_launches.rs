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
    errors: &["encrypted-volume-failed", "volume-quota-exceeded", "invalid-block-device-mapping"],
    needs: &["eks:DescribeCluster", API],
    doc: "\
## What
Of the instances in the cluster's VPC that EC2 still shows as terminated, about an hour after
their end, none ended with `Client.InternalError` or another fault of the launch.

## Why
This is what a volume's key that may not be used looks like from outside: the launch succeeds, and
the instance never runs. It catches keys that no other check sees, such as that of an AMI's
snapshot in another account. Any instance of the VPC counts, whoever launched it.

The account's quota of storage for volumes is used up in the same silent way
(`Client.VolumeLimitExceeded`), and so is a snapshot missed that is gone.

## Seen as
`Client.InternalError: Client error on launch` or `Client.VolumeLimitExceeded` as the state reason.

## Fix
See `volume-keys`; and look in CloudTrail for a denied call to KMS at that time. Ask for a larger
quota of storage, or delete volumes that nothing uses.
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
    let kind = Kind::of(&first.code);
    let look = format!(
        "aws ec2 describe-instances --region {region} --include-managed-resources --instance-ids {} \
         --query \
         'Reservations[].Instances[].[InstanceId,StateReason.Code,StateReason.Message,ImageId]' \
         --output text",
        quote(&first.id)
    );
    Finding::warn(
        format!("In {vpc}, {} ended within the last hour: {}.", listed(&ids), first.message),
        "If the same launches go on, no node comes of them, and Karpenter replaces each NodeClaim \
         without end.",
    )
    .errors(&[kind.error()])
    .evidence(API, "Instances[].StateReason.Code", &first.code)
    .mend(kind.look(Remedy::new(kind.words()).run(look), &region))
}

/// What ended an instance, by its code
/// (<https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StateReason.html>).
#[derive(Clone, Copy)]
enum Kind {
    Key,
    Quota,
    Snapshot,
}

impl Kind {
    fn of(code: &str) -> Self {
        match code {
            "Client.VolumeLimitExceeded" => Self::Quota,
            "Client.InvalidSnapshot.NotFound" => Self::Snapshot,
            _ => Self::Key,
        }
    }

    fn error(self) -> &'static str {
        match self {
            Self::Key => "encrypted-volume-failed",
            Self::Quota => "volume-quota-exceeded",
            Self::Snapshot => "invalid-block-device-mapping",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Key => {
                "See in CloudTrail which call to KMS was refused, to whom, and with which key; then \
                 let that role use the key (see volume-keys). A key of the AMI's snapshot must allow \
                 it too."
            }
            Self::Quota => {
                "Ask for more storage of the volumes' type, which the last command shows; delete \
                 volumes that nothing uses, or let NodeClasses have smaller ones."
            }
            Self::Snapshot => {
                "A snapshot that the image or the NodeClass names is gone: select another image, or \
                 take the snapshot out of blockDeviceMappings."
            }
        }
    }

    /// Adds the command that shows more.
    fn look(self, remedy: Remedy, region: &str) -> Remedy {
        match self {
            Self::Key => remedy.run(format!(
                "aws cloudtrail lookup-events --region {region} --lookup-attributes \
                 AttributeKey=EventSource,AttributeValue=kms.amazonaws.com --max-results 50 --query \
                 \"Events[?contains(CloudTrailEvent, 'errorCode')].CloudTrailEvent\" --output text"
            )),
            Self::Quota => remedy.run(format!(
                "aws service-quotas list-service-quotas --region {region} --service-code ebs --query \
                 \"Quotas[?starts_with(QuotaName, 'Storage for')].[QuotaName,QuotaCode,Value]\" \
                 --output text"
            )),
            Self::Snapshot => remedy,
        }
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

    fn failed(vpc: &str) -> Value {
        with_code(vpc, "Client.InternalError")
    }

    fn with_code(vpc: &str, code: &str) -> Value {
        let one = json!({"id": "i-01", "code": code, "message": code, "vpc_id": vpc});
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

    #[test]
    fn each_code_has_its_error() {
        for (code, error) in [
            ("Client.InternalError", "encrypted-volume-failed"),
            ("Client.InvalidKMSKey.InvalidState", "encrypted-volume-failed"),
            ("Client.VolumeLimitExceeded", "volume-quota-exceeded"),
            ("Client.InvalidSnapshot.NotFound", "invalid-block-device-mapping"),
        ] {
            let found = Account::Karpenter.judge(&CHECK, &with_code("vpc-01", code)).remove(0);
            assert_eq!(found.errors[0].id, error, "{code}");
        }
    }
}
