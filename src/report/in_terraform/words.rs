//! A command of the AWS CLI in its words.

use std::collections::BTreeMap;

use serde_json::Value;

use super::document;
use crate::outcome::Step;

/// Whether a command only shows something.
pub fn only_looks(command: &str) -> bool {
    let verb = command.split_whitespace().nth(2).unwrap_or_default();
    ["describe-", "get-", "list-", "lookup-", "wait"].iter().any(|start| verb.starts_with(start))
}

/// `aws <service> <operation> --option value …`.
pub struct Command<'a> {
    pub service: String,
    pub operation: String,
    options: BTreeMap<String, Vec<String>>,
    steps: &'a [Step],
}

impl<'a> Command<'a> {
    /// Nothing for a command that a shell would have to work out, or that has a blank in it.
    pub fn parse(text: &str, steps: &'a [Step]) -> Option<Self> {
        let mut words = split(text)?.into_iter().skip(1);
        let (service, operation) = (words.next()?, words.next()?);
        let mut options: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut current = None;
        for word in words {
            match word.strip_prefix("--") {
                Some(name) => {
                    options.entry(name.to_owned()).or_default();
                    current = Some(name.to_owned());
                }
                None => options.get_mut(current.as_ref()?)?.push(word),
            }
        }
        Some(Self { service, operation, options, steps })
    }

    /// The commands of the AWS CLI in the same remedy.
    pub fn beside(&self) -> impl Iterator<Item = Command<'a>> {
        self.steps.iter().filter_map(|step| match step {
            Step::Command { command } if command.starts_with("aws ") => {
                Command::parse(command, self.steps)
            }
            _ => None,
        })
    }

    pub fn values(&self, option: &str) -> Vec<String> {
        self.options.get(option).cloned().unwrap_or_default()
    }

    pub fn value(&self, option: &str) -> Option<String> {
        match self.options.get(option)?.as_slice() {
            [value] => Some(value.clone()),
            _ => None,
        }
    }

    /// The document that an option names as `file://…`.
    pub fn document(&self, option: &str) -> Option<Value> {
        document(self.steps, self.value(option)?.strip_prefix("file://")?)
    }
}

/// The words, without the quotes that `shell::quote` puts around some.
fn split(text: &str) -> Option<Vec<String>> {
    let mut words = vec![String::new()];
    let mut chars = text.chars();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        let word = words.last_mut()?;
        match c {
            '\'' => quoted = !quoted,
            _ if quoted => word.push(c),
            ' ' if word.is_empty() => {}
            ' ' => words.push(String::new()),
            '\\' => word.push(chars.next()?),
            '"' | '$' | '`' | '|' | ';' | '&' | '<' | '>' | '\n' => return None,
            _ => word.push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    let is_blank = |word: &String| word.contains("FILL_IN_");
    (!quoted && !words.iter().any(is_blank)).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lose_their_quotes() {
        for (text, words) in [
            ("aws x y", Some(vec!["aws", "x", "y"])),
            ("aws 'a b' 'it'\\''s'", Some(vec!["aws", "a b", "it's"])),
            ("aws \"$(x)\"", None),
            ("aws x | y", None),
            ("aws --ids FILL_IN_IDS", None),
        ] {
            let words = words.map(|all| all.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(split(text), words, "{text}");
        }
    }
}
