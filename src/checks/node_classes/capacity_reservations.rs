//! The capacity reservations that a NodeClass selects.

use crate::{
    checks::{
        Area, Check, Context, Stop, Verdicts,
        node_classes::{self, Class},
        remedies::{listed, quote},
        selection::terms_in_words,
    },
    facts::{ec2::CapacityReservation, selected::Selected},
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::Product,
};

/// The first version with the field (`pkg/providers/capacityreservation` at v1.3.0).
const KNOWN: KarpenterVersion = KarpenterVersion::new(1, 3, 0);

const API: &str = "ec2:DescribeCapacityReservations";

pub static CHECK: Check = Check {
    id: "capacity-reservations",
    title: "NodeClasses find the capacity reservations that they select",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["no-instance-type-met"],
    needs: &[API],
    doc: "\
## What
The `capacityReservationSelectorTerms` of each NodeClass that has some select at least one active
capacity reservation. Karpenter knows the field from 1.3 on.

## Why
A selector that matches nothing is no error: `CapacityReservationsReady` is True all the same. The
reserved instances are paid for and stay unused, while on-demand ones are launched beside them, and a
NodePool that allows `reserved` capacity alone launches nothing.

## Seen as
No component says it. Pods of a NodePool for reserved capacity alone get `no instance type met the
scheduling requirements or had a required offering`.

## Fix
Correct the terms: ids, tags and owner must be those of an active reservation in this region.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    node_classes::each(cx, CHECK.products, |class| judge(cx, &class))
}

fn judge(cx: &Context<'_>, class: &Class<'_>) -> Result<Finding, Stop> {
    let terms = &class.spec.capacity_reservation_terms;
    if terms.is_empty() {
        return Err(Stop::skipped("it selects no capacity reservations"));
    }
    if class.product == Product::Karpenter && cx.karpenter() < KNOWN {
        return Err(Stop::skipped(format!(
            "Karpenter {} does not know capacityReservationSelectorTerms; from {KNOWN} on",
            cx.karpenter()
        )));
    }
    let mut found: Vec<&CapacityReservation> = Vec::new();
    for term in terms {
        let answer = Selected::answer(&cx.facts.selected_reservations, term);
        let answer = answer.ok_or_else(|| {
            Stop::unknown(format!("these facts do not hold the reservations of {class}"))
        })?;
        found.extend(answer.found()?.into_iter().flatten());
    }
    if !found.is_empty() {
        let words = |one: &&CapacityReservation| {
            format!("{} ({}, {} free)", one.id, one.instance_type, one.free)
        };
        let words: Vec<_> = found.iter().map(words).collect();
        return Ok(Finding::pass(format!("It finds {}.", listed(&words))));
    }
    Ok(Finding::warn(
        format!(
            "{class} selects no active capacity reservation in {}: it asks for {}.",
            cx.region(),
            terms_in_words(terms)
        ),
        "Reserved capacity is not used, and nothing says so: on-demand instances are launched beside \
         it. A NodePool for reserved capacity alone launches nothing.",
    )
    .errors(&["no-instance-type-met"])
    .evidence(API, format!("capacityReservationSelectorTerms of {class}"), "[]")
    .mend(
        Remedy::new(
            "Compare the terms with the active reservations of this region, and correct them; or take \
             them out.",
        )
        .run(format!(
            "aws ec2 describe-capacity-reservations --region {} --filters Name=state,Values=active",
            quote(cx.region())
        ))
        .run(class.edit()),
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn selects(found: Option<Value>) -> Value {
        let term = json!({"tags": {"team": "a"}});
        let answers: Vec<_> =
            found.map(|found| json!({"query": term, "found": found})).into_iter().collect();
        json!({"facts": {
            "kubernetes": {"ec2_node_classes": {"known": [
                {"meta": {"name": "default"}, "capacity_reservation_terms": [term]}]}},
            "selected_reservations": answers,
        }})
    }

    #[test]
    fn rows() {
        let one = json!({"known": [{"id": "cr-1", "instance_type": "p5.48xlarge", "zone": null,
            "free": 2, "owner": null, "matching": "targeted"}]});
        let denied = json!({"denied": {"action": API, "message": "no"}});
        let mut old = selects(Some(json!({"known": []})));
        old["scope"] = json!({"karpenter_version": "1.2.0"});
        let of = |status| [(status, "EC2NodeClass/default")];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("none selected", json!({}), &of(Status::Skipped)),
                ("one", selects(Some(one)), &of(Status::Pass)),
                ("nothing", selects(Some(json!({"known": []}))), &of(Status::Warn)),
                ("an id that is gone", selects(Some(json!("absent"))), &of(Status::Warn)),
                ("not known to Karpenter", old, &of(Status::Skipped)),
                ("not readable", selects(Some(denied)), &of(Status::Unknown)),
                ("not asked", selects(None), &of(Status::Unknown)),
            ],
        );
    }
}
