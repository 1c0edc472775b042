//! `explain`: what an error or a check means, and with an account at hand which cause it is.

mod decode;
mod input;

use super::{Failure, console, facts_file, read, selection};
use crate::{
    checks::{self, Check, Context, causes},
    cli::{ExplainArgs, TextFormat},
    errors::{DocumentedError, catalogue, explain::explain},
    outcome::{Counts, ExitCode, FailOn, exit_code},
    report::{
        Report, catalogue as pages,
        explanation::{Explanation, human, json},
    },
    target::resolve::resolve,
};

pub fn run(args: &ExplainArgs) -> Result<ExitCode, Failure> {
    let input = input::of(args)?;
    if let Some(check) = input.word().and_then(checks::get) {
        return page(check, args);
    }
    if let Some(entry) = input.word().and_then(|word| catalogue().get(word)) {
        return answer(Explanation::of_entry(entry), args);
    }
    let word = input.word().filter(|word| is_slug(word)).map(str::to_owned);
    let explanation = Explanation::of_text(explain(input.reader()?).map_err(input::unreadable)?);
    match word {
        Some(word) if explanation.is_empty() => Err(Failure::Usage(unknown(&word))),
        _ => answer(explanation, args),
    }
}

/// A check, and the error of the same name if there is one.
fn page(check: &Check, args: &ExplainArgs) -> Result<ExitCode, Failure> {
    if args.facts.is_some() || args.scope.cluster.is_some() {
        return Err(Failure::Usage(format!(
            "`{0}` is a check: run it with `karpenter-preflight check --select {0}`",
            check.id
        )));
    }
    let style = console::style();
    console::print(|out| match args.output {
        TextFormat::Json => pages::explain_check_json(check, out),
        TextFormat::Human => {
            pages::explain_check(check, out, style)?;
            let Some(entry) = catalogue().get(check.id) else { return Ok(()) };
            writeln!(out, "\nThere is a documented error of the same name:\n")?;
            human::write(&Explanation::of_entry(entry), out, style)
        }
    })?;
    Ok(ExitCode::Ok)
}

fn answer(mut explanation: Explanation, args: &ExplainArgs) -> Result<ExitCode, Failure> {
    let code = if explanation.is_empty() {
        ExitCode::Findings
    } else {
        if args.decode {
            decode::decode(&mut explanation, &args.aws)?;
        }
        match report(&explanation.entries(), args)? {
            Some((report, code)) => {
                explanation.judge(report);
                code
            }
            None => ExitCode::Ok,
        }
    };
    explanation.exit_code = code as u8;
    console::print(|out| match args.output {
        TextFormat::Human => human::write(&explanation, out, console::style()),
        TextFormat::Json => json::write(&explanation, out),
    })?;
    Ok(code)
}

/// What the checks say that the causes name, if there is an account to look at.
fn report(
    entries: &[&DocumentedError],
    args: &ExplainArgs,
) -> Result<Option<(Report, ExitCode)>, Failure> {
    let checks = causes::checks_of(entries);
    let saved = match (&args.facts, &args.scope.cluster) {
        (None, None) => return Ok(None),
        (Some(path), _) => facts_file::load(path, &args.scope)?,
        (None, Some(_)) => read::read(&args.aws, &args.scope)?,
    };
    let target = resolve(&saved.scope, &saved.facts);
    let outcomes = checks::run::run(&checks, &Context::new(&target, &saved));
    let code = exit_code(&Counts::of(&outcomes), FailOn::Fail, false);
    Ok(Some((Report::new(&saved, &target, outcomes, code), code)))
}

/// Whether a word can only be meant as an id.
fn is_slug(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn unknown(word: &str) -> String {
    let errors = catalogue().ids();
    let known: Vec<_> = selection::ids().into_iter().chain(errors).collect();
    selection::unknown_of(
        word,
        "check or documented error",
        &known,
        "see `karpenter-preflight list checks` and `karpenter-preflight list errors`",
    )
}
