//! Patterns of resources, where colons count.

use crate::iam::pattern::{Pattern, Unit};

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
    /// The same as of its units, for a text without variables.
    pub(crate) fn glob(text: &str) -> ResourceGlob {
        let colons = text.bytes().filter(|byte| *byte == b':').count();
        let is_short = text.starts_with("arn") && colons < 5 && !text.ends_with('*');
        ResourceGlob {
            written: Glob::of(text),
            completed: is_short.then(|| Glob::of(&format!("{text}:*"))),
        }
    }

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
    fn of(text: &str) -> Glob {
        let bytes = text.as_bytes();
        let is_bound = |(at, byte): (usize, &u8)| {
            *byte == b'*' && !matches!(bytes.get(at + 1), None | Some(b':' | b'*'))
        };
        match bytes.iter().enumerate().any(is_bound) {
            true => {
                let mut units = Vec::with_capacity(text.len());
                units.extend(Unit::glob(text));
                Glob::from_units(units)
            }
            false => Glob::Free(Pattern::glob(text)),
        }
    }

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
            assert_eq!(ResourceGlob::glob(pattern), glob, "{pattern}");
        }
    }
}
