//! From answers to findings: one a consequence, with the requests that are refused.

use super::{Answers, Refused, hints::hints, reasons::reasons};
use crate::{
    checks::{Judged, Stop, remedies::listed},
    iam::Decision,
    outcome::{Finding, Remedy, Unknown},
    requirements::Consequence,
};

/// How many decisions a finding shows; the rest are counted.
const SHOWN: usize = 4;
/// Where the decisions come from.
const READ: &str = "iam:GetRolePolicy, iam:GetPolicyVersion";
const READ_OF_ORGANIZATION: &str = "organizations:DescribePolicy";

/// Who asks, and in what words.
pub struct Who<'a> {
    /// The name of the role that is judged.
    pub role: &'a str,
    /// On whose behalf, such as `Karpenter 1.14.1`.
    pub asker: String,
    pub cluster: &'a str,
    /// Ids of the documented errors that may be quoted, the likeliest first.
    pub errors: &'static [&'static str],
}

impl Who<'_> {
    /// One finding a consequence, an unknown for what could not be decided, or a pass.
    pub fn findings(&self, answers: Answers, mend: impl Fn(&[Refused]) -> Remedy) -> Vec<Judged> {
        let asked = answers.asked;
        let (groups, unknown) = answers.by_consequence();
        let mut judged: Vec<Judged> = groups
            .into_iter()
            .map(|(consequence, refused)| {
                let subject = format!("{} ({})", self.role, consequence.as_str());
                Judged::new(subject, || {
                    Ok(self.finding(consequence, &refused).mend(mend(&refused)))
                })
                .of_role(self.role)
            })
            .collect();
        if let Some(stop) = undecided(unknown) {
            judged.push(Judged::new(self.role, || Err(stop)).of_role(self.role));
        } else if judged.is_empty() {
            let seen = format!("{} may make the {asked} requests of {}", self.role, self.asker);
            judged.push(Judged::new(self.role, || Ok(Finding::pass(seen))).of_role(self.role));
        }
        judged
    }

    /// What is refused, without a remedy.
    pub fn finding(&self, consequence: Consequence, refused: &[Refused]) -> Finding {
        let seen = format!(
            "{} may not call {} as {} does.{}{}",
            self.role,
            listed(&distinct_actions(refused)),
            self.asker,
            hints(refused, self.cluster),
            reasons(refused)
        );
        let finding = match is_grave(consequence) {
            true => Finding::fail(seen, effect(consequence, refused)),
            false => Finding::warn(seen, effect(consequence, refused)),
        };
        with_evidence(finding.errors(&errors(refused, self.errors)), refused)
    }
}

/// Whether a refusal with this consequence is a fail: nodes do not come, do not work, or do not
/// go. What is left behind or left undone is a warning.
pub fn is_grave(consequence: Consequence) -> bool {
    consequence <= Consequence::StopsDeletion
}

/// The worst consequence.
pub fn consequence(refused: &[Refused]) -> Option<Consequence> {
    refused.iter().map(|refused| refused.request.consequence).min()
}

/// The documented errors that the refusals show as, out of those that may be quoted.
fn errors(refused: &[Refused], quotable: &[&'static str]) -> Vec<&'static str> {
    let shown = |id: &&&'static str| {
        refused.iter().any(|refused| refused.request.errors.iter().any(|error| error == **id))
    };
    quotable.iter().filter(shown).copied().take(SHOWN).collect()
}

/// The actions, each once, in the order in which they are asked for.
pub fn distinct_actions(refused: &[Refused]) -> Vec<&str> {
    let mut actions: Vec<&str> = Vec::new();
    for refused in refused {
        if !actions.contains(&refused.request.action.as_str()) {
            actions.push(&refused.request.action);
        }
    }
    actions
}

/// The first decisions that differ from each other, and the number of the rest.
fn with_evidence(mut finding: Finding, refused: &[Refused]) -> Finding {
    let mut shown: Vec<(&str, String)> = Vec::new();
    for refused in refused {
        let why = why(refused);
        let seen =
            shown.iter().any(|(action, text)| *action == refused.request.action && *text == why);
        if seen || shown.len() == SHOWN {
            continue;
        }
        let path = format!("{} on {}", refused.request.action, refused.request.resource);
        let read = if refused.by_organization() { READ_OF_ORGANIZATION } else { READ };
        finding = finding.evidence(read, path, &why);
        shown.push((&refused.request.action, why));
    }
    match refused.len().saturating_sub(shown.len()) {
        0 => finding,
        1 => finding.evidence(READ, "others", "1 more request is refused"),
        rest => finding.evidence(READ, "others", format!("{rest} more requests are refused")),
    }
}

fn why(refused: &Refused) -> String {
    match &refused.decision {
        Decision::NotAllowed { nearest: None, .. } => {
            format!("no statement allows {}", refused.request.action)
        }
        decision => decision.to_string(),
    }
}

/// What a refusal does, with what else is known of these requests.
fn effect(consequence: Consequence, refused: &[Refused]) -> String {
    let what = match consequence {
        Consequence::StopsStart => {
            "The controller ends at its start, and is started again without end."
        }
        Consequence::StopsLaunches => "No node is launched.",
        Consequence::StopsNodes => "Nodes start, but do not work as members of the cluster.",
        Consequence::StopsDeletion => "Nodes or NodeClasses cannot be deleted.",
        Consequence::Leaks => "Something is left behind in the account, more with every node.",
        Consequence::Degrades => "What these calls are for is not done; the rest goes on.",
        Consequence::Silent => {
            "What these calls are for is not done, and no message says so; the rest goes on."
        }
    };
    let mut notes: Vec<&str> = Vec::new();
    for refused in refused {
        let note = refused.request.note.as_str();
        if !note.is_empty() && !notes.contains(&note) && notes.len() < 3 {
            notes.push(note);
        }
    }
    [&[what], notes.as_slice()].concat().join(" ")
}

/// One unknown for all that could not be decided: the first reason, and how many there are.
fn undecided(unknown: Vec<Unknown>) -> Option<Stop> {
    let mut reasons: Vec<Unknown> = Vec::new();
    for unknown in unknown {
        if !reasons.contains(&unknown) {
            reasons.push(unknown);
        }
    }
    let others = reasons.len().saturating_sub(1);
    let mut first = reasons.into_iter().next()?;
    if others > 0 {
        first.why = format!("{}; {others} more depend on something unknown too", first.why);
    }
    Some(Stop::Unknown(first))
}
