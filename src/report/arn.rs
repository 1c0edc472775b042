//! The ARN of what an outcome is about.

use super::Report;
use crate::{
    facts::arn::partition_of_region,
    target::{Sourced, names},
};

/// Prefixes of EC2's ids, and the kind of resource in the ARN.
const EC2: [(&str, &str); 6] = [
    ("subnet-", "subnet"),
    ("sg-", "security-group"),
    ("vpc-", "vpc"),
    ("ami-", "image"),
    ("lt-", "launch-template"),
    ("i-", "instance"),
];

/// The ARN of a subject, as far as its form and the target tell; that of the cluster for all else.
pub(super) fn of(report: &Report, subject: &str) -> String {
    let target = &report.target;
    let region = &target.region.value;
    let partition = partition_of_region(region);
    let account = target.account.as_deref().unwrap_or_default();
    let regional = |service: &str, resource: &str| {
        format!("arn:{partition}:{service}:{region}:{account}:{resource}")
    };
    let is = |names: &[Sourced<String>]| names.iter().any(|name| name.value == subject);
    if subject.starts_with("arn:") {
        return subject.to_owned();
    }
    if let Some((_, kind)) = EC2.iter().find(|(prefix, _)| is_id(subject, prefix)) {
        return regional("ec2", &format!("{kind}/{subject}"));
    }
    if is(&target.controller_roles) || is(&target.node_roles) {
        return format!("arn:{partition}:iam::{account}:role/{subject}");
    }
    if is(&target.queues) {
        return regional("sqs", names::queue_name(subject));
    }
    regional("eks", &format!("cluster/{}", target.cluster))
}

fn is_id(subject: &str, prefix: &str) -> bool {
    let rest = subject.strip_prefix(prefix).unwrap_or_default();
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{report::sample::report, target::Origin};

    #[test]
    fn arns_by_form_and_target() {
        let mut report = report("problems");
        report.target.queues = vec![Sourced::new("prod-queue".to_owned(), Origin::Flag)];
        for (subject, arn) in [
            ("arn:aws:iam::1:role/x", "arn:aws:iam::1:role/x"),
            ("subnet-0a1b", "arn:aws:ec2:eu-west-1:111122223333:subnet/subnet-0a1b"),
            ("sg-01", "arn:aws:ec2:eu-west-1:111122223333:security-group/sg-01"),
            ("KarpenterNodeRole-prod", "arn:aws:iam::111122223333:role/KarpenterNodeRole-prod"),
            ("prod-queue", "arn:aws:sqs:eu-west-1:111122223333:prod-queue"),
            ("i-am-no-instance", "arn:aws:eks:eu-west-1:111122223333:cluster/prod"),
            ("prod", "arn:aws:eks:eu-west-1:111122223333:cluster/prod"),
        ] {
            assert_eq!(of(&report, subject), arn);
        }
    }
}
