//! `completions`: what a shell needs to complete our command line.

use clap::{CommandFactory, builder::PossibleValue};
use clap_complete::Shell;

use super::{Failure, console};
use crate::{
    cli::{Cli, offered},
    outcome::ExitCode,
};

pub fn run(shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "karpenter-preflight", &mut script);
    match shell {
        Shell::Bash => script = mended_bash(&script),
        Shell::Fish => fish_positionals(&mut script),
        _ => {}
    }
    console::print(|out| out.write_all(&script))?;
    Ok(ExitCode::Ok)
}

/// The generator for bash takes the hyphen in the program's name for one between subcommands where
/// it names the cases, and so none of them ever fits (clap_complete 4.6.12).
fn mended_bash(script: &[u8]) -> Vec<u8> {
    let script = String::from_utf8_lossy(script);
    script.replace("karpenter__subcmd__preflight", "karpenter__preflight").into_bytes()
}

/// The generator for fish leaves out the words of arguments that have no flag.
fn fish_positionals(script: &mut Vec<u8>) {
    for (subcommand, words) in
        [("explain", offered::checks_and_errors()), ("waive", offered::checks())]
    {
        let words: Vec<_> = words.iter().map(PossibleValue::get_name).collect();
        let line = format!(
            "complete -c karpenter-preflight -n \"__fish_karpenter_preflight_using_subcommand \
             {subcommand}\" -f -a \"{}\"\n",
            words.join(" ")
        );
        script.extend_from_slice(line.as_bytes());
    }
}
