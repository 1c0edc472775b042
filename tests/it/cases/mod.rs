//! What people reported, as data: each case is a healthy account, what is wrong with it, and what
//! must be found (`tests/cases/*.toml`). And the accounts that are right: nothing must be found.

mod account;
mod case;
mod correct;
mod edit;
mod grid;
mod vary;

use serde_json::Value;

/// Every account of the cases, broken and alike, by what it is.
pub fn accounts() -> Vec<(String, Value)> {
    let mut accounts = Vec::new();
    for case in case::all().iter().filter(|case| case.is_detected()) {
        let mut facts = case.account.facts();
        edit::apply(&case.edits, &mut facts);
        for sibling in &case.alike {
            let mut alike = facts.clone();
            edit::apply(&sibling.edits, &mut alike);
            accounts.push((format!("{}, {}", case.id, sibling.what), alike));
        }
        accounts.push((case.id.clone(), facts));
    }
    accounts
}
