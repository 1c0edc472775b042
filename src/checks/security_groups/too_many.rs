//! Whether more security groups are selected than one network interface may have.

use super::API;
use crate::{
    checks::{Area, Check, Context, Judged, Verdicts, remedies::listed, selection::selectors},
    facts::ec2::SecurityGroup,
    outcome::{Finding, Remedy},
    target::Product,
};

/// What an account may have at first, and the most that AWS raises it to.
const DEFAULT: usize = 5;
const MOST: usize = 16;

const ERRORS: &[&str] = &["too-many-security-groups"];

pub static CHECK: Check = Check {
    id: "security-groups-per-interface",
    title: "Nodes get no more security groups than an interface may have",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: ERRORS,
    needs: &[API],
    doc: "\
## What
Each NodeClass, or the discovery tag, selects at most as many security groups as one network
interface may have: 5 in an account whose quota was never raised, never more than 16.

## Why
Every group that is selected is attached to the node's interface. A discovery tag that a module
put on all groups of a VPC reaches the quota soon. Whether the quota was raised is not looked up:
between 6 and 16 groups are a warning, more are a failure.

## Seen as
`SecurityGroupsPerInstanceLimitExceeded` in the NodeClaim's condition, at each launch.

## Fix
Take the discovery tag off the groups that nodes do not need, or raise the quota `L-2AFB9258`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let judged = selectors(cx)?.into_iter().map(|selector| {
        Judged::new(selector.subject(), || Ok(judge(cx, &selector.security_groups(cx)?)))
    });
    Ok(judged.collect())
}

fn judge(cx: &Context<'_>, groups: &[&SecurityGroup]) -> Finding {
    let ids: Vec<_> = groups.iter().map(|group| group.id.as_str()).collect();
    let seen = format!("{} security groups are selected: {}.", ids.len(), listed(&ids));
    if ids.len() <= DEFAULT {
        return Finding::pass(match ids.len() {
            0 => "No security group is selected (see security-groups-discovered).".to_owned(),
            1 => format!("One security group is selected: {}.", listed(&ids)),
            _ => seen,
        });
    }
    let finding = if ids.len() > MOST {
        Finding::fail(seen, format!("No launch succeeds: AWS raises the quota to {MOST} at most."))
    } else {
        Finding::warn(
            seen,
            format!(
                "No launch succeeds, unless the quota of {DEFAULT} was raised in this account."
            ),
        )
    };
    finding.errors(ERRORS).evidence(API, "SecurityGroups[].GroupId", ids.join(", ")).mend(
        Remedy::new(
            "See whether the quota was raised. If not, take the discovery tag off the groups that \
             nodes do not need, or ask for more.",
        )
        .run(format!(
            "aws service-quotas get-service-quota --region {} --service-code vpc --quota-code \
             L-2AFB9258 --query Quota.Value",
            cx.region()
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

    const TAG: &str = "karpenter.sh/discovery=demo";

    fn selected(count: usize) -> Value {
        let group = |at: usize| json!({"id": format!("sg-{at}"), "name": "n", "vpc_id": "vpc-01", "tags": {}});
        let groups: Vec<_> = (0..count).map(group).collect();
        json!({"facts": {"discovered_security_groups": {"known": groups}}})
    }

    #[test]
    fn rows() {
        let denied = json!({"denied": {"action": API, "message": "not authorized"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("none is another check's", selected(0), &[(Status::Pass, TAG)]),
                ("as many as any account may have", selected(DEFAULT), &[(Status::Pass, TAG)]),
                ("one more", selected(DEFAULT + 1), &[(Status::Warn, TAG)]),
                ("the most", selected(MOST), &[(Status::Warn, TAG)]),
                ("more than any", selected(MOST + 1), &[(Status::Fail, TAG)]),
                (
                    "not readable",
                    json!({"facts": {"discovered_security_groups": denied}}),
                    &[(Status::Unknown, TAG)],
                ),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[("needs no tag", json!({}), &[(Status::Skipped, "demo")])],
        );
    }
}
