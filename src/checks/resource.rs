//! The ARN of what a verdict is about.

use super::{About, Context, Judged};
use crate::facts::arn::{ec2_kind, partition_of_region};

/// Of the roles that AWS makes for itself.
const SPOT_ROLE: &str = "AWSServiceRoleForEC2Spot";

/// The ARN of the subject; `None` for what has none, such as a NodePool or a default of a region.
pub fn arn(cx: &Context<'_>, judged: &Judged) -> Option<String> {
    let subject = &judged.subject;
    let region = cx.region();
    let partition = partition_of_region(region);
    let of = |service: &str, region: &str, resource: &str| {
        Some(format!("arn:{partition}:{service}:{region}:{}:{resource}", cx.account()?))
    };
    match &judged.about {
        Some(About::Role(name)) => role(cx, name).or_else(|| of("iam", "", &path(name))),
        Some(About::Queue(name)) => of("sqs", region, name),
        None if subject.starts_with("arn:") => Some(subject.clone()),
        None if *subject == cx.target.cluster => {
            let cluster = cx.facts.cluster.value().map(|cluster| cluster.arn.clone());
            cluster.or_else(|| of("eks", region, &format!("cluster/{subject}")))
        }
        None => {
            let kind = ec2_kind(subject)?;
            match kind {
                // They may be anybody's, and their ARNs name no account.
                "image" | "snapshot" => {
                    Some(format!("arn:{partition}:ec2:{region}::{kind}/{subject}"))
                }
                _ => of("ec2", region, &format!("{kind}/{subject}")),
            }
        }
    }
}

/// As it was read: its path is part of the ARN.
fn role(cx: &Context<'_>, name: &str) -> Option<String> {
    let read = cx.facts.roles.get(name).and_then(|role| role.value());
    read.or_else(|| cx.facts.spot_role.value().filter(|role| role.name == name))
        .map(|role| role.arn.clone())
}

fn path(name: &str) -> String {
    match name {
        SPOT_ROLE => format!("role/aws-service-role/spot.amazonaws.com/{name}"),
        _ => format!("role/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        checks::{self, testing::Account},
        outcome::Status,
        target::resolve::resolve,
    };

    #[test]
    fn a_queue_and_a_role_called_like_the_cluster_are_told_apart() {
        let saved = Account::Karpenter.patched(&json!({}));
        let target = resolve(&saved.scope, &saved.facts);
        let cx = Context::new(&target, &saved);
        let cluster = target.cluster.as_str();
        let judged = |subject: &str| Judged::new(subject, || Err(checks::Stop::skipped("-")));
        let iam = "arn:aws:iam::111122223333:role";
        for (judged, expected) in [
            (
                judged(cluster),
                Some(format!("arn:aws:eks:us-west-2:111122223333:cluster/{cluster}")),
            ),
            (
                judged(cluster).of_queue(cluster),
                Some(format!("arn:aws:sqs:us-west-2:111122223333:{cluster}")),
            ),
            (judged(cluster).of_role(cluster), Some(format!("{iam}/{cluster}"))),
            (
                judged(SPOT_ROLE).of_role(SPOT_ROLE),
                Some(format!("{iam}/aws-service-role/spot.amazonaws.com/{SPOT_ROLE}")),
            ),
            (
                judged("subnet-0a1b"),
                Some("arn:aws:ec2:us-west-2:111122223333:subnet/subnet-0a1b".to_owned()),
            ),
            (judged("ami-0a1b"), Some("arn:aws:ec2:us-west-2::image/ami-0a1b".to_owned())),
            (judged("arn:aws:iam::1:role/x"), Some("arn:aws:iam::1:role/x".to_owned())),
            (judged("i-am-no-instance"), None),
            (judged("nodepool/default"), None),
        ] {
            assert_eq!(arn(&cx, &judged), expected, "{judged:?}");
        }
    }

    #[test]
    fn every_role_and_queue_says_that_it_is_one() {
        for account in [Account::Karpenter, Account::AutoMode] {
            let saved = account.patched(&json!({}));
            let target = resolve(&saved.scope, &saved.facts);
            let cx = Context::new(&target, &saved);
            for outcome in checks::run::run(checks::ALL, &cx) {
                let arn = outcome.resource.unwrap_or_default();
                let of_role = cx.facts.roles.contains_key(&outcome.subject);
                assert!(!of_role || arn.contains(":role/"), "{}: {arn}", outcome.check);
                let of_queue =
                    outcome.check.starts_with("queue-") && outcome.status == Status::Pass;
                assert!(!of_queue || arn.contains(":sqs:"), "{}: {arn}", outcome.check);
            }
        }
    }
}
