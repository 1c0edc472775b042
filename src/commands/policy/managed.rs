//! AWS managed policies, which files name without their documents.
//!
//! Nobody but AWS can change such a policy, so that its ARN tells what it grants: it is taken
//! to allow the requests that AWS made it for, and nothing else. A policy that is not listed
//! here is unseen.

use serde_json::{Value, json};

use super::input::Document;
use crate::requirements::{self, Request, Setup, node::Capability};

/// The policies for node roles.
/// <https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html>
const NODE: &[(&str, &[Capability])] = &[
    ("AmazonEKSWorkerNodePolicy", &[Capability::Join, Capability::PodIdentity]),
    ("AmazonEKSWorkerNodeMinimalPolicy", &[Capability::PodIdentity]),
    ("AmazonEC2ContainerRegistryReadOnly", &[Capability::Pull]),
    ("AmazonEC2ContainerRegistryPullOnly", &[Capability::Pull]),
    ("AmazonEKS_CNI_Policy", &[Capability::Cni]),
    ("AmazonSSMManagedInstanceCore", &[Capability::Ssm]),
];

/// The policies for a cluster role with Auto Mode, with what the ids of their requests hold.
/// <https://docs.aws.amazon.com/eks/latest/userguide/auto-cluster-iam-role.html>
const CLUSTER: &[(&str, &[&str])] = &[
    ("AmazonEKSBlockStoragePolicy", &["volume"]),
    ("AmazonEKSLoadBalancingPolicy", &["load-balancer", "target-group"]),
    ("AmazonEKSNetworkingPolicy", &["network-interface"]),
    ("AmazonEKSComputePolicy", &["auto-"]),
];

/// The Sid of the statements of a stand-in, which are not those of the policy itself.
const SID: &str = "StandIn";

/// A decision in words: the statements of a stand-in are not named, as its policy has others.
pub fn told(text: &str) -> String {
    text.replace(&format!("statement {SID} of policy "), "the AWS managed policy ")
}

/// What all of EKS's cluster roles have.
const CLUSTER_POLICY: &str = "AmazonEKSClusterPolicy";

/// A document that allows what the managed policy of this ARN was made for.
pub fn stand_in(arn: &str, setup: &Setup) -> Option<Document> {
    let (_, name) = arn.split_once(":iam::aws:policy/")?;
    let requests = match NODE.iter().find(|(known, _)| *known == name) {
        Some((_, capabilities)) => {
            capabilities.iter().flat_map(|one| requirements::node(*one, setup)).collect()
        }
        None if name == CLUSTER_POLICY => Vec::new(),
        None if name == "AdministratorAccess" => return document(name, &[everything()]),
        None => of_cluster(name, setup)?,
    };
    document(name, &requests.iter().map(statement).collect::<Vec<_>>())
}

fn of_cluster(name: &str, setup: &Setup) -> Option<Vec<Request>> {
    CLUSTER.iter().find(|(known, _)| *known == name)?;
    let owner = |request: &Request| {
        CLUSTER.iter().find(|(_, words)| words.iter().any(|word| request.id.contains(word)))
    };
    let core = requirements::auto_mode(setup).into_iter().filter(|r| r.id.starts_with("auto-"));
    Some(core.filter(|request| owner(request).is_some_and(|(of, _)| *of == name)).collect())
}

fn document(name: &str, statements: &[Value]) -> Option<Document> {
    let value = json!({"Version": "2012-10-17", "Statement": statements});
    Document::new(name, &value).ok()
}

fn everything() -> Value {
    json!({"Sid": SID, "Effect": "Allow", "Action": "*", "Resource": "*"})
}

/// Allows one request, and with no tags but its own.
fn statement(request: &Request) -> Value {
    let mut statement = json!({
        "Sid": SID, "Effect": "Allow", "Action": request.action, "Resource": request.resource
    });
    if !request.request_tags.is_empty() {
        let keys: Vec<_> = request.request_tags.keys().collect();
        statement["Condition"] = json!({"ForAllValues:StringEquals": {"aws:TagKeys": keys}});
    }
    statement
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_policies_have_a_stand_in() {
        let setup = Setup::new("aws", "eu-west-1", "111122223333", "prod");
        let count = |name: &str| {
            let arn = format!("arn:aws:iam::aws:policy/{name}");
            stand_in(&arn, &setup).map(|document| document.named.policy.statements.len())
        };
        assert_eq!(count("AmazonEKSWorkerNodePolicy"), Some(4));
        assert_eq!(count("AmazonEKSClusterPolicy"), Some(0));
        let core = requirements::auto_mode(&setup).len();
        let parts = CLUSTER.iter().map(|(name, _)| count(name).unwrap()).sum::<usize>();
        assert_eq!(parts, core);
        assert_eq!(count("ReadOnlyAccess"), None);
        assert!(
            stand_in("arn:aws:iam::111122223333:policy/AmazonEKS_CNI_Policy", &setup).is_none()
        );
    }
}
