//! The placement group that an EC2NodeClass names.

use crate::{
    checks::{
        Area, Check, Context, Stop, Verdicts,
        node_classes::{self, Class},
        remedies::quote,
    },
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::Product,
};

/// The first version with the field (`pkg/providers/placementgroup` at v1.11.0).
const KNOWN: KarpenterVersion = KarpenterVersion::new(1, 11, 0);

const API: &str = "ec2:DescribePlacementGroups";

pub static CHECK: Check = Check {
    id: "placement-group",
    title: "The placement groups that EC2NodeClasses name are there",
    area: Area::Launch,
    products: &[Product::Karpenter],
    errors: &["placement-group-not-found"],
    needs: &[API],
    doc: "\
## What
The placement group in `placementGroupSelector` of each EC2NodeClass that has one exists in this
region and is available. Karpenter knows the field from 1.11 on.

## Why
Without its group the EC2NodeClass is never ready. Names of placement groups are those of one region
and account.

## Seen as
`PlacementGroupReady` is False, with `PlacementGroupNotFound`.

## Fix
Create the group, or correct the selector.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    node_classes::each(cx, CHECK.products, |class| judge(cx, &class))
}

fn judge(cx: &Context<'_>, class: &Class<'_>) -> Result<Finding, Stop> {
    let Some(named) = &class.spec.placement_group else {
        return Err(Stop::skipped("it names no placement group"));
    };
    if cx.karpenter() < KNOWN {
        return Err(Stop::skipped(format!(
            "Karpenter {} does not know placementGroupSelector; from {KNOWN} on",
            cx.karpenter()
        )));
    }
    let fact = cx.facts.placement_groups.get(named);
    let fact =
        fact.ok_or_else(|| Stop::unknown(format!("the placement group {named} was not read")))?;
    let state = fact.found()?.map(|group| group.state.as_str());
    let seen = match state {
        Some("available") => return Ok(Finding::pass(format!("{named} is available."))),
        Some(state) => format!("The placement group {named} of {class} is {state}."),
        None => format!(
            "{class} names the placement group {named}, and {} has no such group.",
            cx.region()
        ),
    };
    let remedy =
        Remedy::new("Create the group with the strategy that you want, or correct the selector.");
    let remedy = match named.starts_with("pg-") {
        true => remedy,
        false => remedy.run(format!(
            "aws ec2 create-placement-group --region {} --group-name {} --strategy cluster",
            quote(cx.region()),
            quote(named)
        )),
    };
    Ok(Finding::fail(
        seen,
        format!("{class} never becomes ready, and Karpenter launches nothing for it."),
    )
    .errors(&["placement-group-not-found"])
    .evidence(API, named, state.unwrap_or("none"))
    .mend(remedy.run(class.edit())))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn named(fact: &Value) -> Value {
        json!({"facts": {
            "kubernetes": {"ec2_node_classes": {"known": [
                {"meta": {"name": "default"}, "placement_group": "hpc"}]}},
            "placement_groups": {"hpc": fact},
        }})
    }

    #[test]
    fn rows() {
        let group = |state: &str| json!({"known": {"id": "pg-1", "name": "hpc", "state": state, "strategy": "cluster"}});
        let denied = json!({"denied": {"action": API, "message": "no"}});
        let mut old = named(&json!("absent"));
        old["scope"] = json!({"karpenter_version": "1.10.0"});
        let of = |status| [(status, "EC2NodeClass/default")];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("none named", json!({}), &of(Status::Skipped)),
                ("there", named(&group("available")), &of(Status::Pass)),
                ("going", named(&group("deleting")), &of(Status::Fail)),
                ("not there", named(&json!("absent")), &of(Status::Fail)),
                ("not there, and not known to Karpenter", old, &of(Status::Skipped)),
                ("not readable", named(&denied), &of(Status::Unknown)),
                ("not asked", named(&Value::Null), &of(Status::Unknown)),
            ],
        );
    }
}
