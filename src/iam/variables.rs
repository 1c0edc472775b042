//! Texts with policy variables: `${aws:PrincipalTag/team, 'none'}`, `${*}`.

use crate::iam::context::{Context, Entry};
use crate::iam::pattern::Unit;

/// A value of a policy, read once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Text {
    /// The same in every request.
    Fixed(Vec<Unit>),
    Varying(Template),
}

/// A text with variables: its fixed stretches and its variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Fixed(Vec<Unit>),
    Variable {
        /// As written.
        name: String,
        /// In lower case, as the context has it.
        key: String,
        default: Option<String>,
    },
}

/// What a template stands for in one request.
pub(crate) enum Resolved<'t> {
    Units(Vec<Unit>),
    /// This variable has no value: the template equals nothing.
    NoValue(&'t str),
    /// Nobody knows the value of some variable.
    Unknown,
}

impl Template {
    /// Reads `text`. `wildcards`: whether `*` and `?` are wildcards here. `variables`: whether
    /// the document's version knows variables (2012-10-17); if not, `${…}` is plain text.
    pub(crate) fn parse(text: &str, wildcards: bool, variables: bool) -> Text {
        let mut pieces = Vec::new();
        let mut fixed = Vec::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            match if variables { read_variable(rest) } else { None } {
                Some((Piece::Fixed(units), after)) => {
                    fixed.extend(units);
                    rest = after;
                }
                Some((variable, after)) => {
                    pieces.push(Piece::Fixed(std::mem::take(&mut fixed)));
                    pieces.push(variable);
                    rest = after;
                }
                None => {
                    let first = rest.chars().next().map_or(0, char::len_utf8);
                    let end = rest[first..].find('$').map_or(rest.len(), |at| first + at);
                    let (plain, after) = rest.split_at(end);
                    if wildcards {
                        fixed.extend(Unit::glob(plain));
                    } else {
                        fixed.extend(Unit::literal(plain));
                    }
                    rest = after;
                }
            }
        }
        if pieces.is_empty() {
            return Text::Fixed(fixed);
        }
        pieces.push(Piece::Fixed(fixed));
        Text::Varying(Template { pieces })
    }

    /// Puts the request's values in the place of the variables. A value's own `*` and `?`
    /// stand for themselves.
    pub(crate) fn resolve(&self, context: &Context) -> Resolved<'_> {
        let mut units = Vec::new();
        let mut unknown = false;
        for piece in &self.pieces {
            let (name, key, default) = match piece {
                Piece::Fixed(fixed) => {
                    units.extend(fixed);
                    continue;
                }
                Piece::Variable { name, key, default } => (name, key, default),
            };
            match (context.find(key), default) {
                (Entry::Value(value), _) if !value.is_empty() => {
                    units.extend(Unit::literal(value));
                }
                (Entry::Unknown, _) => unknown = true,
                // Absent or empty; and a key with a list of values cannot be a variable.
                (_, Some(default)) => units.extend(Unit::literal(default)),
                (_, None) => return Resolved::NoValue(name),
            }
        }
        if unknown { Resolved::Unknown } else { Resolved::Units(units) }
    }

    /// The variables that nobody knows in `context`.
    pub(crate) fn unknown_keys<'t>(
        &'t self,
        context: &'t Context,
    ) -> impl Iterator<Item = &'t str> + 't {
        self.pieces.iter().filter_map(move |piece| match piece {
            Piece::Variable { name, key, .. } if *context.find(key) == Entry::Unknown => {
                Some(name.as_str())
            }
            _ => None,
        })
    }
}

/// Reads `${…}` at the beginning of `text`; gives it and what follows. `None` where the text
/// does not begin with a well-formed one, and is then plain text.
fn read_variable(text: &str) -> Option<(Piece, &str)> {
    let body = text.strip_prefix("${")?;
    for (escape, symbol) in [("*}", '*'), ("?}", '?'), ("$}", '$')] {
        if let Some(after) = body.strip_prefix(escape) {
            return Some((Piece::Fixed(vec![Unit::Char(symbol)]), after));
        }
    }
    let name_end = body.find([',', '}'])?;
    let name = body[..name_end].trim().to_owned();
    let key = name.to_ascii_lowercase();
    if key.is_empty() || key.contains(['{', '$']) {
        return None;
    }
    if let Some(after) = body[name_end..].strip_prefix('}') {
        return Some((Piece::Variable { name, key, default: None }, after));
    }
    let quoted = body[name_end + 1..].trim_start().strip_prefix('\'')?;
    let quote = quoted.find('\'')?;
    let after = quoted[quote + 1..].trim_start().strip_prefix('}')?;
    Some((Piece::Variable { name, key, default: Some(quoted[..quote].to_owned()) }, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &Text, context: &Context) -> String {
        let resolved = match text {
            Text::Fixed(units) => Resolved::Units(units.clone()),
            Text::Varying(template) => template.resolve(context),
        };
        match resolved {
            Resolved::NoValue(key) => format!("no value: {key}"),
            Resolved::Unknown => "unknown".to_owned(),
            Resolved::Units(units) => units
                .iter()
                .map(|unit| match unit {
                    Unit::Char(c) => c.to_string(),
                    Unit::Any | Unit::AnyInPart => "<any>".into(),
                    Unit::One => "<one>".into(),
                })
                .collect(),
        }
    }

    #[test]
    fn variables_defaults_and_escapes() {
        let mut context = Context::new();
        context.set("aws:PrincipalTag/team", "blue*".into());
        context.set("aws:userid", Entry::Unknown);
        context.set("aws:TagKeys", ["a"].into());
        context.set("aws:PrincipalTag/empty", "".into());
        let rows = [
            ("plain", "plain"),
            ("a*b?", "a<any>b<one>"),
            ("${*}${?}${$}{x}", "*?${x}"),
            ("x/${aws:PrincipalTag/team}/*", "x/blue*/<any>"),
            ("${AWS:principaltag/TEAM}", "blue*"),
            ("${aws:PrincipalTag/team, 'none'}", "blue*"),
            ("${aws:PrincipalTag/other, 'no one'}!", "no one!"),
            ("${aws:PrincipalTag/other,''}", ""),
            ("${aws:PrincipalTag/other}", "no value: aws:PrincipalTag/other"),
            ("${aws:TagKeys}", "no value: aws:TagKeys"),
            ("${aws:PrincipalTag/empty}", "no value: aws:PrincipalTag/empty"),
            ("${aws:PrincipalTag/empty, 'x'}", "x"),
            ("${aws:userid}", "unknown"),
            ("${aws:userid}${nope}", "no value: nope"),
            ("${unclosed", "${unclosed"),
            ("${}", "${}"),
            ("${a, b}", "${a, b}"),
            ("é$é${aws:PrincipalTag/team}", "é$éblue*"),
            ("$", "$"),
        ];
        for (text, want) in rows {
            let template = Template::parse(text, true, true);
            assert_eq!(shown(&template, &context), want, "{text}");
        }
        let old = Template::parse("${aws:username}*", false, false);
        assert_eq!(shown(&old, &context), "${aws:username}*");
    }
}
