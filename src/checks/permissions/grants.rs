//! What a role may really do: its policies, limited by its boundary, by its sessions and by the
//! organisation.

use std::{borrow::Cow, collections::BTreeMap};

use super::{
    control::Control,
    document::{parse, unread},
};
use crate::{
    checks::{Context, Stop},
    facts::{Fact, eks::PodIdentityAssociation, iam::Role},
    iam::{
        self, Clause, Decision, Layer, NamedPolicy, Pattern, PolicySet, Principal, decide_alone,
    },
    outcome::Unknown,
    requirements::Request,
};

/// What it takes to read the policies of a role, for the `needs` of a check.
pub const ROLE_POLICIES: &str = "iam:GetRole, iam:ListRolePolicies, iam:GetRolePolicy, \
    iam:ListAttachedRolePolicies, iam:ListPolicies, iam:GetPolicy, iam:GetPolicyVersion";

const PRINCIPAL_TAG: &str = "aws:PrincipalTag/";

/// The policies that bear on a role's requests.
pub struct Grants {
    principal: Principal,
    set: PolicySet,
    /// Why an identity policy could not be read.
    unread: Option<Unknown>,
    /// Why the boundary, the session policy or a policy of the organisation could not be read.
    unread_limit: Option<Unknown>,
    /// What the organisation says. Its resource control policies are not in `set`: they bear on
    /// some requests only.
    control: Control,
    /// Tags of the role, if they were read.
    role_tags: Option<BTreeMap<String, String>>,
    /// Condition keys of the session, with their values.
    session_tags: Vec<(String, String)>,
}

/// What came of one request.
pub enum Answer {
    Allowed,
    Refused(Decision),
    Unknown(Unknown),
}

impl Grants {
    /// The grants of a role, from what was read.
    pub fn of(cx: &Context<'_>, role: &Role) -> Result<Self, Stop> {
        let principal = Principal::aws(&role.arn)
            .map_err(|error| Stop::unknown(format!("{} is no role: {error}", role.arn)))?;
        let control = Control::of(&cx.facts.organization, &role.arn);
        let mut grants = Self {
            principal,
            set: PolicySet { service_control: control.service.clone(), ..PolicySet::default() },
            unread: None,
            unread_limit: control.unread.clone(),
            control,
            role_tags: role.tags.clone(),
            session_tags: Vec::new(),
        };
        grants.read_identity(cx, role)?;
        if let Some(boundary) = &role.boundary {
            let what = format!("the permissions boundary {boundary}");
            match parse(&what, boundary, cx.facts.policies.get(boundary)) {
                Ok(policy) => grants.set.boundary = Some(policy),
                Err(unknown) => grants.unread_limit = Some(unknown),
            }
        }
        Ok(grants)
    }

    fn read_identity(&mut self, cx: &Context<'_>, role: &Role) -> Result<(), Stop> {
        let name = &role.name;
        let policies = cx.facts.role_policies.get(name).ok_or_else(|| {
            Stop::unknown(format!("these facts do not hold the policies of {name}"))
        })?;
        match policies.inline.known() {
            Ok(inline) => {
                for (policy, document) in inline {
                    let what = format!("the inline policy {policy} of {name}");
                    self.add(parse(&what, policy, Some(document)));
                }
            }
            Err(unseen) => self.add(Err(unread(format!("the inline policies of {name}"), unseen))),
        }
        match policies.attached.known() {
            Ok(attached) => {
                for policy in attached {
                    let what = format!("the policy {policy} of {name}");
                    self.add(parse(&what, policy, cx.facts.policies.get(policy)));
                }
            }
            Err(unseen) => {
                self.add(Err(unread(format!("which policies are attached to {name}"), unseen)));
            }
        }
        Ok(())
    }

    fn add(&mut self, policy: Result<NamedPolicy, Unknown>) {
        match policy {
            Ok(policy) => self.set.identity.push(policy),
            Err(unknown) => self.unread = self.unread.take().or(Some(unknown)),
        }
    }

    /// The same in the sessions of a pod identity association, which carry tags and may be
    /// narrowed by a policy of the association.
    #[must_use]
    pub fn in_sessions_of(mut self, cx: &Context<'_>, by: &PodIdentityAssociation) -> Self {
        if let Some(document) = &by.policy {
            let what = format!("the policy of the pod identity association {}", by.id);
            match parse(&what, &by.id, Some(&Fact::Known(document.clone()))) {
                Ok(policy) => self.set.session = vec![policy],
                Err(unknown) => self.unread_limit = Some(unknown),
            }
        }
        if !by.session_tags_disabled {
            let tag = |key: &str, value: &str| (format!("{PRINCIPAL_TAG}{key}"), value.to_owned());
            self.session_tags = vec![
                tag("eks-cluster-name", &cx.target.cluster),
                tag("kubernetes-namespace", &by.namespace),
                tag("kubernetes-service-account", &by.service_account),
            ];
            if let Some(cluster) = cx.facts.cluster.value() {
                self.session_tags.push(tag("eks-cluster-arn", &cluster.arn));
            }
        }
        self
    }

    /// Whether the role may make the request.
    ///
    /// A policy that could not be read may allow what the others do not, so that their refusal
    /// is no verdict; and it may deny what the others allow, since an explicit deny wins over
    /// every allow, so that their allow is none either. Only a deny that was read is certain.
    /// An unread boundary, session policy or policy of the organisation can take away, but never
    /// add.
    pub fn answer(&self, request: &Request) -> Answer {
        let decision = self.decide(&self.set, request);
        match &decision {
            Decision::Denied { .. } => Answer::Refused(decision),
            Decision::Allowed { .. } => match self.unread.as_ref().or(self.unread_limit.as_ref()) {
                Some(unread) => Answer::Unknown(unread.clone()),
                None => Answer::Allowed,
            },
            Decision::NotAllowed { .. } => match &self.unread {
                Some(unread) => Answer::Unknown(unread.clone()),
                None if request.stand_in && turns_on_id(&decision) => {
                    Answer::Unknown(Unknown::new(format!(
                        "whether {} is allowed depends on which resource it names: {decision}",
                        request.action
                    )))
                }
                None => Answer::Refused(decision),
            },
            Decision::Unknown { .. } => Answer::Unknown(Unknown::new(format!(
                "whether {} is allowed on {} {decision}",
                request.action, request.resource
            ))),
        }
    }

    /// Who is judged.
    pub fn principal(&self) -> Principal {
        self.principal.clone()
    }

    /// Whether the role may make a request on something whose own policy must allow it too, such
    /// as a KMS key.
    pub fn answer_on(&self, policy: NamedPolicy, request: &iam::Request) -> Answer {
        let own = self.set.clone();
        let set = PolicySet { resource: Some(policy), resource_must_allow: true, ..own };
        let tags = self.session_tags.iter();
        let request =
            tags.fold(request.clone(), |asked, (key, value)| asked.with(key, value.as_str()));
        let decision = set.decide(&request);
        match &decision {
            Decision::Denied { .. } => Answer::Refused(decision),
            // No policy of the role's makes up for that.
            Decision::NotAllowed { layer: Layer::Resource, .. } => Answer::Refused(decision),
            Decision::Allowed { .. } => match self.unread.as_ref().or(self.unread_limit.as_ref()) {
                Some(unread) => Answer::Unknown(unread.clone()),
                None => Answer::Allowed,
            },
            Decision::NotAllowed { .. } => match &self.unread {
                Some(unread) => Answer::Unknown(unread.clone()),
                None => Answer::Refused(decision),
            },
            Decision::Unknown { .. } => Answer::Unknown(Unknown::new(format!(
                "whether {} is allowed on {} {decision}",
                request.action(),
                request.resource()
            ))),
        }
    }

    /// Whether the request would be allowed without the permissions boundary.
    pub fn allows_without_boundary(&self, request: &Request) -> bool {
        let set = PolicySet { boundary: None, ..self.set.clone() };
        self.decide(&set, request).is_allowed()
    }

    /// Whether the request would be allowed without the organisation's policies.
    pub fn allows_without_organization(&self, request: &Request) -> bool {
        let set = PolicySet { service_control: Vec::new(), ..self.set.clone() };
        set.decide(&self.asked(request)).is_allowed()
    }

    /// The levels of the organisation, counted from the root, at which no service control policy
    /// allows the request.
    pub fn levels_without_allow(&self, request: &Request) -> Vec<usize> {
        let asked = self.asked(request);
        let levels = self.control.service.iter().enumerate();
        let refuses = |policies: &[NamedPolicy]| {
            decide_alone(Layer::ServiceControl, policies, &asked).is_refused()
        };
        levels.filter(|(_, policies)| refuses(policies)).map(|(level, _)| level).collect()
    }

    /// What the policy of a VPC endpoint says of the request.
    pub fn through_endpoint(&self, policy: &NamedPolicy, request: &Request) -> Decision {
        let policy = std::slice::from_ref(policy);
        decide_alone(Layer::VpcEndpoint, policy, &self.asked(request))
    }

    fn decide(&self, set: &PolicySet, request: &Request) -> Decision {
        let set = match self.control.protects(request) {
            true => Cow::Owned(PolicySet {
                resource_control: self.control.resource.clone(),
                ..set.clone()
            }),
            false => Cow::Borrowed(set),
        };
        set.decide(&self.asked(request))
    }

    /// The request, with what is known of the session and of the organisation.
    fn asked(&self, request: &Request) -> iam::Request {
        let mut asked = request.by(self.principal.clone());
        if let Some(tags) = &self.role_tags {
            asked = asked.known_prefix(PRINCIPAL_TAG);
            for (key, value) in tags {
                asked = asked.with(&format!("{PRINCIPAL_TAG}{key}"), value.as_str());
            }
            // EKS gives the sessions that it makes tags of its own, more than are known here.
            for own in ["eks", "kubernetes-"] {
                asked = asked.unknown_prefix(&format!("{PRINCIPAL_TAG}{own}"));
            }
        }
        for (key, value) in &self.session_tags {
            asked = asked.with(key, value.as_str());
        }
        for (key, entry) in &self.control.context {
            asked = asked.with(key, entry.clone());
            // A made-up resource may as well be another organisation's.
            if self.control.owns(request) && !request.stand_in {
                asked = asked.with(&key.replace("Principal", "Resource"), entry.clone());
            }
        }
        asked
    }
}

/// Whether a refusal rests on nothing but the resource's id, which is made up here: the policy
/// names other ids of the same kind. Another region or kind is refused for certain.
fn turns_on_id(decision: &Decision) -> bool {
    let Decision::NotAllowed { nearest: Some(nearest), .. } = decision else { return false };
    nearest.failed.iter().all(|clause| match clause {
        Clause::Resource { negated, wanted, sent } => {
            *negated || wanted.iter().any(|wanted| of_one_kind(wanted, sent))
        }
        _ => false,
    })
}

fn of_one_kind(pattern: &str, resource: &str) -> bool {
    match (pattern.rsplit_once('/'), resource.rsplit_once('/')) {
        (Some((pattern, _)), Some((resource, _))) => Pattern::glob(pattern).matches(resource),
        _ => false,
    }
}

/// Whether a layer limits what identity policies allow.
pub fn is_limit(layer: Layer) -> bool {
    matches!(layer, Layer::Boundary | Layer::Session) || is_organization(layer)
}

/// Whether a layer is the organisation's.
pub fn is_organization(layer: Layer) -> bool {
    matches!(layer, Layer::ServiceControl | Layer::ResourceControl)
}
