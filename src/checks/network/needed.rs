//! The AWS services that nodes and controller call, and whether endpoints of the VPC reach them.

use super::path::Path;
use crate::{
    checks::{Context, Stop},
    facts::network::VpcEndpoint,
    target::{Product, QueueTarget, names},
};

/// A service without which something stops.
#[derive(Debug, PartialEq, Eq)]
pub struct Service {
    /// The last part of the endpoint service's name, such as `ecr.api`.
    pub name: &'static str,
    pub what_for: &'static str,
    /// The documented error of whoever does not reach it.
    pub error: &'static str,
}

macro_rules! service {
    ($name:literal, $what_for:literal, $error:literal) => {
        Service { name: $name, what_for: $what_for, error: $error }
    };
}

static EC2: Service = service!("ec2", "to launch and to join", "ec2-connectivity-check-failed");
static IMAGES: [Service; 3] = [
    service!("ecr.api", "to pull images", "image-pull-failed"),
    service!("ecr.dkr", "to pull images", "image-pull-failed"),
    service!("s3", "to pull image layers", "image-pull-failed"),
];
static STS: Service = service!("sts", "for the controller's credentials", "sts-not-reachable");
static EKS_AUTH: Service =
    service!("eks-auth", "for Pod Identity", "pod-identity-credentials-failed");
static SSM: Service = service!("ssm", "to find AMIs", "ami-alias-not-resolved");
static EKS: Service =
    service!("eks", "to find the cluster's endpoint", "cluster-endpoint-not-resolved");
static SQS: Service = service!("sqs", "for interruptions", "sqs-provider-not-created");

/// What this set-up calls. Karpenter's list is that of its guide for private clusters, by the
/// identity, queue and AMIs in use
/// (<https://karpenter.sh/docs/getting-started/getting-started-with-karpenter/#private-clusters>).
pub fn services(cx: &Context<'_>) -> Result<Vec<&'static Service>, Stop> {
    let karpenter = cx.target.runs(Product::Karpenter);
    let mut needed = Vec::new();
    if karpenter {
        needed.push(&EC2);
    }
    needed.extend(&IMAGES);
    let by_pod_identity = uses_pod_identity(cx)?;
    if by_pod_identity {
        needed.push(&EKS_AUTH);
    } else if karpenter {
        needed.push(&STS);
    }
    if karpenter {
        if finds_amis_by_parameter(cx) {
            needed.push(&SSM);
        }
        needed.push(&EKS);
        if matches!(cx.target.queue, QueueTarget::Named(_) | QueueTarget::Found(_)) {
            needed.push(&SQS);
        }
    }
    Ok(needed)
}

fn uses_pod_identity(cx: &Context<'_>) -> Result<bool, Stop> {
    let associations = cx.facts.pod_identity_associations.known()?;
    for association in associations {
        let of_cni = |name: &str| name == names::CNI_SERVICE_ACCOUNT;
        if association.found()?.is_some_and(|one| !of_cni(&one.service_account)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An alias and a parameter are looked up in SSM. That is also what a NodeClass does that nobody
/// has seen.
fn finds_amis_by_parameter(cx: &Context<'_>) -> bool {
    let Some(classes) = cx.facts.kubernetes.ec2_node_classes.value().filter(|all| !all.is_empty())
    else {
        return true;
    };
    classes.iter().any(|class| {
        let by_parameter =
            class.ami_terms.iter().any(|term| term.alias.is_some() || term.ssm_parameter.is_some());
        by_parameter || class.ami_terms.is_empty()
    })
}

/// Whether an endpoint is this service's.
pub fn is_of(cx: &Context<'_>, endpoint: &VpcEndpoint, service: &Service) -> bool {
    endpoint.service.ends_with(&format!(".{}.{}", cx.region(), service.name))
}

pub fn is_available(endpoint: &VpcEndpoint) -> bool {
    endpoint.state.eq_ignore_ascii_case("available")
}

/// Whether calls to the service's usual name go through the endpoint from a subnet with this
/// path.
pub fn serves(endpoint: &VpcEndpoint, path: &Path<'_>) -> bool {
    is_available(endpoint)
        && match endpoint.kind.as_str() {
            "Gateway" => endpoint.route_tables.contains(&path.table.id),
            _ => endpoint.private_dns,
        }
}

/// The services that no endpoint serves from a subnet with this path.
pub fn missing(cx: &Context<'_>, path: &Path<'_>) -> Result<Vec<&'static Service>, Stop> {
    let endpoints = cx.facts.network.endpoints.known()?;
    let mut needed = services(cx)?;
    needed.retain(|service| {
        !endpoints.iter().any(|one| is_of(cx, one, service) && serves(one, path))
    });
    Ok(needed)
}
