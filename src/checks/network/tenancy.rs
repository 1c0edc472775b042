//! Whether the VPC puts nodes on shared hardware.

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts, discovery::cluster_vpc, remedies::quote,
    },
    outcome::{Finding, Remedy},
    target::Product,
};

const API: &str = "ec2:DescribeVpcs";

pub static CHECK: Check = Check {
    id: "vpc-tenancy",
    title: "The VPC puts nodes on shared hardware",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["instance-type-unsupported-in-zone"],
    needs: &["eks:DescribeCluster", API],
    doc: "\
## What
The instance tenancy of the cluster's VPC is `default`, not `dedicated`.

## Why
In a VPC of dedicated tenancy every instance gets hardware of its own, whatever its launch asks for.
Not every type has such hardware: a launch of one that has none fails, and is tried again with the same
types. And all of them cost more than Karpenter reckons with when it compares prices.

## Seen as
`Unsupported: The requested configuration is currently not supported` in the NodeClaim.

## Fix
Set the VPC's tenancy to `default`: it holds for new instances, and running ones stay where they are. Where
it is meant so, waive this, and let NodePools ask for types that can be dedicated.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let vpc = cluster_vpc(cx)?;
    Ok(vec![Judged::new(vpc, || {
        let found = cx.facts.network.vpc.known()?;
        let tenancy = found
            .tenancy
            .as_deref()
            .ok_or_else(|| Stop::unknown(format!("{API} shows no tenancy of {vpc}")))?;
        Ok(judge(cx, vpc, tenancy, found.owner.as_deref()))
    })])
}

fn judge(cx: &Context<'_>, vpc: &str, tenancy: &str, owner: Option<&str>) -> Finding {
    if tenancy != "dedicated" {
        return Finding::pass(format!("The tenancy of {vpc} is {tenancy}."));
    }
    let who = match owner.filter(|owner| cx.account().is_some_and(|own| own != *owner)) {
        Some(owner) => format!(" The VPC is shared: account {owner}, which owns it, must do it."),
        None => String::new(),
    };
    Finding::warn(
        format!("The tenancy of {vpc} is dedicated: every instance gets hardware of its own."),
        "Launches of types without dedicated hardware fail, and all nodes cost more than Karpenter \
         reckons with.",
    )
    .errors(CHECK.errors)
    .evidence(API, "InstanceTenancy", tenancy)
    .mend(
        Remedy::new(format!(
            "Set it to default, unless your rules ask for dedicated hardware; instances that run \
             already stay as they are, and the way back is closed: EC2 takes no other value.{who}"
        ))
        .run(format!(
            "aws ec2 modify-vpc-tenancy --region {} --vpc-id {} --instance-tenancy default",
            quote(cx.region()),
            quote(vpc)
        )),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn tenancy(value: &Value) -> Value {
        json!({"facts": {"network": {"vpc": {"known": {"tenancy": value}}}}})
    }

    #[test]
    fn rows() {
        let one = |status| [(status, "vpc-01")];
        let denied = json!({"denied": {"action": API, "message": "no"}});
        for account in [Account::Karpenter, Account::AutoMode] {
            assert_rows(
                account,
                &CHECK,
                &[
                    ("default", json!({}), &one(Status::Pass)),
                    ("dedicated", tenancy(&json!("dedicated")), &one(Status::Warn)),
                    ("not shown", tenancy(&Value::Null), &one(Status::Unknown)),
                    (
                        "unread",
                        json!({"facts": {"network": {"vpc": denied}}}),
                        &one(Status::Unknown),
                    ),
                ],
            );
        }
    }

    #[test]
    fn the_owner_of_a_shared_vpc_is_named() {
        let saved = Account::Karpenter.patched(&tenancy(&json!("dedicated")));
        let target = crate::target::resolve::resolve(&saved.scope, &saved.facts);
        let cx = Context::new(&target, &saved);
        let words = |owner| judge(&cx, "vpc-01", "dedicated", owner).remedy.unwrap().words;
        assert!(words(Some("999988887777")).contains("account 999988887777"));
        assert!(!words(Some("111122223333")).contains("shared"));
    }
}
