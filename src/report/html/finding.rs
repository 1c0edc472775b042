//! A check with its problems: what was seen, what follows, the evidence, and how to mend it.

use maud::{Markup, html};

use super::{super::groups::Judgement, icon::icon, words::prose};
use crate::{
    outcome::{Evidence, Outcome, QuotedError, Remedy, Status},
    report::{
        OWN_PERMISSIONS,
        causes::{Cause, SHOWN, causes, firsts, in_words},
        remarks, step,
        text::{clean, clean_block, sentence},
    },
};

/// More causes than this make no page that anyone reads.
const FOLDED: usize = 40;

pub(super) fn check(check: &Judgement<'_>, id: &str) -> Markup {
    let status = check.status();
    let causes = causes(&check.problems());
    let firsts = firsts(&causes);
    let causes = in_words(&causes, &firsts);
    let (shown, rest) = causes.split_at(SHOWN.min(causes.len()));
    html! {
        article class={ "check " (status.as_str()) } id=(id) {
            header {
                h5 { (icon(status)) span { (prose(check.title)) } }
                @if check.id != OWN_PERMISSIONS { code.id { (clean(check.id)) } }
            }
            @for cause in shown { (problem(cause)) }
            @if !rest.is_empty() { (folded(rest)) }
        }
    }
}

/// What would bury the first ones.
fn folded(rest: &[Cause<'_>]) -> Markup {
    let left = rest.len().saturating_sub(FOLDED);
    html! {
        details.more {
            summary { (rest.len()) " more like these" }
            @for cause in rest.iter().take(FOLDED) { (problem(cause)) }
            @if left > 0 { p.quiet { (left) " more are in the JSON report." } }
        }
    }
}

/// What could not be judged for one reason, with the checks that it hides.
pub(super) fn reasons(reasons: &[Cause<'_>], id: &str) -> Markup {
    html! {
        section id=(id) {
            h4 { "Not judged" }
            @for reason in reasons {
                @let checks = reason.checks();
                article.check.unknown {
                    header {
                        h5 { (icon(Status::Unknown)) span { (checks.len()) " checks, all for one reason" } }
                    }
                    dl {
                        dt { "Why" } dd { (prose(&sentence(&reason.first.seen))) }
                        (rest(reason.first))
                        dt { "Checks" }
                        dd.ids { @for check in checks { code { (clean(check)) } " " } }
                    }
                }
            }
        }
    }
}

fn problem(cause: &Cause<'_>) -> Markup {
    let outcome = cause.first;
    let unknown = outcome.status == Status::Unknown;
    html! {
        div.problem {
            p.subject {
                span class={ "badge " (outcome.status.as_str()) } { (outcome.status.as_str()) } " "
                code { (cause.subjects()) }
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
                (rest(outcome))
                @if cause.steps_are_of_first() {
                    dd.quiet { "This is for " (clean(&outcome.subject)) "; mend the others alike." }
                }
            }
            @if !outcome.evidence.is_empty() { (evidence(&outcome.evidence)) }
        }
    }
}

/// What to do about it.
fn rest(outcome: &Outcome) -> Markup {
    let unknown = outcome.status == Status::Unknown;
    html! {
        @if let Some(action) = &outcome.missing_action {
            dt { "Allow" } dd { code { (clean(action)) } " to the caller" }
        }
        @if let Some(remedy) = &outcome.remedy {
            dt { (if unknown { "To find out" } else { "To mend" }) }
            dd { (mend(remedy)) }
        }
    }
}

fn quote(error: &QuotedError) -> Markup {
    let text = if error.quote.is_empty() { &error.id } else { &error.quote };
    html! { code.quote { (clean(text)) } }
}

/// The script shows the buttons: without one they could do nothing.
fn mend(remedy: &Remedy) -> Markup {
    let several = remedy.steps.len() > 1;
    html! {
        (prose(&remedy.words))
        @if !remedy.steps.is_empty() {
            div.steps {
                @if several {
                    button.copy.all type="button" hidden { "Copy all " (remedy.steps.len()) " steps" }
                }
                ol.several[several].single[!several] {
                    @for step in &remedy.steps {
                        li.code {
                            // Focusable, so that a keyboard can scroll it.
                            pre tabindex="0" { code { (step::text(step)) } }
                            button.copy type="button" hidden { "Copy" }
                        }
                    }
                }
            }
        }
        @if let Some(text) = &remedy.terraform {
            details.more {
                summary { "As Terraform" }
                div.steps { ol.single { li.code {
                    pre tabindex="0" { code { (clean_block(text).join("\n")) } }
                    button.copy type="button" hidden { "Copy" }
                } } }
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
