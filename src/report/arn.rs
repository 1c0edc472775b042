//! The ARN that an outcome is shown at.

use super::Report;
use crate::{facts::arn::partition_of_region, outcome::Outcome};

/// The ARN of the subject; that of the cluster where it has none of its own.
pub(super) fn of(report: &Report, outcome: &Outcome) -> String {
    let target = &report.target;
    let cluster = || {
        let region = &target.region.value;
        let partition = partition_of_region(region);
        let account = target.account.as_deref().unwrap_or_default();
        format!("arn:{partition}:eks:{region}:{account}:cluster/{}", target.cluster)
    };
    outcome.resource.clone().unwrap_or_else(cluster)
}
