//! What a pod requests as a whole, as the scheduler reckons it.

use std::collections::BTreeMap;

use super::pod::{Container, Pod, Quantities};
use crate::{collect::kubernetes::wire::Quantity, facts::kubernetes::quantity};

/// By resource, in thousandths. The containers and the init containers that stay run together;
/// each other init container runs alone before them.
/// <https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers>
pub fn requests(pod: &Pod) -> BTreeMap<String, u64> {
    let (staying, alone): (Vec<_>, Vec<_>) =
        pod.spec.init_containers.iter().partition(|container| container.restart_policy == "Always");
    let mut sum = BTreeMap::new();
    for Container { resources, .. } in pod.spec.containers.iter().chain(staying) {
        for (resource, milli) in of(&resources.requests) {
            *sum.entry(resource.to_owned()).or_insert(0) += milli;
        }
    }
    for container in alone {
        for (resource, milli) in of(&container.resources.requests) {
            let most = sum.entry(resource.to_owned()).or_insert(0);
            *most = milli.max(*most);
        }
    }
    for (resource, milli) in of(&pod.spec.resources.requests) {
        sum.insert(resource.to_owned(), milli);
    }
    for (resource, milli) in of(&pod.spec.overhead) {
        *sum.entry(resource.to_owned()).or_insert(0) += milli;
    }
    sum
}

fn of(quantities: &Quantities) -> impl Iterator<Item = (&str, u64)> {
    quantities.iter().filter_map(|(resource, quantity)| {
        let milli = match quantity {
            Quantity::Text(text) => quantity::milli(text)?,
            Quantity::Number(number) => quantity::milli(&number.to_string())?,
        };
        Some((resource.as_str(), milli))
    })
}

/// Thousandths as a quantity of Kubernetes.
pub fn written(milli: u64) -> String {
    match milli % 1000 {
        0 => (milli / 1000).to_string(),
        _ => format!("{milli}m"),
    }
}
