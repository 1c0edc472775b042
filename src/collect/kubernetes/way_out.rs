//! What it means that the API server lets nobody in, and what to do about it: both depend on the
//! way that was taken.

use std::error::Error;

use crate::facts::kubernetes::Via;

/// A way that always goes: `kubectl` speaks with proxies, and this build with `kubectl proxy`.
pub const KUBECTL_PROXY: &str = "run `kubectl proxy` beside it, and name with --kubeconfig a file \
                                 whose server is http://127.0.0.1:8001";

/// The way that was taken, as far as it decides what to do.
pub struct WayOut {
    pub via: Via,
    /// The environment names a proxy, and this way goes without.
    pub proxy_left_out: bool,
}

impl WayOut {
    /// What 401 means.
    pub fn unauthorized(&self) -> String {
        let (whose, what) = match &self.via {
            Via::Kubeconfig { context } => (
                format!("the credentials of the kubeconfig's context {context}"),
                "They may have expired, or be another cluster's: log in again, or leave \
                 --kubeconfig and --context out to go with your AWS credentials",
            ),
            Via::InCluster => (
                "the token of the pod's service account".to_owned(),
                "It may have expired, or be another cluster's: start the pod anew",
            ),
            Via::AwsToken => (
                "your AWS credentials".to_owned(),
                "The caller needs an access entry of the cluster, or a line in the aws-auth \
                 ConfigMap; deploy/rbac.yaml says how. Temporary credentials may have expired",
            ),
        };
        format!("401 Unauthorized: the API server does not know {whose}. {what}")
    }

    /// Why nobody answered, in a line.
    pub fn no_connection(&self, error: &dyn Error) -> String {
        let why = why(error);
        if self.proxy_left_out {
            return format!(
                "{why}. HTTPS_PROXY is set, and this build does not go through proxies to the API \
                 server; {KUBECTL_PROXY}"
            );
        }
        why
    }
}

fn why(error: &dyn Error) -> String {
    let mut causes = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    let root = causes.last().cloned().unwrap_or_default();
    let says = |words: &str| causes.iter().any(|cause| cause.contains(words));
    if says("certificate") {
        format!(
            "its certificate is not one of the cluster's ({root}): another server or a proxy may \
             stand between, or the certificate authority that was given is another cluster's"
        )
    } else if says("deadline has elapsed") || says("timed out") {
        "no connection in time: the endpoint may be private, or a firewall lets nobody in from \
         here; run it inside of the VPC, or in a pod of the cluster"
            .to_owned()
    } else if says("dns error") || says("lookup address") {
        format!(
            "its name is not known here ({root}): the endpoint may be private to the VPC; run it \
             there, or in a pod of the cluster"
        )
    } else {
        format!("no connection: {root}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way_out(via: Via, proxy_left_out: bool) -> WayOut {
        WayOut { via, proxy_left_out }
    }

    #[test]
    fn every_way_has_its_own_way_out() {
        for (via, words) in [
            (Via::Kubeconfig { context: "prod".to_owned() }, ["context prod", "log in again"]),
            (Via::InCluster, ["service account", "start the pod anew"]),
            (Via::AwsToken, ["access entry", "deploy/rbac.yaml"]),
        ] {
            let said = way_out(via, false).unauthorized();
            assert!(words.iter().all(|word| said.contains(word)), "{said}");
        }
    }

    #[test]
    fn what_there_is_instead_of_an_answer() {
        for (error, proxy, words) in [
            ("deadline has elapsed", false, "inside of the VPC"),
            ("invalid peer certificate: UnknownIssuer", false, "(invalid peer certificate"),
            ("dns error: failed to lookup address information", false, "in a pod of the cluster"),
            ("Connection refused", false, "no connection: Connection refused"),
            ("deadline has elapsed", true, "HTTPS_PROXY is set"),
        ] {
            let said = way_out(Via::AwsToken, proxy).no_connection(&std::io::Error::other(error));
            assert!(said.contains(words), "{said}");
            assert_eq!(said.contains("kubectl proxy"), proxy, "{said}");
        }
    }
}
