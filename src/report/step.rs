//! The steps of a remedy as a shell takes them.

use super::text::{clean, clean_block};
use crate::outcome::{Step, shell::quote};

/// A step in lines: what to type, a document's own lines, and what ends it.
pub(super) struct Typed {
    pub head: Vec<String>,
    pub document: Vec<String>,
    /// A shell looks for it at the start of a line.
    pub end: Option<String>,
}

/// A command as it is; a document as a here-document.
pub(super) fn typed(step: &Step) -> Typed {
    match step {
        Step::Command { command } => {
            Typed { head: clean_block(command), document: Vec::new(), end: None }
        }
        Step::Document { file, document } => {
            let document = clean_block(document);
            let end = end_mark(&document);
            let head = vec![format!("cat > {} <<'{end}'", quote(&clean(file)))];
            Typed { head, document, end: Some(end) }
        }
    }
}

/// The step as one text.
pub(super) fn text(step: &Step) -> String {
    let Typed { mut head, document, end } = typed(step);
    head.extend(document);
    head.extend(end);
    head.join("\n")
}

/// `EOF`, made longer until no line of the document is the same.
fn end_mark(lines: &[String]) -> String {
    let mut end = "EOF".to_owned();
    while lines.contains(&end) {
        end.push('_');
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_end_where_they_should() {
        let step = Step::Document { file: "a b.json".to_owned(), document: "{}\nEOF".to_owned() };
        assert_eq!(text(&step), "cat > 'a b.json' <<'EOF_'\n{}\nEOF\nEOF_");
        assert_eq!(text(&Step::Command { command: "aws x\n".to_owned() }), "aws x");
    }
}
