//! What the report is about, each value with how it was learned.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    facts::Facts,
    target::{NodeRole, Origin, Product, QueueTarget, Sourced, Stage, Tag, Target},
};

/// The target, as the report shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// The caller's account id, if it could be read.
    pub account: Option<String>,
    /// The caller's ARN, if it could be read.
    pub caller: Option<String>,
    pub region: Sourced<String>,
    /// Name of the EKS cluster.
    pub cluster: String,
    /// URL of the cluster's API server, for a script that must not work in another cluster.
    #[serde(skip)]
    pub endpoint: Option<String>,
    /// The version of the cluster, such as `1.35`, if it could be read.
    pub kubernetes_version: Option<String>,
    /// What is judged to run nodes in the cluster.
    pub products: Vec<Sourced<Product>>,
    pub stage: Sourced<Stage>,
    /// Set where Karpenter is judged.
    pub karpenter_version: Option<Sourced<String>>,
    /// Names of the roles that Karpenter's controller may run with.
    pub controller_roles: Vec<Sourced<String>>,
    /// Names of the roles that nodes may run with.
    pub node_roles: Vec<Sourced<String>>,
    /// Names of the interruption queues.
    pub queues: Vec<Sourced<String>>,
    /// The tag that selects subnets and security groups, as `key=value` or `key`.
    pub discovery_tag: Sourced<Tag>,
    /// What the reader must know about how the target was found.
    pub notes: Vec<String>,
}

impl Header {
    pub fn new(target: &Target, facts: &Facts) -> Self {
        let caller = facts.caller.value();
        let runs_karpenter = target.runs(Product::Karpenter);
        Self {
            account: caller.map(|caller| caller.account.clone()),
            caller: caller.map(|caller| caller.arn.clone()),
            region: target.region.clone(),
            cluster: target.cluster.clone(),
            endpoint: facts.cluster.value().and_then(|cluster| cluster.endpoint.clone()),
            kubernetes_version: facts.cluster.value().map(|cluster| cluster.version.clone()),
            products: target.products.clone(),
            stage: target.stage.clone(),
            karpenter_version: runs_karpenter.then(|| {
                let version = &target.karpenter_version;
                Sourced::new(version.value.to_string(), version.origin)
            }),
            controller_roles: target.controller_roles.clone(),
            node_roles: target.node_roles.iter().map(node_role).collect(),
            queues: queues(&target.queue),
            discovery_tag: target.discovery_tag.clone(),
            notes: notes(target),
        }
    }
}

impl Header {
    /// Says of the values that the configuration gave that it did. Where a value came from makes
    /// no difference to a check: both are what the user says.
    pub fn name_configured(&mut self, configured: &std::collections::BTreeSet<String>) {
        fn mark<T>(values: &mut [Sourced<T>]) {
            for value in values.iter_mut().filter(|value| value.origin == Origin::Flag) {
                value.origin = Origin::Configuration;
            }
        }
        for name in configured {
            match name.as_str() {
                "product" => mark(&mut self.products),
                "stage" => mark(std::slice::from_mut(&mut self.stage)),
                "karpenter_version" => mark(self.karpenter_version.as_mut_slice()),
                "controller_role" => mark(&mut self.controller_roles),
                "node_roles" => mark(&mut self.node_roles),
                "interruption_queue" => mark(&mut self.queues),
                "discovery_tag" => mark(std::slice::from_mut(&mut self.discovery_tag)),
                _ => {}
            }
        }
    }
}

fn notes(target: &Target) -> Vec<String> {
    let mut notes = target.notes.clone();
    if target.runs(Product::Karpenter) && target.queue == QueueTarget::NotSeen {
        notes.push(
            "whether an interruption queue exists under a usual name could not be read: say \
             which is used with --interruption-queue"
                .to_owned(),
        );
    }
    notes
}

fn node_role(role: &NodeRole) -> Sourced<String> {
    Sourced::new(role.name.clone(), role.origin)
}

fn queues(queue: &QueueTarget) -> Vec<Sourced<String>> {
    match queue {
        QueueTarget::Named(name) => vec![name.clone()],
        QueueTarget::Found(names) => {
            names.iter().map(|name| Sourced::new(name.clone(), Origin::UsualName)).collect()
        }
        QueueTarget::None | QueueTarget::NotSeen => Vec::new(),
    }
}
