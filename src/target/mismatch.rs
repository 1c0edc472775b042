//! What the user named and what is not the cluster's: roles by an ARN that the account does not
//! have, and the API server of another cluster.

use super::Scope;
use crate::facts::{
    Facts, arn,
    kubernetes::{Access, Via},
};

/// Why what the user named cannot be the cluster's.
pub fn of_named(scope: &Scope, facts: &Facts) -> Option<String> {
    of_named_roles(scope, facts).or_else(|| of_kubeconfig(scope, facts))
}

/// Why the kubeconfig's context is another cluster's: it leads to another endpoint of EKS. What
/// leads elsewhere, such as to a tunnel, may still end at the cluster.
fn of_kubeconfig(scope: &Scope, facts: &Facts) -> Option<String> {
    let endpoint = facts.cluster.value()?.endpoint.as_deref()?;
    let Access { via: Via::Kubeconfig { context }, server, .. } =
        facts.kubernetes.access.value()?
    else {
        return None;
    };
    let of_eks = host(server).contains(".eks.") && host(server).contains("amazonaws.com");
    (!scope.no_kube && of_eks && !same_server(server, endpoint)).then(|| {
        format!(
            "the kubeconfig's context `{context}` leads to {server}, and the endpoint of cluster \
             `{}` is {endpoint}: name the right one with --context, or leave the cluster alone \
             with --no-kube",
            scope.cluster
        )
    })
}

/// Whether two URLs are the same API server.
pub fn same_server(one: &str, other: &str) -> bool {
    host(one).eq_ignore_ascii_case(host(other))
}

/// Host and port, without the usual one.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest).trim_end_matches(":443")
}

/// Why a named role cannot be the cluster's: roles are looked up by their name alone, and the
/// name of another account's role, or of one under another path, would find the wrong one.
fn of_named_roles(scope: &Scope, facts: &Facts) -> Option<String> {
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
    fn a_context_of_another_cluster_does_not_fit() {
        let own = "https://EXAMPLED539D4633E53DE1B71EXAMPLE.gr7.us-west-2.eks.amazonaws.com";
        let via = json!({"kubeconfig": {"context": "other"}});
        for (server, via, fits) in [
            (own, via.clone(), true),
            (&format!("{}:443/", own.to_ascii_lowercase()), via.clone(), true),
            ("https://127.0.0.1:8443", via.clone(), true),
            ("https://OTHER.gr7.us-west-2.eks.amazonaws.com", via, false),
            ("https://172.20.0.1", json!("in_cluster"), true),
        ] {
            let access = json!({"known": {"server": server, "via": via}});
            let patch = json!({"facts": {"kubernetes": {"access": access},
                "cluster": {"known": {"endpoint": own}}}});
            let saved = Account::KarpenterCluster.patched(&patch);
            let said = of_named(&saved.scope, &saved.facts);
            assert_eq!(said.is_none(), fits, "{server}: {said:?}");
        }
    }

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
