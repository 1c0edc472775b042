//! `explain CHECK`: a check's doc as text for a terminal, or as JSON.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use serde::Serialize;

use super::{Entry, also_behind, product_titles, sections};
use crate::{
    checks::Check,
    report::{
        json,
        style::{Ink, Style},
        text::{clean_block, hang, prose},
    },
};

/// Of the text under a heading, in columns.
const INDENT: usize = 2;

/// Writes what a check is about, why it matters, and how to mend it.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn explain_check(check: &Check, out: &mut dyn Write, style: Style) -> io::Result<()> {
    writeln!(out, "{}", style.paint(Ink::Heading, check.id))?;
    hang(out, "", &prose(check.title, style.columns(), style))?;
    writeln!(out)?;
    let facts = [
        ("Area", check.area.title().to_owned()),
        ("Products", product_titles(check)),
        ("Reads with", check.actions().collect::<Vec<_>>().join(", ")),
        ("Errors", check.errors.join(", ")),
        ("Also behind", also_behind(check).join(", ")),
    ];
    for (label, value) in facts.into_iter().filter(|(_, value)| !value.is_empty()) {
        let head = format!("{}{}", style.paint(Ink::Label, label), " ".repeat(13 - label.len()));
        hang(out, &head, &prose(&value, style.columns() - 13, style))?;
    }
    for (heading, text) in sections(check.doc) {
        writeln!(out, "\n{}", style.paint(Ink::Heading, heading))?;
        write_blocks(&text, out, style)?;
    }
    Ok(())
}

/// Writes a check's entry and the sections of its doc as JSON.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn explain_check_json(check: &Check, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Explained {
        #[serde(flatten)]
        entry: Entry,
        /// Markdown by heading in snake case: `what`, `why`, `seen_as`, `fix`.
        doc: BTreeMap<String, String>,
    }
    let key = |heading: &str| heading.to_ascii_lowercase().replace(' ', "_");
    let doc = sections(check.doc).into_iter().map(|(name, text)| (key(name), text)).collect();
    json::write_value(&Explained { entry: Entry::of(check), doc }, out)
}

/// The kinds of Markdown block that docs are written with.
#[derive(Debug, PartialEq, Eq)]
enum Block {
    Paragraph(String),
    /// The marker with the blank after it, and the text.
    Item(String, String),
    /// Code that is fenced or indented by four.
    Code(Vec<String>),
}

fn write_blocks(text: &str, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let mut item_before = true;
    for (i, block) in blocks(text).iter().enumerate() {
        let is_item = matches!(block, Block::Item(..));
        if i > 0 && !(is_item && item_before) {
            writeln!(out)?;
        }
        item_before = is_item;
        let indent = " ".repeat(INDENT);
        match block {
            Block::Paragraph(text) => {
                hang(out, &indent, &prose(text, style.columns() - INDENT, style))?;
            }
            Block::Item(marker, text) => {
                let columns = style.columns() - INDENT - marker.len();
                hang(out, &(indent + marker), &prose(text, columns, style))?;
            }
            Block::Code(lines) => {
                let lines: Vec<_> = lines.iter().map(|line| style.paint(Ink::Code, line)).collect();
                hang(out, &(indent.clone() + &indent), &lines)?;
            }
        }
    }
    Ok(())
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    let mut continues = false;
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            let code = lines.by_ref().take_while(|line| !line.trim().starts_with("```"));
            let code: Vec<_> = code.collect();
            blocks.push(Block::Code(clean_block(&code.join("\n"))));
            continues = false;
        } else if trimmed.is_empty() {
            continues = false;
        } else if let (false, Some(code)) = (continues, line.strip_prefix("    ")) {
            push_code(&mut blocks, code);
        } else if let Some(at) = marker(trimmed) {
            blocks.push(Block::Item(trimmed[..at].to_owned(), trimmed[at..].to_owned()));
            continues = true;
        } else if let (true, Some(Block::Paragraph(text) | Block::Item(_, text))) =
            (continues, blocks.last_mut())
        {
            text.push(' ');
            text.push_str(trimmed);
        } else {
            blocks.push(Block::Paragraph(trimmed.to_owned()));
            continues = true;
        }
    }
    blocks
}

fn push_code(blocks: &mut Vec<Block>, line: &str) {
    match blocks.last_mut() {
        Some(Block::Code(lines)) => lines.extend(clean_block(line)),
        _ => blocks.push(Block::Code(clean_block(line))),
    }
}

/// The length of a list marker with its blank: `- `, `* `, `1. `.
fn marker(line: &str) -> Option<usize> {
    if line.starts_with("- ") || line.starts_with("* ") {
        return Some(2);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0 && line[digits..].starts_with(". ")).then_some(digits + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_blocks_of_a_doc() {
        let text = "One\ntwo.\n\n- a\n  more\n- b\n1. c\n\n    indented\n    code\n\n```sh\naws x\n```\nend";
        let item = |marker: &str, text: &str| Block::Item(marker.into(), text.into());
        assert_eq!(
            blocks(text),
            [
                Block::Paragraph("One two.".into()),
                item("- ", "a more"),
                item("- ", "b"),
                item("1. ", "c"),
                Block::Code(vec!["indented".into(), "code".into()]),
                Block::Code(vec!["aws x".into()]),
                Block::Paragraph("end".into()),
            ]
        );
    }
}
