//! Policies of an organisation, from files.

use std::{collections::BTreeMap, path::Path};

use super::input::{self, Document};
use crate::{
    facts::{
        Fact,
        organizations::{Attached, Level, Organization},
    },
    iam::{Effect, PrincipalElement, Statement},
};

/// What every level has unless it is taken off.
const FULL_ACCESS: &str = "FullAWSAccess";
const FULL_ACCESS_DOCUMENT: &str = r#"{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}"#;

/// The organisation that these files show, each value the files of one level; absent without any.
/// Where no file of a level allows anything, `FullAWSAccess` is taken to be attached beside them,
/// which a note says.
pub fn of_files(
    service_control: &[String],
    resource_control: &[String],
    account: &str,
    notes: &mut Vec<String>,
) -> Result<Fact<Organization>, String> {
    if service_control.is_empty() && resource_control.is_empty() {
        notes.push(
            "policies of an organisation are not looked at: --scp and --rcp give them".to_owned(),
        );
        return Ok(Fact::Absent);
    }
    let mut policies = BTreeMap::new();
    let mut levels = Vec::new();
    for at in 0..service_control.len().max(resource_control.len()) {
        let level = format!("level {}", at + 1);
        let mut service = read(service_control.get(at), no_principal, &mut policies)?;
        if !service.is_empty() && !service.iter().any(|(_, document)| allows(document)) {
            notes.push(format!(
                "no service control policy of {level} allows anything: {FULL_ACCESS} is taken to \
                 be attached there too"
            ));
            policies.insert(FULL_ACCESS.to_owned(), Fact::Known(FULL_ACCESS_DOCUMENT.to_owned()));
            let document = Document::new(FULL_ACCESS, &FULL_ACCESS_DOCUMENT.into())?;
            service.push((FULL_ACCESS.to_owned(), document));
        }
        let resource = read(resource_control.get(at), everyone, &mut policies)?;
        let attached = |read: Vec<(String, Document)>| {
            let names = read.into_iter().map(|(name, _)| Attached { id: name.clone(), name });
            Fact::Known(names.collect())
        };
        levels.push(Level {
            id: level,
            service_control: attached(service),
            resource_control: attached(resource),
        });
    }
    Ok(Fact::Known(Organization {
        id: String::new(),
        management_account: String::new(),
        account: account.to_owned(),
        levels: Fact::Known(levels),
        policies,
    }))
}

fn read(
    files: Option<&String>,
    takes: fn(&Statement) -> Result<(), &'static str>,
    policies: &mut BTreeMap<String, Fact<String>>,
) -> Result<Vec<(String, Document)>, String> {
    let mut documents = Vec::new();
    for file in files.into_iter().flat_map(|files| files.split(',')) {
        let document = input::document(Path::new(file.trim()))?;
        for (at, statement) in document.named.policy.statements.iter().enumerate() {
            takes(statement).map_err(|why| format!("{}: Statement[{at}]: {why}", file.trim()))?;
        }
        let name = document.named.name.clone();
        // Two files of one name in two folders are two policies.
        let name = match policies.get(&name) {
            Some(Fact::Known(text)) if *text != document.text => file.trim().to_owned(),
            _ => name,
        };
        policies.insert(name.clone(), Fact::Known(document.text.clone()));
        documents.push((name, document));
    }
    Ok(documents)
}

/// Organizations takes a service control policy in no other form.
fn no_principal(statement: &Statement) -> Result<(), &'static str> {
    match statement.principal {
        None => Ok(()),
        Some(_) => Err("a service control policy has no Principal and no NotPrincipal"),
    }
}

/// Nor a resource control policy.
fn everyone(statement: &Statement) -> Result<(), &'static str> {
    let is_everyone = |principal: &PrincipalElement| {
        !principal.negated && principal.items.iter().all(|item| item.text == "*")
    };
    match &statement.principal {
        Some(principal) if is_everyone(principal) => Ok(()),
        _ => Err(r#"a resource control policy has the Principal "*" in each statement"#),
    }
}

fn allows(document: &Document) -> bool {
    document.named.policy.statements.iter().any(|statement| statement.effect == Effect::Allow)
}
