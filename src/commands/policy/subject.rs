//! Which role of the files is judged.

use super::input::{Document, Found, Purpose, Read, Role};
use crate::{cli::policy::RoleKind, target::names};

/// The documents that are judged together.
#[derive(Debug, Default)]
pub struct Subject {
    pub role: Role,
    /// Policies of a resource: the queue's.
    pub resource: Vec<Read>,
}

impl Subject {
    /// Every document that could be read.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        let trust = self.role.trust.iter().chain(&self.resource);
        self.role.identity.iter().chain(trust.filter_map(|read| read.as_ref().ok()))
    }
}

/// Chooses the role: the one that is named, the only one, or the only one that fits. Loose
/// documents come on top of what the role has; without a role, they are of the one that is named.
pub fn choose(
    mut found: Found,
    kind: RoleKind,
    cluster: &str,
    named: Option<&str>,
) -> Result<Subject, String> {
    let is_of_queue = kind == RoleKind::Queue;
    let mut role = if is_of_queue || found.roles.is_empty() {
        let mut names: Vec<_> =
            found.loose.iter().map(|document| document.named.name.as_str()).collect();
        let queues = found.resource.iter().map(|read| match read {
            Ok(document) => document.named.name.as_str(),
            Err(unseen) => unseen.what.as_str(),
        });
        names.extend(queues.filter(|_| is_of_queue));
        names.dedup();
        let arn = named.filter(|named| named.starts_with("arn:")).map(str::to_owned);
        let name = match named {
            Some(named) => crate::facts::arn::role_name(named).to_owned(),
            None => names.join(", "),
        };
        Role { name, is_named: named.is_some(), arn, ..Role::default() }
    } else {
        let at = position(&found.roles, kind, cluster, named)?;
        found.roles.swap_remove(at)
    };
    role.unseen.append(&mut found.unseen);
    let mut resource = found.resource;
    for document in found.loose {
        match document.purpose() {
            Purpose::Identity => role.identity.push(document),
            Purpose::Resource => resource.push(Ok(document)),
            Purpose::Trust => role.trust = Some(Ok(document)),
        }
    }
    Ok(Subject { role, resource })
}

fn position(
    roles: &[Role],
    kind: RoleKind,
    cluster: &str,
    named: Option<&str>,
) -> Result<usize, String> {
    let all: Vec<usize> = (0..roles.len()).collect();
    if let Some(named) = named {
        let wanted = crate::facts::arn::role_name(named);
        let at = all.iter().find(|at| roles[**at].name == wanted);
        return at.copied().ok_or_else(|| {
            format!("there is no role `{named}` in the files: {}", listed(roles, &all))
        });
    }
    let usual: Vec<String> = match kind {
        RoleKind::Controller => names::controller_roles(cluster).to_vec(),
        RoleKind::Node => names::node_roles(cluster).to_vec(),
        _ => Vec::new(),
    };
    let trusting: Vec<_> = all.iter().copied().filter(|at| suits(&roles[*at], kind)).collect();
    let by_name: Vec<_> =
        trusting.iter().copied().filter(|at| usual.contains(&roles[*at].name)).collect();
    let has_word = |at: &usize| {
        let name = roles[*at].name.to_ascii_lowercase();
        kind == RoleKind::Controller
            && name.contains("karpenter")
            && name.contains(&cluster.to_ascii_lowercase())
    };
    let by_word: Vec<_> = trusting.iter().copied().filter(has_word).collect();
    match (&all[..], &trusting[..], &by_name[..], &by_word[..]) {
        ([only], ..) | (_, [only], ..) | (_, _, [only], _) | (_, _, _, [only]) => Ok(*only),
        (_, [], ..) => Err(format!(
            "none of the roles in the files trusts {}: say which one is meant with --role: {}",
            trustee(kind),
            listed(roles, &all)
        )),
        _ => Err(format!(
            "several roles in the files trust {}: say which one is meant with --role: {}",
            trustee(kind),
            listed(roles, &trusting)
        )),
    }
}

fn listed(roles: &[Role], at: &[usize]) -> String {
    const SHOWN: usize = 12;
    let mut names: Vec<_> = at.iter().map(|at| roles[*at].name.as_str()).collect();
    names.sort_unstable();
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

fn trustee(kind: RoleKind) -> &'static str {
    match kind {
        RoleKind::Controller => "EKS Pod Identity or an OIDC provider",
        RoleKind::Node => "EC2",
        _ => "EKS",
    }
}

/// Whether the trust policy is of the kind: a hint for the choice, no verdict.
fn suits(role: &Role, kind: RoleKind) -> bool {
    let Some(Ok(trust)) = &role.trust else { return false };
    let signs: &[&str] = match kind {
        RoleKind::Controller => &["pods.eks.amazonaws.com", "AssumeRoleWithWebIdentity"],
        RoleKind::Node => &["ec2.amazonaws.com"],
        RoleKind::Cluster => &["\"eks.amazonaws.com\""],
        RoleKind::Queue | RoleKind::Preflight => return false,
    };
    let text = percent_encoding::percent_decode_str(&trust.text).decode_utf8_lossy();
    signs.iter().any(|sign| text.contains(sign))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn role(name: &str, service: &str) -> Role {
        let trust = json!({"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole",
            "Principal": {"Service": service}}]});
        Role {
            name: name.to_owned(),
            trust: Some(Ok(Document::new("trust", &trust).unwrap())),
            ..Role::default()
        }
    }

    fn chosen(roles: Vec<Role>, kind: RoleKind, named: Option<&str>) -> Result<String, String> {
        let found = Found { roles, ..Found::default() };
        choose(found, kind, "prod", named).map(|subject| subject.role.name)
    }

    #[test]
    fn the_one_that_fits_is_chosen() {
        let pods = "pods.eks.amazonaws.com";
        let all = || {
            vec![
                role("ebs-csi", pods),
                role("prod-karpenter", pods),
                role("KarpenterNodeRole-prod", "ec2.amazonaws.com"),
                role("cluster", "eks.amazonaws.com"),
            ]
        };
        for (kind, name) in [
            (RoleKind::Controller, "prod-karpenter"),
            (RoleKind::Node, "KarpenterNodeRole-prod"),
            (RoleKind::Cluster, "cluster"),
        ] {
            assert_eq!(chosen(all(), kind, None), Ok(name.to_owned()));
        }
        assert_eq!(chosen(all(), RoleKind::Controller, Some("ebs-csi")), Ok("ebs-csi".to_owned()));
        let several = vec![role("a", pods), role("b", pods)];
        let error = chosen(several, RoleKind::Controller, None).unwrap_err();
        assert!(error.contains("--role: a, b"), "{error}");
        let error = chosen(all(), RoleKind::Controller, Some("x")).unwrap_err();
        assert!(error.contains("no role `x`"), "{error}");
    }
}
