//! The commands that let a node role in: an access entry where the cluster takes one, else a
//! mapping.

use super::{BOOTSTRAPPERS, Case, NODES, USERNAME, WINDOWS, document::Mapping};
use crate::{
    checks::{Context, node_role::access_entry::remedy as entry, remedies::quote},
    facts::{arn, eks::AuthenticationMode},
    outcome::{Finding, Remedy},
    target::Product,
};

/// Adds the step that gives the role an access entry for Karpenter's nodes.
pub fn create_entry(cx: &Context<'_>, remedy: Remedy, role_arn: &str) -> Remedy {
    entry::create(cx, remedy, role_arn, entry::entry_type(Product::Karpenter))
}

/// Lets in a role that is not mapped.
pub fn map(case: &Case<'_>, finding: Finding) -> Finding {
    finding.mend(by_entry(case).unwrap_or_else(|| {
        let words = format!("Map the role. {}", without_eksctl(case, false));
        Remedy::new(words).run(create_mapping(case, false))
    }))
}

/// Mends a mapping of the role that gives nodes too little.
pub fn correct(case: &Case<'_>, finding: Finding, wrong: &Mapping, windows: bool) -> Finding {
    let by_entry = by_entry(case).filter(|_| !windows);
    finding.mend(by_entry.unwrap_or_else(|| {
        let words = format!(
            "Correct the mapping at line {}. eksctl adds one at the end, and of several for one \
             role the last one counts. {}",
            wrong.line,
            without_eksctl(case, windows)
        );
        Remedy::new(words).run(create_mapping(case, windows))
    }))
}

/// Mends the text itself, which no tool can add to.
pub fn repair(case: &Case<'_>, finding: Finding) -> Finding {
    let keep = "kubectl -n kube-system get configmap aws-auth -o yaml > aws-auth-before.yaml";
    let edit = "kubectl -n kube-system edit configmap aws-auth";
    let remedy = match by_entry(case) {
        Some(mut remedy) => {
            remedy.words += " Then mend mapRoles for the other roles in it.";
            remedy
        }
        None => Remedy::new(format!(
            "Mend mapRoles, a list of mappings indented with spaces, and see that it has the role. \
             {}",
            form(case, false)
        )),
    };
    finding.mend(remedy.run(keep).run(edit))
}

/// An access entry, where the cluster takes them.
fn by_entry(case: &Case<'_>) -> Option<Remedy> {
    (case.applicant.mode() != AuthenticationMode::ConfigMap).then(|| {
        let remedy = Remedy::new("Give the role an access entry, which wins over aws-auth.");
        create_entry(case.cx, remedy, &case.role.arn)
    })
}

fn without_eksctl(case: &Case<'_>, windows: bool) -> String {
    format!(
        "Without eksctl: kubectl -n kube-system edit configmap aws-auth. {}",
        form(case, windows)
    )
}

fn form(case: &Case<'_>, windows: bool) -> String {
    let groups = groups(windows).join(", ");
    format!(
        "The mapping is: rolearn: {}; username: {USERNAME}; groups: {groups}.",
        mapped_arn(case)
    )
}

fn create_mapping(case: &Case<'_>, windows: bool) -> String {
    let groups: String = groups(windows).iter().map(|group| format!(" --group {group}")).collect();
    format!(
        "eksctl create iamidentitymapping --cluster {} --region {} --arn {} --username {}{groups}",
        quote(&case.cx.target.cluster),
        quote(case.cx.region()),
        quote(&mapped_arn(case)),
        quote(USERNAME)
    )
}

fn groups(windows: bool) -> Vec<&'static str> {
    let mut groups = vec![BOOTSTRAPPERS, NODES];
    groups.extend(windows.then_some(WINDOWS));
    groups
}

/// The role's ARN as the ConfigMap wants it.
fn mapped_arn(case: &Case<'_>) -> String {
    let account = arn::account(&case.role.arn).unwrap_or("<account>");
    format!("arn:{}:iam::{account}:role/{}", case.cx.target.partition, case.role.name)
}
