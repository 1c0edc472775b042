//! Who asks.

use std::fmt;

use crate::iam::arn::{Arn, ArnError};

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

    /// Whether it is a role that a service made for itself. IAM lets nobody else use the name.
    pub(crate) fn is_service_linked(&self) -> bool {
        let Principal::Role(session) = self else { return false };
        let resource = &session.role.resource;
        resource.starts_with("role/aws-service-role/")
            || (!session.path_known && resource.starts_with("role/AWSServiceRoleFor"))
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
}
