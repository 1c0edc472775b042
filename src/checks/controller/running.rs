//! The Karpenter controllers that run in the cluster, each with its service account and pods.

use crate::{
    checks::{Context, Judged, Stop, Verdicts, remedies::quote},
    facts::{
        eks::PodIdentityAssociation,
        kubernetes::{
            controller::{Deployment, Pod, ServiceAccount},
            node::Node,
        },
    },
    outcome::Finding,
};

/// The annotation that binds a service account to a role.
pub const ROLE_ANNOTATION: &str = "eks.amazonaws.com/role-arn";

/// A controller's Deployment and its pods.
pub struct Running<'a> {
    pub cx: &'a Context<'a>,
    pub deployment: &'a Deployment,
    /// Those that are not being deleted.
    pub pods: Vec<&'a Pod>,
}

/// Judges each controller on its own; skipped where none runs.
pub fn each(cx: &Context<'_>, judge: impl Fn(&Running<'_>) -> Result<Finding, Stop>) -> Verdicts {
    let running = all(cx)?;
    let judge = |one: &Running<'_>| Judged::new(one.name(), || judge(one));
    Ok(running.iter().map(judge).collect())
}

/// Every controller; stops where there is none.
pub fn all<'a>(cx: &'a Context<'a>) -> Result<Vec<Running<'a>>, Stop> {
    let facts = cx.kubernetes()?;
    let deployments = facts.controllers.known()?;
    if deployments.is_empty() {
        return Err(Stop::skipped("no Karpenter controller is installed in the cluster"));
    }
    let pods = facts.controller_pods.known()?;
    let running = deployments.iter().map(|deployment| {
        let is_its = |pod: &&Pod| {
            pod.meta.namespace == deployment.meta.namespace
                && pod.service_account == deployment.service_account
                && pod.meta.deleting.is_none()
        };
        Running { cx, deployment, pods: pods.iter().filter(is_its).collect() }
    });
    Ok(running.collect())
}

/// Whether a service account of a controller that runs is known to be bound to no role, which
/// is for controller-identity to say.
pub fn is_unbound(cx: &Context<'_>, namespace: &str, account: &str) -> bool {
    let unbound = |one: &Running<'_>| {
        let annotated = |account: &ServiceAccount| {
            let value = account.annotations.get(ROLE_ANNOTATION);
            value.is_some_and(|value| !value.trim().is_empty())
        };
        one.namespace() == namespace
            && one.service_account_name() == account
            && matches!(one.association(), Ok(None))
            && matches!(one.service_account(), Ok(found) if !found.is_some_and(annotated))
    };
    all(cx).is_ok_and(|all| all.iter().any(unbound))
}

impl<'a> Running<'a> {
    /// Namespace and name.
    pub fn name(&self) -> String {
        format!("{}/{}", self.deployment.meta.namespace, self.deployment.meta.name)
    }

    pub fn namespace(&self) -> &'a str {
        &self.deployment.meta.namespace
    }

    pub fn service_account_name(&self) -> &'a str {
        match self.deployment.service_account.as_str() {
            "" => "default",
            name => name,
        }
    }

    /// Namespace and name of the service account.
    pub fn service_account_path(&self) -> String {
        format!("{}/{}", self.namespace(), self.service_account_name())
    }

    /// The service account; `None` if it certainly does not exist.
    pub fn service_account(&self) -> Result<Option<&'a ServiceAccount>, Stop> {
        let accounts = self.cx.facts.kubernetes.service_accounts.known()?;
        let is_it = |account: &&ServiceAccount| {
            account.meta.namespace == self.namespace()
                && account.meta.name == self.service_account_name()
        };
        Ok(accounts.iter().find(is_it))
    }

    /// The pod identity association of the service account.
    pub fn association(&self) -> Result<Option<&'a PodIdentityAssociation>, Stop> {
        let all = super::associations(self.cx)?;
        Ok(all.into_iter().find(|association| {
            association.namespace == self.namespace()
                && association.service_account == self.service_account_name()
        }))
    }

    /// A value of a pod's environment: its own, or what the Deployment writes out.
    pub fn env(&self, pod: &'a Pod, name: &str) -> Option<&'a str> {
        let value = pod.env.get(name).or_else(|| self.deployment.env.get(name));
        value.map(String::as_str).filter(|value| !value.is_empty())
    }

    pub fn all_ready(&self) -> bool {
        !self.pods.is_empty() && self.pods.iter().all(|pod| pod.ready)
    }

    /// The first pod on Fargate, where there is neither instance metadata nor the Pod Identity
    /// agent.
    pub fn on_fargate(&self) -> Option<&'a Pod> {
        let nodes = self.cx.facts.kubernetes.nodes.value();
        let is_fargate = |name: &String| {
            let labelled = |node: &Node| {
                node.meta.name == *name
                    && node.labels.get("eks.amazonaws.com/compute-type").map(String::as_str)
                        == Some("fargate")
            };
            name.starts_with("fargate-") || nodes.is_some_and(|nodes| nodes.iter().any(labelled))
        };
        self.pods.iter().copied().find(|pod| pod.node.as_ref().is_some_and(is_fargate))
    }

    /// The command that makes the pods anew.
    pub fn restart(&self) -> String {
        format!(
            "kubectl rollout restart deployment {} --namespace {}",
            quote(&self.deployment.meta.name),
            quote(self.namespace())
        )
    }
}
