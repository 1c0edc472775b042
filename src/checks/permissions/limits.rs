//! The roles whose policies something else can limit, each with what is asked of it.

use std::collections::BTreeSet;

use super::{Answers, Grants, Refused, Who, consequence, is_grave, wording};
use crate::{
    checks::{
        Context, Judged, Stop, Verdicts, controller, node_role,
        setup::{distinct_requests, setup, setups},
    },
    facts::{arn, iam::Role},
    outcome::{Finding, Remedy},
    requirements::{self, Request},
    target::Product,
};

/// Judges a role, by what it is granted and what is asked of it.
type Judge<'a> = &'a dyn Fn(&Context<'_>, &Role, &Grants, Vec<Request>) -> Result<Finding, Stop>;

/// Something beside the role's own policies that may take away what these allow.
pub struct Limit<'a> {
    pub role: &'a Role,
    /// Whether a refusal is its doing.
    pub refuses: fn(&Refused) -> bool,
    /// Whether the request would be allowed without it.
    pub allowed_without: fn(&Grants, &Request) -> bool,
    /// What is said where it takes nothing away.
    pub pass: String,
    /// `The boundary`.
    pub name: &'static str,
}

impl Limit<'_> {
    /// What it takes away, out of what is asked of the role. What the role's own policies refuse
    /// as well is not its doing.
    pub fn judge(
        self,
        cx: &Context<'_>,
        grants: &Grants,
        requests: Vec<Request>,
        seen: impl FnOnce(&[Refused]) -> String,
        mend: impl FnOnce(&[Refused]) -> Remedy,
    ) -> Result<Finding, Stop> {
        let Answers { mut refused, unknown, .. } = Answers::to(requests, grants);
        refused.retain(|one| (self.refuses)(one) && (self.allowed_without)(grants, &one.request));
        let Some(worst) = consequence(&refused) else {
            return match unknown.into_iter().next() {
                Some(unknown) => Err(Stop::Unknown(unknown)),
                None => Ok(Finding::pass(self.pass)),
            };
        };
        let who = Who {
            role: &self.role.name,
            asker: String::new(),
            cluster: &cx.target.cluster,
            errors: &[],
        };
        let mut finding = who.finding(worst, &refused);
        finding.seen = seen(&refused);
        finding.errors.clear();
        finding = finding.worded(refused.iter().filter_map(|one| wording(&one.decision)));
        if is_grave(worst) {
            finding.effect = format!("{} alone is the cause. {}", self.name, finding.effect);
        }
        Ok(finding.mend(mend(&refused)))
    }
}

/// Judges the controller's role, with EKS Auto Mode the cluster's, and each node role.
pub fn each_role(cx: &Context<'_>, judge: Judge<'_>) -> Verdicts {
    let mut judged = Vec::new();
    if cx.target.runs(Product::Karpenter) {
        judged.extend(controller::each(cx, |found| {
            let requests = distinct_requests(&setups(cx, Product::Karpenter)?, |setup| {
                requirements::controller(cx.karpenter(), setup)
            });
            let name = &found.role.name;
            let judge = || judge(cx, found.role, &found.grants(cx)?, requests);
            Ok(vec![Judged::new(name, judge).of_role(name)])
        }));
    }
    if cx.target.runs(Product::AutoMode) {
        let cluster_role = arn::role_name(&cx.cluster()?.role_arn);
        let of_cluster = || {
            let requests =
                distinct_requests(&setups(cx, Product::AutoMode)?, requirements::auto_mode);
            of_role(cx, judge, cluster_role, requests)
        };
        judged.push(Judged::new(cluster_role, of_cluster).of_role(cluster_role));
    }
    judged.extend(node_role::each(cx, |role| {
        let setup = setup(cx, role.product)?;
        let capabilities = node_role::permissions::capabilities(cx, role.product, &setup);
        let requests =
            capabilities.into_iter().flat_map(|capability| requirements::node(capability, &setup));
        of_role(cx, judge, &role.name, requests.collect())
    }));
    // The cluster stands for every role that could not be found.
    let mut subjects = BTreeSet::new();
    judged.retain(|judged| subjects.insert(judged.subject.clone()));
    Ok(judged)
}

fn of_role(
    cx: &Context<'_>,
    judge: Judge<'_>,
    name: &str,
    requests: Vec<Request>,
) -> Result<Finding, Stop> {
    let role = cx.role(name)?.ok_or_else(|| Stop::skipped("the role does not exist"))?;
    judge(cx, role, &Grants::of(cx, role)?, requests)
}
