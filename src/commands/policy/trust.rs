//! Whether those who need the role may take it, by its trust policy alone.

use super::{input::Document, questions::Question};
use crate::{
    cli::policy::{PolicyProduct, RoleKind},
    facts::arn::ec2_principal,
    iam::{Decision, Principal, PrincipalKind, Request, trust},
    outcome::{Outcome, Status},
    requirements::Setup,
};

/// Who has to be let in, and by which call.
struct Asker {
    name: String,
    principal: Principal,
    actions: &'static [&'static str],
    keys: Vec<(String, String)>,
}

/// The outcome for the trust policy of a role of this kind; none for a kind without one.
pub fn judge(
    document: &Document,
    kind: RoleKind,
    product: PolicyProduct,
    setup: &Setup,
    subject: &str,
) -> Option<Outcome> {
    let (check, askers) = match kind {
        RoleKind::Controller => ("controller-trust", of_controller(document, setup)),
        RoleKind::Node => {
            let ec2 = ec2_principal(&setup.partition);
            ("node-role-trust", vec![service("EC2", ec2, &["sts:AssumeRole"])])
        }
        RoleKind::Cluster => {
            let actions: &[&str] = match product {
                PolicyProduct::AutoMode => &["sts:AssumeRole", "sts:TagSession"],
                PolicyProduct::Karpenter => &["sts:AssumeRole"],
            };
            ("cluster-role-trust", vec![service("EKS", "eks.amazonaws.com", actions)])
        }
        RoleKind::Queue | RoleKind::Preflight => return None,
    };
    let verdicts: Vec<_> = askers.iter().map(|asker| asker.ask(document, setup)).collect();
    let allowed = verdicts.iter().position(|decisions| decisions.iter().all(Decision::is_allowed));
    let is_open = |decision: &Decision| matches!(decision, Decision::Unknown { .. });
    let (status, seen) = match allowed {
        Some(at) => (Status::Pass, format!("{} may take the role", askers[at].name)),
        None => {
            let open = verdicts.iter().flatten().any(is_open);
            let status = if open { Status::Unknown } else { Status::Fail };
            (status, refusals(&askers, &verdicts))
        }
    };
    let effect = if status == Status::Fail { effect(kind) } else { "" };
    Some(Outcome {
        check: check.to_owned(),
        status,
        subject: subject.to_owned(),
        resource: None,
        seen,
        effect: effect.to_owned(),
        errors: Vec::new(),
        evidence: Vec::new(),
        remedy: None,
        missing_action: None,
        docs: format!("docs/checks.md#{check}"),
        judged: None,
        waiver: None,
    })
}

/// The remedy is the trust policy that is printed.
pub fn mend(
    outcome: Outcome,
    question: Option<&Question>,
    printed: Option<&serde_json::Value>,
) -> Outcome {
    use crate::outcome::Remedy;
    let (Status::Fail, Some(trust)) = (outcome.status, printed) else { return outcome };
    let command = question.map(|question| format!(": `{}` prints it", question.print));
    let words = format!("Give the role this trust policy{}.", command.unwrap_or_default());
    Outcome { remedy: Some(Remedy::new(words).document("trust.json", trust)), ..outcome }
}

fn effect(kind: RoleKind) -> &'static str {
    match kind {
        RoleKind::Controller => "The controller gets no credentials, and ends at its start.",
        RoleKind::Node => "Instances get no credentials, and do not join the cluster.",
        _ => "EKS cannot act for the cluster.",
    }
}

fn service(name: &str, principal: &str, actions: &'static [&'static str]) -> Asker {
    Asker {
        name: name.to_owned(),
        principal: Principal::Service(principal.to_owned()),
        actions,
        keys: Vec::new(),
    }
}

/// Pod Identity, and the service account by each provider that the policy names.
fn of_controller(document: &Document, setup: &Setup) -> Vec<Asker> {
    let pods = "pods.eks.amazonaws.com";
    let mut askers = vec![service("EKS Pod Identity", pods, &["sts:AssumeRole", "sts:TagSession"])];
    let Setup { partition, account, namespace, service_account, .. } = setup;
    let prefix = format!("arn:{partition}:iam::{account}:oidc-provider/");
    let own = setup.oidc_provider.iter().map(|issuer| format!("{prefix}{issuer}"));
    let providers: Vec<String> = match setup.oidc_provider {
        Some(_) => own.collect(),
        None => providers(document),
    };
    for provider in providers {
        let Some((_, issuer)) = provider.split_once(":oidc-provider/") else { continue };
        let subject = format!("system:serviceaccount:{namespace}:{service_account}");
        askers.push(Asker {
            name: format!("service account {namespace}/{service_account} by {issuer}"),
            keys: vec![
                (format!("{issuer}:sub"), subject),
                (format!("{issuer}:aud"), "sts.amazonaws.com".to_owned()),
            ],
            principal: Principal::Federated(provider),
            actions: &["sts:AssumeRoleWithWebIdentity"],
        });
    }
    askers
}

fn providers(document: &Document) -> Vec<String> {
    let principals = document.named.policy.statements.iter().filter_map(|s| s.principal.as_ref());
    let items = principals.flat_map(|principal| &principal.items);
    items
        .filter(|item| item.kind == PrincipalKind::Federated)
        .map(|item| item.text.clone())
        .collect()
}

impl Asker {
    fn ask(&self, document: &Document, setup: &Setup) -> Vec<Decision> {
        let ask = |action: &&str| {
            let mut request = Request::new(self.principal.clone(), action, "*");
            for (key, value) in &self.keys {
                request = request.with(key, value.as_str());
            }
            if matches!(self.principal, Principal::Service(_)) {
                // EKS sends these; nobody here knows for which association.
                let Setup { partition, region, account, cluster, .. } = setup;
                let arn = format!("arn:{partition}:eks:{region}:{account}:cluster/{cluster}");
                request = request
                    .with("aws:RequestTag/eks-cluster-name", cluster.as_str())
                    .with("aws:RequestTag/eks-cluster-arn", arn)
                    .with("aws:RequestTag/kubernetes-namespace", setup.namespace.as_str())
                    .with(
                        "aws:RequestTag/kubernetes-service-account",
                        setup.service_account.as_str(),
                    )
                    .unknown("aws:SourceArn")
                    .unknown("aws:SourceAccount");
            }
            trust::decide(&document.named, &request)
        };
        self.actions.iter().map(ask).collect()
    }
}

/// Why nobody is let in. Where the policy is for an OIDC provider, that is what is meant.
fn refusals(askers: &[Asker], verdicts: &[Vec<Decision>]) -> String {
    let skip = usize::from(askers.len() > 1);
    let each = askers.iter().zip(verdicts).skip(skip).flat_map(|(asker, decisions)| {
        let refused = asker.actions.iter().zip(decisions).filter(|(_, d)| !d.is_allowed());
        refused.map(move |(action, decision)| {
            format!("{} may not use `{action}`: {decision}", asker.name)
        })
    });
    each.collect::<Vec<_>>().join(". ")
}
