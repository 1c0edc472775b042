//! The formats as files and pipes get them, each held against a tool that is not ours.

mod outputs;
mod validity;

use serde_json::json;

use crate::offline::Facts;

/// An account with a finding of each kind.
pub fn problems() -> Facts {
    let denied = json!({"denied": {"action": "iam:GetRole", "message": "not \"authorized\"\n\\"}});
    Facts::with(&[
        ("/facts/spot_role", denied),
        ("/facts/discovered_security_groups", json!({"known": []})),
        ("/facts/discovered_subnets/known/0/free_addresses", json!(9)),
    ])
}
