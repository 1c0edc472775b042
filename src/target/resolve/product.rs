//! What runs nodes in the cluster, and whether Karpenter is there already.

use super::{Origin, Product, Scope, Seen, Sourced, seen::in_cluster};
use crate::{
    facts::{Facts, Unseen},
    target::{ProductChoice, Stage, StageChoice},
};

/// What is judged to run nodes.
pub struct Judged {
    pub products: Vec<Sourced<Product>>,
    /// Why it is not known whether the other product runs nodes too.
    pub unseen: Option<Unseen>,
}

impl Judged {
    pub fn runs(&self, product: Product) -> bool {
        self.products.iter().any(|found| found.value == product)
    }
}

pub fn judged(scope: &Scope, facts: &Facts, seen: &Seen, notes: &mut Vec<String>) -> Judged {
    let chosen =
        |product| Judged { products: vec![Sourced::new(product, Origin::Flag)], unseen: None };
    match scope.product {
        ProductChoice::Karpenter => chosen(Product::Karpenter),
        ProductChoice::AutoMode => {
            if facts.cluster.value().is_some_and(|cluster| !cluster.auto_mode.compute) {
                notes.push(
                    "EKS Auto Mode is off in this cluster: judged as before it is switched on"
                        .to_owned(),
                );
            }
            chosen(Product::AutoMode)
        }
        ProductChoice::Auto => found(scope, facts, seen, notes),
    }
}

fn found(scope: &Scope, facts: &Facts, seen: &Seen, notes: &mut Vec<String>) -> Judged {
    let auto_mode = facts.cluster.known().map(|cluster| cluster.auto_mode.compute);
    let mut products = Vec::new();
    let mut unseen = auto_mode.clone().err();
    let karpenter = match seen {
        _ if speaks_of_karpenter(scope) => Some(Origin::Flag),
        Seen::Yes(origin) => Some(*origin),
        _ if auto_mode == Ok(false) => Some(Origin::Default),
        _ => None,
    };
    match (karpenter, seen) {
        (Some(origin), _) => products.push(Sourced::new(Product::Karpenter, origin)),
        (None, Seen::NotKnown(why)) if auto_mode == Ok(true) => {
            notes.push(format!(
                "whether Karpenter is installed beside EKS Auto Mode could not be seen ({why}); \
                 say what runs the nodes with --product"
            ));
            unseen = Some(why.clone());
        }
        _ => {}
    }
    match auto_mode {
        Ok(true) => products.push(Sourced::new(Product::AutoMode, Origin::Cluster)),
        Ok(false) => {}
        Err(why) => notes.push(format!(
            "whether EKS Auto Mode is on is not known ({why}); say what runs the nodes with \
             --product"
        )),
    }
    if let (Some(Origin::Default), Seen::No) = (karpenter, seen) {
        notes.push(
            "nothing of Karpenter was found, and EKS Auto Mode is off: judged as before an \
             install of Karpenter"
                .to_owned(),
        );
    }
    Judged { products, unseen }
}

/// Whether the user said something that only makes sense with Karpenter.
fn speaks_of_karpenter(scope: &Scope) -> bool {
    scope.karpenter_version.is_some()
        || scope.controller_role.is_some()
        || scope.interruption_queue.is_some()
}

pub fn stage(
    scope: &Scope,
    facts: &Facts,
    seen: &Seen,
    judged: &Judged,
    notes: &mut Vec<String>,
) -> Sourced<Stage> {
    let found = |stage| Sourced::new(stage, Origin::Default);
    match (scope.stage, seen) {
        (StageChoice::Before, _) => Sourced::new(Stage::Before, Origin::Flag),
        (StageChoice::After, _) => Sourced::new(Stage::After, Origin::Flag),
        (StageChoice::Auto, _) if !judged.runs(Product::Karpenter) => {
            // There is no stage to tell apart, unless Auto Mode has yet to be switched on.
            let off = facts.cluster.value().is_some_and(|cluster| !cluster.auto_mode.compute);
            found(if off { Stage::Before } else { Stage::After })
        }
        (StageChoice::Auto, Seen::Yes(Origin::Deployment)) => {
            Sourced::new(Stage::After, Origin::Deployment)
        }
        (StageChoice::Auto, Seen::Yes(_)) if in_cluster(facts) == Some(Err(())) => {
            notes.push(
                "the account is prepared for Karpenter, and no Deployment of the cluster is its \
                 controller's: judged as before an install"
                    .to_owned(),
            );
            Sourced::new(Stage::Before, Origin::Deployment)
        }
        (StageChoice::Auto, Seen::Yes(_)) => found(Stage::After),
        (StageChoice::Auto, Seen::No) => found(Stage::Before),
        (StageChoice::Auto, Seen::NotKnown(why)) => {
            notes.push(format!(
                "whether Karpenter is installed could not be seen ({why}): judged as after an \
                 install; if there was none yet, say so with --stage before"
            ));
            found(Stage::After)
        }
    }
}
