//! The head of the page: what it may do, and how it looks.

use maud::{Markup, PreEscaped, html};

pub(super) const STYLE: &str = include_str!("style.css");
pub(super) const SCRIPT: &str = include_str!("copy.js");

/// SHA-256 of the two, as the content security policy names them. A test computes them.
const STYLE_HASH: &str = "mXhwRDf46ZIz3ZseYmOgDNF4CsXXx+5WpK58B7rspNQ=";
const SCRIPT_HASH: &str = "x9TIoaLeVRxdAF2aFo3cDJUn+xzeNmmhFkReL68BRhI=";

pub(super) fn head(title: &str) -> Markup {
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; \
         base-uri 'none'; form-action 'none'"
    );
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content={ "karpenter-preflight " (env!("CARGO_PKG_VERSION")) };
            title { (title) }
            style { (PreEscaped(STYLE)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        process::{Command, Stdio},
    };

    use base64::Engine;

    use super::*;

    /// By the program of the system, and not by what made the constants.
    fn sha256(text: &str) -> String {
        let mut child = Command::new("sha256sum")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sha256sum is there");
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let hex = String::from_utf8(output.stdout).unwrap();
        let bytes: Vec<u8> =
            (0..32).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }

    #[test]
    fn the_policy_names_what_is_on_the_page() {
        assert_eq!(sha256(STYLE), STYLE_HASH, "write this into STYLE_HASH");
        assert_eq!(sha256(SCRIPT), SCRIPT_HASH, "write this into SCRIPT_HASH");
    }
}
