//! `--fix-script` and `--fix-terraform`: what mends the findings, for a person to read and use.

use std::path::Path;

use crate::{
    cli::{CheckArgs, is_standard},
    commands::{
        Failure, console,
        files::{self, Readers},
        outputs::both,
    },
    outcome::shell::quote,
    report::{Report, fix_script, fix_terraform, printable},
};

pub fn write(args: &CheckArgs, report: &Report) -> Result<(), Failure> {
    both(write_script(args, report), write_terraform(args, report))
}

fn write_terraform(args: &CheckArgs, report: &Report) -> Result<(), Failure> {
    let Some(path) = &args.fix_terraform else { return Ok(()) };
    let mut text = Vec::new();
    fix_terraform::write(report, &mut text)
        .map_err(|error| Failure::Io { what: "could not write the Terraform".to_owned(), error })?;
    put(path, &text, Readers::Others, |name| format!("wrote {name}: read it before you apply it"))
}

fn write_script(args: &CheckArgs, report: &Report) -> Result<(), Failure> {
    let Some(path) = &args.fix_script else { return Ok(()) };
    let mut script = Vec::new();
    let again = again(std::env::args().skip(1), report);
    fix_script::write(report, &again, &mut script)
        .map_err(|error| Failure::Io { what: "could not write the script".to_owned(), error })?;
    put(path, &script, Readers::User, |name| match fix_script::is_empty(report) {
        true => format!("wrote {name}: there is nothing to mend"),
        false => format!("wrote {name}: read it, then run it with `bash {name}`"),
    })
}

/// Writes a file and says so, or prints it where the path is `-`.
fn put(
    path: &Path,
    text: &[u8],
    readers: Readers,
    say: impl Fn(&str) -> String,
) -> Result<(), Failure> {
    if is_standard(path) {
        return console::print(|out| out.write_all(text));
    }
    files::write(path, text, readers)?;
    console::note(printable(&say(&quote(&path.to_string_lossy()))));
    Ok(())
}

/// The command that judges once more, as this run did: with its flags, but for those that say where
/// to write and what to read instead of AWS. It only reads: a proof takes the controller's
/// credentials, which nobody who runs the script asked for. Cluster and region are those that were judged, also
/// where a file or the environment named them.
fn again(mut given: impl Iterator<Item = String>, report: &Report) -> String {
    const WITH_VALUE: [&str; 7] = [
        "--fix-script",
        "--fix-terraform",
        "--output",
        "--facts",
        "--baseline",
        "--notify-command",
        "--notify-format",
    ];
    const ALONE: [&str; 3] = ["--fail-on-new", "--prove", "--verbose"];
    let mut words = Vec::new();
    while let Some(word) = given.next() {
        let name = word.split('=').next().unwrap_or_default();
        // Short flags may stand in one word, with the value of the last: `-v`, `-vo json`, `-ojson`.
        let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        if let Some(rest) = short.map(|rest| rest.trim_start_matches('v')) {
            match rest {
                "" => {}
                "o" => drop(given.next()),
                rest if rest.starts_with('o') => {}
                rest => words.push(format!("-{rest}")),
            }
        } else if WITH_VALUE.contains(&word.as_str()) {
            given.next();
        } else if !WITH_VALUE.contains(&name) && !ALONE.contains(&name) {
            words.push(word);
        }
    }
    let target = &report.target;
    for (name, short, value) in
        [("--cluster", Some("-c"), &target.cluster), ("--region", None, &target.region.value)]
    {
        let is_given = words.iter().any(|word| {
            word.split('=').next() == Some(name)
                || short.is_some_and(|short| word.starts_with(short))
        });
        if !is_given {
            words.extend([name.to_owned(), value.clone()]);
        }
    }
    let quoted: Vec<_> = words.iter().map(|word| quote(word)).collect();
    format!("karpenter-preflight {}", quoted.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::report;

    #[test]
    fn it_judges_again_as_this_run_did() {
        let report = report("problems");
        let here = format!("--region {}", report.target.region.value);
        for (given, expected) in [
            (
                "check --cluster demo --fix-script fix.sh --no-kube",
                format!("check --cluster demo --no-kube {here}"),
            ),
            (
                "check -c demo --region eu-west-1 --fix-script=fix.sh -o json --output=html=a.html",
                "check -c demo --region eu-west-1".to_owned(),
            ),
            (
                "check -cdemo -ojson -vo short -v --prove --fix-script fix.sh --no-kube",
                format!("check -cdemo --no-kube {here}"),
            ),
            (
                "check --facts facts.json --fix-script fix.sh --karpenter-version 1.6.2",
                format!(
                    "check --karpenter-version 1.6.2 --cluster {} {here}",
                    report.target.cluster
                ),
            ),
        ] {
            let again = again(given.split(' ').map(str::to_owned), &report);
            assert_eq!(again, format!("karpenter-preflight {expected}"));
        }
    }
}
