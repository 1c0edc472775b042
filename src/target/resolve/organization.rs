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
        Ok(levels) => Some(format!(
            "permissions are judged with the policies (SCPs and RCPs) of the organisation {}, at {} \
             levels from its root to this account",
            organization.id,
            levels.len()
        )),
        Err(Unseen::Failed { action, .. }) => without(&format!("as {action} failed")),
        Err(_) => without("which a member account cannot read"),
    }
}
