//! Karpenter's node role where nobody named one and nothing shows one.

use super::missing;
use crate::{
    checks::{
        Context, Stop,
        node_role::{
            all_read,
            creation::{create, new_name},
        },
    },
    outcome::{Finding, Remedy, Unknown},
    target::{Product, names},
};

pub fn none_found(cx: &Context<'_>) -> Result<Finding, Stop> {
    all_read(cx, Product::Karpenter)?;
    let usual = names::node_roles(&cx.target.cluster);
    let mut seen =
        format!("No node role was found: tried {}, and nothing else shows one.", usual.join(", "));
    if let Some(long) = usual.first().filter(|name| !names::is_role_name(name)) {
        let (length, limit) = (long.chars().count(), names::ROLE_NAME_LIMIT);
        seen += &format!(
            " {long}, the name of the getting-started guide, would have {length} characters, and \
             IAM allows {limit}."
        );
    }
    let words = "If your node role has a name of its own, run this again with --node-role and \
                 that name.";
    if cx.target.before_install() {
        let remedy = Remedy::new(format!("{words} Else create the role."));
        let name = new_name(&cx.target.cluster);
        return Ok(missing(Finding::warn, Product::Karpenter, seen).mend(create(
            cx,
            remedy,
            &name,
            Product::Karpenter,
        )));
    }
    Err(leaves_no_trace(&seen, words))
}

/// After an install that nothing was found proves nothing: a role that only aws-auth knows, or
/// an instance profile of one's own, leaves no trace.
fn leaves_no_trace(seen: &str, words: &str) -> Stop {
    let remedy = Remedy::new(format!(
        "{words} The NodeClasses name the role, or an instance profile that holds it."
    ))
    .run(
        "kubectl get ec2nodeclasses -o custom-columns=NAME:.metadata.name,ROLE:.spec.role,\
         PROFILE:.spec.instanceProfile",
    );
    let unknown = Unknown::new(format!("{seen} It may have a name of its own."));
    Stop::Unknown(Unknown { remedy: Some(remedy), ..unknown })
}
