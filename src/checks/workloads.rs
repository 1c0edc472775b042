//! What the checks of workloads share: which pods count, and how many of them are named.

use super::{
    Context, Stop,
    remedies::{listed, quote},
};
use crate::facts::kubernetes::workloads::{Named, Owner, Pods, Workload, Workloads};

/// Namespaces of what EKS and AWS's add-ons bring along; nobody chose their pods' settings.
const SYSTEM: &[&str] = &[
    "kube-system",
    "kube-node-lease",
    "kube-public",
    "amazon-cloudwatch",
    "amazon-guardduty",
    "aws-observability",
    "aws-mountpoint-s3-csi-driver",
    "mount-s3",
];

pub fn workloads<'a>(cx: &Context<'a>) -> Result<&'a Workloads, Stop> {
    Ok(&cx.kubernetes()?.workloads)
}

pub fn pods<'a>(cx: &Context<'a>) -> Result<&'a Pods, Stop> {
    Ok(workloads(cx)?.pods.known()?)
}

/// The pods, where it is known too which of them are on Karpenter's nodes.
pub fn placed_pods<'a>(cx: &Context<'a>) -> Result<&'a Pods, Stop> {
    let pods = pods(cx)?;
    cx.kubernetes()?.nodes.known()?;
    if pods.nodes_known {
        Ok(pods)
    } else {
        Err(Stop::unknown("the nodes that the pods are on were not read"))
    }
}

/// Whether a namespace is EKS's, AWS's or Karpenter's own.
pub fn is_system(cx: &Context<'_>, namespace: &str) -> bool {
    SYSTEM.contains(&namespace) || namespace == cx.target.namespace.value
}

/// Some workloads, each with how many of its pods are meant, the most first.
pub struct Tally<'a> {
    pub of: Vec<(&'a Workload, u32)>,
}

impl<'a> Tally<'a> {
    /// The workloads of which `count` counts any pod.
    pub fn new(pods: &'a Pods, count: impl Fn(&Workload) -> u32) -> Self {
        let counted = pods.workloads.iter().map(|workload| (workload, count(workload)));
        let mut of: Vec<_> = counted.filter(|(_, count)| *count > 0).collect();
        of.sort_by(|(a, many), (b, more)| more.cmp(many).then(a.owner.cmp(&b.owner)));
        Self { of }
    }

    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    pub fn pods(&self) -> u32 {
        self.of.iter().map(|(_, count)| count).sum()
    }

    /// Such as `Deployment shop/web (300), DaemonSet shop/agent (12) and 40 more`.
    pub fn listed(&self) -> String {
        let words: Vec<_> =
            self.of.iter().map(|(w, count)| format!("{} ({count})", w.owner.words())).collect();
        listed(&words)
    }

    /// The namespaces, those with the most pods first.
    pub fn namespaces(&self) -> Vec<&'a str> {
        let mut namespaces: Vec<(&str, u32)> = Vec::new();
        for (workload, count) in &self.of {
            let namespace = workload.owner.namespace.as_str();
            match namespaces.iter_mut().find(|(name, _)| *name == namespace) {
                Some((_, sum)) => *sum += count,
                None => namespaces.push((namespace, *count)),
            }
        }
        namespaces.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
        namespaces.into_iter().map(|(name, _)| name).collect()
    }
}

/// `1 pod`, `12 pods`.
pub fn counted(count: u32, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        many => format!("{many} {thing}s"),
    }
}

/// The first few names, and how many more there are.
pub fn first_few(named: &Named) -> String {
    let rest = usize::try_from(named.count).unwrap_or(usize::MAX).saturating_sub(named.names.len());
    match (named.names.as_slice(), rest) {
        ([], _) => named.count.to_string(),
        (names, 0) => listed(names),
        (names, rest) => format!("{} and {rest} more", names.join(", ")),
    }
}

/// The command that opens a workload for changes; where it stands for many that were not kept
/// one by one, the one that lists those of its kind.
pub fn edit(owner: &Owner) -> String {
    let kind = quote(&owner.kind.to_ascii_lowercase());
    let namespace = quote(&owner.namespace);
    match owner.name.as_str() {
        "" => format!("kubectl get {kind} --namespace {namespace}"),
        name => format!("kubectl edit {kind} {} --namespace {namespace}", quote(name)),
    }
}

/// `namespace/name` in two words for kubectl: the name, and ` --namespace <namespace>`.
pub fn place(named: &str) -> (String, String) {
    match named.split_once('/') {
        Some((namespace, name)) => (quote(name), format!(" --namespace {}", quote(namespace))),
        None => (quote(named), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_many_is_listed_and_not_opened() {
        let owner = |name: &str| Owner {
            namespace: "shop".to_owned(),
            kind: "Deployment".to_owned(),
            name: name.to_owned(),
        };
        assert_eq!(edit(&owner("web")), "kubectl edit deployment web --namespace shop");
        assert_eq!(edit(&owner("")), "kubectl get deployment --namespace shop");
    }
}
