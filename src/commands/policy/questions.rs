//! What is asked of the policies, by the kind of role.

use crate::{
    cli::policy::{PolicyProduct, RoleKind},
    report::OWN_PERMISSIONS,
    requirements::{
        self, Consequence, KarpenterVersion, Request, Setup,
        node::{Capability, NodesOf, capabilities},
        policy::Layout,
        role::{Kind, print},
    },
};

/// Requests of one kind, judged together.
#[derive(Debug)]
pub struct Question {
    /// Id of the check that judges the same in an account.
    pub check: &'static str,
    /// Who makes the requests: `Karpenter 1.14.1`.
    pub who: String,
    /// What they are for: `to join the cluster`; may be empty.
    pub purpose: &'static str,
    pub requests: Vec<Request>,
    pub weight: Weight,
    /// The command that prints what allows them.
    pub print: String,
}

/// What a refusal comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// What the consequence of the request says.
    Consequence,
    Fail,
    /// It may be meant so, or be granted elsewhere; this is why.
    Warn(&'static str),
    /// No warning even: nothing needs it.
    Optional(&'static str),
}

/// All that is asked of this kind of role.
pub fn questions(
    kind: RoleKind,
    product: PolicyProduct,
    version: KarpenterVersion,
    setup: &Setup,
) -> Vec<Question> {
    let cluster = &setup.cluster;
    let command =
        |rest: &str| format!("karpenter-preflight policy print {rest} --cluster {cluster}");
    match (kind, product) {
        (RoleKind::Controller, _) => vec![Question {
            check: "controller-permissions",
            who: format!("Karpenter {version}"),
            purpose: "",
            requests: requirements::controller(version, setup),
            weight: Weight::Consequence,
            print: command(&format!("controller --karpenter-version {version}")),
        }],
        (RoleKind::Node, PolicyProduct::Karpenter) => {
            let print = command(&format!("node --karpenter-version {version}"));
            of_nodes(NodesOf::Karpenter, setup, &print)
        }
        (RoleKind::Node, PolicyProduct::AutoMode) => {
            of_nodes(NodesOf::AutoMode, setup, &command("node --product auto-mode"))
        }
        (RoleKind::Cluster, PolicyProduct::AutoMode) => {
            of_auto_mode(setup, &command("cluster --product auto-mode"))
        }
        (RoleKind::Cluster, PolicyProduct::Karpenter) => Vec::new(),
        (RoleKind::Queue, _) => vec![Question {
            check: "queue-policy",
            who: "EventBridge".to_owned(),
            purpose: "to bring interruptions to the queue",
            requests: requirements::queue(setup),
            weight: Weight::Fail,
            print: command("queue"),
        }],
        (RoleKind::Preflight, _) => vec![Question {
            check: OWN_PERMISSIONS,
            who: "karpenter-preflight".to_owned(),
            purpose: "",
            requests: of_preflight(version, setup),
            weight: Weight::Fail,
            print: "karpenter-preflight policy print preflight".to_owned(),
        }],
    }
}

fn of_nodes(nodes_of: NodesOf, setup: &Setup, print: &str) -> Vec<Question> {
    let question = |capability| {
        let (purpose, weight) = match capability {
            Capability::Join => ("to join the cluster", Weight::Consequence),
            Capability::Pull => ("to pull images from ECR", Weight::Consequence),
            Capability::Cni | Capability::CniIpv6 => (
                "to give pods addresses",
                Weight::Warn("This is fine only if the VPC CNI has a role of its own."),
            ),
            Capability::PodIdentity => (
                "to hand out credentials of Pod Identity",
                Weight::Warn("This is fine only if no pod uses EKS Pod Identity."),
            ),
            Capability::Ssm => {
                ("to be reached through Session Manager", Weight::Optional("no node needs it"))
            }
        };
        Question {
            check: "node-role-permissions",
            who: "a node".to_owned(),
            purpose,
            requests: requirements::node(capability, setup),
            weight,
            print: print.to_owned(),
        }
    };
    capabilities(nodes_of, setup).into_iter().map(question).collect()
}

fn of_auto_mode(setup: &Setup, print: &str) -> Vec<Question> {
    let (custom, core): (Vec<_>, Vec<_>) = requirements::auto_mode(setup)
        .into_iter()
        .partition(|request| request.id.starts_with("custom-tags-"));
    let question = |check, purpose, requests| Question {
        check,
        who: "EKS Auto Mode".to_owned(),
        purpose,
        requests,
        weight: Weight::Consequence,
        print: match check {
            "cluster-role-custom-tags" => format!("{print} --uses nodeclass-tags"),
            _ => print.to_owned(),
        },
    };
    let mut questions = vec![question("cluster-role-permissions", "", core)];
    if !custom.is_empty() {
        questions.push(question("cluster-role-custom-tags", "with your own tags", custom));
    }
    questions
}

/// The calls of the tool's own policy. Nobody can be refused `sts:GetCallerIdentity`.
fn of_preflight(version: KarpenterVersion, setup: &Setup) -> Vec<Request> {
    let printed = print(Kind::Preflight, version, setup, Layout::One);
    let statements =
        printed.policies.iter().flat_map(|policy| policy.document["Statement"].as_array());
    let actions = statements.flatten().filter_map(|statement| statement["Action"].as_array());
    let names = actions.flatten().filter_map(|action| action.as_str());
    let request = |action: &str| Request {
        id: action.to_owned(),
        action: action.to_owned(),
        resource: "*".to_owned(),
        stand_in: false,
        request_tags: Default::default(),
        resource_tags: Default::default(),
        context: Default::default(),
        unknown: Vec::new(),
        when: Vec::new(),
        consequence: Consequence::Degrades,
        errors: Vec::new(),
        note: String::new(),
        source: String::new(),
    };
    names.filter(|name| *name != "sts:GetCallerIdentity").map(request).collect()
}
