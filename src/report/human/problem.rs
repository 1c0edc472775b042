//! One problem: what was seen, what the user would see, and how to mend it.

use std::io::{self, Write};

use crate::{
    outcome::{Outcome, QuotedError, Remedy, Status, Step},
    report::{
        OWN_PERMISSIONS,
        causes::{Cause, SHOWN, causes, firsts, in_words, named},
        remarks,
        step::{Typed, typed},
        style::{Ink, Style},
        text::{hang, inked, prose, sentence},
    },
};

/// Of the labels, in columns.
const INDENT: usize = 4;
/// Of the label column without its indent, in columns.
const LABELS: usize = 15;
/// Of commands and documents, in columns.
const STEPS: usize = 6;

/// Writes the problems of one check, and where it is documented. Where there are several, the
/// status of each stands beside its subject.
pub(in crate::report) fn write(
    problems: &[&Outcome],
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    write_all(problems, out, style)?;
    let Some(last) = problems.last() else { return Ok(()) };
    if last.remedy.as_ref().is_some_and(|remedy| !remedy.steps.is_empty()) {
        writeln!(out)?;
    }
    let block = Block { style };
    block.row("Docs", &last.docs, out)?;
    if last.check == OWN_PERMISSIONS {
        return Ok(());
    }
    block.row("", &format!("karpenter-preflight explain {}", last.check), out)
}

/// Writes the problems alone: those of one cause once, and of many causes the first few.
pub(in crate::report) fn write_all(
    problems: &[&Outcome],
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    let block = Block { style };
    let causes = causes(problems);
    let firsts = firsts(&causes);
    let causes = in_words(&causes, &firsts);
    let (shown, rest) = causes.split_at(SHOWN.min(causes.len()));
    for cause in shown {
        writeln!(out)?;
        block.problem(cause, problems.len() > 1, out)?;
    }
    if rest.is_empty() {
        return Ok(());
    }
    let rest: Vec<_> = rest.iter().flat_map(Cause::outcomes).collect();
    let subjects: Vec<_> =
        rest.iter().map(|one| format!("{} ({})", one.subject, one.status.as_str())).collect();
    let subjects = named(&subjects.iter().map(String::as_str).collect::<Vec<_>>());
    writeln!(out)?;
    let text = format!("{} like these: {subjects}. --output json tells of each.", rest.len());
    block.row("More", &text, out)
}

/// Writes why these checks could not judge.
pub(super) fn write_reason(
    of_all: &Outcome,
    checks: &[&str],
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    let block = Block { style };
    writeln!(out)?;
    block.row("Why", &sentence(&of_all.seen), out)?;
    block.row("Checks", &checks.join(", "), out)?;
    block.rest(of_all, out)
}

/// The layout of a problem.
#[derive(Clone, Copy)]
struct Block {
    style: Style,
}

impl Block {
    fn problem(self, cause: &Cause<'_>, named: bool, out: &mut dyn Write) -> io::Result<()> {
        let outcome = cause.first;
        let unknown = outcome.status == Status::Unknown;
        let status = if named { format!(" ({})", outcome.status.as_str()) } else { String::new() };
        self.row("Subject", &format!("{}{status}", cause.subjects()), out)?;
        let seen = &outcome.seen;
        // A name keeps its case, even at the start of a sentence.
        let seen = if seen.starts_with(&outcome.subject) { seen.clone() } else { sentence(seen) };
        self.row(if unknown { "Why" } else { "Seen" }, &seen, out)?;
        if let Some(remark) = remarks::of(outcome) {
            self.row("Note", &sentence(&remark), out)?;
        }
        self.errors(&outcome.errors, out)?;
        if !outcome.effect.is_empty() {
            self.row("Effect", &outcome.effect, out)?;
        }
        self.rest(outcome, out)?;
        if cause.steps_are_of_first() {
            writeln!(out)?;
            let text = format!(
                "This is for {}; mend the others alike, or have --fix-script write it for all.",
                outcome.subject
            );
            self.row("", &text, out)?;
        }
        Ok(())
    }

    /// What to do about it.
    fn rest(self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
        if let Some(action) = &outcome.missing_action {
            self.row("Allow", &format!("{action} to the caller"), out)?;
        }
        if let Some(remedy) = &outcome.remedy {
            let unknown = outcome.status == Status::Unknown;
            self.remedy(if unknown { "To find out" } else { "To mend" }, remedy, out)?;
        }
        Ok(())
    }

    fn columns(self) -> usize {
        self.style.columns() - INDENT - LABELS
    }

    fn head(self, label: &str) -> String {
        let (indent, padding) = (" ".repeat(INDENT), " ".repeat(LABELS - label.len()));
        format!("{indent}{}{padding}", self.style.paint(Ink::Label, label))
    }

    fn row(self, label: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
        hang(out, &self.head(label), &prose(text, self.columns(), self.style))
    }

    fn errors(self, errors: &[QuotedError], out: &mut dyn Write) -> io::Result<()> {
        for (i, error) in errors.iter().enumerate() {
            let text = if error.quote.is_empty() {
                error.id.clone()
            } else {
                format!("“{}”", error.quote.trim())
            };
            let label = if i == 0 { "You would see" } else { "" };
            let lines = inked(&text, self.columns(), Ink::Quote, self.style);
            hang(out, &self.head(label), &lines)?;
        }
        Ok(())
    }

    fn remedy(self, label: &str, remedy: &Remedy, out: &mut dyn Write) -> io::Result<()> {
        self.row(label, &remedy.words, out)?;
        for step in &remedy.steps {
            writeln!(out)?;
            self.step(step, out)?;
        }
        Ok(())
    }

    /// Never wrapped, so that it can be copied.
    fn step(self, step: &Step, out: &mut dyn Write) -> io::Result<()> {
        let Typed { head, document, end } = typed(step);
        self.lines(&head, Ink::Code, out)?;
        self.lines(&document, Ink::Dim, out)?;
        match end {
            // A shell looks for it at the start of a line.
            Some(end) => writeln!(out, "{}", self.style.paint(Ink::Code, &end)),
            None => Ok(()),
        }
    }

    fn lines(self, lines: &[String], ink: Ink, out: &mut dyn Write) -> io::Result<()> {
        for line in lines {
            let line = self.style.paint(ink, line);
            writeln!(out, "{}", format!("{}{line}", " ".repeat(STEPS)).trim_end())?;
        }
        Ok(())
    }
}
