//! The NodeClasses of the cluster, of either product.

pub mod capacity_reservations;
pub mod instance_profile;
pub mod metadata;
pub mod placement_group;
pub mod pod_network;
pub mod role;
pub mod tags;
pub mod user_data;
pub mod volume_sizes;
pub mod volumes;
pub mod windows;

use std::{collections::BTreeMap, fmt};

use super::{Context, Judged, Stop, Verdicts};
use crate::{
    facts::{Fact, kubernetes::node_class::NodeClass},
    outcome::Finding,
    target::Product,
};

/// A NodeClass, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class<'a> {
    pub product: Product,
    pub spec: &'a NodeClass,
}

impl<'a> Class<'a> {
    pub fn name(&self) -> &'a str {
        &self.spec.meta.name
    }

    pub fn kind(&self) -> &'static str {
        kind(self.product)
    }

    /// `EC2NodeClass/default`.
    pub fn subject(&self) -> String {
        format!("{}/{}", self.kind(), self.name())
    }

    /// Whether a condition of its status is True: what the product says that it did.
    pub fn is_ready(&self, condition: &str) -> bool {
        let mut conditions = self.spec.conditions.iter();
        conditions.any(|found| found.kind == condition && found.status == "True")
    }

    /// What showed its fields.
    pub fn api(&self) -> &'static str {
        match self.product {
            Product::Karpenter => "list ec2nodeclasses (Kubernetes)",
            Product::AutoMode => "list nodeclasses (Kubernetes)",
        }
    }

    /// Who launches its nodes.
    pub fn launcher(&self) -> &'static str {
        match self.product {
            Product::Karpenter => "Karpenter",
            Product::AutoMode => "EKS",
        }
    }

    /// The command that opens it in an editor.
    pub fn edit(&self) -> String {
        format!("kubectl edit {} {}", resource(self.product), super::remedies::quote(self.name()))
    }
}

impl fmt::Display for Class<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.name())
    }
}

/// Whether its nodes run Windows.
pub fn is_windows(class: &NodeClass) -> bool {
    let aliases = class.ami_terms.iter().filter_map(|term| term.alias.as_deref());
    let mut families = aliases.chain(class.ami_family.as_deref());
    families.any(|family| family.to_ascii_lowercase().starts_with("windows"))
}

/// The kind of a product's NodeClasses.
pub fn kind(product: Product) -> &'static str {
    match product {
        Product::Karpenter => "EC2NodeClass",
        Product::AutoMode => "NodeClass",
    }
}

/// The API group of a product's NodeClasses.
pub fn group(product: Product) -> &'static str {
    match product {
        Product::Karpenter => "karpenter.k8s.aws",
        Product::AutoMode => "eks.amazonaws.com",
    }
}

/// As `kubectl` takes it; `nodeclass` alone may be another kind's short name.
pub fn resource(product: Product) -> &'static str {
    match product {
        Product::Karpenter => "ec2nodeclass",
        Product::AutoMode => "nodeclass.eks.amazonaws.com",
    }
}

/// The list of a product's NodeClasses.
pub fn list<'a>(cx: &Context<'a>, product: Product) -> &'a Fact<Vec<NodeClass>> {
    match product {
        Product::Karpenter => &cx.facts.kubernetes.ec2_node_classes,
        Product::AutoMode => &cx.facts.kubernetes.auto_node_classes,
    }
}

/// Stops where the cluster answers but for its NodeClasses: what they select is not to be
/// guessed then.
pub fn readable(cx: &Context<'_>) -> Result<(), Stop> {
    if cx.kubernetes().is_ok() {
        for product in &cx.target.products {
            list(cx, product.value).found()?;
        }
    }
    Ok(())
}

/// The NodeClasses that are known, of the products that are judged; none where the cluster was
/// not asked or did not answer.
pub fn known<'a>(cx: &Context<'a>) -> Vec<Class<'a>> {
    if cx.kubernetes().is_err() {
        return Vec::new();
    }
    let products = cx.target.products.iter().map(|product| product.value);
    products.flat_map(|product| of(cx, product)).collect()
}

fn of<'a>(cx: &Context<'a>, product: Product) -> impl Iterator<Item = Class<'a>> {
    let classes = list(cx, product).value().into_iter().flatten();
    classes.map(move |spec| Class { product, spec })
}

/// Tags of the user's own, and who sets them.
pub struct Tagging<'a> {
    /// Nothing where the user named the tags.
    pub class: Option<Class<'a>>,
    pub products: Vec<Product>,
    pub tags: &'a BTreeMap<String, String>,
}

impl Tagging<'_> {
    pub fn subject(&self) -> String {
        self.class.map_or_else(|| "--nodeclass-tag".to_owned(), |class| class.subject())
    }

    pub fn words(&self) -> String {
        self.class.map_or_else(|| "--nodeclass-tag".to_owned(), |class| class.to_string())
    }
}

/// Who sets tags: NodeClasses that are known, and the user with `--nodeclass-tag`.
pub fn tagging<'a>(cx: &Context<'a>) -> Vec<Tagging<'a>> {
    let of_classes = known(cx).into_iter().map(|class| Tagging {
        class: Some(class),
        products: vec![class.product],
        tags: &class.spec.tags,
    });
    let named = Tagging {
        class: None,
        products: cx.target.products.iter().map(|product| product.value).collect(),
        tags: &cx.target.node_class_tags,
    };
    of_classes.chain([named]).filter(|tagging| !tagging.tags.is_empty()).collect()
}

/// Judges each NodeClass of these products on its own. A product whose NodeClasses could not be
/// read is one unknown.
pub fn each<'a>(
    cx: &Context<'a>,
    products: &[Product],
    judge: impl Fn(Class<'a>) -> Result<Finding, Stop>,
) -> Verdicts {
    each_many(cx, products, |class| vec![Judged::new(class.subject(), || judge(class))])
}

/// The same, with several verdicts on one NodeClass.
pub fn each_many<'a>(
    cx: &Context<'a>,
    products: &[Product],
    judge: impl Fn(Class<'a>) -> Vec<Judged>,
) -> Verdicts {
    cx.kubernetes()?;
    let mut judged = Vec::new();
    for product in products.iter().copied().filter(|product| cx.target.runs(*product)) {
        match list(cx, product).found() {
            Ok(_) => judged.extend(of(cx, product).flat_map(&judge)),
            Err(unseen) => {
                judged.push(Judged::new(kind(product), || Err(unseen.into())));
            }
        }
    }
    if judged.is_empty() {
        return Err(Stop::skipped("the cluster has no NodeClass"));
    }
    Ok(judged)
}
