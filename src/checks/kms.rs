//! Whether somebody may use a KMS key, by its policy, its grants and their own policies.

use serde_json::{Value, json};

use super::{
    Context, Stop,
    permissions::{Answer, Grants},
    remedies::quote,
};
use crate::{
    facts::{arn, kms::Key},
    iam::{NamedPolicy, Policy, PolicyKind, Request},
    outcome::Remedy,
};

/// What there is to say of a key before its policy is looked at.
pub enum State<'a> {
    Missing,
    /// AWS manages it, and its policy cannot be changed.
    OfAws,
    /// Nobody can encrypt with it, and why.
    Unusable(&'a Key, String),
    Own(&'a Key),
}

/// The key that is named so.
pub fn state<'a>(cx: &Context<'a>, named: &str) -> Result<State<'a>, Stop> {
    let fact = cx.facts.kms_keys.get(named);
    let fact = fact.ok_or_else(|| Stop::unknown(format!("the key {named} was not read")))?;
    let Some(key) = fact.found()? else { return Ok(State::Missing) };
    if key.manager == "AWS" {
        return Ok(State::OfAws);
    }
    Ok(match unusable(key) {
        Some(why) => State::Unusable(key, why),
        None => State::Own(key),
    })
}

/// Why nobody can encrypt with the key, whatever its policy says.
fn unusable(key: &Key) -> Option<String> {
    match (key.state.as_str(), key.spec.as_deref()) {
        ("Enabled" | "", Some("SYMMETRIC_DEFAULT") | None) => None,
        ("Enabled" | "", Some(spec)) => Some(format!("is of the kind {spec}, not a symmetric one")),
        (state, _) => Some(format!("is in the state {state}")),
    }
}

/// The key's policy, read.
pub fn policy(key: &Key) -> Result<NamedPolicy, Stop> {
    let text = key.policy.known()?;
    let policy = Policy::parse_as(PolicyKind::Resource, text)
        .map_err(|error| Stop::unknown(format!("the key policy cannot be understood: {error}")))?;
    Ok(NamedPolicy::new(arn::role_name(&key.arn), policy))
}

/// Adds to a request on a key what is known of it, and that the rest is not.
pub fn describe(cx: &Context<'_>, request: Request) -> Request {
    let request = match cx.account() {
        Some(account) => request.with("kms:CallerAccount", account),
        None => request,
    };
    // Of the encryption context and the aliases nothing is known.
    request.unknown_prefix("kms:").unknown_globals()
}

/// Whether a role may do something with the key, by way of a service.
pub fn role_may(
    cx: &Context<'_>,
    key: &Key,
    role_arn: &str,
    grants: &Grants,
    action: &str,
    via: &str,
) -> Result<Answer, Stop> {
    let operation = action.trim_start_matches("kms:");
    let granted = key.grants.value().into_iter().flatten().any(|grant| {
        let of_operation = grant.operations.iter().any(|one| one == operation);
        grant.grantee == role_arn && of_operation && !grant.constrained
    });
    if granted {
        return Ok(Answer::Allowed);
    }
    let suffix = if cx.target.partition == "aws-cn" { "amazonaws.com.cn" } else { "amazonaws.com" };
    let request = Request::new(grants.principal(), action, &key.arn)
        .with("kms:ViaService", format!("{via}.{}.{suffix}", cx.region()))
        .with("kms:GrantIsForAWSResource", "true")
        .with("aws:RequestedRegion", cx.region());
    Ok(grants.answer_on(policy(key)?, &describe(cx, request)))
}

/// Adds the steps that give a key these statements besides what its policy has; those of the
/// same name are replaced.
pub fn allow(cx: &Context<'_>, remedy: Remedy, key: &Key, statements: Vec<Value>) -> Remedy {
    let present = key.policy.value().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let mut document = present.unwrap_or_else(|| json!({"Version": "2012-10-17", "Statement": []}));
    let old = match document.get_mut("Statement").map(Value::take) {
        Some(Value::Array(all)) => all,
        Some(one @ Value::Object(_)) => vec![one],
        _ => Vec::new(),
    };
    let is_new = |sid: Option<&Value>| statements.iter().any(|new| new.get("Sid") == sid);
    let mut all: Vec<Value> = old.into_iter().filter(|one| !is_new(one.get("Sid"))).collect();
    all.extend(statements);
    document["Statement"] = Value::Array(all);
    let id = arn::role_name(&key.arn);
    let file = format!("key-policy-{id}.json");
    let command = format!(
        "aws kms put-key-policy --region {} --key-id {} --policy-name default --policy {}",
        quote(cx.region()),
        quote(id),
        quote(&format!("file://{file}"))
    );
    remedy.document(file, &document).run(command)
}

/// The steps that make a key usable again, if there are any.
pub fn enable(cx: &Context<'_>, remedy: Remedy, key: &Key) -> Remedy {
    let of = |verb: &str| {
        format!(
            "aws kms {verb} --region {} --key-id {}",
            quote(cx.region()),
            quote(arn::role_name(&key.arn))
        )
    };
    match key.state.as_str() {
        "Disabled" => remedy.run(of("enable-key")),
        "PendingDeletion" => remedy.run(of("cancel-key-deletion")).run(of("enable-key")),
        _ => remedy,
    }
}
