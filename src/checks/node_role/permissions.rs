//! The node role allows what runs on a node.

use super::{each_many, existing, nothing_to_judge};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        permissions::{
            Answers, Grants, ROLE_POLICIES, Refused, Who, consequence, is_grave, without_policy,
        },
        remedies::quote,
        setup::setup,
    },
    facts::iam::Role,
    outcome::{Finding, FindingStatus, Remedy},
    requirements::{
        self, Setup,
        node::{self, Capability, NodesOf},
        policy::Layout,
        role::{self, Kind},
    },
    target::{NodeRole, Product, names},
};

pub static CHECK: Check = Check {
    id: "node-role-permissions",
    title: "The node role allows what runs on a node",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &[
        "node-not-registered",
        "image-pull-failed",
        "cni-not-initialized",
        "ipamd-permission-denied",
        "pod-identity-credentials-failed",
    ],
    needs: &[
        ROLE_POLICIES,
        "iam:ListInstanceProfiles",
        "eks:DescribeAccessEntry",
        "eks:DescribeAddon",
        "eks:DescribeCluster",
        "eks:ListAccessEntries",
        "eks:DescribePodIdentityAssociation",
        "eks:ListPodIdentityAssociations",
    ],
    doc: "\
## What
The policies of each node role, inside its permissions boundary, allow what nodes do: find their
cluster, pull images from ECR, hand out pod identities, and give pods addresses unless the VPC CNI
has a role of its own. Nodes of Auto Mode need to pull and to hand out pod identities only.
Session Manager is not looked at: no node needs it.

## Why
A node without these permissions starts, and never becomes ready. Only what the policies allow
counts, not their names. Policies of the organisation (SCPs, RCPs) count where they can be read,
which a member account seldom may; where not, a note says so.

## Seen as
`Node not registered with cluster`; `cni plugin not initialized`; pods with `ImagePullBackOff`.

## Fix
Attach the AWS-managed policy that grants it to the node role, or allow the same in one of your
own.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let of_role = |role: &NodeRole| {
        judge(cx, role).unwrap_or_else(|stop| vec![Judged::new(&role.name, || Err(stop))])
    };
    Ok(each_many(cx, of_role, |product| Err(nothing_to_judge(cx, product))))
}

fn judge(cx: &Context<'_>, node_role: &NodeRole) -> Result<Vec<Judged>, Stop> {
    let role = existing(cx, node_role)?;
    let setup = setup(cx, node_role.product)?;
    let grants = Grants::of(cx, role)?;
    let mut judged = Vec::new();
    let mut unknown = None;
    let mut asked = 0;
    for capability in capabilities(cx, node_role.product, &setup) {
        let answers = Answers::to(requirements::node(capability, &setup), &grants);
        asked += answers.asked;
        unknown = unknown.or(answers.unknown.into_iter().next());
        if !answers.refused.is_empty() {
            let subject = format!("{} ({})", role.name, word(capability));
            let subject_of = Subject { cx, node_role, role, capability, setup: &setup };
            judged.push(Judged::new(subject, || Ok(subject_of.finding(&answers.refused))));
        }
    }
    if let Some(unknown) = unknown {
        judged.push(Judged::new(&role.name, || Err(Stop::Unknown(unknown))));
    } else if judged.is_empty() {
        let seen = format!("{} allows the {asked} requests of its nodes", role.name);
        judged.push(Judged::new(&role.name, || Ok(Finding::pass(seen))));
    }
    Ok(judged)
}

/// Without Session Manager, and without the CNI's where that has a role of its own.
pub fn capabilities(cx: &Context<'_>, product: Product, setup: &Setup) -> Vec<Capability> {
    let mut capabilities = node::capabilities(nodes_of(product), setup);
    let cni_has_role = cni_has_role(cx);
    capabilities.retain(|capability| match capability {
        Capability::Ssm => false,
        Capability::Cni | Capability::CniIpv6 => !cni_has_role,
        _ => true,
    });
    capabilities
}

/// Whether the VPC CNI certainly has a role of its own. The annotation of its service account
/// is in Kubernetes, unless the add-on set it.
fn cni_has_role(cx: &Context<'_>) -> bool {
    let associations = cx.facts.pod_identity_associations.value().into_iter().flatten();
    let associated = associations.filter_map(|association| association.value()).any(|found| {
        found.namespace == "kube-system" && found.service_account == names::CNI_SERVICE_ACCOUNT
    });
    let addon = cx.facts.addons.get(names::CNI_ADDON).and_then(|addon| addon.value());
    associated || addon.is_some_and(|addon| addon.service_account_role_arn.is_some())
}

fn nodes_of(product: Product) -> NodesOf {
    match product {
        Product::Karpenter => NodesOf::Karpenter,
        Product::AutoMode => NodesOf::AutoMode,
    }
}

fn word(capability: Capability) -> &'static str {
    match capability {
        Capability::Join => "join",
        Capability::Pull => "pull",
        Capability::Cni | Capability::CniIpv6 => "cni",
        Capability::PodIdentity => "pod-identity",
        Capability::Ssm => "ssm",
    }
}

/// A capability that a node role lacks.
struct Subject<'a> {
    cx: &'a Context<'a>,
    node_role: &'a NodeRole,
    role: &'a Role,
    capability: Capability,
    setup: &'a Setup,
}

impl Subject<'_> {
    fn finding(&self, refused: &[Refused]) -> Finding {
        let who = Who {
            role: &self.role.name,
            asker: self.asker().to_owned(),
            cluster: &self.cx.target.cluster,
            errors: CHECK.errors,
        };
        let worst = consequence(refused).unwrap_or(requirements::Consequence::Degrades);
        let mut finding = who.finding(worst, refused);
        if matches!(self.capability, Capability::Cni | Capability::CniIpv6) {
            finding.status = FindingStatus::Warn;
            finding.effect = "Unless the VPC CNI has a role of its own, by the annotation of its \
                              service account aws-node, nodes are never ready: pods get no \
                              addresses."
                .to_owned();
        } else if is_grave(worst) {
            finding.effect = self.effect().to_owned();
        }
        let remedy = without_policy(self.role, refused).unwrap_or_else(|| self.mend());
        finding.mend(remedy)
    }

    fn asker(&self) -> &'static str {
        match self.capability {
            Capability::Join => "a node",
            Capability::Pull => "a node that pulls images",
            Capability::Cni | Capability::CniIpv6 => "the VPC CNI",
            Capability::PodIdentity => "the Pod Identity agent",
            Capability::Ssm => "the Session Manager agent",
        }
    }

    fn effect(&self) -> &'static str {
        match self.capability {
            Capability::Pull => {
                "Nodes cannot pull images from ECR, the CNI's and kube-proxy's among them, and are \
                 never ready."
            }
            _ => "Nodes do not register with the cluster, and are replaced after 15 minutes.",
        }
    }

    fn mend(&self) -> Remedy {
        let version = self.cx.karpenter();
        let nodes_of = nodes_of(self.node_role.product);
        let name = quote(&self.role.name);
        // A policy may come under the heading of another capability that it covers as well.
        let managed = node::managed_policies(version, nodes_of, &self.setup.partition);
        let wanted = match self.capability {
            Capability::PodIdentity if nodes_of == NodesOf::Karpenter => Capability::Join,
            capability => capability,
        };
        let remedy = Remedy::new(format!(
            "Attach the policy to {}, or allow the same in one of your own.",
            self.role.name
        ));
        if wanted == Capability::CniIpv6 {
            let printed = role::print(Kind::Node, version, self.setup, Layout::Fit);
            return crate::checks::permissions::add_policies(
                self.cx,
                remedy,
                self.role,
                &printed.policies,
            );
        }
        let arns = managed.into_iter().filter(|(capability, _)| *capability == wanted);
        arns.fold(remedy, |remedy, (_, arn)| {
            remedy.run(format!("aws iam attach-role-policy --role-name {name} --policy-arn {arn}"))
        })
    }
}

#[cfg(test)]
mod tests;
