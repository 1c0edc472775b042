//! Patterns: `*` is any run of characters, `?` is any one character.

/// One symbol of a pattern before it is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Char(char),
    /// `*`
    Any,
    /// `*` that stays between two colons of an ARN.
    AnyInPart,
    /// `?`
    One,
}

impl Unit {
    /// Reads `text` with `*` and `?` as wildcards.
    pub(crate) fn glob(text: &str) -> impl Iterator<Item = Unit> + '_ {
        text.chars().map(|c| match c {
            '*' => Unit::Any,
            '?' => Unit::One,
            c => Unit::Char(c),
        })
    }

    /// As it is written in a policy.
    pub(crate) fn symbol(self) -> char {
        match self {
            Unit::Char(c) => c,
            Unit::Any | Unit::AnyInPart => '*',
            Unit::One => '?',
        }
    }

    /// Reads `text` with every character standing for itself.
    pub(crate) fn literal(text: &str) -> impl Iterator<Item = Unit> + '_ {
        text.chars().map(Unit::Char)
    }
}

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Form);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// Without wildcards.
    Plain(String),
    /// The runs of symbols between the `*`s. Matching takes each run at its leftmost place, so it
    /// never backtracks over an earlier run.
    Runs(Vec<Run>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Run {
    Plain(String),
    /// A run with `?` in it; `None` is any one character.
    Holed(Vec<Option<char>>),
}

impl Pattern {
    /// Compiles `text` with `*` and `?` as wildcards.
    pub fn glob(text: &str) -> Pattern {
        Pattern::glob_of(text.to_owned())
    }

    /// The same of a text that is of no other use.
    pub(crate) fn glob_of(text: String) -> Pattern {
        match text.contains(['*', '?']) {
            true => Pattern(Form::Runs(text.split('*').map(Run::glob).collect())),
            false => Pattern(Form::Plain(text)),
        }
    }

    /// A pattern that matches `text` and nothing else.
    pub fn literal(text: &str) -> Pattern {
        Pattern(Form::Plain(text.to_owned()))
    }

    pub(crate) fn from_units(units: impl IntoIterator<Item = Unit>) -> Pattern {
        let mut runs = Vec::new();
        let mut run = Vec::new();
        for unit in units {
            match unit {
                Unit::Any | Unit::AnyInPart => runs.push(Run::new(&std::mem::take(&mut run))),
                Unit::One => run.push(None),
                Unit::Char(c) => run.push(Some(c)),
            }
        }
        match (Run::new(&run), runs.is_empty()) {
            (Run::Plain(text), true) => Pattern(Form::Plain(text)),
            (last, _) => {
                runs.push(last);
                Pattern(Form::Runs(runs))
            }
        }
    }

    /// Whether the whole of `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        let runs = match &self.0 {
            Form::Plain(plain) => return plain == text,
            Form::Runs(runs) => runs,
        };
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return false };
        if runs.len() == 1 {
            return first.strip_prefix(text).is_some_and(str::is_empty);
        }
        let Some(rest) = first.strip_prefix(text) else { return false };
        let Some(mut rest) = last.strip_suffix(rest) else { return false };
        for run in &runs[1..runs.len() - 1] {
            match run.skip_past(rest) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        true
    }
}

impl Run {
    /// A run without `*`.
    fn glob(text: &str) -> Run {
        match text.contains('?') {
            true => Run::Holed(text.chars().map(|c| (c != '?').then_some(c)).collect()),
            false => Run::Plain(text.to_owned()),
        }
    }

    fn new(symbols: &[Option<char>]) -> Run {
        match symbols.iter().copied().collect::<Option<String>>() {
            Some(text) => Run::Plain(text),
            None => Run::Holed(symbols.to_vec()),
        }
    }

    fn strip_prefix<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Run::Plain(run) => text.strip_prefix(run.as_str()),
            Run::Holed(run) => {
                let mut chars = text.chars();
                for want in run {
                    let c = chars.next()?;
                    if want.is_some_and(|w| w != c) {
                        return None;
                    }
                }
                Some(chars.as_str())
            }
        }
    }

    fn strip_suffix<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Run::Plain(run) => text.strip_suffix(run.as_str()),
            Run::Holed(run) => {
                let mut chars = text.chars();
                for want in run.iter().rev() {
                    let c = chars.next_back()?;
                    if want.is_some_and(|w| w != c) {
                        return None;
                    }
                }
                Some(chars.as_str())
            }
        }
    }

    /// What follows the leftmost occurrence of this run in `text`.
    fn skip_past<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Run::Plain(run) => text.find(run.as_str()).map(|at| &text[at + run.len()..]),
            Run::Holed(_) => text.char_indices().find_map(|(at, _)| self.strip_prefix(&text[at..])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        let rows = [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "any:thing/é", true),
            ("**", "x", true),
            ("?", "", false),
            ("?", "é", true),
            ("?", "ab", false),
            ("a*", "a", true),
            ("a*", "ba", false),
            ("*a", "bba", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*bc*c", "abcc", true),
            ("a*bc*c", "abc", false),
            ("*ab?d*", "xxabcd", true),
            ("*ab?d*", "xxabd", false),
            ("i-????", "i-0abc", true),
            ("i-????*", "i-0ab", false),
            ("?*?", "a", false),
            ("?*?", "ab", true),
            ("Ab", "ab", false),
            ("arn:aws:ec2:*:*:instance/*", "arn:aws:ec2:eu-west-1:1:instance/i-0", true),
            ("arn:aws:ec2:*::image/*", "arn:aws:ec2:eu-west-1:1:image/ami-0", false),
        ];
        for (pattern, text, want) in rows {
            assert_eq!(Pattern::glob(pattern).matches(text), want, "{pattern} on {text}");
        }
        assert!(Pattern::literal("a*").matches("a*"));
        assert!(!Pattern::literal("a*").matches("ab"));
    }

    #[test]
    fn many_stars_stay_fast() {
        let pattern = Pattern::glob(&"a*".repeat(500));
        let text = format!("{}b", "a".repeat(20_000));
        assert!(pattern.matches(&text));
        assert!(!Pattern::glob(&format!("{}c", "*a".repeat(500))).matches(&text));
    }
}
