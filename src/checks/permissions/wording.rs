//! The words in which AWS tells of a refusal, by the kind of policy that refuses.
//!
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html>

use crate::iam::{Decision, Layer};

/// The documented error that a refusal by a layer shows as, and how it is worded. `None` for
/// layers whose refusals are not told apart, and for what is not refused.
pub fn wording(decision: &Decision) -> Option<(&'static str, &'static str)> {
    Some(match decision {
        Decision::Denied { layer, .. } => match layer {
            Layer::ServiceControl => (
                "denied-by-organization-policy",
                "with an explicit deny in a service control policy",
            ),
            Layer::ResourceControl => (
                "denied-by-resource-control-policy",
                "with an explicit deny in a resource control policy",
            ),
            Layer::Boundary => (
                "denied-by-permissions-boundary",
                "with an explicit deny in a permissions boundary",
            ),
            Layer::VpcEndpoint => {
                ("denied-by-endpoint-policy", "with an explicit deny in a VPC endpoint policy")
            }
            Layer::Session => {
                ("denied-by-session-policy", "with an explicit deny in a session policy")
            }
            Layer::Identity | Layer::Resource | Layer::Trust => return None,
        },
        Decision::NotAllowed { layer, .. } => match layer {
            Layer::ServiceControl => {
                ("denied-by-organization-policy", "because no service control policy allows")
            }
            Layer::Boundary => {
                ("denied-by-permissions-boundary", "because no permissions boundary allows")
            }
            Layer::VpcEndpoint => {
                ("denied-by-endpoint-policy", "because no VPC endpoint policy allows")
            }
            Layer::Session => ("denied-by-session-policy", "because no session policy allows"),
            // The policy that allows everything cannot be taken off.
            Layer::ResourceControl => return None,
            Layer::Identity | Layer::Resource | Layer::Trust => return None,
        },
        Decision::Allowed { .. } | Decision::Unknown { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{errors::explain::explain, iam::StatementRef};

    /// The words are those by which `explain` knows the error.
    #[test]
    fn the_catalogue_knows_the_words() {
        let statement = || StatementRef { policy: "p".to_owned(), sid: None, index: 0 };
        let layers = [
            Layer::ServiceControl,
            Layer::ResourceControl,
            Layer::Boundary,
            Layer::VpcEndpoint,
            Layer::Session,
        ];
        let decisions = layers.into_iter().flat_map(|layer| {
            let nearest = None;
            [
                Decision::Denied { layer, statement: statement() },
                Decision::NotAllowed { layer, nearest },
            ]
        });
        let mut known = 0;
        for (id, words) in decisions.filter_map(|decision| wording(&decision)) {
            let text = format!(
                "User: arn:aws:sts::111122223333:assumed-role/r/s is not authorized to perform: \
                 sqs:ReceiveMessage on resource: arn:aws:sqs:us-west-2:111122223333:q {words}"
            );
            let explained = explain(text.as_bytes()).unwrap();
            let groups = explained.groups.iter();
            let mut shown =
                groups.flat_map(|group| std::iter::once(group).chain(&group.follow_ups));
            assert!(shown.any(|group| group.entry.id == id), "{id}: {words}");
            known += 1;
        }
        assert_eq!(known, 9);
    }
}
