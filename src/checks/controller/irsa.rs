//! IAM roles for service accounts: whether a role lets in the tokens of the controller.

use serde_json::Value;

use crate::{
    checks::setup::setup,
    checks::{
        Context, Stop,
        controller::credentials::no_credentials,
        remedies::{quote, replace_trust},
        trust::{Trust, culprit, exempt, is_by_organization, read, with_statement},
    },
    facts::{arn, iam::Role},
    iam::{Clause, Decision, Entry, Principal, Request},
    outcome::{Finding, FindingStatus, Remedy},
    requirements::{policy::Layout, role},
    target::{Origin, Product},
};

const ACTION: &str = "sts:AssumeRoleWithWebIdentity";
const AUDIENCE: &str = "sts.amazonaws.com";

/// A role, and how it decides on a token of the controller's service account.
pub struct Irsa<'c, 'a> {
    cx: &'c Context<'a>,
    role: &'a Role,
    /// Namespace and name of the service account.
    namespace: &'c str,
    account: &'c str,
    /// Host and path.
    issuer: &'a str,
    provider: String,
    decision: Decision,
    meant: bool,
}

impl<'c, 'a> Irsa<'c, 'a> {
    /// For the service account that the target takes for the controller's.
    pub fn of(cx: &'c Context<'a>, role: &'a Role) -> Result<Self, Stop> {
        Self::for_account(cx, role, &cx.target.namespace.value, &cx.target.service_account.value)
    }

    pub fn for_account(
        cx: &'c Context<'a>,
        role: &'a Role,
        namespace: &'c str,
        account: &'c str,
    ) -> Result<Self, Stop> {
        let cluster = cx.cluster()?;
        let no_issuer = || Stop::unknown("eks:DescribeCluster does not name the cluster's issuer");
        let issuer = arn::oidc_issuer(cluster).ok_or_else(no_issuer)?;
        let provider = arn::oidc_provider(cluster).ok_or_else(no_issuer)?;
        let trust = Trust::of(cx, role)?;
        let meant = trust
            .policy()
            .statements
            .iter()
            .flat_map(|statement| &statement.principal)
            .flat_map(|principal| &principal.items)
            .any(|item| item.text.contains(":oidc-provider/"));
        let subject = format!("system:serviceaccount:{namespace}:{account}");
        let request = Request::new(Principal::Federated(provider.clone()), ACTION, &role.arn)
            .with(&format!("{issuer}:sub"), subject)
            .with(&format!("{issuer}:aud"), AUDIENCE)
            .unknown("sts:RoleSessionName")
            .unknown_globals();
        // The call is signed by nobody, who belongs to no organisation.
        let request = ["aws:PrincipalOrgID", "aws:PrincipalOrgPaths"]
            .iter()
            .fold(request, |asked, key| asked.with(key, Entry::Absent));
        let decision = trust.decide(&request)?;
        Ok(Self { cx, role, namespace, account, issuer, provider, decision, meant })
    }

    /// Whether the role is made for this way at all.
    pub fn is_meant(&self) -> bool {
        self.meant
    }

    pub fn judge(&self) -> Result<Finding, Stop> {
        match &self.decision {
            Decision::Allowed { .. } => self.with_provider(),
            Decision::Unknown { .. } => Err(Stop::unknown(format!(
                "whether the service account may assume {} {}",
                self.role.name, self.decision
            ))),
            _ => Ok(self.refused()),
        }
    }

    fn with_provider(&self) -> Result<Finding, Stop> {
        let (seen, value, remedy) = match self.cx.facts.oidc_provider.found()? {
            Some(provider) if provider.client_ids.iter().any(|id| id == AUDIENCE) => {
                return Ok(Finding::pass(format!(
                    "{} lets {}/{} of this cluster in",
                    self.role.name, self.namespace, self.account
                )));
            }
            Some(provider) => (
                format!("The OIDC provider of the cluster does not take the audience {AUDIENCE}."),
                provider.client_ids.join(", "),
                Remedy::new("Add the audience.").run(format!(
                    "aws iam add-client-id-to-open-id-connect-provider \
                     --open-id-connect-provider-arn {} --client-id {AUDIENCE}",
                    quote(&self.provider)
                )),
            ),
            None => (
                format!(
                    "{} trusts the cluster's OIDC issuer, and IAM has no provider for it.",
                    self.role.name
                ),
                "NoSuchEntity".to_owned(),
                Remedy::new("Create the provider.").run(format!(
                    "aws iam create-open-id-connect-provider --url {} --client-id-list {AUDIENCE}",
                    quote(&format!("https://{}", self.issuer))
                )),
            ),
        };
        Ok(no_credentials(FindingStatus::Fail, seen)
            .errors(&["no-openid-connect-provider", "ec2-connectivity-check-failed"])
            .evidence("iam:GetOpenIDConnectProvider", &self.provider, value)
            .mend(remedy))
    }

    fn refused(&self) -> Finding {
        let (namespace, account) = (self.namespace, self.account);
        let mut seen = format!(
            "{} does not let {namespace}/{account} of this cluster in.{}",
            culprit(self.role, is_by_organization(&self.decision)),
            self.hint()
        );
        // Nothing in AWS says where Karpenter runs; before 0.33 it was another namespace.
        let assumed = self.cx.target.namespace.origin == Origin::Default;
        let elsewhere = self.other_subject().filter(|_| assumed);
        let mut status = FindingStatus::Fail;
        if let Some(subject) = elsewhere {
            status = FindingStatus::Warn;
            seen = format!(
                "{} lets {subject} in, but not {namespace}/{account}, where Karpenter is taken to \
                 run.",
                self.role.name
            );
        }
        let (api, path) = read(&self.decision);
        no_credentials(status, seen)
            .errors(&["web-identity-denied", "ec2-connectivity-check-failed"])
            .evidence(api, path, self.decision.to_string())
            .mend(self.mend(elsewhere.is_some()))
    }

    fn failed(&self) -> &[Clause] {
        match &self.decision {
            Decision::NotAllowed { nearest: Some(nearest), .. } => &nearest.failed,
            _ => &[],
        }
    }

    /// The service account that the policy wants, if that is all that is wrong.
    fn other_subject(&self) -> Option<&str> {
        let [Clause::Condition { key, wanted, .. }] = self.failed() else { return None };
        let [subject] = wanted.as_slice() else { return None };
        let is_subject = key.eq_ignore_ascii_case(&format!("{}:sub", self.issuer));
        subject
            .strip_prefix("system:serviceaccount:")
            .filter(|_| is_subject && !subject.contains('*'))
    }

    fn hint(&self) -> String {
        for clause in self.failed() {
            match clause {
                Clause::Condition { key, .. } if key.starts_with("arn:") => {
                    return " Its condition key begins with the provider's ARN, where the issuer's \
                            host and path belong."
                        .to_owned();
                }
                Clause::Condition { operator, wanted, .. }
                    if operator.contains("StringEquals")
                        && wanted.iter().any(|value| value.contains('*')) =>
                {
                    return format!(
                        " Under {operator} a * is a plain character; StringLike takes it as a \
                         wildcard."
                    );
                }
                Clause::Condition { key, .. } if !key.starts_with(self.issuer) => {
                    return format!(" Its condition is on {key}, another issuer's key.");
                }
                Clause::Principal { wanted, .. } => {
                    return format!(
                        " It trusts {}, the issuer of another cluster or account.",
                        wanted.join(" and ")
                    );
                }
                _ => {}
            }
        }
        String::new()
    }

    /// Whether the trust policy lets the service account in.
    pub fn lets_in(&self) -> bool {
        matches!(self.decision, Decision::Allowed { .. })
    }

    pub fn mend(&self, elsewhere: bool) -> Remedy {
        if is_by_organization(&self.decision) {
            let organization = &self.cx.facts.organization;
            return exempt(organization, self.role, &self.decision, Some(self.issuer));
        }
        let words = match elsewhere {
            true => {
                "If Karpenter runs there, say so with --namespace and --service-account. If not, \
                 let this service account in."
            }
            false => "Let this service account in.",
        };
        let Ok(mut setup) = setup(self.cx, Product::Karpenter) else { return Remedy::new(words) };
        setup.oidc_provider = Some(self.issuer.to_owned());
        setup.namespace = self.namespace.to_owned();
        setup.service_account = self.account.to_owned();
        let printed = role::print(role::Kind::Controller, self.cx.karpenter(), &setup, Layout::One);
        let Some(trust) = printed.trust else { return Remedy::new(words) };
        let (how, trust) = match with_statement(&self.role.trust, &trust) {
            Some(both) if self.allowed_by(&both) => {
                ("The document is the present trust policy with that added.", both)
            }
            _ => (
                "No addition to the present trust policy would do: the document replaces it, so \
                 look first at what else it is for.",
                trust,
            ),
        };
        replace_trust(Remedy::new(format!("{words} {how}")), &self.role.name, &trust)
    }

    /// Whether a trust policy would let the service account in.
    fn allowed_by(&self, trust: &Value) -> bool {
        let role = Role { trust: trust.to_string(), ..self.role.clone() };
        let decided = Irsa::for_account(self.cx, &role, self.namespace, self.account);
        decided.is_ok_and(|decided| decided.lets_in())
    }
}
