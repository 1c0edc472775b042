//! `--notify-command`: hands the report to a command, when something changed.

use std::{
    io::{self, Write},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::super::{Failure, console};
use crate::report::{self, Format, Reports};

/// How long the command may take.
const PATIENCE: Duration = Duration::from_secs(60);
const GLANCE: Duration = Duration::from_millis(50);

/// Runs the command with the report on its standard input, unless nothing changed.
pub fn notify(command: &str, reports: &Reports, format: Format) -> Result<(), Failure> {
    let changed = |report: &report::Report| report.changes.as_ref().is_some_and(|c| c.any());
    if !reports.reports.iter().any(changed) {
        return Ok(());
    }
    let mut text = Vec::new();
    report::write(reports, format, console::PLAIN, &mut text).map_err(failed)?;
    let mut child = shell(command).stdin(Stdio::piped()).spawn().map_err(failed)?;
    let input = child.stdin.take();
    // In a thread of its own: a command that does not read must not hold the run.
    let writer = thread::spawn(move || input.map_or(Ok(()), |mut input| input.write_all(&text)));
    match wait(&mut child).map_err(failed)? {
        None => {
            end(&mut child);
            let seconds = PATIENCE.as_secs();
            Err(failed(io::Error::other(format!("it was ended after {seconds} seconds"))))
        }
        Some(status) if status.success() => {
            // One that goes by the exit of others need not read.
            drop(writer);
            Ok(())
        }
        Some(status) => Err(failed(io::Error::other(status.to_string()))),
    }
}

fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let since = Instant::now();
    while since.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(GLANCE);
    }
    Ok(None)
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut shell = Command::new("sh");
    // A group of its own, so that what it started can be ended with it.
    shell.args(["-c", command]).process_group(0);
    shell
}

#[cfg(not(unix))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.args(["/C", command]);
    shell
}

fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn failed(error: io::Error) -> Failure {
    Failure::Io { what: "the command of --notify-command failed".to_owned(), error }
}
