//! Whether a Fargate profile gives the controller's pods nodes.

use std::collections::BTreeMap;

use crate::{
    checks::{Context, Stop},
    facts::eks::{FargateProfile, FargateSelector},
    iam::Pattern,
};

/// The profile that takes pods of this namespace with these labels.
pub fn taking<'a>(
    cx: &Context<'a>,
    namespace: &str,
    labels: &BTreeMap<String, String>,
) -> Result<Option<&'a FargateProfile>, Stop> {
    let profiles = cx.facts.fargate_profiles.found()?.into_iter().flatten();
    let takes = |profile: &&FargateProfile| {
        profile.status == "ACTIVE"
            && profile.selectors.iter().any(|selector| fits(selector, namespace, labels))
    };
    Ok(profiles.into_iter().find(takes))
}

fn fits(selector: &FargateSelector, namespace: &str, labels: &BTreeMap<String, String>) -> bool {
    is_like(&selector.namespace, namespace)
        && selector.labels.iter().all(|(key, wanted)| {
            labels.iter().any(|(label, value)| is_like(key, label) && is_like(wanted, value))
        })
}

/// `*` stands for any text and `?` for one character.
/// <https://docs.aws.amazon.com/eks/latest/userguide/fargate-profile.html>
fn is_like(pattern: &str, text: &str) -> bool {
    Pattern::glob(pattern).matches(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn selectors() {
        let labels = [("app.kubernetes.io/name", "karpenter"), ("team", "a")];
        for (namespace, wanted, takes) in [
            ("kube-system", &[][..], true),
            ("karpenter", &[], false),
            ("kube-*", &[], true),
            ("kube-syste?", &[], true),
            ("kube.system", &[], false),
            ("*", &[("team", "a")], true),
            ("*", &[("team", "b")], false),
            ("*", &[("app.kubernetes.io/name", "karp*"), ("team", "?")], true),
            ("*", &[("app", "karpenter")], false),
        ] {
            let selector = FargateSelector { namespace: namespace.to_owned(), labels: map(wanted) };
            let found = fits(&selector, "kube-system", &map(&labels));
            assert_eq!(found, takes, "{namespace} {wanted:?}");
        }
    }
}
