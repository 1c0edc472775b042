//! Who asks, and whom a `Principal` element means.

use std::fmt;
use std::str::FromStr;

use crate::iam::arn::{Arn, ArnError};
use crate::iam::truth::Truth;

/// The caller of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    User(Arn),
    /// A session of a role. Policies may name the role or the session.
    Role(RoleSession),
    /// The root user of an account, or the account as a whole.
    Root(Arn),
    FederatedUser(Arn),
    /// An AWS service, such as `eks.amazonaws.com`.
    Service(String),
    /// An identity provider: the ARN of an OIDC or SAML provider, or a provider's name.
    Federated(String),
    Anonymous,
}

/// A session of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleSession {
    pub role: Arn,
    /// An assumed-role ARN does not tell its role's path; false where the path is not known.
    pub path_known: bool,
    /// None where the session's name is not known.
    pub session: Option<String>,
}

impl Principal {
    /// The caller with this ARN or account id. The ARN of a role means one of its sessions, of
    /// unknown name.
    ///
    /// # Errors
    /// If `text` is neither.
    pub fn aws(text: &str) -> Result<Principal, ArnError> {
        if is_account_id(text) {
            return Ok(Principal::Root(format!("arn:aws:iam::{text}:root").parse()?));
        }
        let arn: Arn = text.parse()?;
        let unlike = || ArnError { text: text.to_owned() };
        match (arn.service.as_str(), arn.resource_type()) {
            ("iam", "root") => Ok(Principal::Root(arn)),
            ("iam", "user") => Ok(Principal::User(arn)),
            ("iam", "role") => {
                Ok(Principal::Role(RoleSession { role: arn, path_known: true, session: None }))
            }
            ("sts", "federated-user") => Ok(Principal::FederatedUser(arn)),
            ("sts", "assumed-role") => {
                let mut parts = arn.resource.splitn(3, '/').skip(1);
                let (Some(name), Some(session)) = (parts.next(), parts.next()) else {
                    return Err(unlike());
                };
                let session = Some(session.to_owned());
                let resource = format!("role/{name}");
                let role = Arn { service: "iam".into(), resource, ..arn };
                Ok(Principal::Role(RoleSession { role, path_known: false, session }))
            }
            _ => Err(unlike()),
        }
    }

    /// The account the caller belongs to, if it belongs to one.
    pub fn account(&self) -> Option<&str> {
        match self {
            Principal::User(arn) | Principal::Root(arn) | Principal::FederatedUser(arn) => {
                Some(&arn.account)
            }
            Principal::Role(session) => Some(&session.role.account),
            Principal::Service(_) | Principal::Federated(_) | Principal::Anonymous => None,
        }
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Principal::User(arn) | Principal::Root(arn) | Principal::FederatedUser(arn) => {
                arn.fmt(f)
            }
            Principal::Role(RoleSession { role, session: None, .. }) => role.fmt(f),
            Principal::Role(RoleSession { role, session: Some(session), .. }) => {
                let Arn { partition, account, .. } = role;
                let name = role.resource_name();
                write!(f, "arn:{partition}:sts::{account}:assumed-role/{name}/{session}")
            }
            Principal::Service(name) | Principal::Federated(name) => f.write_str(name),
            Principal::Anonymous => f.write_str("anonymous"),
        }
    }
}

fn is_account_id(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|b| b.is_ascii_digit())
}

/// `Principal` or `NotPrincipal`.
#[derive(Debug, Clone, PartialEq)]
pub struct PrincipalElement {
    /// `NotPrincipal`: everyone but these.
    pub negated: bool,
    pub items: Vec<PrincipalItem>,
}

/// One principal that a policy names.
#[derive(Debug, Clone, PartialEq)]
pub struct PrincipalItem {
    pub kind: PrincipalKind,
    /// As written; `*` is everyone under [`PrincipalKind::Aws`].
    pub text: String,
    arn: Option<Arn>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrincipalKind {
    Aws,
    Service,
    Federated,
    CanonicalUser,
}

/// How directly a `Principal` element names the caller. Each form reaches further within
/// the caller's own account than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// By its account: lets the account's own policies decide.
    Account,
    /// By its role: a permissions boundary or session policy still limits it.
    Role,
    /// By itself or as everyone: nothing but an explicit deny limits it.
    Direct,
}

pub(crate) const REACHES: [Reach; 3] = [Reach::Account, Reach::Role, Reach::Direct];

impl PrincipalItem {
    pub(crate) fn new(kind: PrincipalKind, text: &str) -> PrincipalItem {
        PrincipalItem { kind, text: text.to_owned(), arn: Arn::from_str(text).ok() }
    }

    fn names(&self, principal: &Principal) -> Option<(Reach, Truth)> {
        let by = |reach, yes: bool| yes.then_some((reach, Truth::Yes));
        match (self.kind, principal) {
            (PrincipalKind::Aws, _) if self.text == "*" => Some((Reach::Direct, Truth::Yes)),
            (PrincipalKind::Service, Principal::Service(name))
            | (PrincipalKind::Federated, Principal::Federated(name)) => {
                by(Reach::Direct, self.text == *name)
            }
            (PrincipalKind::Aws, _) => self.names_aws(principal),
            _ => None,
        }
    }

    fn names_aws(&self, principal: &Principal) -> Option<(Reach, Truth)> {
        let account = principal.account()?;
        let direct = Some((Reach::Direct, Truth::Yes));
        let by_account = self.text == account
            || self.arn.as_ref().is_some_and(|arn| {
                arn.service == "iam" && arn.resource == "root" && arn.account == account
            });
        if by_account {
            let root = matches!(principal, Principal::Root(_));
            return if root { direct } else { Some((Reach::Account, Truth::Yes)) };
        }
        let arn = self.arn.as_ref()?;
        match principal {
            Principal::User(own) | Principal::FederatedUser(own) if own == arn => direct,
            Principal::Role(own) => own.named_by(arn),
            _ => None,
        }
    }
}

impl RoleSession {
    fn named_by(&self, arn: &Arn) -> Option<(Reach, Truth)> {
        if arn.account != self.role.account || arn.partition != self.role.partition {
            return None;
        }
        match (arn.service.as_str(), arn.resource_type()) {
            // Names of roles are unique within an account, whatever their path.
            ("iam", "role") => {
                let same = if self.path_known {
                    *arn == self.role
                } else {
                    arn.resource_name() == self.role.resource_name()
                };
                same.then_some((Reach::Role, Truth::Yes))
            }
            ("sts", "assumed-role") => {
                let (name, session) =
                    arn.resource.strip_prefix("assumed-role/")?.split_once('/')?;
                if name != self.role.resource_name() {
                    return None;
                }
                match &self.session {
                    None => Some((Reach::Direct, Truth::Unknown)),
                    Some(own) => (own == session).then_some((Reach::Direct, Truth::Yes)),
                }
            }
            _ => None,
        }
    }
}

/// The key reported where only the name of the role session would tell.
pub(crate) const SESSION_NAME: &str = "sts:RoleSessionName";

impl PrincipalElement {
    /// Whether the element names `principal` at least as directly as `reach`.
    pub(crate) fn names(&self, principal: &Principal, reach: Reach) -> Truth {
        if self.negated {
            return self.leaves_out(principal);
        }
        Truth::any(self.items.iter().map(|item| match item.names(principal) {
            Some((by, truth)) if by >= reach => truth,
            _ => Truth::No,
        }))
    }

    /// `NotPrincipal` spares a caller only if it lists every ARN the caller goes by: account,
    /// role and session.
    fn leaves_out(&self, principal: &Principal) -> Truth {
        let listed = |reach| {
            Truth::any(self.items.iter().map(|item| match item.names(principal) {
                Some((by, truth)) if by == reach => truth,
                _ => Truth::No,
            }))
        };
        let direct = listed(Reach::Direct);
        let spared = match principal {
            Principal::Role(_) => Truth::all([direct, listed(Reach::Role), listed(Reach::Account)]),
            Principal::User(_) | Principal::FederatedUser(_) => direct.and(listed(Reach::Account)),
            _ => direct,
        };
        let everyone = self.items.iter().any(|i| i.kind == PrincipalKind::Aws && i.text == "*");
        spared.or(everyone.into()).flip_if(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_by_arn() {
        let rows = [
            ("111122223333", "arn:aws:iam::111122223333:root"),
            ("arn:aws:iam::111122223333:role/team/R", "arn:aws:iam::111122223333:role/team/R"),
            (
                "arn:aws:sts::111122223333:assumed-role/R/s",
                "arn:aws:sts::111122223333:assumed-role/R/s",
            ),
            ("arn:aws:iam::111122223333:user/u", "arn:aws:iam::111122223333:user/u"),
        ];
        for (text, want) in rows {
            let principal = Principal::aws(text).unwrap();
            assert_eq!(principal.to_string(), want);
            assert_eq!(principal.account(), Some("111122223333"));
        }
        for bad in ["", "role/R", "arn:aws:s3:::b", "arn:aws:sts::1:assumed-role/R"] {
            assert!(Principal::aws(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn who_is_named() {
        use PrincipalKind::{Aws, Federated, Service};
        use Reach::{Account, Direct, Role};
        let session = "arn:aws:sts::111122223333:assumed-role/R/s";
        let role = "arn:aws:iam::111122223333:role/team/R";
        let user = "arn:aws:iam::111122223333:user/u";
        let rows = [
            (Aws, "*", session, Some((Direct, Truth::Yes))),
            (Aws, "111122223333", session, Some((Account, Truth::Yes))),
            (Aws, "arn:aws:iam::111122223333:root", role, Some((Account, Truth::Yes))),
            (Aws, "arn:aws:iam::444455556666:root", role, None),
            (Aws, "arn:aws:iam::111122223333:root", "111122223333", Some((Direct, Truth::Yes))),
            (Aws, role, session, Some((Role, Truth::Yes))),
            (Aws, "arn:aws:iam::111122223333:role/R", role, None),
            (Aws, "arn:aws-cn:iam::111122223333:role/team/R", role, None),
            (Aws, session, session, Some((Direct, Truth::Yes))),
            (Aws, "arn:aws:sts::111122223333:assumed-role/R/other", session, None),
            (Aws, session, role, Some((Direct, Truth::Unknown))),
            (Aws, "arn:aws:sts::111122223333:assumed-role/Q/s", role, None),
            (Aws, user, user, Some((Direct, Truth::Yes))),
            (Aws, "arn:aws:iam::111122223333:user/*", user, None),
            (Aws, "AROAEXAMPLEEXAMPLE", role, None),
            (Service, "*", user, None),
            (Federated, user, user, None),
        ];
        for (kind, text, caller, want) in rows {
            let principal = Principal::aws(caller).unwrap();
            let got = PrincipalItem::new(kind, text).names(&principal);
            assert_eq!(got, want, "{kind:?} {text} for {caller}");
        }
        let eks = Principal::Service("eks.amazonaws.com".into());
        let named = |kind, text| PrincipalItem::new(kind, text).names(&eks).is_some();
        assert!(named(Service, "eks.amazonaws.com") && named(Aws, "*"));
        assert!(!named(Service, "ec2.amazonaws.com") && !named(Aws, "eks.amazonaws.com"));
    }

    #[test]
    fn not_principal_needs_every_name_of_the_spared() {
        let session = "arn:aws:sts::111122223333:assumed-role/R/s";
        let (role, root) = ("arn:aws:iam::111122223333:role/R", "111122223333");
        let other = "arn:aws:iam::111122223333:user/u";
        let rows: [(&[&str], &str, Truth); 6] = [
            (&[session, role, root], session, Truth::No),
            (&[session, role], session, Truth::Yes),
            (&[role, root], session, Truth::Yes),
            (&[session, role, root], role, Truth::Unknown),
            (&[session, role, root], other, Truth::Yes),
            (&["*"], other, Truth::No),
        ];
        for (listed, caller, want) in rows {
            let items =
                listed.iter().map(|text| PrincipalItem::new(PrincipalKind::Aws, text)).collect();
            let element = PrincipalElement { negated: true, items };
            let got = element.names(&Principal::aws(caller).unwrap(), Reach::Account);
            assert_eq!(got, want, "{listed:?} for {caller}");
        }
    }
}
