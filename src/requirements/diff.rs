//! What an upgrade adds, drops and tightens, and what happens if one does not follow.

use serde::Serialize;

use super::kubernetes::{self, KubernetesRange};
use super::policy::{self, Layout};
use super::request::{Consequence, Request};
use super::rules::{self, EventRule};
use super::setup::Setup;
use super::statement_diff::{StatementChange, statement_changes};
use super::version::KarpenterVersion;
use super::{controller, iam_set};
use crate::iam::{Decision, PolicyError, Principal};

/// The difference between two versions for one set-up.
#[derive(Debug, Clone)]
pub struct Diff {
    pub from: KarpenterVersion,
    pub to: KarpenterVersion,
    /// Requests that are new, gone, or sent in another way.
    pub requests: Vec<RequestChange>,
    /// Statements of the printed controller policy that are not the same.
    pub statements: Vec<StatementChange>,
    /// What the new controller is refused where the policy printed for the old one stays:
    /// grant this before the upgrade.
    pub if_policy_stays: Vec<Refusal>,
    /// What the old controller is refused under the policy printed for the new one: do not
    /// attach that before the upgrade, nor keep it after going back.
    pub if_policy_is_ahead: Vec<Refusal>,
    /// EventBridge rules that only the new version makes use of.
    pub new_rules: Vec<&'static EventRule>,
    /// The Kubernetes versions of the old and of the new one.
    pub kubernetes: [KubernetesRange; 2],
}

/// A request that is not made in the same way by both versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequestChange {
    /// As the new version makes it; as the old one did where it is gone.
    pub request: Request,
    pub change: Change,
}

/// How a request differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Change {
    /// `new_action`: the older version asks for this action of nothing at all.
    Added { new_action: bool },
    /// `last_of_action`: the newer version asks for this action of nothing any more.
    Dropped { last_of_action: bool },
    /// Other tags or another resource; keys of tags that only the new or the old one sends.
    Sent { tags_added: Vec<String>, tags_dropped: Vec<String> },
    /// The same request, whose refusal used to do something else.
    Consequence { before: Consequence },
}

/// A request that a policy does not allow.
#[derive(Debug, Clone)]
pub struct Refusal {
    pub request: Request,
    pub decision: Decision,
}

/// The difference between two versions. `principal` is the controller role, in whose name the
/// printed policies are asked.
///
/// # Errors
/// When a printed policy is not one that IAM would take, as with a name in the set-up that is
/// no part of an ARN.
pub fn diff(
    from: KarpenterVersion,
    to: KarpenterVersion,
    setup: &Setup,
    principal: &Principal,
) -> Result<Diff, PolicyError> {
    let (old, new) = (controller(from, setup), controller(to, setup));
    let refusals = |policy_of, requests: &[Request]| -> Result<Vec<Refusal>, PolicyError> {
        let set = iam_set(&policy::controller(policy_of, setup, Layout::One))?;
        let asked = requests.iter().map(|request| Refusal {
            request: request.clone(),
            decision: set.decide(&request.by(principal.clone())),
        });
        let mut refused: Vec<_> = asked.filter(|r| !r.decision.is_allowed()).collect();
        refused.sort_by_key(|refusal| refusal.request.consequence);
        Ok(refused)
    };
    let known: Vec<_> = rules::needed(from).iter().map(|rule| &rule.id).collect();
    let new_rules = rules::needed(to).into_iter().filter(|rule| !known.contains(&&rule.id));
    Ok(Diff {
        from,
        to,
        requests: request_changes(&old, &new),
        statements: statement_changes(from, to, setup),
        if_policy_stays: refusals(from, &new)?,
        if_policy_is_ahead: refusals(to, &old)?,
        new_rules: new_rules.collect(),
        kubernetes: [kubernetes::range(from), kubernetes::range(to)],
    })
}

fn request_changes(old: &[Request], new: &[Request]) -> Vec<RequestChange> {
    let counterpart = |request: &Request, others: &[Request]| -> Option<Request> {
        let same_id = others.iter().find(|other| other.id == request.id);
        same_id.or_else(|| others.iter().find(|other| asks_the_same(request, other))).cloned()
    };
    let asks = |of: &[Request], request: &Request| of.iter().any(|r| r.action == request.action);
    let mut changes = Vec::new();
    for request in new {
        let change = match counterpart(request, old) {
            None => Some(Change::Added { new_action: !asks(old, request) }),
            Some(before) => change(&before, request),
        };
        changes.extend(change.map(|change| RequestChange { request: request.clone(), change }));
    }
    let gone = old.iter().filter(|request| counterpart(request, new).is_none());
    changes.extend(gone.map(|request| RequestChange {
        request: request.clone(),
        change: Change::Dropped { last_of_action: !asks(new, request) },
    }));
    changes
}

fn asks_the_same(a: &Request, b: &Request) -> bool {
    a.action == b.action
        && a.resource == b.resource
        && a.request_tags == b.request_tags
        && a.resource_tags == b.resource_tags
        && a.context == b.context
}

fn change(before: &Request, after: &Request) -> Option<Change> {
    if !asks_the_same(before, after) {
        let only_in = |a: &Request, b: &Request| {
            a.request_tags
                .keys()
                .filter(|key| !b.request_tags.contains_key(*key))
                .cloned()
                .collect()
        };
        return Some(Change::Sent {
            tags_added: only_in(after, before),
            tags_dropped: only_in(before, after),
        });
    }
    (before.consequence != after.consequence)
        .then_some(Change::Consequence { before: before.consequence })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(from: &str, to: &str) -> Diff {
        let mut setup = Setup::new("aws", "eu-west-1", "111122223333", "prod").with_every_feature();
        setup.ami_parameters.push("golden/al2023".to_owned());
        let role = Principal::aws("arn:aws:iam::111122223333:role/Karpenter").unwrap();
        diff(from.parse().unwrap(), to.parse().unwrap(), &setup, &role).unwrap()
    }

    fn ids(refusals: &[Refusal]) -> Vec<&str> {
        refusals.iter().map(|refusal| refusal.request.id.as_str()).collect()
    }

    #[test]
    fn from_1_6_to_1_14_three_features_and_two_reads_are_new() {
        let diff = between("1.6.8", "1.14.1");
        assert_eq!(
            ids(&diff.if_policy_stays),
            [
                "get-managed-resource",
                "describe-placement-groups",
                "create-fleet-in-placement-group",
                "run-instances-in-placement-group",
                "list-instance-profiles",
                "describe-instance-status",
            ]
        );
        assert_eq!(ids(&diff.if_policy_is_ahead), Vec::<&str>::new());
        assert_eq!(diff.new_rules.len(), 1);
        assert!(diff.kubernetes[0].max < diff.kubernetes[1].max);
    }

    #[test]
    fn the_step_to_1_0_breaks_the_old_controller_under_the_new_policy() {
        let diff = between("0.37.8", "1.0.14");
        assert_eq!(ids(&diff.if_policy_stays), ["tag-old-instance"]);
        assert!(ids(&diff.if_policy_is_ahead).contains(&"run-instances-instance"));
        let launch = diff.requests.iter().find(|c| c.request.id == "run-instances-instance");
        let sent = Change::Sent {
            tags_added: vec!["eks:eks-cluster-name".to_owned()],
            tags_dropped: vec!["karpenter.sh/managed-by".to_owned()],
        };
        assert_eq!(launch.map(|change| &change.change), Some(&sent));
    }

    #[test]
    fn the_same_request_can_come_to_matter_less() {
        let diff = between("1.3.8", "1.4.0");
        let queue = diff.requests.iter().find(|c| c.request.id == "get-queue-url").unwrap();
        assert_eq!(queue.change, Change::Consequence { before: Consequence::StopsStart });
        assert_eq!(queue.request.consequence, Consequence::Degrades);
    }

    #[test]
    fn an_action_is_new_only_where_nothing_asked_for_it() {
        let diff = between("1.6.8", "1.14.1");
        let change = |id: &str| &diff.requests.iter().find(|c| c.request.id == id).unwrap().change;
        assert_eq!(*change("list-instance-profiles"), Change::Added { new_action: true });
        let in_group = change("create-fleet-in-placement-group");
        assert_eq!(*in_group, Change::Added { new_action: false });
    }

    #[test]
    fn a_version_does_not_differ_from_itself() {
        let diff = between("1.14.1", "1.14.1");
        assert!(diff.requests.is_empty() && diff.statements.is_empty());
        assert!(diff.if_policy_stays.is_empty() && diff.new_rules.is_empty());
    }
}
