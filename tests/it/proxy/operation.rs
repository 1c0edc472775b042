//! Which AWS operation a request is, from the request alone.

use std::fmt;

use super::http::Request;

/// An operation by its IAM names, which are the signing name and the API's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation {
    pub service: String,
    pub name: String,
}

/// How a service writes requests, answers and errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Ec2,
    /// IAM and STS.
    Query,
    /// SQS, SSM and EventBridge: `X-Amz-Target`.
    Json,
    /// EKS: method and path.
    RestJson,
}

impl Operation {
    /// A request that is none of those known keeps its method and path as a name, which no
    /// policy holds: the tests then show it.
    pub fn of(request: &Request) -> Self {
        let service = match request.credential_scope() {
            Some((_, service)) => service,
            // The only operations that nobody signs: a token says who asks.
            None if is_web_identity(request) => "sts".to_owned(),
            None => String::new(),
        };
        let target = request.header("x-amz-target").and_then(|target| target.split('.').nth(1));
        let name = match target {
            Some(target) => target.to_owned(),
            None if service == "eks" => rest_operation(&request.method, &request.path),
            None => form_action(&request.body).unwrap_or_else(|| request.path.clone()),
        };
        Self { service, name }
    }

    pub fn protocol(&self) -> Protocol {
        match self.service.as_str() {
            "ec2" => Protocol::Ec2,
            "iam" | "sts" => Protocol::Query,
            "eks" => Protocol::RestJson,
            _ => Protocol::Json,
        }
    }
}

/// The IAM action, such as `eks:DescribeCluster`.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.service, self.name)
    }
}

fn is_web_identity(request: &Request) -> bool {
    form_action(&request.body).is_some_and(|action| action.ends_with("WithWebIdentity"))
}

fn form_action(body: &[u8]) -> Option<String> {
    let form = std::str::from_utf8(body).ok()?;
    form.split('&').find_map(|pair| pair.strip_prefix("Action=")).map(str::to_owned)
}

fn rest_operation(method: &str, path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let segments: Vec<_> = path.trim_matches('/').split('/').collect();
    let name = match (method, segments.as_slice()) {
        ("GET", ["clusters"]) => "ListClusters",
        ("GET", ["clusters", _]) => "DescribeCluster",
        ("GET", ["clusters", _, "node-groups"]) => "ListNodegroups",
        ("GET", ["clusters", _, "node-groups", _]) => "DescribeNodegroup",
        ("GET", ["clusters", _, "fargate-profiles"]) => "ListFargateProfiles",
        ("GET", ["clusters", _, "fargate-profiles", _]) => "DescribeFargateProfile",
        ("GET", ["clusters", _, "access-entries"]) => "ListAccessEntries",
        ("GET", ["clusters", _, "access-entries", _]) => "DescribeAccessEntry",
        ("GET", ["clusters", _, "access-entries", _, "access-policies"]) => {
            "ListAssociatedAccessPolicies"
        }
        ("GET", ["clusters", _, "pod-identity-associations"]) => "ListPodIdentityAssociations",
        ("GET", ["clusters", _, "pod-identity-associations", _]) => {
            "DescribePodIdentityAssociation"
        }
        ("GET", ["clusters", _, "addons", _]) => "DescribeAddon",
        _ => return format!("{method} {path}"),
    };
    name.to_owned()
}
