//! Reading the cluster itself: one file a kind of object, over one narrow client.
//!
//! Only get and list are sent, and for `--prove` one request for a token. `deploy/rbac.yaml` is
//! exactly what is asked for else, and a test holds it to that. Lists come page by page, and what is
//! kept of an item is what a check reads: what there are thousands of is folded while it is read
//! ([`server::ApiServer::fold`]).

pub mod access;
mod answer;
mod auth;
mod cni;
mod controller;
mod kind;
mod node;
mod node_class;
mod node_pool;
mod pod;
mod proxy;
mod server;
pub mod service_account;
mod storage;
mod token;
mod way_out;
mod webhooks;
mod wire;
mod workloads;

use aws_config::SdkConfig;
use serde::Deserialize;
use tokio::{join, time::timeout_at};

use super::{CannotRun, ask::Asker, call_log::CallLog};
use crate::facts::{
    Fact,
    kubernetes::{Access, Kubernetes, node_class::NodeClass},
};
use access::{Described, Flags, Given};
pub use server::ApiServer;
use way_out::WayOut;

/// How the API server will be reached.
pub struct Reach {
    given: Option<Given>,
    aws: SdkConfig,
    asker: Asker,
    log: CallLog,
}

impl Reach {
    /// # Errors
    /// Where the kubeconfig that the flags name cannot be used.
    pub fn new(
        flags: &Flags,
        aws: &SdkConfig,
        asker: Asker,
        log: &CallLog,
    ) -> Result<Self, CannotRun> {
        let given = access::given(flags)?;
        Ok(Self { given, aws: aws.clone(), asker, log: log.clone() })
    }

    pub fn asker(&self) -> &Asker {
        &self.asker
    }

    /// The API server of the cluster, and how it is reached. Nothing was asked of it yet.
    pub async fn server(&self, described: &Described, region: &str) -> Fact<(ApiServer, Access)> {
        let (deadline, limit) = self.asker.time();
        let way = access::way(self.given.clone(), described, &self.aws, region);
        let way = timeout_at(deadline, way).await.unwrap_or_else(|_| {
            access::failed(format!(
                "no credentials for it within the run's {} seconds",
                limit.as_secs()
            ))
        });
        way.map(|way| {
            let way_out = WayOut { via: way.via.clone(), proxy: way.proxy };
            let server = ApiServer::new(way.client, way_out, self.log.clone(), limit, deadline);
            (server, Access { via: way.via, server: way.server, version: None })
        })
    }
}

/// Reads everything. `on_controllers` and `on_node_classes` go on with what the first of the
/// reads say, while the others are under way.
pub async fn read<T, U>(
    server: &ApiServer,
    access: Access,
    on_controllers: impl AsyncFnOnce(&Kubernetes) -> T,
    on_node_classes: impl AsyncFnOnce(&Kubernetes) -> U,
) -> (Kubernetes, T, U) {
    let (
        (controllers, of_controllers),
        (node_classes, of_node_classes),
        version,
        aws_auth,
        crds,
        webhooks,
        claims,
        nodes,
        cni,
        storage,
    ) = join!(
        of_controllers(server, on_controllers),
        of_node_classes(server, on_node_classes),
        server.read::<Version>("get /version (Kubernetes)", "/version"),
        auth::aws_auth(server),
        node_pool::crds(server),
        webhooks::webhooks(server),
        node_pool::node_claims(server),
        async {
            let nodes = node::nodes(server).await;
            let workloads = workloads::read(server, &nodes).await;
            (nodes, workloads)
        },
        async { join!(cni::cni(server), cni::eni_configs(server), cni::windows_ipam(server)) },
        storage::read(server),
    );
    let kubernetes = Kubernetes {
        access: reached(server, access, version),
        aws_auth,
        crds,
        webhooks: webhooks.0,
        gatekeepers: webhooks.1,
        node_pools: node_classes.node_pools,
        node_claims: claims,
        nodes: nodes.0,
        workloads: nodes.1,
        storage,
        cni: cni.0,
        eni_configs: cni.1,
        windows_ipam: cni.2,
        ec2_node_classes: node_classes.ec2_node_classes,
        auto_node_classes: node_classes.auto_node_classes,
        ..controllers
    };
    (kubernetes, of_controllers, of_node_classes)
}

async fn of_controllers<T>(
    server: &ApiServer,
    go_on: impl AsyncFnOnce(&Kubernetes) -> T,
) -> (Kubernetes, T) {
    let found = controller::controllers(server).await;
    let (service_accounts, controller_pods) = controller::with(server, &found).await;
    let controllers = found.map(|found| found.into_iter().map(|one| one.deployment).collect());
    let facts =
        Kubernetes { controllers, service_accounts, controller_pods, ..Kubernetes::default() };
    let gone_on = go_on(&facts).await;
    (facts, gone_on)
}

async fn of_node_classes<U>(
    server: &ApiServer,
    go_on: impl AsyncFnOnce(&Kubernetes) -> U,
) -> (Kubernetes, U) {
    let (ec2_node_classes, auto_node_classes, node_pools): (Fact<Vec<NodeClass>>, _, _) = join!(
        node_class::ec2_node_classes(server),
        node_class::auto_node_classes(server),
        node_pool::node_pools(server),
    );
    let facts =
        Kubernetes { ec2_node_classes, auto_node_classes, node_pools, ..Kubernetes::default() };
    let gone_on = go_on(&facts).await;
    (facts, gone_on)
}

/// `/version`: every caller that the API server knows may read it.
#[derive(Deserialize)]
struct Version {
    #[serde(rename = "gitVersion")]
    git_version: String,
}

/// Known where the API server answered anything at all; else why it did not.
fn reached(server: &ApiServer, access: Access, version: Fact<Version>) -> Fact<Access> {
    match version {
        Fact::Known(version) => {
            Fact::Known(Access { version: Some(version.git_version), ..access })
        }
        _ if server.answered() => Fact::Known(access),
        Fact::Failed { message, .. } | Fact::Denied { message, .. } => access::failed(message),
        _ => access::failed("it does not say its version"),
    }
}
