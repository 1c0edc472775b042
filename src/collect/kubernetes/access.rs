//! How the API server is reached, and as whom.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use aws_config::SdkConfig;
use aws_sdk_sts::config::ProvideCredentials;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use kube::{
    Client, Config,
    config::{
        AuthInfo, Cluster as KubeCluster, Context, KubeConfigOptions, Kubeconfig, NamedAuthInfo,
        NamedCluster, NamedContext,
    },
};

use super::{
    proxy::{self, Proxy},
    token,
};
use crate::{
    collect::CannotRun,
    facts::{Fact, eks::Cluster, kubernetes::Via},
};

const CONNECT: Duration = Duration::from_secs(5);
/// What a fact calls it that everything else needs.
pub const ACTION: &str = "reach the API server (Kubernetes)";
const TOKEN_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/// What the user said of the way to the API server.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    pub kubeconfig: Option<PathBuf>,
    pub context: Option<String>,
}

/// The kubeconfig that the user named, read before anything is asked.
#[derive(Debug, Clone)]
pub struct Given {
    context: String,
    kubeconfig: Kubeconfig,
}

impl Given {
    /// The proxy that the context goes through.
    fn proxy(&self) -> Option<&str> {
        let contexts = &self.kubeconfig.contexts;
        let context = contexts.iter().find(|known| known.name == self.context);
        let cluster = context.and_then(|known| known.context.as_ref()).map(|known| &known.cluster);
        let mut clusters = self.kubeconfig.clusters.iter();
        let cluster = clusters.find(|known| Some(&known.name) == cluster);
        cluster.and_then(|known| known.cluster.as_ref()?.proxy_url.as_deref())
    }
}

/// The cluster as EKS describes it, with the certificate authority of its API server: PEM in
/// base64, which is needed to connect and for nothing else.
#[derive(Debug, Clone)]
pub struct Described {
    pub cluster: Fact<Cluster>,
    pub authority: Option<String>,
}

/// A way to the API server.
pub struct Way {
    pub client: Client,
    pub via: Via,
    pub server: String,
    /// What the proxy is called that it goes through.
    pub proxy: Option<String>,
}

/// The context of the kubeconfig that the flags name, if they do.
///
/// # Errors
/// Where there is no such file or context: whoever names one wants that one and no other.
pub fn given(flags: &Flags) -> Result<Option<Given>, CannotRun> {
    let read = match (&flags.kubeconfig, &flags.context) {
        (None, None) => return Ok(None),
        (Some(path), _) => Kubeconfig::read_from(path),
        // A context alone is one of the usual file.
        (None, Some(_)) => Kubeconfig::read(),
    };
    let no_use = |message: String| CannotRun::Kubeconfig { message };
    let kubeconfig = read.map_err(|error| no_use(error.to_string()))?;
    let context = flags.context.clone().or_else(|| kubeconfig.current_context.clone());
    let context = context
        .filter(|context| !context.is_empty())
        .ok_or_else(|| no_use("it has no current context: name one with --context".to_owned()))?;
    if !kubeconfig.contexts.iter().any(|known| known.name == context) {
        let known: Vec<_> = kubeconfig.contexts.iter().map(|known| known.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(no_use(format!("it has no context `{context}`; there are: {known}")));
    }
    Ok(Some(Given { context, kubeconfig }))
}

/// The way to the API server: as the user said, else as the pod that this runs in, else with a
/// token made from the AWS credentials.
pub async fn way(
    given: Option<Given>,
    described: &Described,
    aws: &SdkConfig,
    region: &str,
) -> Fact<Way> {
    if let Some(given) = given {
        let through = given.proxy().map(str::to_owned);
        let options =
            KubeConfigOptions { context: Some(given.context.clone()), ..Default::default() };
        let config = Config::from_custom_kubeconfig(given.kubeconfig, &options).await;
        let via = Via::Kubeconfig { context: given.context };
        return match config {
            Ok(config) => {
                let proxy = proxy::to(&config.cluster_url, through.as_deref());
                connect(config, via, proxy).await
            }
            Err(error) => failed(format!("the kubeconfig cannot be used: {error}")),
        };
    }
    let issuer = described.cluster.value().and_then(|cluster| cluster.oidc_issuer.as_deref());
    if runs_in(issuer)
        && let Ok(config) = Config::incluster()
    {
        return connect(config, Via::InCluster, Ok(None)).await;
    }
    match &described.cluster {
        Fact::Known(cluster) => {
            with_token(cluster, described.authority.as_deref(), aws, region).await
        }
        unseen => unseen.clone().and_then(|_| failed(String::new())),
    }
}

/// Whether this runs in a pod of the cluster with this issuer: the pod's own token names its
/// issuer, and a pod of another cluster must not be taken for one of this.
fn runs_in(issuer: Option<&str>) -> bool {
    let own = fs::read_to_string(TOKEN_FILE).ok();
    let own = own.as_deref().and_then(issuer_of);
    own.is_some() && own.as_deref() == issuer
}

/// The `iss` of a JSON web token.
fn issuer_of(token: &str) -> Option<String> {
    let payload = BASE64_URL_SAFE_NO_PAD.decode(token.trim().split('.').nth(1)?).ok()?;
    let payload: serde_json::Value = serde_json::from_slice(&payload).ok()?;
    payload["iss"].as_str().map(str::to_owned)
}

async fn with_token(
    cluster: &Cluster,
    authority: Option<&str>,
    aws: &SdkConfig,
    region: &str,
) -> Fact<Way> {
    let Some(endpoint) = &cluster.endpoint else {
        return failed("eks:DescribeCluster names no endpoint: is the cluster still being made?");
    };
    let Some(provider) = aws.credentials_provider() else {
        return failed("there are no AWS credentials to make a token from");
    };
    let credentials = match provider.provide_credentials().await {
        Ok(credentials) => credentials,
        Err(error) => return failed(format!("no AWS credentials to make a token from: {error}")),
    };
    let signed = token::token(&credentials, &cluster.name, region, SystemTime::now());
    let token = match signed {
        Ok(token) => token,
        Err(error) => return failed(format!("no token could be made for the cluster: {error}")),
    };
    let server = KubeCluster {
        server: Some(endpoint.clone()),
        certificate_authority_data: authority.map(str::to_owned),
        ..Default::default()
    };
    let caller = AuthInfo { token: Some(token.into()), ..Default::default() };
    match Config::from_custom_kubeconfig(one_context(server, caller), &Default::default()).await {
        Ok(config) => {
            let proxy = proxy::to(&config.cluster_url, None);
            connect(config, Via::AwsToken, proxy).await
        }
        Err(error) => failed(format!("what eks:DescribeCluster says cannot be used: {error}")),
    }
}

/// A kubeconfig with nothing but this cluster and this caller.
fn one_context(cluster: KubeCluster, caller: AuthInfo) -> Kubeconfig {
    let name = "eks".to_owned();
    let context = Context { cluster: name.clone(), user: Some(name.clone()), ..Default::default() };
    Kubeconfig {
        clusters: vec![NamedCluster {
            name: name.clone(),
            cluster: Some(cluster),
            other: Default::default(),
        }],
        auth_infos: vec![NamedAuthInfo {
            name: name.clone(),
            auth_info: Some(caller),
            other: Default::default(),
        }],
        contexts: vec![NamedContext {
            name: name.clone(),
            context: Some(context),
            other: Default::default(),
        }],
        current_context: Some(name),
        ..Default::default()
    }
}

/// Makes the client. A kubeconfig may name a program that prints credentials, which is waited
/// for off the threads that serve the other calls.
async fn connect(mut config: Config, via: Via, proxy: Result<Option<Proxy>, String>) -> Fact<Way> {
    config.connect_timeout = Some(CONNECT);
    // The asker repeats, within the run's time.
    config.default_retry = false;
    let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
    let proxy = match proxy {
        Ok(proxy) => proxy,
        Err(why) => return failed(format!("there is no way to {server}: {why}")),
    };
    config.proxy_url = proxy.as_ref().map(|proxy| proxy.uri.clone());
    let proxy = proxy.map(|proxy| proxy.name);
    match tokio::task::spawn_blocking(move || Client::try_from(config)).await {
        Ok(Ok(client)) => Fact::Known(Way { client, via, server, proxy }),
        Ok(Err(error)) => failed(format!("no connection to {server} could be set up: {error}")),
        Err(error) => failed(format!("no connection to {server} could be set up: {error}")),
    }
}

pub fn failed<T>(message: impl Into<String>) -> Fact<T> {
    Fact::Failed { action: ACTION.to_owned(), message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_issuer_of_a_pods_token() {
        let issuer = "https://oidc.eks.us-west-2.amazonaws.com/id/EXAMPLE";
        let payload = BASE64_URL_SAFE_NO_PAD.encode(format!(r#"{{"iss":"{issuer}","sub":"a"}}"#));
        assert_eq!(issuer_of(&format!("e30.{payload}.sig\n")).as_deref(), Some(issuer));
        for token in ["", "a.b.c", "e30.e30.sig"] {
            assert_eq!(issuer_of(token), None, "{token}");
        }
    }
}
