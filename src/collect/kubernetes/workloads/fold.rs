//! Folds pods by their owner: of 100,000 pods what is kept is about as long as the list of
//! Deployments.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{
    lists::Budget,
    pod::{OwnerReference, Pod},
    requests::{requests, written},
};
use crate::{
    collect::kubernetes::wire,
    facts::kubernetes::{
        Meta,
        controller::Toleration,
        node::Node,
        workloads::{
            DisruptionBudget, NAMES, NodeUse, Owner, PENDING, PENDING_OF_ONE, PendingPod, Pods,
            WORKLOADS, Windows, Workload,
        },
    },
};

/// Pods, while they are read.
pub struct Fold {
    pods: Pods,
    at: HashMap<Owner, usize>,
    /// Nodes that are Karpenter's, by name.
    karpenter: HashSet<String>,
    budgets: BTreeMap<String, Vec<Budget>>,
    budget_nodes: HashMap<(String, String), HashSet<String>>,
    /// Claims of a workload on a node.
    claims: HashMap<(usize, String), u32>,
    /// Nodes that a workload keeps.
    kept: HashSet<(usize, String)>,
}

impl Fold {
    pub fn new(nodes: Option<&[Node]>, budgets: &[Budget]) -> Self {
        let karpenter = nodes.unwrap_or_default().iter();
        let karpenter = karpenter.filter(|node| node.labels.contains_key("karpenter.sh/nodepool"));
        let mut by_namespace: BTreeMap<String, Vec<Budget>> = BTreeMap::new();
        for budget in budgets {
            by_namespace
                .entry(budget.budget.meta.namespace.clone())
                .or_default()
                .push(budget.clone());
        }
        Self {
            pods: Pods { nodes_known: nodes.is_some(), ..Pods::default() },
            at: HashMap::new(),
            karpenter: karpenter.map(|node| node.meta.name.clone()).collect(),
            budgets: by_namespace,
            budget_nodes: HashMap::new(),
            claims: HashMap::new(),
            kept: HashSet::new(),
        }
    }

    pub fn add(&mut self, pod: Pod) {
        // The server leaves them out; one that does not know the field selector may not.
        if matches!(pod.status.phase.as_str(), "Succeeded" | "Failed") {
            return;
        }
        self.pods.total += 1;
        let owner = owner(&pod);
        let at = self.workload(&owner);
        let asked = requests(&pod);
        let node = pod.spec.node_name.as_str();
        if self.karpenter.contains(node) {
            self.on_karpenter(at, &pod);
        } else if !node.is_empty() && self.pods.nodes_known {
            let used = self.pods.node_use.entry(node.to_owned()).or_default();
            add_use(used, &asked);
        }
        self.add_claims(at, &pod);
        let workload = &mut self.pods.workloads[at];
        fill(workload, &pod, &asked);
        if node.is_empty() && pod.metadata.deletion_timestamp.is_none() {
            workload.pending += 1;
            self.pods.pending_total += 1;
            let few = workload.pending as usize <= PENDING_OF_ONE;
            if few && self.pods.pending.len() < PENDING {
                self.pods.pending.push(pending(pod, owner, asked));
            }
        }
    }

    /// Where the workload of this owner is; beyond a bound, where others of its kind are.
    fn workload(&mut self, owner: &Owner) -> usize {
        if let Some(at) = self.at.get(owner) {
            return *at;
        }
        if self.pods.workloads.len() >= WORKLOADS && !owner.name.is_empty() {
            return self.workload(&Owner { name: String::new(), ..owner.clone() });
        }
        let at = self.pods.workloads.len();
        self.pods.workloads.push(Workload { owner: owner.clone(), ..Workload::default() });
        self.at.insert(owner.clone(), at);
        at
    }

    fn on_karpenter(&mut self, at: usize, pod: &Pod) {
        let node = &pod.spec.node_name;
        let workload = &mut self.pods.workloads[at];
        workload.on_karpenter += 1;
        if pod.metadata.annotations.do_not_disrupt == "true" {
            workload.do_not_disrupt.add(|| pod.named());
            if self.kept.insert((at, node.clone())) {
                workload.kept_nodes += 1;
            }
        }
        let Some(budgets) = self.budgets.get_mut(&pod.metadata.namespace) else { return };
        let takes = |budget: &&mut Budget| {
            budget.selector.as_ref().is_some_and(|selector| selector.takes(&pod.metadata.labels))
        };
        let mut taken: Vec<_> = budgets.iter_mut().filter(takes).collect();
        if taken.len() > 1 {
            self.pods.of_two_budgets.add(|| pod.named());
        }
        for Budget { budget, .. } in taken.iter_mut().filter(|budget| budget.blocks) {
            budget.pods.add(|| pod.named());
            let key = (budget.meta.namespace.clone(), budget.meta.name.clone());
            if self.budget_nodes.entry(key).or_default().insert(node.clone()) {
                budget.nodes += 1;
            }
        }
    }

    fn add_claims(&mut self, at: usize, pod: &Pod) {
        let claims = pod.claims();
        if claims == 0 {
            return;
        }
        let workload = &mut self.pods.workloads[at];
        workload.with_claims += 1;
        let node = &pod.spec.node_name;
        if !node.is_empty() {
            let on_node = self.claims.entry((at, node.clone())).or_default();
            *on_node += claims;
            workload.claims_on_one_node = workload.claims_on_one_node.max(*on_node);
        }
    }

    pub fn finish(self) -> (Pods, Vec<DisruptionBudget>) {
        let mut pods = self.pods;
        pods.workloads.sort_by(|a, b| a.owner.cmp(&b.owner));
        let budgets = self.budgets.into_values().flatten().filter(|budget| budget.blocks);
        (pods, budgets.map(|budget| budget.budget).collect())
    }
}

fn add_use(used: &mut NodeUse, asked: &BTreeMap<String, u64>) {
    let of = |resource| asked.get(resource).copied().unwrap_or_default();
    used.pods += 1;
    used.cpu += of("cpu");
    used.memory += of("memory").div_ceil(1000);
}

fn fill(workload: &mut Workload, pod: &Pod, asked: &BTreeMap<String, u64>) {
    workload.pods.add(|| pod.named());
    let asks = |resource| asked.get(resource).is_some_and(|milli| *milli > 0);
    if !asks("cpu") || !asks("memory") {
        workload.without_requests += 1;
    }
    workload.spread |= pod.is_spread();
    add_oom(workload, pod);
    if pod.is_windows() {
        let windows = workload.windows.get_or_insert_default();
        add_windows(windows, pod);
    }
}

fn add_oom(workload: &mut Workload, pod: &Pod) {
    let ends = pod.status.container_statuses.iter().filter_map(|status| {
        let states = [&status.state, &status.last_state];
        let killed = states.into_iter().filter_map(|state| state.terminated.as_ref());
        let mut killed = killed.filter(|end| end.reason == "OOMKilled");
        killed.next().map(|end| (status, end.finished_at))
    });
    let Some((status, at)) = ends.max_by_key(|(_, at)| *at) else { return };
    let oom = &mut workload.oom_killed;
    oom.pods.add(|| pod.named());
    if oom.latest.is_none() || oom.latest < at {
        oom.latest = at;
        oom.container.clone_from(&status.name);
        let container = pod.spec.containers.iter().find(|found| found.name == status.name);
        let limit = container.and_then(|container| container.resources.limits.get("memory"));
        oom.limit = limit.map(|limit| match limit {
            wire::Quantity::Text(text) => text.clone(),
            wire::Quantity::Number(number) => number.to_string(),
        });
    }
}

fn add_windows(windows: &mut Windows, pod: &Pod) {
    const BUILD: &str = "node.kubernetes.io/windows-build";
    windows.builds.extend(pod.spec.node_selector.get(BUILD).cloned());
    let required =
        &pod.spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution;
    let terms = required.node_selector_terms.iter().flat_map(|term| &term.match_expressions);
    let builds = terms.filter(|term| term.key == BUILD && term.operator == "In");
    windows.builds.extend(builds.flat_map(|term| term.values.clone()));
    for container in &pod.spec.containers {
        if windows.images.len() < NAMES {
            windows.images.insert(container.image.clone());
        }
    }
}

/// What makes the pod again. A ReplicaSet is a Deployment's and a Job a CronJob's where its name
/// says so.
fn owner(pod: &Pod) -> Owner {
    let references = &pod.metadata.owner_references;
    let reference = references.iter().find(|owner| owner.controller).or(references.first());
    let (kind, name) = match reference {
        None => ("Pod", pod.metadata.name.as_str()),
        Some(OwnerReference { kind, name, .. }) => match kind.as_str() {
            "ReplicaSet" => of_replica_set(pod, name),
            "Job" => of_job(name),
            kind => (kind, name.as_str()),
        },
    };
    Owner {
        namespace: pod.metadata.namespace.clone(),
        kind: kind.to_owned(),
        name: name.to_owned(),
    }
}

fn of_replica_set<'a>(pod: &Pod, name: &'a str) -> (&'static str, &'a str) {
    let hash = pod.metadata.labels.get("pod-template-hash");
    let deployment = hash
        .and_then(|hash| name.strip_suffix(hash.as_str()))
        .and_then(|name| name.strip_suffix('-'));
    deployment.map_or(("ReplicaSet", name), |deployment| ("Deployment", deployment))
}

/// A CronJob's Jobs end in the minute for which they were made, since 1970.
fn of_job(name: &str) -> (&'static str, &str) {
    match name.rsplit_once('-') {
        Some((cron_job, minute))
            if minute.len() >= 8 && minute.bytes().all(|b| b.is_ascii_digit()) =>
        {
            ("CronJob", cron_job)
        }
        _ => ("Job", name),
    }
}

fn pending(pod: Pod, owner: Owner, asked: BTreeMap<String, u64>) -> PendingPod {
    let condition = pod.condition("PodScheduled");
    let of =
        |text: fn(&wire::Condition) -> &String| condition.map(text).cloned().unwrap_or_default();
    let (reason, message) = (of(|found| &found.reason), of(|found| &found.message));
    let since = condition.and_then(|found| found.last_transition_time);
    let required = pod.spec.affinity.node_affinity;
    let terms = required.required_during_scheduling_ignored_during_execution.node_selector_terms;
    let terms = terms.into_iter().map(|term| wire::requirements(term.match_expressions));
    let tolerations = pod.spec.tolerations.into_iter().map(|toleration| Toleration {
        key: toleration.key,
        operator: toleration.operator,
        value: toleration.value,
        effect: toleration.effect,
    });
    PendingPod {
        meta: Meta {
            name: pod.metadata.name,
            namespace: pod.metadata.namespace,
            created: pod.metadata.creation_timestamp,
            ..Meta::default()
        },
        owner,
        reason,
        message,
        since,
        node_selector: pod.spec.node_selector,
        required_node_affinity: terms.collect(),
        tolerations: tolerations.collect(),
        requests: asked.into_iter().map(|(resource, milli)| (resource, written(milli))).collect(),
    }
}
