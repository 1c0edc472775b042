//! What the script does about one finding.

use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write,
};

use super::{
    WIDTH, blanks,
    manner::{Manner, is_one, is_simple},
};
use crate::{
    outcome::{Outcome, Remedy, Status, Step, shell::quote},
    report::{
        step,
        text::{clean, clean_block, is_unsafe, wrap},
    },
};

/// What is in the script already.
#[derive(Default)]
pub(super) struct Done {
    /// Commands, with the documents that they read.
    commands: HashMap<String, Vec<String>>,
    /// Documents, by file.
    documents: HashMap<String, String>,
}

/// Whether a command is in the script already.
#[derive(PartialEq, Eq)]
enum Seen {
    No,
    Yes,
    /// With another document, which this one would replace.
    Otherwise,
}

/// What the script does about one finding.
pub(super) struct Section {
    pub text: String,
    /// Names of variables that a person must fill in first.
    pub blanks: BTreeSet<String>,
    /// What it runs.
    pub programs: BTreeSet<&'static str>,
}

/// A command of a remedy, and the documents that it reads.
struct Command<'a> {
    text: &'a str,
    manner: Manner,
    documents: Vec<Document<'a>>,
}

/// A document of a remedy.
#[derive(Clone, Copy)]
struct Document<'a> {
    file: &'a str,
    text: &'a str,
    step: &'a Step,
}

impl Section {
    pub fn new(number: usize, outcome: &Outcome, done: &mut Done) -> Self {
        let mut section =
            Self { text: String::new(), blanks: BTreeSet::new(), programs: BTreeSet::new() };
        let status = if outcome.status == Status::Fail { "FAIL" } else { "WARN" };
        section.comment(&format!("{number}. {status} {}: {}", outcome.check, outcome.subject));
        section.comment(&outcome.seen);
        if let Some(remedy) = &outcome.remedy {
            section.comment(&format!("To mend it: {}", remedy.words));
            section.commands(number, outcome, remedy, done);
        }
        section.text.push('\n');
        section
    }

    fn commands(&mut self, number: usize, outcome: &Outcome, remedy: &Remedy, done: &mut Done) {
        let commands = commands(remedy);
        let (run, shown): (Vec<_>, Vec<_>) =
            commands.into_iter().partition(|command| command.is_run());
        for command in &shown {
            self.show(command);
        }
        self.show_unused_documents(remedy, &run);
        let (run, set_otherwise) = done.take_in(run);
        if set_otherwise {
            self.comment(
                "A step above sets the same thing for another finding, and this one would undo it: \
                 check again after this script.",
            );
        }
        if run.is_empty() {
            let has_commands = remedy.steps.iter().any(|step| matches!(step, Step::Command { .. }));
            self.comment(match has_commands {
                true => "There is nothing more to run for it here.",
                false => "There is no command for it: it is yours to do.",
            });
            return;
        }
        let title = clean(&format!("{number}. {}: {}", outcome.check, outcome.subject));
        let _ = writeln!(self.text, "say {}", quote(&title));
        for document in run.iter().flat_map(|command| &command.documents) {
            self.write_document(document, done);
        }
        let asked: Vec<_> = run.iter().filter(|command| command.needs_a_yes()).collect();
        let indent = if asked.is_empty() { "" } else { "    " };
        if !asked.is_empty() {
            let question = question(number, &asked);
            let _ = writeln!(self.text, "# CONFIRM: this removes or replaces something.");
            let _ = writeln!(self.text, "if confirm {}; then", quote(&question));
        }
        for command in &run {
            self.run(number, command, indent);
        }
        if !asked.is_empty() {
            self.text.push_str("fi\n");
        }
    }

    fn comment(&mut self, text: &str) {
        for line in wrap(&clean(text), WIDTH) {
            let _ = writeln!(self.text, "# {line}");
        }
    }

    /// A command that a person runs to decide.
    fn show(&mut self, command: &Command<'_>) {
        self.comment("To look, or to do by hand:");
        for line in clean_block(command.text) {
            let _ = writeln!(self.text, "#     {line}");
        }
    }

    fn show_unused_documents(&mut self, remedy: &Remedy, run: &[Command<'_>]) {
        for step in &remedy.steps {
            let Step::Document { file, document } = step else { continue };
            let used = run.iter().any(|command| command.documents.iter().any(|d| d.file == file));
            if !used {
                self.comment(&format!("The document {file}:"));
                for line in clean_block(document) {
                    let _ = writeln!(self.text, "#     {line}");
                }
            }
        }
    }

    /// Writes a document for the commands that read it, unless it is there already.
    fn write_document(&mut self, document: &Document<'_>, done: &mut Done) {
        let known = done.documents.insert(document.file.to_owned(), document.text.to_owned());
        if known.as_deref() != Some(document.text) {
            let _ = writeln!(self.text, "{}", step::text(document.step));
        }
        if blanks::any_in(document.text) {
            let name = format!("FILL_IN_YES_WHEN_{}_IS_EDITED", variable(document.file));
            self.blanks.insert(name);
        }
    }

    fn run(&mut self, number: usize, command: &Command<'_>, indent: &str) {
        let text = blanks::filled(command.text, &mut self.blanks);
        let wrapper = match command.manner {
            Manner::Create if is_aws(command.text) => "create ",
            Manner::Remove if is_aws(command.text) => "remove ",
            _ => "",
        };
        let guard = match (command.inline_policy(), command.program()) {
            (Some(which), _) => {
                let shown = blanks::filled(&which, &mut self.blanks);
                let question =
                    clean(&format!("Finding {number} replaces the policy {which}. Go on?"));
                Some(format!(
                    "is_new aws iam get-role-policy {shown} || confirm {}",
                    quote(&question)
                ))
            }
            (None, "aws") => None,
            (None, program) => Some(format!("can_use {program}")),
        };
        let _ = match guard {
            Some(guard) => writeln!(
                self.text,
                "{indent}if {guard}; then\n{indent}    {wrapper}{text}\n{indent}fi"
            ),
            None => writeln!(self.text, "{indent}{wrapper}{text}"),
        };
        self.programs.insert(command.program());
    }
}

impl Command<'_> {
    /// Whether the script may run it as it stands.
    fn is_run(&self) -> bool {
        self.manner.is_run() && !self.text.chars().any(is_unsafe)
    }

    /// Whether a person must say yes to it, whatever the account has.
    fn needs_a_yes(&self) -> bool {
        self.manner.needs_a_yes() && self.inline_policy().is_none()
    }

    /// The options that name the inline policy that it puts: only where there is one of that name
    /// is anything lost.
    fn inline_policy(&self) -> Option<String> {
        let rest = self.text.strip_prefix("aws iam put-role-policy ")?;
        let (which, document) = rest.split_once(" --policy-document ")?;
        let is_plain = is_simple(self.text) && document.starts_with("file://");
        (is_plain && which.starts_with("--role-name ")).then(|| which.to_owned())
    }

    /// The program that it cannot do without.
    fn program(&self) -> &'static str {
        let uses = |program: &&&str| self.text.split([' ', '(']).any(|word| word == **program);
        ["kubectl", "helm", "eksctl"].iter().find(uses).copied().unwrap_or("aws")
    }

    fn documents(&self) -> Vec<String> {
        self.documents.iter().map(|document| document.text.to_owned()).collect()
    }
}

impl Done {
    /// Takes in what is new of these commands, and says whether one of them would undo another's.
    fn take_in<'a>(&mut self, commands: Vec<Command<'a>>) -> (Vec<Command<'a>>, bool) {
        let seen: Vec<_> = commands.iter().map(|command| self.seen(command)).collect();
        let otherwise = seen.contains(&Seen::Otherwise);
        let new = commands.into_iter().zip(seen).filter(|(_, seen)| *seen == Seen::No);
        let new: Vec<_> = new.map(|(command, _)| command).collect();
        for command in &new {
            self.commands.insert(command.text.to_owned(), command.documents());
        }
        (new, otherwise)
    }

    fn seen(&self, command: &Command<'_>) -> Seen {
        match self.commands.get(command.text) {
            None => Seen::No,
            Some(documents) if *documents == command.documents() => Seen::Yes,
            Some(_) => Seen::Otherwise,
        }
    }
}

/// The commands of a remedy, each with the documents before it that it names.
fn commands(remedy: &Remedy) -> Vec<Command<'_>> {
    let mut documents = Vec::new();
    let mut commands = Vec::new();
    for step in &remedy.steps {
        match step {
            Step::Document { file, document } => {
                documents.push(Document { file, text: document, step });
            }
            Step::Command { command } => commands.push(Command {
                text: command,
                manner: Manner::of(command),
                documents: documents
                    .iter()
                    .filter(|document| command.contains(document.file))
                    .copied()
                    .collect(),
            }),
        }
    }
    commands
}

fn is_aws(command: &str) -> bool {
    command.starts_with("aws ") && is_one(command)
}

/// What is asked before a finding is mended by removing or replacing something.
fn question(number: usize, asked: &[&Command<'_>]) -> String {
    let mut verbs: Vec<String> = Vec::new();
    for command in asked {
        let words: Vec<&str> = command.text.split_whitespace().take(3).collect();
        let verb = words.join(" ");
        if !verbs.contains(&verb) {
            verbs.push(verb);
        }
    }
    clean(&format!("Finding {number} runs {}. Go on?", verbs.join(", ")))
}

/// A file's name as a part of a variable's.
fn variable(file: &str) -> String {
    let part = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    file.chars().map(part).collect()
}
