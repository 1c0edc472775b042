//! One Terraform file out of the remedies that have resources there, for a person to read and to
//! take into a configuration.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use super::{
    Report, in_terraform,
    text::{clean, clean_block, wrap},
};
use crate::outcome::{Outcome, Status};

/// Columns of the comments.
const WIDTH: usize = 96;

/// Writes the file.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    head(report, out)?;
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    let mut left: Vec<&Outcome> = Vec::new();
    for outcome in &report.outcomes {
        if !matches!(outcome.status, Status::Fail | Status::Warn) {
            continue;
        }
        match outcome.remedy.as_ref().and_then(|remedy| remedy.terraform.as_deref()) {
            Some(text) => finding(outcome, text, &mut known, out)?,
            None => left.push(outcome),
        }
    }
    if left.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    comment("Not in here, as no resource stands for what mends them:", out)?;
    left.iter()
        .try_for_each(|outcome| comment(&format!("- {}: {}", outcome.check, outcome.subject), out))
}

fn head(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let target = &report.target;
    let account = target.account.as_deref().unwrap_or("an account that could not be read");
    comment(
        &format!(
            "Mends, as Terraform, what karpenter-preflight {} found wrong at {} about cluster {} in \
             {}, account {account}, where resources can do it.",
            report.tool_version,
            report.collected_at.strftime("%Y-%m-%d %H:%M UTC"),
            target.cluster,
            target.region.value,
        ),
        out,
    )?;
    writeln!(out, "#")?;
    comment(
        "READ IT BEFORE YOU APPLY IT, and take out what you do not want. Names are those of the \
         account; where your configuration has the thing already, change it there instead, and \
         import what another tool made.",
        out,
    )
}

fn finding<'a>(
    outcome: &Outcome,
    text: &'a str,
    known: &mut BTreeMap<&'a str, &'a str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out)?;
    let status = if outcome.status == Status::Fail { "FAIL" } else { "WARN" };
    comment(&format!("{status} {}: {}", outcome.check, outcome.subject), out)?;
    comment(&outcome.seen, out)?;
    let mut first = true;
    for block in text.trim_end().split("\n\n") {
        let address = block.lines().next().unwrap_or_default();
        match known.insert(address, block) {
            Some(before) if before == block => continue,
            Some(before) => {
                known.insert(address, before);
                comment(
                    "A resource above has this name and says otherwise: judge again after it.",
                    out,
                )?;
            }
            None => {
                if !first {
                    writeln!(out)?;
                }
                writeln!(out, "{block}")?;
                first = false;
            }
        }
    }
    if first {
        comment("The resources for it stand above.", out)?;
    }
    by_hand(outcome, out)
}

/// What the remedy does beside AWS, each command in lines of its own, to copy.
fn by_hand(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let commands = outcome.remedy.as_ref().map(in_terraform::by_hand).unwrap_or_default();
    if commands.is_empty() {
        return Ok(());
    }
    comment("Besides, by hand:", out)?;
    let mut lines = commands.into_iter().flat_map(clean_block);
    lines.try_for_each(|line| writeln!(out, "#   {line}"))
}

/// Wrapped comment lines. What is not safe to print is shown as its escape.
fn comment(text: &str, out: &mut dyn Write) -> io::Result<()> {
    wrap(&clean(text), WIDTH).iter().try_for_each(|line| writeln!(out, "# {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        outcome::Remedy,
        report::sample::{report, written},
    };

    #[test]
    fn a_resource_stands_there_once_and_the_rest_is_named() {
        let mut report = report("problems");
        let mut outcome =
            report.outcomes.iter().find(|one| one.status == Status::Fail).unwrap().clone();
        let command = "kubectl set env deployment/karpenter --namespace kube-system \
             INTERRUPTION_QUEUE=a-queue-with-a-name-that-no-line-holds-beside-the-rest";
        let mut remedy = Remedy::new("Do it.").run("aws a b").run("kubectl get pods").run(command);
        remedy.terraform =
            Some("resource \"a\" \"x\" {\n}\n\nresource \"a\" \"y\" {\n}\n".to_owned());
        outcome.remedy = Some(remedy);
        outcome.subject = "x\nresource \"evil\" \"z\" {}".to_owned();
        let mut other = outcome.clone();
        other.remedy = Some(Remedy::new("By hand."));
        other.check = "by-hand".to_owned();
        report.outcomes = vec![outcome.clone(), outcome, other];
        let text = written(|out| write(&report, out));
        let blocks = text.lines().filter(|line| line.starts_with("resource")).count();
        assert_eq!(blocks, 2, "{text}");
        assert!(text.contains("# The resources for it stand above."), "{text}");
        assert!(text.contains("# - by-hand: x"), "{text}");
        assert!(text.contains(&format!("# Besides, by hand:\n#   {command}\n")), "{text}");
        assert!(!text.contains("aws a b") && !text.contains("get pods"), "{text}");
    }
}
