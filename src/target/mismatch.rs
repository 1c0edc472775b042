//! Roles that the user named by an ARN that is not the one the account has.

use super::Scope;
use crate::facts::{Facts, arn};

/// Why a named role cannot be the cluster's: roles are looked up by their name alone, and the
/// name of another account's role, or of one under another path, would find the wrong one.
pub fn of_named_roles(scope: &Scope, facts: &Facts) -> Option<String> {
    let named = scope.node_roles.iter().chain(&scope.controller_role);
    named.filter(|role| role.starts_with("arn:")).find_map(|role| mismatch(role, facts))
}

fn mismatch(named: &str, facts: &Facts) -> Option<String> {
    let cluster = facts.cluster.value()?;
    let (own, given) = (arn::account(&cluster.arn)?, arn::account(named)?);
    if own != given {
        return Some(format!(
            "{named} is a role of account {given}, and the cluster is in account {own}: roles of \
             nodes and controller must be in the cluster's account"
        ));
    }
    let role = facts.roles.get(arn::role_name(named))?.value()?;
    (role.arn != named).then(|| format!("there is no role {named}, but there is {}", role.arn))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::testing::Account;

    #[test]
    fn only_the_account_s_own_arn_fits() {
        for (role, fits) in [
            ("KarpenterNodeRole-demo", true),
            ("arn:aws:iam::111122223333:role/KarpenterNodeRole-demo", true),
            ("arn:aws:iam::111122223333:role/not-there", true),
            ("arn:aws:iam::999999999999:role/KarpenterNodeRole-demo", false),
            ("arn:aws:iam::111122223333:role/no/such/KarpenterNodeRole-demo", false),
        ] {
            let saved = Account::Karpenter.patched(&json!({"scope": {"node_roles": [role]}}));
            let said = of_named_roles(&saved.scope, &saved.facts);
            assert_eq!(said.is_none(), fits, "{role}: {said:?}");
        }
    }
}
