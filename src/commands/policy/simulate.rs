//! `policy simulate`: the evaluator as a tool, line by line.

use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write};

use super::Failure;
use crate::{iam::simulate::Simulator, outcome::ExitCode};

/// Of the buffers, in bytes: a line with the policies of a role is some ten thousand.
const BUFFER: usize = 256 * 1024;

pub fn run() -> Result<ExitCode, Failure> {
    let stdout = io::stdout();
    let interactive = stdout.is_terminal();
    let input = BufReader::with_capacity(BUFFER, io::stdin().lock());
    let output = BufWriter::with_capacity(BUFFER, stdout.lock());
    match answer(input, output, interactive) {
        // A reader that has gone away, as `head` does, is no error.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Io { what: "could not read or write".to_owned(), error })
        }
        _ => Ok(ExitCode::Ok),
    }
}

/// Answers each line that is not blank. On a terminal each answer is shown at once.
fn answer(mut input: impl BufRead, mut output: impl Write, interactive: bool) -> io::Result<()> {
    let mut line = Vec::new();
    let mut simulator = Simulator::default();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return output.flush();
        }
        // What is not UTF-8 is no JSON, and is answered as such.
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        output.write_all(simulator.line(&text).as_bytes())?;
        output.write_all(b"\n")?;
        if interactive {
            output.flush()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_does_not_end_it() {
        let good =
            r#"{"id": "a", "request": {"principal": "*", "action": "s3:Get", "resource": "*"}}"#;
        let input = format!("\n{{\n{{\"id\": 5}}\n{good}\r\n\u{ff}\n{good}");
        let mut output = Vec::new();
        answer(input.as_bytes(), &mut output, false).unwrap();
        let decisions: Vec<_> = String::from_utf8(output)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|answer| (answer["id"].clone(), answer["decision"].as_str().unwrap().to_owned()))
            .collect();
        let expected = [
            (serde_json::Value::Null, "error"),
            (5.into(), "error"),
            ("a".into(), "implicitDeny"),
            (serde_json::Value::Null, "error"),
            ("a".into(), "implicitDeny"),
        ];
        assert_eq!(decisions, expected.map(|(id, word)| (id, word.to_owned())));
    }
}
