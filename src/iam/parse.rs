//! From text to [`Policy`]: every form that AWS accepts, and errors that point at the place.

use percent_encoding::percent_decode_str;

use crate::iam::condition::Condition;
use crate::iam::document::{
    ActionPattern, Effect, Element, Policy, ResourcePattern, Statement, Version,
};
use crate::iam::json::Json;
use crate::iam::principal_element::{PrincipalElement, PrincipalItem, PrincipalKind};
use crate::iam::read::{Path, object, one_or_many, some, text};

/// Why a document cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    #[error("not JSON: {message}")]
    Json { message: String },
    /// `at` is a path such as `Statement[2].Action`; empty for the document itself.
    #[error("{at}{sep}{message}", sep = if at.is_empty() { "" } else { ": " })]
    Invalid { at: String, message: String },
}

/// What a document is attached to, where that decides which elements it must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyKind {
    /// Identity, boundary, session and service control policies: `Resource`, no `Principal`.
    Identity,
    /// Policies of resources, resource control policies, endpoint policies: `Principal` and
    /// `Resource`.
    Resource,
    /// A role's trust policy: `Principal`, no `Resource`.
    Trust,
}

impl Policy {
    /// Reads a document, plain or URL-encoded as the IAM API gives it.
    ///
    /// # Errors
    /// If it is not JSON, or not a policy that AWS would accept; the error names the place.
    pub fn parse(text: &str) -> Result<Policy, PolicyError> {
        let trimmed = text.trim_start_matches('\u{feff}').trim();
        let decoded = if trimmed.starts_with('%') {
            percent_decode_str(trimmed)
                .decode_utf8()
                .map_err(|e| PolicyError::Json { message: format!("URL-encoded, but {e}") })?
        } else {
            trimmed.into()
        };
        let json: Json = serde_json::from_str(&decoded)
            .map_err(|e| PolicyError::Json { message: e.to_string() })?;
        policy(json)
    }

    pub(crate) fn from_json(json: Json<'_>) -> Result<Policy, PolicyError> {
        policy(json)
    }

    /// Like [`Policy::parse`], and also checks that the elements suit the kind of document.
    ///
    /// # Errors
    /// As [`Policy::parse`], and if an element is missing or out of place.
    pub fn parse_as(kind: PolicyKind, text: &str) -> Result<Policy, PolicyError> {
        let policy = Policy::parse(text)?;
        policy.suits(kind)?;
        Ok(policy)
    }

    /// Whether the elements suit the kind of document.
    ///
    /// # Errors
    /// If an element is missing or out of place.
    pub(crate) fn suits(&self, kind: PolicyKind) -> Result<(), PolicyError> {
        for statement in self.statements.iter() {
            let list = Path::Key(&Path::Root, "Statement");
            let at = list.index(statement.index);
            let (principal, resource) = match kind {
                PolicyKind::Identity => (false, true),
                PolicyKind::Resource => (true, true),
                PolicyKind::Trust => (true, false),
            };
            let have = (statement.principal.is_some(), statement.resource.is_some());
            match have {
                (false, _) if principal => return at.err("Principal is missing"),
                (true, _) if !principal => {
                    return at.err("Principal has no place in an identity policy");
                }
                (_, false) if resource => return at.err("Resource is missing"),
                (_, true) if !resource => {
                    return at.err("Resource has no place in a trust policy");
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn policy(json: Json<'_>) -> Result<Policy, PolicyError> {
    let root = Path::Root;
    let (mut version, mut id, mut statements) = (Version::V2008, None, None);
    for (name, value) in object(json, &root)? {
        let at = root.key(&name);
        match &*name {
            "Version" => version = read_version(&text(value, &at)?, &at)?,
            "Id" => id = Some(text(value, &at)?.into_owned()),
            "Statement" => statements = Some(value),
            _ => return at.err("is no element of a policy; those are Version, Id and Statement"),
        }
    }
    let Some(statements) = statements else {
        return root.err("Statement is missing");
    };
    let at = root.key("Statement");
    // One statement may stand without its list, but its path keeps the index.
    let list = match statements {
        Json::List(list) => list,
        one => vec![one],
    };
    let statements = list
        .into_iter()
        .enumerate()
        .map(|(index, json)| statement(json, index, version, &at.index(index)))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Policy { version, id, statements: statements.into() })
}

fn read_version(text: &str, at: &Path<'_>) -> Result<Version, PolicyError> {
    match text {
        "2012-10-17" => Ok(Version::V2012),
        "2008-10-17" => Ok(Version::V2008),
        other => {
            at.err(format_args!("{other:?} is no version; those are 2012-10-17 and 2008-10-17"))
        }
    }
}

fn statement(
    json: Json<'_>,
    index: usize,
    version: Version,
    at: &Path<'_>,
) -> Result<Statement, PolicyError> {
    let (mut sid, mut effect, mut principal) = (None, None, None);
    let (mut action, mut resource, mut conditions) = (None, None, Vec::new());
    for (name, value) in object(json, at)? {
        let here = at.key(&name);
        let negated = name.starts_with("Not");
        let pair_taken = match &*name {
            "Principal" | "NotPrincipal" => principal.is_some(),
            "Action" | "NotAction" => action.is_some(),
            "Resource" | "NotResource" => resource.is_some(),
            _ => false,
        };
        if pair_taken {
            let plain = name.trim_start_matches("Not");
            return at.err(format_args!("{plain} and Not{plain} exclude each other"));
        }
        match &*name {
            "Sid" => {
                sid = Some(text(value, &here)?.into_owned()).filter(|sid| !sid.is_empty());
            }
            "Effect" => effect = Some(read_effect(&text(value, &here)?, &here)?),
            "Principal" | "NotPrincipal" => {
                principal = Some(PrincipalElement { negated, items: principals(value, &here)? });
            }
            "Action" | "NotAction" => {
                action = Some(Element { negated, items: some(value, &here, action_pattern)? });
            }
            "Resource" | "NotResource" => {
                let items = some(value, &here, |json, at| {
                    Ok(ResourcePattern::new(text(json, at)?.into_owned(), version))
                })?;
                resource = Some(Element { negated, items });
            }
            "Condition" => conditions = read_conditions(value, version, &here)?,
            _ => return here.err("is no element of a statement"),
        }
    }
    let Some(effect) = effect else { return at.err("Effect is missing") };
    let Some(action) = action else { return at.err("Action is missing") };
    Ok(Statement { index, sid, effect, principal, action, resource, conditions })
}

fn read_effect(text: &str, at: &Path<'_>) -> Result<Effect, PolicyError> {
    match text {
        "Allow" => Ok(Effect::Allow),
        "Deny" => Ok(Effect::Deny),
        other => at.err(format_args!("must be Allow or Deny, is {other:?}")),
    }
}

fn action_pattern(json: Json<'_>, at: &Path<'_>) -> Result<ActionPattern, PolicyError> {
    let text = text(json, at)?;
    let stars = !text.is_empty() && text.bytes().all(|b| b == b'*');
    if !stars && !text.contains(':') {
        return at.err(format_args!(
            "{text:?} names no service: an action reads service:Name, such as ec2:RunInstances"
        ));
    }
    Ok(ActionPattern::new(text.into_owned()))
}

fn principals(json: Json<'_>, at: &Path<'_>) -> Result<Vec<PrincipalItem>, PolicyError> {
    if let Json::Text(text) = &json {
        if text != "*" {
            return at.err(format_args!(
                "{text:?} needs its kind around it, such as {{\"AWS\": {text:?}}}"
            ));
        }
        return Ok(vec![PrincipalItem::new(PrincipalKind::Aws, "*")]);
    }
    let mut items = Vec::new();
    for (name, value) in object(json, at)? {
        let here = at.key(&name);
        let kind = match &*name {
            "AWS" => PrincipalKind::Aws,
            "Service" => PrincipalKind::Service,
            "Federated" => PrincipalKind::Federated,
            "CanonicalUser" => PrincipalKind::CanonicalUser,
            _ => {
                return here.err(
                    "is no kind of principal; those are AWS, Service, Federated, CanonicalUser",
                );
            }
        };
        items
            .extend(some(value, &here, |json, at| Ok(PrincipalItem::new(kind, &text(json, at)?)))?);
    }
    if items.is_empty() {
        return at.err("names nobody");
    }
    Ok(items)
}

fn read_conditions(
    json: Json<'_>,
    version: Version,
    at: &Path<'_>,
) -> Result<Vec<Condition>, PolicyError> {
    let variables = version == Version::V2012;
    let mut conditions = Vec::new();
    for (operator, keys) in object(json, at)? {
        let at = at.key(&operator);
        for (key, value) in object(keys, &at)? {
            let at = at.key(&key);
            let values = one_or_many(value, &at, condition_value)?;
            match Condition::new(&operator, &key, values, variables) {
                Some(condition) => conditions.push(condition),
                None => return at.err(format_args!("{operator:?} is no condition operator")),
            }
        }
    }
    Ok(conditions)
}

fn condition_value(json: Json<'_>, at: &Path<'_>) -> Result<String, PolicyError> {
    match json {
        Json::Text(text) => Ok(text.into_owned()),
        Json::Number(text) => Ok(text),
        Json::Bool(yes) => Ok(yes.to_string()),
        other => at.err(format_args!("must be a string, number or boolean, is {}", other.what())),
    }
}

#[cfg(test)]
mod tests;
