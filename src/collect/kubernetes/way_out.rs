//! What it means that the API server lets nobody in, and what to do about it: both depend on the
//! way that was taken.

use std::{error::Error, iter};

use crate::facts::kubernetes::Via;

/// The way that was taken, as far as it decides what to do.
pub struct WayOut {
    pub via: Via,
    /// What the proxy is called that the way goes through.
    pub proxy: Option<String>,
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
        let causes = causes(error);
        match &self.proxy {
            Some(proxy) => why_not_through(proxy, &causes),
            None => why(&causes),
        }
    }
}

/// The error and what is behind it, the root last.
fn causes(error: &dyn Error) -> Vec<String> {
    iter::successors(Some(error), |&error| error.source()).map(ToString::to_string).collect()
}

fn says(causes: &[String], words: &str) -> bool {
    causes.iter().any(|cause| cause.contains(words))
}

fn why(causes: &[String]) -> String {
    let root = causes.last().cloned().unwrap_or_default();
    if says(causes, "certificate") {
        format!(
            "its certificate is not one of the cluster's ({root}): another server or a proxy may \
             stand between, or the certificate authority that was given is another cluster's"
        )
    } else if says(causes, "deadline has elapsed") || says(causes, "timed out") {
        "no connection in time: the endpoint may be private, or a firewall lets nobody in from \
         here; run it inside of the VPC, or in a pod of the cluster"
            .to_owned()
    } else if says(causes, "dns error") || says(causes, "lookup address") {
        format!(
            "its name is not known here ({root}): the endpoint may be private to the VPC; run it \
             there, or in a pod of the cluster"
        )
    } else {
        format!("no connection: {root}")
    }
}

/// Where a proxy is between, its refusal has to be told from its absence.
fn why_not_through(proxy: &str, causes: &[String]) -> String {
    let root = causes.last().cloned().unwrap_or_default();
    if says(causes, "certificate") {
        return format!("through {proxy}: {}", why(causes));
    }
    let what = if says(causes, "proxy authorization required") {
        "it asks for a name and a password (407), or does not take the ones that its address holds"
            .to_owned()
    } else if says(causes, "tunnel error: unsuccessful") {
        "it does not connect to the API server: it may not be allowed to, or may not reach a \
         private endpoint; name the server in NO_PROXY where it is reached without"
            .to_owned()
    } else if says(causes, "failed to create underlying connection") {
        format!("it is not reached ({root})")
    } else if says(causes, "deadline has elapsed") || says(causes, "timed out") {
        "no connection in time: neither it nor the API server behind it answers".to_owned()
    } else {
        format!("no connection: {root}")
    };
    format!("through {proxy}: {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way_out(via: Via, proxy: Option<&str>) -> WayOut {
        WayOut { via, proxy: proxy.map(str::to_owned) }
    }

    #[test]
    fn every_way_has_its_own_way_out() {
        for (via, words) in [
            (Via::Kubeconfig { context: "prod".to_owned() }, ["context prod", "log in again"]),
            (Via::InCluster, ["service account", "start the pod anew"]),
            (Via::AwsToken, ["access entry", "deploy/rbac.yaml"]),
        ] {
            let said = way_out(via, None).unauthorized();
            assert!(words.iter().all(|word| said.contains(word)), "{said}");
        }
    }

    #[test]
    fn what_there_is_instead_of_an_answer() {
        for (error, words) in [
            ("deadline has elapsed", "inside of the VPC"),
            ("invalid peer certificate: UnknownIssuer", "(invalid peer certificate"),
            ("dns error: failed to lookup address information", "in a pod of the cluster"),
            ("Connection refused", "no connection: Connection refused"),
        ] {
            let error = std::io::Error::other(error);
            let said = way_out(Via::AwsToken, None).no_connection(&error);
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn what_a_proxy_answers_instead() {
        const PROXY: &str = "the proxy http://proxy:3128 (HTTPS_PROXY)";
        for (error, words) in [
            ("tunnel error: proxy authorization required", "a name and a password (407)"),
            ("tunnel error: unsuccessful", "NO_PROXY"),
            ("tunnel error: failed to create underlying connection", "it is not reached"),
            ("deadline has elapsed", "neither it nor the API server"),
            ("invalid peer certificate: UnknownIssuer", "its certificate is not one"),
            ("unexpected end of file", "no connection: unexpected end"),
        ] {
            let error = std::io::Error::other(error);
            let said = way_out(Via::AwsToken, Some(PROXY)).no_connection(&error);
            assert!(said.starts_with(&format!("through {PROXY}: ")), "{said}");
            assert!(said.contains(words), "{said}");
        }
    }
}
