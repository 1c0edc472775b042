//! Policy documents among the facts.

use crate::{
    checks::Stop,
    facts::{Fact, Unseen, arn},
    iam::{NamedPolicy, Policy},
    outcome::Unknown,
};

/// Reads a document; `name` is an inline policy's name or a managed policy's ARN.
pub fn parse(
    what: &str,
    name: &str,
    document: Option<&Fact<String>>,
) -> Result<NamedPolicy, Unknown> {
    let document = match document.map(Fact::known) {
        Some(Ok(document)) => document,
        Some(Err(unseen)) => return Err(unread(what.to_owned(), unseen)),
        None => return Err(Unknown::new(format!("these facts do not hold {what}"))),
    };
    let policy = Policy::parse(document)
        .map_err(|error| Unknown::new(format!("{what} cannot be understood: {error}")))?;
    Ok(NamedPolicy::new(arn::role_name(name), policy))
}

pub fn unread(what: String, unseen: Unseen) -> Unknown {
    let Stop::Unknown(mut unknown) = Stop::from(unseen) else { return Unknown::new(what) };
    unknown.why = format!("{what} could not be read: {}", unknown.why);
    unknown
}
