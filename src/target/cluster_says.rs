//! What the cluster itself says of Karpenter: its settings, its version, its roles.

use std::collections::BTreeMap;

use super::{Origin, Product, Scope, Sourced, Target};
use crate::{
    facts::{
        arn,
        kubernetes::{
            Kubernetes,
            controller::{Deployment, ServiceAccount},
        },
    },
    requirements::version::KarpenterVersion,
};

/// The Deployment that is judged: the one that the user's words fit, else the one that is set
/// for this cluster, else the first; one that runs before one that is scaled to nothing.
pub fn controller<'a>(scope: &Scope, kubernetes: &'a Kubernetes) -> Option<&'a Deployment> {
    let found = kubernetes.controllers.value()?;
    choose(found, scope.namespace.as_deref(), scope.service_account.as_deref(), &scope.cluster)
}

/// The same among these, for a target that is resolved.
pub fn judged<'a>(target: &Target, found: &'a [Deployment]) -> Option<&'a Deployment> {
    fn flag(value: &Sourced<String>) -> Option<&str> {
        (value.origin == Origin::Flag).then_some(value.value.as_str())
    }
    choose(found, flag(&target.namespace), flag(&target.service_account), &target.cluster)
}

fn choose<'a>(
    found: &'a [Deployment],
    namespace: Option<&str>,
    service_account: Option<&str>,
    cluster: &str,
) -> Option<&'a Deployment> {
    let fits = |said: Option<&str>, is: &str| said.is_none_or(|said| said == is);
    found.iter().min_by_key(|one| {
        (
            !fits(namespace, &one.meta.namespace),
            !fits(service_account, &one.service_account),
            one.replicas == 0,
            cluster_name(one).is_some_and(|name| name != cluster),
        )
    })
}

/// The version that it runs: the image's tag, or where that is no version the label.
pub fn version(deployment: &Deployment) -> Option<KarpenterVersion> {
    let image = deployment.image.split('@').next().unwrap_or_default();
    let name = image.rsplit('/').next().unwrap_or_default();
    let tag = name.split_once(':').map(|(_, tag)| tag);
    let label = deployment.labels.get("app.kubernetes.io/version").map(String::as_str);
    let parse = |text: &str| text.trim_start_matches('v').parse().ok();
    tag.and_then(parse).or_else(|| label.and_then(parse))
}

/// `settings.clusterName`.
pub fn cluster_name(deployment: &Deployment) -> Option<String> {
    setting(deployment, "CLUSTER_NAME")
}

/// `settings.interruptionQueue`.
pub fn queue(deployment: &Deployment) -> Option<String> {
    setting(deployment, "INTERRUPTION_QUEUE")
}

/// A setting by the name of its environment variable. A flag wins over the environment, as in
/// Karpenter, and an empty value is none.
pub fn setting(deployment: &Deployment, name: &str) -> Option<String> {
    let flag = name.to_ascii_lowercase().replace('_', "-");
    let mut args = deployment.args.iter();
    let mut given = None;
    while let Some(arg) = args.next() {
        let Some(rest) = arg.trim_start_matches('-').strip_prefix(&flag) else { continue };
        given = match rest.strip_prefix('=') {
            Some(value) => Some(value.to_owned()),
            None if rest.is_empty() => args.next().cloned(),
            None => continue,
        };
    }
    let value = given.or_else(|| deployment.env.get(name).cloned());
    value.filter(|value| !value.is_empty())
}

/// The service account that a Deployment runs with.
pub fn service_account<'a>(
    kubernetes: &'a Kubernetes,
    deployment: &Deployment,
) -> Option<&'a ServiceAccount> {
    kubernetes.service_accounts.value()?.iter().find(|account| {
        account.meta.namespace == deployment.meta.namespace
            && account.meta.name == deployment.service_account
    })
}

/// The ARNs of the roles that the service account is annotated with, or else that its pods
/// were given, or that the Deployment itself names.
pub fn controller_roles(kubernetes: &Kubernetes, deployment: &Deployment) -> Vec<Sourced<String>> {
    let annotated = service_account(kubernetes, deployment)
        .and_then(|account| account.annotations.get("eks.amazonaws.com/role-arn"))
        .filter(|role| !role.is_empty());
    if let Some(role) = annotated {
        return vec![Sourced::new(role.clone(), Origin::ServiceAccount)];
    }
    let pods = kubernetes.controller_pods.value().into_iter().flatten().filter(|pod| {
        pod.meta.namespace == deployment.meta.namespace
            && pod.service_account == deployment.service_account
    });
    let environments = pods.map(|pod| &pod.env).chain([&deployment.env]);
    let role = environments.filter_map(|env| env.get("AWS_ROLE_ARN")).find(|role| !role.is_empty());
    role.map(|role| Sourced::new(role.clone(), Origin::Deployment)).into_iter().collect()
}

/// The roles that NodeClasses give to nodes, each once, as they are written there: names, and
/// sometimes ARNs.
pub fn node_roles(kubernetes: &Kubernetes) -> Vec<(String, Product)> {
    let mut roles = BTreeMap::new();
    for (classes, product) in [
        (&kubernetes.ec2_node_classes, Product::Karpenter),
        (&kubernetes.auto_node_classes, Product::AutoMode),
    ] {
        for class in classes.value().into_iter().flatten() {
            if let Some(role) = &class.role {
                roles.insert((product, arn::role_name(role).to_owned()), role.clone());
            }
        }
    }
    roles.into_iter().map(|((product, _), role)| (role, product)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_flags_and_environment() {
        let mut deployment = Deployment::default();
        deployment.env.insert("CLUSTER_NAME".to_owned(), "env".to_owned());
        deployment.env.insert("INTERRUPTION_QUEUE".to_owned(), String::new());
        assert_eq!(cluster_name(&deployment).as_deref(), Some("env"));
        assert_eq!(queue(&deployment), None);
        for args in [vec!["--cluster-name=flag"], vec!["-cluster-name", "flag"]] {
            deployment.args = args.into_iter().map(str::to_owned).collect();
            assert_eq!(cluster_name(&deployment).as_deref(), Some("flag"));
        }
        deployment.args = vec!["--cluster-name-of-another=x".to_owned()];
        assert_eq!(cluster_name(&deployment).as_deref(), Some("env"));
    }

    #[test]
    fn versions_of_images_and_labels() {
        for (image, label, expected) in [
            ("public.ecr.aws/karpenter/controller:1.6.2@sha256:0", "1.14.1", Some("1.6.2")),
            ("public.ecr.aws/karpenter/controller:v0.32.10", "", Some("0.32.10")),
            ("registry:5000/karpenter", "1.6.2", Some("1.6.2")),
            ("registry/karpenter:abc123", "1.6.2", Some("1.6.2")),
            ("registry/karpenter:latest", "", None),
        ] {
            let labels = [("app.kubernetes.io/version".to_owned(), label.to_owned())];
            let deployment = Deployment {
                image: image.to_owned(),
                labels: labels.into(),
                ..Deployment::default()
            };
            let found = version(&deployment).map(|version| version.to_string());
            assert_eq!(found.as_deref(), expected, "{image}");
        }
    }
}
