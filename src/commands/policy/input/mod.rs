//! What the files of `policy test` hold: roles with their policies, and loose documents.

mod account;
mod address;
mod data_source;
mod form;
mod merge;
mod plan;
mod terraform;

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    io::{self, Read as _},
    path::Path,
};

use serde_json::Value;

use crate::iam::{NamedPolicy, Policy};

/// All that the files hold.
#[derive(Debug, Default)]
pub struct Found {
    pub roles: Vec<Role>,
    /// Documents that no role of the files bears.
    pub loose: Vec<Document>,
    /// What bears on the verdict and could not be read.
    pub unseen: Vec<Unseen>,
    /// Policies of queues.
    pub resource: Vec<Read>,
    /// What the reader must know of the files.
    pub notes: Vec<String>,
}

/// A role as a file shows it.
#[derive(Debug, Clone, Default)]
pub struct Role {
    /// Its name; where that is not known, its address or the names of the files.
    pub name: String,
    pub is_named: bool,
    pub arn: Option<String>,
    pub trust: Option<Read>,
    pub identity: Vec<Document>,
    /// ARNs of attached policies whose documents are not in the file.
    pub attached: Vec<String>,
    pub boundary: Option<Read>,
    pub boundary_arn: Option<String>,
    /// `None` where the files do not show them.
    pub tags: Option<BTreeMap<String, String>>,
    pub unseen: Vec<Unseen>,
}

/// A document, or why it could not be read.
pub type Read = Result<Document, Unseen>;

/// Something that the files do not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// Its ARN or its address.
    pub what: String,
    pub why: String,
}

impl Unseen {
    fn not_in_file(arn: &str) -> Self {
        Self { what: arn.to_owned(), why: "its document is not in the file".to_owned() }
    }
}

/// A document, as written and as read.
#[derive(Debug, Clone)]
pub struct Document {
    pub text: String,
    pub named: NamedPolicy,
}

/// What a document is for, by its own elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Identity,
    Trust,
    Resource,
}

impl Document {
    /// Reads a document that stands in a file as JSON or as a text, URL-encoded or not.
    pub fn new(name: &str, value: &Value) -> Result<Self, String> {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let refused = |error| format!("{name} is no policy that IAM would take: {error}");
        let policy = Policy::parse(&text).map_err(|error| refused(error.to_string()))?;
        match (value.is_string(), twice(&policy)) {
            (true, Some(error)) => Err(refused(error)),
            _ => Ok(Self { text, named: NamedPolicy::new(name, policy) }),
        }
    }

    pub fn purpose(&self) -> Purpose {
        match self.named.policy.statements.first() {
            Some(first) if first.principal.is_some() && first.resource.is_none() => Purpose::Trust,
            Some(first) if first.principal.is_some() => Purpose::Resource,
            _ => Purpose::Identity,
        }
    }
}

/// What IAM says of two statements with one Sid.
fn twice(policy: &Policy) -> Option<String> {
    let mut seen = HashSet::new();
    let sids = policy.statements.iter().map(|statement| statement.sid.as_deref());
    let (at, sid) = sids
        .enumerate()
        .find_map(|(at, sid)| sid.filter(|sid| !seen.insert(*sid)).map(|sid| (at, sid)))?;
    Some(format!("Statement[{at}].Sid: another statement has the Sid {sid} too"))
}

/// Reads the files, `-` as standard input.
pub fn read(files: &[std::path::PathBuf]) -> Result<Found, String> {
    let mut found = Found::default();
    for path in files {
        let name = path.display().to_string();
        let text = text(path)?;
        add(&mut found, &name, &text).map_err(|error| format!("cannot use {name}: {error}"))?;
    }
    Ok(found)
}

/// Reads the one document of a file.
pub fn document(path: &Path) -> Result<Document, String> {
    let name = path.display().to_string();
    let text = text(path)?;
    Document::new(&file_name(&name), &Value::String(text))
}

fn text(path: &Path) -> Result<String, String> {
    let read = || -> io::Result<Vec<u8>> {
        if path != Path::new("-") {
            return fs::read(path);
        }
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    form::text(bytes).map_err(|error| format!("cannot use {}: {error}", path.display()))
}

/// Adds what a text holds; its form shows in its fields.
pub fn add(found: &mut Found, name: &str, text: &str) -> Result<(), String> {
    let name = file_name(name);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('%') {
        found.loose.push(Document::new(&name, &Value::String(text.to_owned()))?);
        return Ok(());
    }
    let value: Value = serde_json::from_str(text).map_err(|error| form::not_json(text, &error))?;
    let has = |field: &str| value.get(field).is_some();
    if has("Statement") {
        // The text itself, in which a field that is given twice still shows.
        found.loose.push(Document::new(&name, &Value::String(text.to_owned()))?);
    } else if has("RoleDetailList") {
        account::add(found, &value)?;
    } else if has("format_version") && (has("planned_values") || has("values")) {
        terraform::add(found, &value)?;
    } else if has("policies") && has("managed_policy_arns") {
        bundle(found, &name, &value)?;
    } else if let Some(document) = answer_of_iam(&value) {
        found.loose.push(Document::new(&name, document)?);
    } else {
        return Err(form::no_policy(&value));
    }
    Ok(())
}

/// What `policy print --format json` prints.
fn bundle(found: &mut Found, name: &str, bundle: &Value) -> Result<(), String> {
    let mut documents = Vec::new();
    for policy in list(bundle, "policies") {
        let name = policy["name"].as_str().unwrap_or(name);
        documents.push(Document::new(name, &policy["document"])?);
    }
    let Some(role) = bundle["role"].as_str() else {
        found.loose.extend(documents);
        return Ok(());
    };
    let trust =
        bundle.get("trust").map(|trust| Document::new("trust policy", trust)).transpose()?;
    let trust = trust.map(Ok);
    let attached = list(bundle, "managed_policy_arns").iter().filter_map(Value::as_str);
    found.roles.push(Role {
        name: role.to_owned(),
        is_named: true,
        trust,
        identity: documents,
        attached: attached.map(str::to_owned).collect(),
        ..Role::default()
    });
    Ok(())
}

/// The document in what `get-role-policy`, `get-policy-version` and `get-role` print.
fn answer_of_iam(value: &Value) -> Option<&Value> {
    let paths = ["/PolicyDocument", "/PolicyVersion/Document", "/Role/AssumeRolePolicyDocument"];
    paths.iter().find_map(|path| value.pointer(path))
}

/// The elements of a list, or none.
fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The last part of a path, as a name for the document in it.
fn file_name(path: &str) -> String {
    match path {
        "-" => "standard input".to_owned(),
        path => Path::new(path)
            .file_name()
            .map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned()),
    }
}

#[cfg(test)]
mod tests;
