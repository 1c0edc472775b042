//! From policies and a request to a decision.
//!
//! The order and the exceptions are those of
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic_policy-eval-denyallow.html>.
//! Whom an organisation's policies do not limit:
//! <https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_scps.html>,
//! <https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_rcps.html>.

use crate::iam::decision::{Decision, StatementRef};
use crate::iam::document::{Effect, Statement};
use crate::iam::layers::{Layer, NamedPolicy, PolicySet};
use crate::iam::nearest::nearest;
use crate::iam::principal_element::{REACHES, Reach};
use crate::iam::request::Request;
use crate::iam::truth::Truth;

/// A statement found, with the policy it is in.
type Found<'p> = (&'p NamedPolicy, &'p Statement);

/// The policies of one layer (for control policies: of one level) and what they say.
struct Verdict<'p> {
    layer: Layer,
    policies: &'p [NamedPolicy],
    deny: Option<Found<'p>>,
    /// Whether some deny may apply, for all anybody knows.
    deny_unknown: bool,
    /// Whether, and by which statement, each reach is allowed.
    allow: [(Truth, Option<Found<'p>>); 3],
}

impl<'p> Verdict<'p> {
    fn of(layer: Layer, policies: &'p [NamedPolicy], request: &Request) -> Verdict<'p> {
        let nothing = (Truth::No, None);
        let allow = [nothing, nothing, nothing];
        let mut verdict = Verdict { layer, policies, deny: None, deny_unknown: false, allow };
        for policy in policies {
            for statement in policy.policy.statements.iter() {
                match statement.effect {
                    Effect::Allow => verdict.note_allow((policy, statement), request),
                    Effect::Deny => {
                        match statement
                            .applies(request)
                            .and(statement.names(request, Reach::Account))
                        {
                            Truth::Yes => {
                                verdict.deny = Some((policy, statement));
                                return verdict;
                            }
                            Truth::Unknown => verdict.deny_unknown = true,
                            Truth::No => {}
                        }
                    }
                }
            }
        }
        verdict
    }

    fn note_allow(&mut self, found: Found<'p>, request: &Request) {
        if self.allow(Reach::Direct) == Truth::Yes {
            return;
        }
        let applies = found.1.applies(request);
        if applies == Truth::No {
            return;
        }
        for reach in REACHES {
            let truth = applies.and(found.1.names(request, reach));
            let (noted, by) = &mut self.allow[reach as usize];
            if truth == Truth::Yes && *noted != Truth::Yes {
                (*noted, *by) = (Truth::Yes, Some(found));
            } else if truth == Truth::Unknown && *noted == Truth::No {
                *noted = Truth::Unknown;
            }
        }
    }

    fn allow(&self, reach: Reach) -> Truth {
        self.allow[reach as usize].0
    }

    fn by(&self, reach: Reach) -> Option<Found<'p>> {
        self.allow[reach as usize].1
    }

    fn not_allowed(&self, request: &Request) -> Decision {
        let nearest = nearest(self.policies, request);
        Decision::NotAllowed { layer: self.layer, nearest }
    }

    /// The statements of this layer that may apply, for all anybody knows.
    fn undecided(&self, request: &Request) -> impl Iterator<Item = Found<'p>> {
        let statements = self.policies.iter().flat_map(|policy| {
            policy.policy.statements.iter().map(move |statement| (policy, statement))
        });
        statements.filter(|(_, statement)| {
            let applies = statement.applies(request);
            let named = |reach| applies.and(statement.names(request, reach));
            REACHES.into_iter().any(|reach| named(reach) == Truth::Unknown)
        })
    }
}

impl PolicySet {
    /// Decides `request` by all layers together.
    pub fn decide(&self, request: &Request) -> Decision {
        let one = |layer, policies| Verdict::of(layer, policies, request);
        // The organisation limits no service-linked role, and service control policies limit
        // nobody but users and roles.
        let principal = request.principal();
        let is_limited = !principal.is_service_linked();
        let is_own = principal.account().is_some();
        let levels = self.service_control.iter().filter(|_| is_limited && is_own);
        let service_control = levels.map(|l| one(Layer::ServiceControl, l)).collect();
        let levels = self.resource_control.iter().filter(|_| is_limited);
        let resource_control = levels.map(|l| one(Layer::ResourceControl, l)).collect();
        let layers = Layers {
            service_control,
            resource_control,
            vpc_endpoint: limit(one(Layer::VpcEndpoint, &self.vpc_endpoint)),
            resource: one(Layer::Resource, self.resource.as_slice()),
            identity: one(Layer::Identity, &self.identity),
            boundary: limit(one(Layer::Boundary, self.boundary.as_slice())),
            session: limit(one(Layer::Session, &self.session)),
            resource_must_allow: self.resource_must_allow,
        };
        layers.decide(request)
    }
}

/// Decides `request` by the policies of one layer alone, as for a trust policy or a key
/// policy: naming the caller's account counts as naming the caller.
pub fn decide_alone(layer: Layer, policies: &[NamedPolicy], request: &Request) -> Decision {
    let verdict = Verdict::of(layer, policies, request);
    if let Some(found) = verdict.deny {
        return denied(layer, found);
    }
    let by = verdict.by(Reach::Account);
    conclude(request, &[&verdict], verdict.allow(Reach::Account), by, || {
        verdict.not_allowed(request)
    })
}

/// A layer without policies sets no limit.
fn limit(verdict: Verdict<'_>) -> Option<Verdict<'_>> {
    (!verdict.policies.is_empty()).then_some(verdict)
}

struct Layers<'p> {
    service_control: Vec<Verdict<'p>>,
    resource_control: Vec<Verdict<'p>>,
    vpc_endpoint: Option<Verdict<'p>>,
    resource: Verdict<'p>,
    identity: Verdict<'p>,
    boundary: Option<Verdict<'p>>,
    session: Option<Verdict<'p>>,
    resource_must_allow: bool,
}

impl<'p> Layers<'p> {
    fn all(&self) -> Vec<&Verdict<'p>> {
        let mut all: Vec<&Verdict<'p>> = Vec::new();
        all.extend(&self.service_control);
        all.extend(&self.resource_control);
        all.extend(&self.vpc_endpoint);
        all.push(&self.resource);
        all.push(&self.identity);
        all.extend(&self.boundary);
        all.extend(&self.session);
        all
    }

    fn decide(&self, request: &Request) -> Decision {
        let all = self.all();
        for verdict in &all {
            if let Some(found) = verdict.deny {
                return denied(verdict.layer, found);
            }
        }
        let guards = Truth::all(
            self.service_control.iter().chain(&self.vpc_endpoint).map(|v| v.allow(Reach::Account)),
        );
        let granted = self.granted(request);
        // A service has no policies of its own.
        let own =
            self.identity.by(Reach::Direct).filter(|_| request.principal().account().is_some());
        let by = [
            own,
            self.resource.by(Reach::Direct),
            self.resource.by(Reach::Role),
            self.resource.by(Reach::Account),
        ];
        let by = by.into_iter().flatten().next();
        conclude(request, &all, guards.and(granted), by, || self.blame(request))
    }

    /// Whether identity and resource policies, boundary and session policies together allow.
    fn granted(&self, request: &Request) -> Truth {
        let resource = |reach| self.resource.allow(reach);
        let identity = self.identity.allow(Reach::Direct);
        if request.principal().account().is_none() {
            return resource(Reach::Direct);
        }
        let limits = self.limits();
        if !request.same_account() {
            return identity.and(limits).and(resource(Reach::Account));
        }
        let by_account = if self.resource_must_allow {
            identity.and(resource(Reach::Account))
        } else {
            identity
        };
        resource(Reach::Direct).or(limits.and(by_account.or(resource(Reach::Role))))
    }

    /// Whether boundary and session policies let it pass.
    fn limits(&self) -> Truth {
        Truth::all(self.boundary.iter().chain(&self.session).map(|v| v.allow(Reach::Account)))
    }

    /// The layer for want of whose allow the request is refused: the first in AWS's order.
    fn blame(&self, request: &Request) -> Decision {
        let refuses = |v: &&Verdict<'p>| v.allow(Reach::Account) == Truth::No;
        let guard = self.service_control.iter().chain(&self.vpc_endpoint).find(refuses);
        if let Some(verdict) = guard {
            return verdict.not_allowed(request);
        }
        let resource_alone = request.principal().account().is_none();
        let resource_needed = resource_alone || self.resource_must_allow || !request.same_account();
        if resource_needed && self.resource.allow(Reach::Account) == Truth::No {
            return self.resource.not_allowed(request);
        }
        let by_role = self.resource.allow(Reach::Role) != Truth::No && request.same_account();
        let limits = self.boundary.iter().chain(&self.session).find(refuses);
        match limits {
            Some(limit) if by_role || self.identity.allow(Reach::Direct) != Truth::No => {
                limit.not_allowed(request)
            }
            _ if resource_alone => self.resource.not_allowed(request),
            _ => self.identity.not_allowed(request),
        }
    }
}

/// The decision once no deny applies for certain.
fn conclude(
    request: &Request,
    verdicts: &[&Verdict<'_>],
    allowed: Truth,
    by: Option<Found<'_>>,
    blame: impl FnOnce() -> Decision,
) -> Decision {
    let deny_unknown = verdicts.iter().any(|v| v.deny_unknown);
    match (allowed, by) {
        (Truth::No, _) => blame(),
        (Truth::Yes, Some(found)) if !deny_unknown => Decision::Allowed { by: refer(found) },
        (Truth::Yes, _) => undecided(request, verdicts, |effect| effect == Effect::Deny, blame),
        (Truth::Unknown, _) => undecided(request, verdicts, |_| true, blame),
    }
}

/// Names what the decision turns on: the statements of these effects that may apply.
fn undecided(
    request: &Request,
    verdicts: &[&Verdict<'_>],
    counts: impl Fn(Effect) -> bool,
    blame: impl FnOnce() -> Decision,
) -> Decision {
    let mut first = None;
    let mut keys: Vec<String> = Vec::new();
    for verdict in verdicts {
        for found in verdict.undecided(request) {
            // An allow that may apply decides nothing in a layer that allows for certain.
            let settled = verdict.allow(Reach::Direct) == Truth::Yes;
            if !counts(found.1.effect) || (found.1.effect == Effect::Allow && settled) {
                continue;
            }
            first.get_or_insert((verdict.layer, refer(found)));
            keys.extend(found.1.unknown_keys(request));
        }
    }
    keys.sort();
    keys.dedup();
    match first {
        Some((layer, statement)) => Decision::Unknown { keys, layer, statement },
        None => blame(),
    }
}

fn denied(layer: Layer, found: Found<'_>) -> Decision {
    Decision::Denied { layer, statement: refer(found) }
}

pub(crate) fn refer((policy, statement): Found<'_>) -> StatementRef {
    StatementRef { policy: policy.name.clone(), sid: statement.sid.clone(), index: statement.index }
}
