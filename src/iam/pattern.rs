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

/// A compiled pattern: the runs of symbols between its `*`s. Matching takes each run at its
/// leftmost place, so it never backtracks over an earlier run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    runs: Vec<Run>,
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
        Pattern::from_units(Unit::glob(text))
    }

    /// A pattern that matches `text` and nothing else.
    pub fn literal(text: &str) -> Pattern {
        Pattern { runs: vec![Run::Plain(text.to_owned())] }
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
        runs.push(Run::new(&run));
        Pattern { runs }
    }

    /// Whether the whole of `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        let (Some(first), Some(last)) = (self.runs.first(), self.runs.last()) else {
            return false;
        };
        if self.runs.len() == 1 {
            return first.strip_prefix(text).is_some_and(str::is_empty);
        }
        let Some(rest) = first.strip_prefix(text) else { return false };
        let Some(mut rest) = last.strip_suffix(rest) else { return false };
        for run in &self.runs[1..self.runs.len() - 1] {
            match run.skip_past(rest) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        true
    }
}

impl Run {
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

/// A compiled pattern for resources. A `*` at the end of a part of the ARN may reach over
/// colons; any other stays within its part. An ARN of fewer than six parts is also tried with
/// the missing ones taken for `*`.
///
/// <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html>,
/// <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html>
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResourceGlob {
    written: Glob,
    completed: Option<Glob>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Glob {
    Free(Pattern),
    /// With a `*` that stays within its part.
    Bound(Vec<Unit>),
}

impl ResourceGlob {
    pub(crate) fn from_units(units: Vec<Unit>) -> ResourceGlob {
        let arn = units.starts_with(&[Unit::Char('a'), Unit::Char('r'), Unit::Char('n')]);
        let colons = units.iter().filter(|unit| **unit == Unit::Char(':')).count();
        let completed = (arn && colons < 5 && units.last() != Some(&Unit::Any)).then(|| {
            let rest = [Unit::Char(':'), Unit::Any];
            Glob::from_units(units.iter().copied().chain(rest).collect())
        });
        ResourceGlob { written: Glob::from_units(units), completed }
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        self.written.matches(text) || self.completed.as_ref().is_some_and(|glob| glob.matches(text))
    }
}

impl Glob {
    fn from_units(mut units: Vec<Unit>) -> Glob {
        for i in 0..units.len() {
            let next = units.get(i + 1);
            if units[i] == Unit::Any && !matches!(next, None | Some(Unit::Char(':') | Unit::Any)) {
                units[i] = Unit::AnyInPart;
            }
        }
        if units.contains(&Unit::AnyInPart) {
            Glob::Bound(units)
        } else {
            Glob::Free(Pattern::from_units(units))
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Glob::Free(pattern) => pattern.matches(text),
            Glob::Bound(units) => matches_bound(units, text),
        }
    }
}

/// Follows all ways through the pattern at once: `ways[i]` says whether the units so far can
/// end before character `i`.
fn matches_bound(units: &[Unit], text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let mut ways = vec![false; chars.len() + 1];
    ways[0] = true;
    for unit in units {
        let mut running = false;
        let mut before = false;
        for (i, way) in ways.iter_mut().enumerate() {
            let previous = i.checked_sub(1).map(|at| chars[at]);
            let here = *way;
            *way = match unit {
                Unit::Char(c) => before && previous == Some(*c),
                Unit::One => before,
                Unit::Any => running || here,
                Unit::AnyInPart => (running && previous != Some(':')) || here,
            };
            running = *way;
            before = here;
        }
    }
    ways.last() == Some(&true)
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
    fn resources() {
        let instance = "arn:aws:ec2:eu-west-1:111122223333:instance/i-0";
        let rows = [
            ("*", instance, true),
            ("*", "*", true),
            ("arn:aws:ec2:*:*:instance/*", instance, true),
            // At the end of a part a star reaches on.
            ("arn:aws:ec2:*:instance/*", instance, true),
            ("arn:*", instance, true),
            ("arn:aws:sqs:*:q", "arn:aws:sqs:r:1:q", true),
            ("arn:aws:ec2:*:*:*/i-*", instance, true),
            ("arn:aws:ec2:eu-west-1:111122223333:*", instance, true),
            ("arn:aws:logs:*:*:log-group:*", "arn:aws:logs:r:1:log-group:a:log-stream:b", true),
            // Elsewhere it stays in its part.
            ("arn:aws:ec2:*instance/*", instance, false),
            ("arn:aws:ec2:*-1:*3:inst*/i-*", instance, true),
            ("arn:aws:ec2:*-1:instance/i-*", instance, false),
            ("arn:aws:x:::a/*/b/*", "arn:aws:x:::a/1/2/b/3:4", true),
            ("arn:aws:x:::a/*/b", "arn:aws:x:::a/1:2/b", false),
            ("arn:aws:s:r:*:r/*x", "arn:aws:s:r:1:r/:r/yx", true),
            ("arn:aws:x:::?*?", "arn:aws:x:::éé", true),
            // Missing parts are wildcards.
            ("arn:aws:sqs", "arn:aws:sqs:r:1:q", true),
            ("arn:aws:sqs:r", "arn:aws:sqs:q:1:q", false),
            ("arn:aws:sqs:r:1", "arn:aws:sqs:r:1:q", true),
            ("arn:aws:sqs:r:1:q", "arn:aws:sqs:r:1:q:x", false),
        ];
        for (pattern, text, want) in rows {
            let glob = ResourceGlob::from_units(Unit::glob(pattern).collect());
            assert_eq!(glob.matches(text), want, "{pattern} on {text}");
        }
    }

    #[test]
    fn many_stars_stay_fast() {
        let pattern = Pattern::glob(&"a*".repeat(500));
        let text = format!("{}b", "a".repeat(20_000));
        assert!(pattern.matches(&text));
        assert!(!Pattern::glob(&format!("{}c", "*a".repeat(500))).matches(&text));
    }
}
