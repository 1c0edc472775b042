//! Whether nodes may be launched beside the Region without anybody having meant it.

use super::{API, each_selection};
use crate::{
    checks::{
        Area, Check, Context, Judged, Verdicts,
        discovery::untag_command,
        remedies::listed,
        selection::{Selector, single_tag},
    },
    facts::ec2::{Place, Subnet},
    outcome::{Finding, Remedy},
    target::Product,
};

const ERROR: &str = "instance-type-unsupported-in-zone";

pub static CHECK: Check = Check {
    id: "subnets-place",
    title: "Subnets in Local Zones, Wavelength Zones and Outposts are selected on purpose",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &[ERROR],
    needs: &[API],
    doc: "\
## What
No NodeClass, or discovery tag, selects subnets in Local Zones, in Wavelength Zones or on Outposts
together with subnets in availability zones. One for such a place alone is well.

## Why
Karpenter takes them for more zones of the Region. There are few instance types there, often no Spot
and other volume types, and a rack has the capacity that was bought; networks are joined to them in
other ways. A tag that was put on every subnet of a VPC takes them along.

## Seen as
`Your requested instance type is not supported in your requested Availability Zone`, or pods far from
where they should be.

## Fix
Take the tag off those subnets, or select the others by id; make a NodeClass for such a place, and
NodePools that name its zone.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    each_selection(cx, |selector, subnets| {
        vec![Judged::new(selector.subject(), || Ok(judge(cx, selector, subnets)))]
    })
}

fn judge(cx: &Context<'_>, selector: &Selector<'_>, subnets: &[&Subnet]) -> Finding {
    let (usual, beside): (Vec<&Subnet>, Vec<&Subnet>) =
        subnets.iter().partition(|subnet| subnet.place() == Place::AvailabilityZone);
    if beside.is_empty() {
        return Finding::pass("They are all in availability zones.");
    }
    let named: Vec<_> = beside.iter().map(|subnet| words(subnet)).collect();
    if usual.is_empty() {
        return Finding::pass(format!("They are all beside the Region: {}.", listed(&named)));
    }
    let mut who = selector.words();
    who[..1].make_ascii_uppercase();
    Finding::warn(
        format!("{who} selects subnets beside the Region as well: {}.", listed(&named)),
        "Nodes are launched there like in any other zone: launches fail for types, Spot and volumes \
         that the place does not have, and pods may come to be far from the rest.",
    )
    .errors(&[ERROR])
    .evidence(API, "Subnets[].AvailabilityZone, OutpostArn", listed(&named))
    .mend(remedy(cx, selector, &beside))
}

fn words(subnet: &Subnet) -> String {
    let Subnet { id, zone, outpost, .. } = subnet;
    match subnet.place() {
        Place::Outpost => format!("{id} on {}", outpost.as_deref().unwrap_or_default()),
        Place::WavelengthZone => format!("{id} in the Wavelength Zone {zone}"),
        _ => format!("{id} in the Local Zone {zone}"),
    }
}

fn remedy(cx: &Context<'_>, selector: &Selector<'_>, beside: &[&Subnet]) -> Remedy {
    let tag = match selector {
        Selector::Tag(tag) => Some((*tag).clone()),
        Selector::Class(class) => match class.spec.subnet_terms.as_slice() {
            [term] => single_tag(term),
            _ => None,
        },
    };
    if let Some(tag) = tag {
        let words = "Take the tag off them, and select them in a NodeClass of their own where \
                     nodes are wanted there.";
        let commands =
            beside.iter().filter_map(|subnet| untag_command(cx, &tag, &subnet.id, &subnet.tags));
        return commands.fold(Remedy::new(words), Remedy::run);
    }
    let ids: Vec<_> = beside.iter().map(|subnet| subnet.id.as_str()).collect();
    let remedy =
        Remedy::new(format!("Select subnets in availability zones alone: not {}.", listed(&ids)));
    match selector {
        Selector::Class(class) => remedy.run(class.edit()),
        Selector::Tag(_) => remedy,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const TAG: &str = "karpenter.sh/discovery=demo";

    fn subnet(zone: &str, outpost: Option<&str>) -> Value {
        json!({"id": format!("subnet-{zone}"), "arn": null, "vpc_id": "vpc-01", "zone": zone,
               "zone_id": null, "cidr": null, "free_addresses": 4000, "owner": null,
               "tags": {"karpenter.sh/discovery": "demo"},
               "outpost": outpost})
    }

    fn selected(subnets: &[Value]) -> Value {
        json!({"facts": {"discovered_subnets": {"known": subnets}}})
    }

    #[test]
    fn rows() {
        let usual = subnet("us-west-2a", None);
        let lax = subnet("us-west-2-lax-1a", None);
        let wavelength = subnet("us-west-2-wl1-las-wlz-1", None);
        let rack = subnet("us-west-2b", Some("arn:aws:outposts:us-west-2:1:outpost/op-1"));
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("healthy", json!({}), &[(Status::Pass, TAG)]),
                ("a Local Zone", selected(&[usual.clone(), lax.clone()]), &[(Status::Warn, TAG)]),
                ("Wavelength", selected(&[usual.clone(), wavelength]), &[(Status::Warn, TAG)]),
                ("a rack", selected(&[usual, rack]), &[(Status::Warn, TAG)]),
                ("on purpose", selected(&[lax]), &[(Status::Pass, TAG)]),
                ("none", selected(&[]), &[(Status::Skipped, TAG)]),
                (
                    "not readable",
                    json!({"facts": {"discovered_subnets": {"denied": {"action": API, "message": "no"}}}}),
                    &[(Status::Unknown, TAG)],
                ),
            ],
        );
    }

    #[test]
    fn the_tag_is_taken_off_those_alone() {
        let patch = selected(&[subnet("us-west-2a", None), subnet("us-west-2-lax-1a", None)]);
        let found = Account::Karpenter.judge(&CHECK, &patch).remove(0);
        assert!(found.seen.contains("Local Zone us-west-2-lax-1a"), "{}", found.seen);
        let steps = serde_json::to_string(&found.remedy.unwrap().steps).unwrap();
        assert!(steps.contains("--resources subnet-us-west-2-lax-1a --tags"), "{steps}");
    }
}
