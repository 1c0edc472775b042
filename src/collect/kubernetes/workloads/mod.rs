//! Workloads: pods, folded while they are read, and what hangs on them.

mod events;
mod fold;
mod lists;
mod pod;
mod requests;
mod selector;
#[cfg(test)]
mod tests;

use tokio::join;

use super::{
    kind::{Kind, List},
    server::ApiServer,
};
use crate::facts::{
    Fact,
    kubernetes::{
        node::Node,
        workloads::{DisruptionBudget, Pods, Workloads},
    },
};
use fold::Fold;
use lists::Budget;

pub const PODS: Kind = Kind::core("pods");

/// Pods that have ended hold nothing on a node.
const NOT_ENDED: &str = "status.phase!=Succeeded,status.phase!=Failed";

/// Reads everything about workloads. The nodes tell which pods are on Karpenter's.
pub async fn read(server: &ApiServer, nodes: &Fact<Vec<Node>>) -> Workloads {
    let (pods, scheduling, consolidation, requests, volumes, limits, sets) = join!(
        async {
            let budgets = lists::budgets(server).await;
            pods(server, nodes, budgets).await
        },
        events::of_reason(server, "FailedScheduling"),
        events::of_reason(server, "Unconsolidatable"),
        lists::default_requests(server),
        lists::in_tree_volumes(server),
        lists::attach_limits(server),
        lists::daemon_sets(server),
    );
    Workloads {
        pods: pods.0,
        blocking_budgets: pods.1,
        scheduling_events: scheduling,
        consolidation_events: consolidation,
        default_requests: requests,
        in_tree_volumes: volumes,
        attach_limits: limits,
        daemon_sets: sets,
    }
}

/// The pods, and the budgets that hold some of them.
async fn pods(
    server: &ApiServer,
    nodes: &Fact<Vec<Node>>,
    budgets: Fact<Vec<Budget>>,
) -> (Fact<Pods>, Fact<Vec<DisruptionBudget>>) {
    let known = budgets.value().map_or(&[][..], Vec::as_slice);
    let nodes = nodes.value().map(Vec::as_slice);
    let list = List::all(PODS).with_fields(NOT_ENDED);
    let read = server.fold(&list, || Fold::new(nodes, known), Fold::add).await;
    match read {
        Fact::Known(fold) => {
            let (pods, blocking) = fold.finish();
            (Fact::Known(pods), budgets.map(|_| blocking))
        }
        unread => (unread.map(|_| Pods::default()), budgets.map(|_| Vec::new())),
    }
}
