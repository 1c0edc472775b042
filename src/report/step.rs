//! The steps of a remedy as a shell takes them.

use std::borrow::Cow;

use super::text::{clean, clean_block};
use crate::outcome::{Outcome, Remedy, Step, shell::quote};

/// The problems of one check, the same steps shown once: where an earlier one has them, the words
/// refer to it.
pub(super) fn each_once<'a>(problems: &[&'a Outcome]) -> Vec<Cow<'a, Outcome>> {
    let steps = |outcome: &'a Outcome| outcome.remedy.as_ref().map(|remedy| &remedy.steps);
    let one = |at: usize| {
        let outcome = problems[at];
        let own = steps(outcome).filter(|own| !own.is_empty());
        let earlier = problems[..at].iter().find(|earlier| own.is_some() && steps(earlier) == own);
        let (Some(earlier), Some(remedy)) = (earlier, &outcome.remedy) else {
            return Cow::Borrowed(outcome);
        };
        let words = format!("{} The steps are those for {}, above.", remedy.words, earlier.subject);
        Cow::Owned(Outcome { remedy: Some(Remedy::new(words)), ..outcome.clone() })
    };
    (0..problems.len()).map(one).collect()
}

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
    fn the_same_steps_are_shown_once() {
        let outcomes = crate::report::sample::report("problems").outcomes;
        let with_steps =
            |outcome: &&Outcome| outcome.remedy.as_ref().is_some_and(|r| !r.steps.is_empty());
        let first = outcomes.iter().find(with_steps).unwrap();
        let other = Outcome { subject: "other".to_owned(), ..first.clone() };
        let shown = each_once(&[first, &other]);
        assert_eq!(*shown[0], *first);
        let remedy = shown[1].remedy.as_ref().unwrap();
        assert!(remedy.steps.is_empty(), "{remedy:?}");
        assert!(remedy.words.ends_with(&format!("those for {}, above.", first.subject)));
    }

    #[test]
    fn documents_end_where_they_should() {
        let step = Step::Document { file: "a b.json".to_owned(), document: "{}\nEOF".to_owned() };
        assert_eq!(text(&step), "cat > 'a b.json' <<'EOF_'\n{}\nEOF\nEOF_");
        assert_eq!(text(&Step::Command { command: "aws x\n".to_owned() }), "aws x");
    }
}
