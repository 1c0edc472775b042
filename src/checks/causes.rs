//! Which of an error's causes holds, from the outcomes of the checks that prove them.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Check, named::Named};
use crate::{
    errors::{Cause, DocumentedError},
    outcome::{Outcome, Status},
};

/// What the checks say of a cause. Ordered as a reader wants them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A check found it.
    Holds,
    /// A check found something that fits it, and fits another cause or another error as well.
    Possible,
    /// A check that would tell could not look.
    Unknown,
    /// It is not so now, and may have been when the error was printed.
    NotNow,
    /// No check looks for it, or not for all of it.
    NotChecked,
    /// Its checks do not apply here.
    NotApplicable,
    /// Its checks looked, and all is well there.
    RuledOut,
}

/// Checks of what comes and goes by itself: what is in use, what runs, what is left. That all is
/// well now says little of when an error was printed.
const MOMENTARY: [&str; 36] = [
    "admission-webhooks",
    "amis-discovered",
    "capacity-reservations",
    "cluster-status",
    "cluster-subnets-free-addresses",
    "cni-daemonset",
    "consolidation-constraints",
    "controller-health",
    "controller-nodes",
    "custom-networking",
    "do-not-disrupt-pods",
    "failed-launches",
    "instance-profile-quota",
    "karpenter-webhooks",
    "launch-template-quota",
    "node-termination",
    "node-volume-limits",
    "nodeclaim-status",
    "nodeclaims-initialized",
    "nodeclass-status",
    "nodepool-budgets",
    "nodepool-limits",
    "nodepool-status",
    "pod-constraints",
    "pod-disruption-budgets",
    "pod-identity-agent",
    "pod-requests",
    "pods-oom-killed",
    "pods-without-owner",
    "single-controller",
    "spot-quota",
    "subnet-prefixes",
    "subnets-free-addresses",
    "vcpu-quota",
    "volume-claims",
    "volume-spread",
];

/// The checks that the causes of these errors name, in the registry's order.
pub fn checks_of(entries: &[&DocumentedError]) -> Vec<&'static Check> {
    let named = |check: &&&Check| {
        let mut causes = entries.iter().flat_map(|entry| &entry.causes);
        causes.any(|cause| names(cause, check.id))
    };
    super::ALL.iter().filter(named).copied().collect()
}

/// The verdict on each cause of an error, in the order of the causes; `named` is what its text
/// names, where there is one.
pub fn verdicts(
    entry: &DocumentedError,
    outcomes: &[Outcome],
    named: Option<&Named<'_>>,
) -> Vec<Verdict> {
    entry.causes.iter().map(|cause| verdict(entry, cause, outcomes, named)).collect()
}

/// The outcomes of the checks that a cause names.
pub fn outcomes_of<'a>(
    cause: &'a Cause,
    outcomes: &'a [Outcome],
) -> impl Iterator<Item = &'a Outcome> {
    outcomes.iter().filter(|outcome| names(cause, &outcome.check))
}

fn names(cause: &Cause, check: &str) -> bool {
    cause.checks.iter().any(|id| id == check)
}

fn verdict(
    entry: &DocumentedError,
    cause: &Cause,
    outcomes: &[Outcome],
    named: Option<&Named<'_>>,
) -> Verdict {
    let all: Vec<_> = outcomes_of(cause, outcomes).collect();
    let is_meant = |outcome: &&Outcome| named.is_none_or(|named| !named.leaves_out(outcome));
    let own: Vec<_> = all.iter().copied().filter(is_meant).collect();
    // Nothing was judged of what the text names: what is found elsewhere may hold there too.
    if own.is_empty() && all.iter().any(|outcome| is_found(outcome)) {
        return Verdict::Possible;
    }
    let has = |status| own.iter().any(|outcome| outcome.status == status);
    let found: Vec<_> = own.iter().filter(|outcome| is_found(outcome)).collect();
    let mut well = own.iter().filter(|outcome| outcome.status == Status::Pass);
    let certain = found.iter().any(|outcome| {
        let quoted = outcome.errors.iter().any(|error| error.id == entry.id);
        quoted && entry.causes.iter().filter(|cause| names(cause, &outcome.check)).count() == 1
    });
    match () {
        () if certain => Verdict::Holds,
        () if !found.is_empty() => Verdict::Possible,
        () if own.iter().any(|outcome| is_unseen(outcome)) => Verdict::Unknown,
        () if own.is_empty() || !cause.planned_checks.is_empty() => Verdict::NotChecked,
        () if well.any(|outcome| MOMENTARY.contains(&outcome.check.as_str())) => Verdict::NotNow,
        () if has(Status::Pass) => Verdict::RuledOut,
        () => Verdict::NotApplicable,
    }
}

/// What could not be looked at, whether or not the run counts it as unknown.
fn is_unseen(outcome: &Outcome) -> bool {
    let left_out = outcome.status == Status::Skipped && outcome.missing_action.is_some();
    outcome.status == Status::Unknown || left_out
}

fn is_found(outcome: &Outcome) -> bool {
    matches!(outcome.status, Status::Fail | Status::Warn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{errors::catalogue, outcome::QuotedError};

    fn outcome(check: &str, status: Status, errors: &[&str]) -> Outcome {
        Outcome {
            check: check.to_owned(),
            status,
            subject: "demo".to_owned(),
            resource: None,
            seen: "it".to_owned(),
            effect: String::new(),
            errors: errors
                .iter()
                .map(|id| QuotedError { id: (*id).to_owned(), quote: String::new() })
                .collect(),
            evidence: Vec::new(),
            remedy: None,
            missing_action: None,
            docs: String::new(),
            judged: None,
            waiver: None,
        }
    }

    fn of(error: &str, outcomes: &[Outcome]) -> Vec<Verdict> {
        verdicts(catalogue().get(error).unwrap(), outcomes, None)
    }

    #[test]
    fn a_finding_about_another_role_proves_nothing() {
        let entry = catalogue().get("not-a-valid-tag-key").unwrap();
        let about = |subject: &str, status, errors: &[&str]| Outcome {
            subject: subject.to_owned(),
            ..outcome("imds-metadata-tags", status, errors)
        };
        let known = ["nodes-a", "nodes-b"];
        let named = Named::of("the role nodes-a is not let in", &known);
        let of_a = |outcomes: &[Outcome]| verdicts(entry, outcomes, Some(&named))[0];
        let found = |subject| about(subject, Status::Fail, &["not-a-valid-tag-key"]);
        assert_eq!(of_a(&[found("nodes-a")]), Verdict::Holds);
        assert_eq!(of_a(&[found("nodes-b")]), Verdict::Possible);
        let well = about("nodes-a", Status::Pass, &[]);
        assert_eq!(of_a(&[well, found("nodes-b")]), Verdict::RuledOut);
    }

    #[test]
    fn a_finding_that_quotes_the_error_names_its_cause() {
        use Verdict::{Holds, NotChecked, RuledOut};
        let found = outcome("imds-metadata-tags", Status::Fail, &["not-a-valid-tag-key"]);
        assert_eq!(of("not-a-valid-tag-key", &[found]), [Holds, NotChecked]);
        let well = outcome("imds-metadata-tags", Status::Pass, &[]);
        assert_eq!(of("not-a-valid-tag-key", &[well]), [RuledOut, NotChecked]);
    }

    #[test]
    fn a_finding_that_fits_several_causes_proves_none() {
        let found = outcome(
            "node-role-access-entry",
            Status::Fail,
            &["node-not-registered", "kubelet-unauthorized"],
        );
        let of_it = of("kubelet-unauthorized", &[found]);
        assert_eq!(of_it[..2], [Verdict::Possible, Verdict::Possible]);
    }

    #[test]
    fn a_finding_about_another_error_only_fits() {
        let found = outcome("subnets-vpc", Status::Fail, &["security-group-subnet-vpc-mismatch"]);
        let of_it = of("node-not-registered", &[found]);
        assert!(of_it.contains(&Verdict::Possible) && !of_it.contains(&Verdict::Holds));
    }

    #[test]
    fn what_could_not_be_looked_at_is_not_ruled_out() {
        let both = [
            outcome("node-role-exists", Status::Pass, &[]),
            outcome("node-role-access-entry", Status::Unknown, &[]),
        ];
        assert!(!of("unauthorized-node-role", &both).contains(&Verdict::RuledOut));
        let denied = Outcome {
            missing_action: Some("organizations:DescribeOrganization".to_owned()),
            ..outcome("organization-policies", Status::Skipped, &[])
        };
        let no_boundary = outcome("permissions-boundary", Status::Pass, &[]);
        let of_it = of("unauthorized-operation", &[no_boundary, denied]);
        assert!(of_it.contains(&Verdict::Unknown) && !of_it.contains(&Verdict::RuledOut));
        let skipped = outcome("node-role-access-entry", Status::Skipped, &[]);
        assert_eq!(of("unauthorized-node-role", &[skipped])[0], Verdict::NotApplicable);
    }

    #[test]
    fn what_comes_and_goes_is_never_ruled_out() {
        let well = outcome("vcpu-quota", Status::Pass, &[]);
        let of_it = of("vcpu-limit-exceeded", &[well]);
        assert!(of_it.contains(&Verdict::NotNow) && !of_it.contains(&Verdict::RuledOut));
        for id in MOMENTARY {
            assert!(crate::checks::get(id).is_some(), "{id} is no check");
        }
    }

    #[test]
    fn only_the_named_checks_are_run() {
        let entry = catalogue().get("not-a-valid-tag-key").unwrap();
        let ids: Vec<_> = checks_of(&[entry]).iter().map(|check| check.id).collect();
        assert_eq!(ids, ["imds-metadata-tags", "proved-launch"]);
        assert!(checks_of(&[]).is_empty());
    }
}
