//! What AWS refused of a launch, and which policy did.

use super::tried;
use crate::{
    checks::{
        Context,
        diagnosis::Diagnosis,
        remedies::{listed, quote},
    },
    errors::{Denial, Effect, Layer, explain::explain},
    facts::proof::{Answer, CREATE_FLEET, DryRun, Launch, Proof, RUN_INSTANCES},
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
};

/// From here on Karpenter tries its launches itself, and holds the NodeClass back.
const TRIES: KarpenterVersion = KarpenterVersion::new(1, 3, 0);
/// From here on one subnet that passes is enough for that; before, only the first was tried
/// (`pkg/controllers/nodeclass/validation.go` at v1.10.2 and v1.11.0).
const TRIES_EACH: KarpenterVersion = KarpenterVersion::new(1, 11, 0);
/// What a token is refused for that is nobody's passing trouble, as throttling is.
const OF_TOKENS: &[&str] = &["web-identity-denied", "no-openid-connect-provider"];
/// What EC2 says after it has decided on permissions: of a zone, a quota, or the moment.
const OF_ZONES: &[&str] = &[
    "InstanceLimitExceeded",
    "InsufficientCapacity",
    "InsufficientFreeAddressesInSubnet",
    "InsufficientHostCapacity",
    "InsufficientInstanceCapacity",
    "InsufficientVolumeCapacity",
    "MaxIOPSLimitExceeded",
    "MaxSpotInstanceCountExceeded",
    "NetworkInterfaceLimitExceeded",
    "Unsupported",
    "VcpuLimitExceeded",
    "VolumeLimitExceeded",
];
/// Refusals that a finding tells of one by one.
const SHOWN: usize = 4;

/// A dry run that was refused.
pub struct Refusal<'a> {
    pub answer: &'a Answer,
    pub code: &'a str,
    pub message: &'a str,
}

pub fn of(answer: &Answer) -> Option<Refusal<'_>> {
    match answer.said.value()? {
        DryRun::Allowed => None,
        DryRun::Refused { code, message } => Some(Refusal { answer, code, message }),
    }
}

impl Refusal<'_> {
    fn is_denial(&self) -> bool {
        self.code == "UnauthorizedOperation" || self.code.starts_with("AccessDenied")
    }

    /// Whether it is no word on the permission that was asked for. The fleet's template is made
    /// up: EC2 misses it only after it has allowed the call.
    pub fn is_aside(&self) -> bool {
        match self.answer.action.as_str() {
            CREATE_FLEET => {
                self.code.starts_with("InvalidLaunchTemplate") && self.code.contains("NotFound")
            }
            RUN_INSTANCES => OF_ZONES.contains(&self.code),
            _ => false,
        }
    }

    /// Whether it shows that Karpenter's own launches are refused.
    fn is_telling(&self) -> bool {
        self.is_denial() || (!self.is_aside() && !self.ids().is_empty())
    }

    fn denial(&self) -> Option<Denial> {
        let text = format!("{}: {}", self.code, self.message);
        let found = explain(text.as_bytes()).ok()?;
        found.denials.into_iter().next().map(|denial| denial.what)
    }

    /// What is wrong with the launch, by the catalogue; not with what only the trial has, such as
    /// its instance type.
    fn ids(&self) -> Vec<&'static str> {
        let mut ids = Diagnosis::of(&format!("{}: {}", self.code, self.message)).ids();
        ids.retain(|id| super::CHECK.errors.contains(id));
        ids
    }

    /// Which call, on what, and by what it is refused.
    pub fn words(&self) -> String {
        let place = self.answer.subnet.as_ref();
        let place = place.map(|subnet| format!(" in {subnet}")).unwrap_or_default();
        let action = &self.answer.action;
        if !self.is_denial() {
            return format!("{action}{place}: {}: {}", self.code, without_code(self.message));
        }
        let Some(denial) = self.denial() else {
            return format!("{action}{place}, and AWS does not say which policy refuses it");
        };
        // RunInstances asks for iam:PassRole and ec2:CreateTags too.
        let asked = denial.action.as_deref().filter(|asked| asked != action);
        let asked = asked.map(|asked| format!(", for want of {asked}")).unwrap_or_default();
        let resource =
            denial.resource.as_deref().map(|arn| format!(" on {arn}")).unwrap_or_default();
        format!("{action}{place}{asked}{resource}{}", by(&denial))
    }
}

fn by(denial: &Denial) -> String {
    let layer = denial.layer.map(layer_words);
    match (denial.effect, layer, &denial.policy) {
        (Effect::Explicit, Some(layer), Some(policy)) => {
            format!(": {layer}, {policy}, denies it")
        }
        (Effect::Explicit, Some(layer), None) => format!(": {layer} denies it"),
        (Effect::Implicit, Some(layer), _) => format!(": {layer} does not allow it"),
        (_, Some(layer), _) => format!(": {layer} refuses it"),
        (_, None, _) => ", and AWS does not say which policy refuses it".to_owned(),
    }
}

fn layer_words(layer: Layer) -> &'static str {
    match layer {
        Layer::Identity => "a policy of the role",
        Layer::Boundary => "its permissions boundary",
        Layer::Session => "the policy of its session",
        Layer::ServiceControl => "a service control policy of the organisation",
        Layer::ResourceControl => "a resource control policy of the organisation",
        Layer::VpcEndpoint => "the policy of the VPC endpoint that the call went through",
        Layer::Resource => "a policy of the resource",
        Layer::Trust => "the role's trust policy",
    }
}

/// The finding, where a policy refuses a call or the catalogue knows what is wrong with it.
pub fn finding(
    cx: &Context<'_>,
    proof: &Proof,
    launch: &Launch,
    refusals: &[Refusal<'_>],
) -> Option<Finding> {
    let telling: Vec<&Refusal<'_>> =
        refusals.iter().filter(|refusal| refusal.is_telling()).collect();
    let first = *telling.first()?;
    let words: Vec<_> = telling.iter().take(SHOWN).map(|refusal| refusal.words()).collect();
    let more = match telling.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" There are {more} more."),
    };
    let seen = format!(
        "AWS would not let {} launch a {} for {}: {}.{more}",
        proof.role,
        launch.instance_type,
        launch.subject,
        words.join("; "),
    );
    let finding = weighed(cx, seen, launch, &telling).errors(&errors(cx, &telling));
    let finding = launch.answers.iter().fold(finding, tried::with_evidence);
    Some(finding.mend(remedy(cx, proof, &telling, first)))
}

/// How much it matters: where other subnets go through, Karpenter launches there.
fn weighed(cx: &Context<'_>, seen: String, launch: &Launch, telling: &[&Refusal<'_>]) -> Finding {
    let others = launch.answers.iter().any(tried::is_allowed_run)
        && telling.iter().all(|refusal| refusal.answer.action == RUN_INSTANCES);
    let tries = cx.karpenter() >= TRIES;
    if others && (!tries || cx.karpenter() >= TRIES_EACH) {
        return Finding::warn(
            seen,
            "Launches in these subnets are refused; nodes come up in the others only.",
        );
    }
    if !tries {
        return Finding::fail(seen, "Karpenter's launches are refused: pods stay Pending.");
    }
    let where_first = if others { ", where the subnet is the first that it tries" } else { "" };
    Finding::fail(
        seen,
        format!(
            "Karpenter tries the same before it launches, and keeps the EC2NodeClass \
             unready{where_first}: pods stay Pending."
        ),
    )
}

/// Ids of the errors that this shows as, the most telling first.
fn errors(cx: &Context<'_>, refusals: &[&Refusal<'_>]) -> Vec<&'static str> {
    let mut ids: Vec<&'static str> = Vec::new();
    let mut add = |id| {
        if !ids.contains(&id) {
            ids.push(id);
        }
    };
    for refusal in refusals {
        if !refusal.is_denial() {
            refusal.ids().into_iter().take(1).for_each(&mut add);
            continue;
        }
        let denial = refusal.denial();
        let layer = denial.as_ref().and_then(|denial| denial.layer);
        let action = denial.as_ref().and_then(|denial| denial.action.as_deref());
        add(match layer {
            Some(Layer::ServiceControl) => "denied-by-organization-policy",
            Some(Layer::ResourceControl) => "denied-by-resource-control-policy",
            Some(Layer::Boundary) => "denied-by-permissions-boundary",
            Some(Layer::Session) => "denied-by-session-policy",
            Some(Layer::VpcEndpoint) => "denied-by-endpoint-policy",
            _ if action == Some("iam:PassRole") => "pass-role-denied",
            _ => "unauthorized-operation",
        });
        if cx.karpenter() >= TRIES {
            add(match refusal.answer.action.as_str() {
                "ec2:CreateFleet" => "create-fleet-auth-check-failed",
                "ec2:CreateLaunchTemplate" => "create-launch-template-auth-check-failed",
                _ => "run-instances-auth-check-failed",
            });
        }
    }
    ids
}

fn remedy(
    cx: &Context<'_>,
    proof: &Proof,
    refusals: &[&Refusal<'_>],
    first: &Refusal<'_>,
) -> Remedy {
    let Some(denial) = refusals.iter().find_map(|refusal| refusal.denial()) else {
        return Remedy::new(
            "EC2 refuses the request itself: what is wrong with it stands in its answer, and the \
             command says what is known of it.",
        )
        .run(format!(
            "karpenter-preflight explain {} --cluster {} --region {}",
            quote(first.ids().first().map_or(first.code, |id| *id)),
            quote(&cx.target.cluster),
            quote(cx.region())
        ));
    };
    let mut layers: Vec<&str> = Vec::new();
    for refusal in refusals {
        let layer = refusal.denial().and_then(|denial| denial.layer).map(layer_words);
        layers.extend(layer.filter(|layer| !layers.contains(layer)));
    }
    let words = match denial.layer {
        Some(Layer::ServiceControl | Layer::ResourceControl) => {
            "Ask the owners of the organisation to exempt the role in that policy, or to limit it to \
             what it was meant for."
                .to_owned()
        }
        Some(Layer::Boundary) => "Allow the action in the permissions boundary too.".to_owned(),
        Some(Layer::Identity) | None => format!(
            "Give {} the policy that belongs to Karpenter {} and to this cluster; \
             controller-permissions compares the two.",
            proof.role,
            cx.karpenter()
        ),
        Some(_) => format!("Allow the action in {}.", listed(&layers)),
    };
    let remedy = Remedy::new(words);
    match &denial.encoded {
        Some(encoded) => remedy.run(format!(
            "aws sts decode-authorization-message --region {} --query DecodedMessage --output text \
             --encoded-message {}",
            quote(cx.region()),
            quote(encoded)
        )),
        None => remedy,
    }
}

/// The finding where STS refuses the controller's own token; nothing where the call failed for
/// another reason, which need not be the controller's.
pub fn no_session(cx: &Context<'_>, role: &str, message: &str) -> Option<Finding> {
    let is_denied = message.starts_with("AccessDenied");
    let fitting = if is_denied { super::CHECK.errors } else { OF_TOKENS };
    let found = Diagnosis::of(message).ids().into_iter().find(|id| fitting.contains(id));
    let first = found.or_else(|| is_denied.then_some("web-identity-denied"))?;
    let words = match first {
        "no-openid-connect-provider" => {
            "Give the account an OIDC provider for the cluster's issuer; controller-trust says \
             whether it has one."
                .to_owned()
        }
        _ => format!(
            "Let {role} trust the service account of the controller; controller-trust compares the \
             two."
        ),
    };
    let finding = Finding::fail(
        format!(
            "STS gives a token of the controller's service account no credentials of {role}: \
             {message}."
        ),
        "Karpenter gets no credentials either: it does not start.",
    );
    Some(
        finding
            .errors(&[first])
            .evidence("sts:AssumeRoleWithWebIdentity", "with the service account's token", message)
            .mend(Remedy::new(words).run(format!(
                "karpenter-preflight explain {first} --cluster {} --region {}",
                quote(&cx.target.cluster),
                quote(cx.region())
            ))),
    )
}

/// A message without the code that some answers begin it with.
fn without_code(message: &str) -> &str {
    message.trim_end_matches('.')
}
