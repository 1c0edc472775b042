//! What an upgrade changes, for people and for programs.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use crate::{
    errors,
    iam::{Arn, Decision},
    report::{
        style::{Ink, Style},
        text::{clean, hang, inked, prose},
    },
    requirements::{
        Feature, Request, Setup,
        diff::{Change, Diff, Refusal, RequestChange},
        kubernetes::KubernetesRange,
        statement_diff::{Sides, StatementChange},
    },
};

/// Writes the difference for people.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(diff: &Diff, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let Diff { from, to, .. } = diff;
    let title = format!("Karpenter {from} to {to}: what it asks of the account");
    writeln!(out, "{}", style.paint(Ink::Heading, &title))?;
    let page = Page { style };
    page.refusals(
        &format!("Grant before the upgrade: Karpenter {to} under the policy printed for {from}"),
        &format!("Nothing: the policy printed for {from} allows all that {to} asks for."),
        &diff.if_policy_stays,
        out,
    )?;
    page.refusals(
        &format!(
            "Do not attach early, nor keep after going back: Karpenter {from} under the policy \
             printed for {to}"
        ),
        &format!("Nothing is lost: the policy printed for {to} serves {from} as well."),
        &diff.if_policy_is_ahead,
        out,
    )?;
    page.statements(&diff.statements, out)?;
    page.requests(&diff.requests, out)?;
    page.rest(diff, out)
}

/// The layout.
#[derive(Clone, Copy)]
struct Page {
    style: Style,
}

impl Page {
    fn heading(self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out)?;
        hang(out, "", &inked(text, self.style.columns(), Ink::Heading, self.style))
    }

    fn line(self, indent: usize, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let lines = prose(text, self.style.columns() - indent, self.style);
        hang(out, &" ".repeat(indent), &lines)
    }

    fn refusals(
        self,
        heading: &str,
        none: &str,
        refusals: &[Refusal],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.heading(heading, out)?;
        if refusals.is_empty() {
            return self.line(2, none, out);
        }
        for refusal in refusals {
            let request = &refusal.request;
            let consequence = request.consequence.as_str().replace('-', " ");
            let head = format!("`{}`{}: {consequence}", request.action, needs(&request.when));
            self.line(2, &head, out)?;
            self.line(6, &because(&refusal.decision), out)?;
            if !request.note.is_empty() {
                self.line(6, &request.note, out)?;
            }
            if let Some(quote) = quote(request) {
                let text = format!("You would see \"{}\"", quote.trim());
                hang(
                    out,
                    "      ",
                    &inked(&text, self.style.columns() - 6, Ink::Quote, self.style),
                )?;
            }
        }
        Ok(())
    }

    fn statements(self, changes: &[StatementChange], out: &mut dyn Write) -> io::Result<()> {
        self.heading("Statements of the printed policy", out)?;
        if changes.is_empty() {
            return self.line(2, "No change.", out);
        }
        for change in changes {
            self.line(2, &format!("{}: {}", change.sid, kind_of(change)), out)?;
            let parts = [
                ("action", &change.actions),
                ("resource", &change.resources),
                ("condition", &change.conditions),
                ("value", &change.values),
            ];
            for (part, sides) in parts {
                for (sign, ink, items) in [
                    ('+', Ink::Status(crate::outcome::Status::Pass), &sides.added),
                    ('-', Ink::Status(crate::outcome::Status::Fail), &sides.dropped),
                ] {
                    for item in items {
                        let line = format!("{sign} {part} {}", clean(item));
                        writeln!(out, "      {}", self.style.paint(ink, &line))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn requests(self, changes: &[RequestChange], out: &mut dyn Write) -> io::Result<()> {
        self.heading("Requests that the controller makes", out)?;
        if changes.is_empty() {
            return self.line(2, "No change.", out);
        }
        let mut said = BTreeSet::new();
        let is_added = |change: &RequestChange| matches!(change.change, Change::Added { .. });
        let is_dropped = |change: &RequestChange| matches!(change.change, Change::Dropped { .. });
        for change in changes {
            // One request in the place of another is one change.
            let same = |c: &&RequestChange| c.request.action == change.request.action;
            let mut twins = changes.iter().filter(same);
            let old = twins.clone().find(|c| is_dropped(c));
            let new = twins.find(|c| is_added(c));
            if let (Some(old), Some(new)) = (old, new)
                && (is_added(change) || is_dropped(change))
            {
                let moved = format!(
                    "`{}`: asked of `{}` instead of `{}`",
                    change.request.action, new.request.resource, old.request.resource
                );
                if said.insert(moved.clone()) {
                    self.line(2, &moved, out)?;
                }
                continue;
            }
            let line = format!(
                "`{}`{}: {}",
                change.request.action,
                needs(&change.request.when),
                words(&change.change, &change.request)
            );
            // One call on several kinds of resources is one line.
            if said.insert(line.clone()) {
                self.line(2, &line, out)?;
            }
        }
        Ok(())
    }

    fn rest(self, diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
        if !diff.new_rules.is_empty() {
            self.heading("EventBridge rules that the new version can use", out)?;
        }
        for rule in &diff.new_rules {
            let line = format!("`{}` from `{}`: {}", rule.detail_type, rule.source, rule.note);
            self.line(2, &line, out)?;
        }
        self.heading("Kubernetes versions", out)?;
        let [before, after] = diff.kubernetes.map(|range| span(&range));
        self.line(2, &format!("{before} before, {after} after"), out)
    }
}

fn span(range: &KubernetesRange) -> String {
    format!("{} to {}", range.min, range.max)
}

/// The features that not every set-up has.
fn needs(when: &[Feature]) -> String {
    let usual = Setup::new("", "", "", "").features;
    let special: Vec<_> = when.iter().copied().filter(|f| !usual.contains(f)).collect();
    if special.is_empty() {
        String::new()
    } else {
        format!(" (with {})", names(&special).join(", "))
    }
}

fn names(features: &[Feature]) -> Vec<String> {
    let name = |feature: &Feature| serde_json::to_value(feature).ok()?.as_str().map(str::to_owned);
    features.iter().filter_map(name).collect()
}

fn because(decision: &Decision) -> String {
    match decision {
        Decision::NotAllowed { nearest: None, .. } => {
            "No statement of that policy lists it.".to_owned()
        }
        other => format!("In that policy, {other}."),
    }
}

fn quote(request: &Request) -> Option<&'static str> {
    request.errors.iter().find_map(|id| {
        let quote = errors::catalogue().get(id)?.quote.as_str();
        (!quote.is_empty()).then_some(quote)
    })
}

fn kind_of(change: &StatementChange) -> &'static str {
    let is_whole = |sides: fn(&Sides) -> &BTreeSet<String>,
                    other: fn(&Sides) -> &BTreeSet<String>| {
        !sides(&change.actions).is_empty()
            && other(&change.actions).is_empty()
            && !sides(&change.resources).is_empty()
            && other(&change.resources).is_empty()
    };
    match (change.widens(), change.tightens()) {
        _ if is_whole(|s| &s.added, |s| &s.dropped) => "new",
        _ if is_whole(|s| &s.dropped, |s| &s.added) => "gone",
        (true, true) => "wider in one way, tighter in another",
        (true, false) => "wider",
        (false, _) => "tighter",
    }
}

/// `placement-group resources`; of a request without a resource, that there is none.
fn of_what(resource: &str) -> String {
    match resource.parse::<Arn>() {
        Ok(arn) => format!("{} resources", arn.resource_type()),
        Err(_) => "no certain resource".to_owned(),
    }
}

fn words(change: &Change, request: &Request) -> String {
    match change {
        Change::Added { new_action: true } => "new".to_owned(),
        Change::Added { new_action: false } => {
            format!("asked of {} too", of_what(&request.resource))
        }
        Change::Dropped { last_of_action: true } => "no longer made".to_owned(),
        Change::Dropped { last_of_action: false } => {
            format!("no longer asked of {}", of_what(&request.resource))
        }
        Change::Consequence { before } => format!(
            "its refusal used to be \"{}\" and is now \"{}\"",
            before.as_str().replace('-', " "),
            request.consequence.as_str().replace('-', " ")
        ),
        Change::Sent { tags_added, tags_dropped } => {
            let part = |what: &str, tags: &[String]| {
                (!tags.is_empty()).then(|| format!("{what} tag {}", tags.join(", ")))
            };
            let parts: Vec<_> = [part("with", tags_added), part("without", tags_dropped)]
                .into_iter()
                .flatten()
                .collect();
            if parts.is_empty() {
                return "sent for another resource or with other values".to_owned();
            }
            format!("now sent {}", parts.join(" and "))
        }
    }
}
