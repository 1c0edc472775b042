//! What the refused requests have in common, in words that name the usual mistakes.

use super::Refused;
use crate::iam::{Clause, Decision};

/// Sentences to follow the list of refused actions, each with a leading space.
pub fn hints(refused: &[Refused], cluster: &str) -> String {
    let mut hints: Vec<String> = Vec::new();
    for clause in refused.iter().flat_map(|refused| failed(&refused.decision)) {
        let Clause::Condition { key, operator, wanted, sent, .. } = clause else { continue };
        let hint = of_condition(key, operator, wanted, sent.is_some(), cluster);
        hints.extend(hint.filter(|hint| !hints.contains(hint)));
    }
    hints.truncate(2);
    hints.iter().map(|hint| format!(" {hint}")).collect()
}

fn failed(decision: &Decision) -> &[Clause] {
    match decision {
        Decision::NotAllowed { nearest: Some(nearest), .. } => &nearest.failed,
        _ => &[],
    }
}

fn of_condition(
    key: &str,
    operator: &str,
    wanted: &[String],
    is_sent: bool,
    cluster: &str,
) -> Option<String> {
    // `StringEquals` and its like compare letter by letter; only `StringLike` knows patterns.
    if operator.contains("StringEquals") && wanted.iter().any(|value| value.contains(['*', '?'])) {
        return Some(format!(
            "A policy has a * for {key} under {operator}, where it is a plain character: only \
             StringLike takes it as a wildcard."
        ));
    }
    if let Some((_, other)) = key.split_once("kubernetes.io/cluster/")
        && other != cluster
    {
        return Some(format!("The policy is written for the cluster {other}, not {cluster}."));
    }
    if key.ends_with("/eks:eks-cluster-name") {
        return match wanted {
            [other] if is_sent && other != cluster => {
                Some(format!("The policy is written for the cluster {other}, not {cluster}."))
            }
            _ if !is_sent => Some(
                "The policy asks for the tag eks:eks-cluster-name, which Karpenter sends from \
                 1.0 on: it is newer than the controller."
                    .to_owned(),
            ),
            _ => None,
        };
    }
    None
}
