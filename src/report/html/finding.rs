//! A check with its problems: what was seen, what follows, the evidence, and how to mend it.

use maud::{Markup, html};

use super::{super::groups::Judgement, icon::icon, words::prose};
use crate::{
    outcome::{Evidence, Outcome, QuotedError, Remedy, Status},
    report::{
        remarks, step,
        text::{clean, sentence},
    },
};

pub(super) fn check(check: &Judgement<'_>, id: &str) -> Markup {
    let status = check.status();
    let problems = check.problems();
    html! {
        article class={ "check " (status.as_str()) } id=(id) {
            h5 { (icon(status)) " " (prose(check.title)) }
            @for outcome in &problems { (problem(outcome)) }
            p.docs { "More: " code { "karpenter-preflight explain " (clean(check.id)) } }
        }
    }
}

fn problem(outcome: &Outcome) -> Markup {
    let unknown = outcome.status == Status::Unknown;
    html! {
        div.problem {
            p.subject {
                span class={ "badge " (outcome.status.as_str()) } { (outcome.status.as_str()) } " "
                (clean(&outcome.subject))
            }
            dl {
                dt { (if unknown { "Why" } else { "Seen" }) }
                dd { (prose(&sentence(&outcome.seen))) }
                @if let Some(remark) = remarks::of(outcome) {
                    dt { "Note" } dd { (prose(&sentence(&remark))) }
                }
                @if !outcome.errors.is_empty() {
                    dt { "You would see" }
                    @for error in &outcome.errors { dd { (quote(error)) } }
                }
                @if !outcome.effect.is_empty() { dt { "Effect" } dd { (prose(&outcome.effect)) } }
                @if let Some(action) = &outcome.missing_action {
                    dt { "Allow" } dd { code { (clean(action)) } " to the caller" }
                }
                @if let Some(remedy) = &outcome.remedy {
                    dt { (if unknown { "To find out" } else { "To mend" }) }
                    dd { (mend(remedy)) }
                }
            }
            @if !outcome.evidence.is_empty() { (evidence(&outcome.evidence)) }
        }
    }
}

fn quote(error: &QuotedError) -> Markup {
    let text = if error.quote.is_empty() { &error.id } else { &error.quote };
    html! { code.quote { (clean(text)) } }
}

fn mend(remedy: &Remedy) -> Markup {
    html! {
        (prose(&remedy.words))
        @for step in &remedy.steps {
            div.step-text {
                // Focusable, so that a keyboard can scroll it.
                pre tabindex="0" { code { (step::text(step)) } }
                // The script shows it: without one it could do nothing.
                button.copy type="button" hidden { "Copy" }
            }
        }
    }
}

fn evidence(evidence: &[Evidence]) -> Markup {
    html! {
        details {
            summary { "Evidence" }
            table {
                thead { tr { th scope="col" { "From" } th scope="col" { "Where" } th scope="col" { "Value" } } }
                tbody {
                    @for one in evidence {
                        tr {
                            td { code { (clean(&one.api)) } }
                            td { code { (clean(&one.path)) } }
                            td { code { (clean(&one.value)) } }
                        }
                    }
                }
            }
        }
    }
}
