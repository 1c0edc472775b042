//! The identity that runs this tool may make its calls. Judged of policies on disk only
//! (`policy test --role-kind preflight`): in an account, what is refused is *unknown* there.

use super::{Answers, Grants, Refused, Who, add_policies, distinct_actions, without_policy};
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::listed, setup::setup},
    facts::iam::Role,
    outcome::{Finding, Remedy},
    requirements::{
        Consequence, Request,
        policy::{Layout, Policy},
        role::{Kind, print},
    },
    target::Product,
};

pub static CHECK: Check = Check {
    id: "preflight-permissions",
    title: "karpenter-preflight may read what it judges",
    area: Area::Controller,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &[],
    needs: &[],
    doc: "\
## What
The policies allow each read-only call that `check` makes. Only `policy test --role-kind preflight`
judges this.

## Why
What a run may not read, it cannot judge: the checks that need it are unknown.

## Seen as
Unknowns that name an action, and exit code 3.

## Fix
`karpenter-preflight policy print preflight` prints the policy.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let roles = cx.target.controller_roles.iter().map(|role| role.value.as_str());
    Ok(roles.map(|name| Judged::new(name, || judge(cx, name)).of_role(name)).collect())
}

fn judge(cx: &Context<'_>, name: &str) -> Result<Finding, Stop> {
    let role = cx.role(name)?.ok_or_else(|| Stop::skipped("the role does not exist"))?;
    let policies = policies(cx)?;
    let answers = Answers::to(requests(&policies), &Grants::of(cx, role)?);
    if answers.refused.is_empty() {
        return match answers.unknown.into_iter().next() {
            Some(unknown) => Err(Stop::Unknown(unknown)),
            None => Ok(Finding::pass(format!("{name} may make all {} calls", answers.asked))),
        };
    }
    let who = Who {
        role: &role.name,
        asker: "karpenter-preflight".to_owned(),
        cluster: &cx.target.cluster,
        errors: CHECK.errors,
    };
    let refused = answers.refused;
    let found = who.finding(Consequence::Degrades, &refused);
    let effect = "What these calls read stays unknown, and a run ends with exit code 3.";
    let finding = Finding { evidence: found.evidence, ..Finding::fail(found.seen, effect) };
    Ok(finding.mend(mend(cx, role, &refused, &policies)))
}

fn mend(cx: &Context<'_>, role: &Role, refused: &[Refused], policies: &[Policy]) -> Remedy {
    without_policy(role, refused).unwrap_or_else(|| {
        let words = format!("Allow {} to {}.", listed(&distinct_actions(refused)), role.name);
        add_policies(cx, Remedy::new(words), role, policies)
    })
}

fn policies(cx: &Context<'_>) -> Result<Vec<Policy>, Stop> {
    let product = cx.target.products.first().map_or(Product::Karpenter, |found| found.value);
    Ok(print(Kind::Preflight, cx.karpenter(), &setup(cx, product)?, Layout::One).policies)
}

/// One request an action. Nobody can be refused `sts:GetCallerIdentity`.
fn requests(policies: &[Policy]) -> Vec<Request> {
    let statements = policies.iter().filter_map(|policy| policy.document["Statement"].as_array());
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
