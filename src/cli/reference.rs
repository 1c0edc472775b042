//! `docs/cli.md`: every subcommand with its flags, as clap has them.

use std::fmt::Write;

use clap::{Arg, Command, CommandFactory};

use super::Cli;

const INTRODUCTION: &str = "\
# Command line

<!-- Generated from src/cli/; do not edit. -->

`--help` after any subcommand says the same. `karpenter-preflight completions SHELL` makes bash, zsh
and fish complete it all, ids of checks and errors, formats and versions included; PowerShell
completes subcommands and flags. What a flag says wins over the [configuration](configuration.md).
";

/// The page.
pub fn page() -> String {
    let mut cli = Cli::command();
    // Fills in the usage of each subcommand.
    cli.build();
    let mut page = INTRODUCTION.to_owned();
    for command in cli.get_subcommands().filter(|command| is_shown(command)) {
        write_command(&mut page, command, "karpenter-preflight");
    }
    page
}

fn is_shown(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

fn write_command(page: &mut String, command: &Command, before: &str) {
    let name = format!("{before} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(page, "\n## {name}\n\n{about}.\n");
    let below: Vec<_> = command.get_subcommands().filter(|command| is_shown(command)).collect();
    if below.is_empty() {
        let usage = command.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ");
        let _ = write!(page, "\n```text\n{usage}\n```\n");
        write_arguments(page, command);
        let after = command.get_after_long_help().or(command.get_after_help());
        if let Some(after) = after {
            let _ = write!(page, "\n```text\n{after}\n```\n");
        }
    }
    for command in below {
        write_command(page, command, &name);
    }
}

/// A table a heading, in the order of the help.
fn write_arguments(page: &mut String, command: &Command) {
    let arguments: Vec<_> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str()))
        .collect();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for arg in &arguments {
        if !headings.contains(&arg.get_help_heading()) {
            headings.push(arg.get_help_heading());
        }
    }
    for heading in headings {
        let title = heading.unwrap_or("Options");
        let _ = write!(page, "\n| {title} | |\n|---|---|\n");
        for arg in arguments.iter().filter(|arg| arg.get_help_heading() == heading) {
            let _ = writeln!(page, "| {} | {} |", cell(&named(arg)), cell(&said(arg)));
        }
    }
}

/// `-o`, `--output FORMAT[=FILE]`, as one types it.
fn named(arg: &Arg) -> String {
    let takes_value = arg.get_action().takes_values();
    let values = arg.get_value_names().unwrap_or_default();
    let values = if takes_value { values.join(" ") } else { String::new() };
    if arg.is_positional() {
        return format!("`{values}`");
    }
    let short = arg.get_short().map(|short| format!("`-{short}`, ")).unwrap_or_default();
    let aliases = arg.get_visible_aliases().unwrap_or_default();
    let names = arg.get_long().into_iter().chain(aliases);
    let names: Vec<_> =
        names.map(|name| format!("`{}`", format!("--{name} {values}").trim_end())).collect();
    short + &names.join(", ")
}

/// What it does, its words where there are few, and its default.
fn said(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let paragraphs = help.split("\n\n").map(|text| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        text.trim_end_matches('.').to_owned()
    });
    let mut said = paragraphs.collect::<Vec<_>>().join(". ");
    let values = arg.get_possible_values();
    let takes_word = arg.get_action().takes_values() && !arg.is_hide_possible_values_set();
    if takes_word && !values.is_empty() {
        let words: Vec<_> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
        said += &format!(" ({})", words.join(", "));
    }
    let defaults = arg.get_default_values();
    if arg.get_action().takes_values() && !defaults.is_empty() {
        let words: Vec<_> = defaults.iter().map(|word| word.to_string_lossy()).collect();
        said += &format!(" [default: {}]", words.join(", "));
    }
    said
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_of_every_subcommand_is_there() {
        fn walk(command: &Command, page: &str) {
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                if let Some(long) =
                    arg.get_long().filter(|long| !["help", "version"].contains(long))
                {
                    assert!(
                        page.contains(&format!("--{long}")),
                        "{}: --{long}",
                        command.get_name()
                    );
                }
            }
            for command in command.get_subcommands().filter(|command| is_shown(command)) {
                walk(command, page);
            }
        }
        let page = page();
        walk(&Cli::command(), &page);
        for heading in ["## karpenter-preflight check\n", "## karpenter-preflight policy test\n"] {
            assert!(page.contains(heading), "{heading}");
        }
        assert!(page.contains("| `-o`, `--output FORMAT[=FILE]` |"), "{page}");
        assert!(!page.contains("generate"), "what is hidden stays so");
        assert!(!page.contains("node-role-access-entry`, `"), "no list of all ids");
    }
}
