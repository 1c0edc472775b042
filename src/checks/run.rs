//! Runs checks over facts and gives their outcomes in a stable order.

use super::{Check, Context, Judged, Stop, resource};
use crate::{
    errors,
    outcome::{Finding, FindingStatus, Outcome, QuotedError, Status},
};

/// Runs these checks. One outcome a subject, or one for the whole check where there is no
/// subject to judge.
pub fn run(checks: &[&'static Check], cx: &Context<'_>) -> Vec<Outcome> {
    checks.iter().flat_map(|check| run_one(check, cx)).collect()
}

fn run_one(check: &'static Check, cx: &Context<'_>) -> Vec<Outcome> {
    let whole = |stop| vec![outcome(cx, check, Judged::new(&cx.target.cluster, || Err(stop)))];
    if !check.products.iter().any(|product| cx.target.runs(*product)) {
        if let Some(unseen) = &cx.target.product_unseen {
            return whole(unseen.clone().into());
        }
        let products: Vec<_> = check.products.iter().map(|product| product.title()).collect();
        return whole(Stop::skipped(format!("only for {}", products.join(" and "))));
    }
    match (check.run)(cx) {
        Ok(judged) => judged.into_iter().map(|judged| outcome(cx, check, judged)).collect(),
        Err(stop) => whole(stop),
    }
}

fn outcome(cx: &Context<'_>, check: &'static Check, judged: Judged) -> Outcome {
    let resource = resource::arn(cx, &judged);
    let empty = |status, seen| Outcome {
        check: check.id.to_owned(),
        status,
        subject: judged.subject.clone(),
        resource: resource.clone(),
        seen,
        effect: String::new(),
        errors: Vec::new(),
        evidence: Vec::new(),
        remedy: None,
        missing_action: None,
        docs: docs_url(check.id),
        judged: None,
        waiver: None,
    };
    match judged.verdict {
        Ok(finding) => from_finding(empty(status(finding.status), String::new()), finding),
        Err(Stop::Skipped(why)) => empty(Status::Skipped, why),
        Err(Stop::LeftOut(unknown)) => Outcome {
            missing_action: unknown.missing_action,
            ..empty(Status::Skipped, unknown.why)
        },
        Err(Stop::Unknown(unknown)) => Outcome {
            missing_action: unknown.missing_action,
            remedy: unknown.remedy,
            ..empty(Status::Unknown, unknown.why)
        },
    }
}

fn from_finding(outcome: Outcome, finding: Finding) -> Outcome {
    Outcome {
        seen: finding.seen,
        effect: finding.effect,
        errors: finding.errors.into_iter().map(|id| quoted(id, &finding.wordings)).collect(),
        evidence: finding.evidence,
        remedy: finding.remedy,
        ..outcome
    }
}

fn status(status: FindingStatus) -> Status {
    match status {
        FindingStatus::Pass => Status::Pass,
        FindingStatus::Warn => Status::Warn,
        FindingStatus::Fail => Status::Fail,
    }
}

fn quoted(id: &'static str, wordings: &[(&'static str, &'static str)]) -> QuotedError {
    let words = wordings.iter().find(|(of, _)| *of == id).map(|(_, words)| (*words).to_owned());
    let usual = || errors::catalogue().get(id).map(|error| error.quote.clone());
    let quote = words.or_else(usual).unwrap_or_default();
    QuotedError { id: id.to_owned(), quote }
}

/// Where a check is documented.
fn docs_url(id: &str) -> String {
    format!("docs/checks.md#{id}")
}
