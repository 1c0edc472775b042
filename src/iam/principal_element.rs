//! Whom a `Principal` or `NotPrincipal` element means.

use std::str::FromStr;

use crate::iam::arn::Arn;
use crate::iam::document::Effect;
use crate::iam::principal::{Principal, RoleSession};
use crate::iam::truth::Truth;

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
    /// Whether the element names `principal` at least as directly as `reach`, in a statement
    /// of this effect.
    pub(crate) fn names(&self, principal: &Principal, reach: Reach, effect: Effect) -> Truth {
        if self.negated {
            return self.spares(principal, effect).flip_if(true);
        }
        Truth::any(self.items.iter().map(|item| match item.names(principal) {
            Some((by, truth)) if by >= reach => truth,
            _ => Truth::No,
        }))
    }

    /// Whether `NotPrincipal` leaves a caller out. A deny leaves out only one who is listed by
    /// every ARN it goes by, account, role and session; an allow leaves out also one who is
    /// listed by a single one of them:
    /// <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_notprincipal.html>
    fn spares(&self, principal: &Principal, effect: Effect) -> Truth {
        let listed = |reach| {
            Truth::any(self.items.iter().map(|item| match item.names(principal) {
                Some((by, truth)) if by == reach => truth,
                _ => Truth::No,
            }))
        };
        let everyone = self.items.iter().any(|i| i.kind == PrincipalKind::Aws && i.text == "*");
        if everyone {
            return Truth::Yes;
        }
        let names: &[Reach] = match principal {
            Principal::Role(_) => &[Reach::Direct, Reach::Role, Reach::Account],
            Principal::User(_) | Principal::FederatedUser(_) => &[Reach::Direct, Reach::Account],
            _ => &[Reach::Direct],
        };
        match effect {
            Effect::Deny => Truth::all(names.iter().map(|&reach| listed(reach))),
            Effect::Allow => Truth::any(names.iter().map(|&reach| listed(reach))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // Whether a deny and an allow apply to the caller.
        let rows: [(&[&str], &str, Truth, Truth); 7] = [
            (&[session, role, root], session, Truth::No, Truth::No),
            (&[session, role], session, Truth::Yes, Truth::No),
            (&[root], session, Truth::Yes, Truth::No),
            (&[other], session, Truth::Yes, Truth::Yes),
            (&[session, role, root], role, Truth::Unknown, Truth::No),
            (&[session, role, root], other, Truth::Yes, Truth::No),
            (&["*"], other, Truth::No, Truth::No),
        ];
        for (listed, caller, deny, allow) in rows {
            let items =
                listed.iter().map(|text| PrincipalItem::new(PrincipalKind::Aws, text)).collect();
            let element = PrincipalElement { negated: true, items };
            let principal = Principal::aws(caller).unwrap();
            let names = |effect| element.names(&principal, Reach::Account, effect);
            let got = (names(Effect::Deny), names(Effect::Allow));
            assert_eq!(got, (deny, allow), "{listed:?} for {caller}");
        }
    }
}
