//! Whether the organisation's policies are a part of the verdicts.

use crate::facts::{Fact, Unseen, organizations::Organization};

/// What the reader must know; nothing where there is no organisation.
pub fn note(organization: &Fact<Organization>) -> Option<String> {
    let without = |why: &str| {
        Some(format!(
            "permissions are judged without your organisation's policies (SCPs and RCPs), {why}"
        ))
    };
    let organization = match organization.found() {
        Ok(Some(organization)) => organization,
        Ok(None) => return None,
        Err(Unseen::Denied { .. } | Unseen::NotAsked { .. } | Unseen::Absent) => {
            return without("which a member account cannot read");
        }
        Err(Unseen::Failed { action, .. }) => return without(&format!("as {action} failed")),
    };
    if organization.is_management_account() {
        return Some(format!(
            "the account is the management account of the organisation {}, to whose policies \
             (SCPs and RCPs) it is not subject",
            organization.id
        ));
    }
    match organization.levels.known() {
        Ok(_) if organization.is_of_files() => Some(
            "permissions are judged with the policies of the organisation in the files".to_owned(),
        ),
        Ok(levels) => Some(format!(
            "permissions are judged with the policies (SCPs and RCPs) of {}, at {} levels from its \
             root to this account",
            organization.words(),
            levels.len()
        )),
        Err(Unseen::Failed { action, .. }) => without(&format!("as {action} failed")),
        Err(_) => without("which a member account cannot read"),
    }
}
