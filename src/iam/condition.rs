//! One line of a `Condition` block: an operator, a key, and the values wanted.

use jiff::Timestamp;

use crate::iam::arn::{ArnPattern, is_arn};
use crate::iam::context::{Context, Entry};
use crate::iam::operator::{Kind, Operator, Order, Set};
use crate::iam::pattern::{Pattern, Unit};
use crate::iam::truth::Truth;
use crate::iam::values::{self, IpRange};
use crate::iam::variables::{Resolved, Template, Text};

/// A condition on one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The operator as written, such as `ForAllValues:StringLike`.
    pub operator: String,
    /// The key as written.
    pub key: String,
    /// The values as written.
    pub values: Vec<String>,
    parsed: Operator,
    key_lower: String,
    wanted: Vec<Wanted>,
}

/// One wanted value, read once.
#[derive(Debug, Clone, PartialEq)]
enum Wanted {
    Text(Pattern),
    Arn(ArnPattern),
    /// A text or ARN with variables.
    Varying(Template),
    Number(Option<f64>),
    Date(Option<Timestamp>),
    Bool(Option<bool>),
    Binary(String),
    Ip(Option<IpRange>),
}

impl Condition {
    /// `None` if there is no such operator. `variables`: whether the document's version knows
    /// policy variables.
    pub(crate) fn new(
        operator: &str,
        key: &str,
        values: Vec<String>,
        variables: bool,
    ) -> Option<Condition> {
        let parsed = Operator::parse(operator)?;
        let wanted = values.iter().map(|value| Wanted::new(parsed.kind, value, variables));
        Some(Condition {
            operator: operator.to_owned(),
            key: key.to_owned(),
            key_lower: key.to_ascii_lowercase(),
            wanted: wanted.collect(),
            values,
            parsed,
        })
    }

    /// Whether the condition is met.
    pub(crate) fn holds(&self, context: &Context) -> Truth {
        let entry = context.find(&self.key_lower);
        if *entry == Entry::Unknown {
            return Truth::Unknown;
        }
        let sent = entry.values();
        if self.parsed.kind == Kind::Null {
            return self.null(sent.is_empty());
        }
        // The set operators take a key whose values are all empty for an empty set, and
        // ForAnyValue finds nothing in it even with IfExists.
        let (set, empty) = (self.parsed.set, sent.iter().all(String::is_empty));
        match (set, sent) {
            (Set::ForAllValues, _) if empty => return Truth::Yes,
            (Set::ForAnyValue, _) if empty => return Truth::No,
            (Set::One, []) => return (self.parsed.if_exists || self.parsed.negated).into(),
            // AWS asks for a set operator here and does not say what happens without.
            (Set::One, [_, _, ..]) => return Truth::Unknown,
            _ => {}
        }
        let each = sent.iter().map(|value| self.is_met_by(value, context));
        match set {
            Set::One | Set::ForAnyValue => Truth::any(each),
            Set::ForAllValues => Truth::all(each),
        }
    }

    /// Whether one value sent meets the condition. One of another type than the operator's, such
    /// as a word for a number, meets neither the operator nor its negation.
    fn is_met_by(&self, sent: &str, context: &Context) -> Truth {
        if !self.parsed.negated {
            return self.matches(sent, context);
        }
        let is_of_type = match self.parsed.kind {
            Kind::Number(_) => values::number(sent).is_some(),
            Kind::Date(_) => values::date(sent).is_some(),
            Kind::Ip => IpRange::parse(sent).is_some(),
            Kind::Arn => is_arn(sent),
            _ => true,
        };
        if is_of_type { self.matches(sent, context).flip_if(true) } else { Truth::No }
    }

    /// The keys without whose values nothing can be said.
    pub(crate) fn unknown_keys(&self, context: &Context) -> Vec<String> {
        let entry = context.find(&self.key_lower);
        if *entry == Entry::Unknown || (self.parsed.set == Set::One && entry.values().len() > 1) {
            return vec![self.key.clone()];
        }
        let templates = self.wanted.iter().filter_map(|wanted| match wanted {
            Wanted::Varying(template) => Some(template),
            _ => None,
        });
        templates.flat_map(|t| t.unknown_keys(context)).map(str::to_owned).collect()
    }

    /// The variables of wanted values that have no value in this request.
    pub(crate) fn void_variables(&self, context: &Context) -> Vec<String> {
        let no_value = |wanted: &Wanted| match wanted {
            Wanted::Varying(template) => match template.resolve(context) {
                Resolved::NoValue(key) => Some(key.to_owned()),
                Resolved::Units(_) | Resolved::Unknown => None,
            },
            _ => None,
        };
        self.wanted.iter().filter_map(no_value).collect()
    }

    /// The wanted values, with those of variables put in where they have one.
    pub(crate) fn wanted_texts(&self, context: &Context) -> Vec<String> {
        let text = |(wanted, written): (&Wanted, &String)| match wanted {
            Wanted::Varying(template) => match template.resolve(context) {
                Resolved::Units(units) => units.into_iter().map(Unit::symbol).collect(),
                Resolved::NoValue(_) | Resolved::Unknown => written.clone(),
            },
            _ => written.clone(),
        };
        self.wanted.iter().zip(&self.values).map(text).collect()
    }

    /// The values sent that fail, where every value has to pass.
    pub(crate) fn offending(&self, context: &Context) -> Vec<String> {
        if !self.is_for_all() {
            return Vec::new();
        }
        let fails = |value: &&String| self.is_met_by(value, context) == Truth::No;
        context.find(&self.key_lower).values().iter().filter(fails).cloned().collect()
    }

    /// What is known about the key.
    pub(crate) fn sent<'c>(&self, context: &'c Context) -> &'c Entry {
        context.find(&self.key_lower)
    }

    fn is_for_all(&self) -> bool {
        self.parsed.set == Set::ForAllValues
    }

    fn null(&self, absent: bool) -> Truth {
        Truth::from(self.wanted.contains(&Wanted::Bool(Some(absent))))
    }

    /// Whether `sent` matches any of the wanted values.
    fn matches(&self, sent: &str, context: &Context) -> Truth {
        let folded;
        let sent = if self.parsed.kind == Kind::TextIgnoreCase {
            folded = sent.to_lowercase();
            &folded
        } else {
            sent
        };
        let kind = self.parsed.kind;
        Truth::any(self.wanted.iter().map(|wanted| wanted.matches(kind, sent, context)))
    }
}

impl Wanted {
    /// A text or ARN without variables.
    fn fixed(kind: Kind, value: &str) -> Wanted {
        match kind {
            Kind::Arn => Wanted::Arn(ArnPattern::glob(value)),
            Kind::TextLike => Wanted::Text(Pattern::glob(value)),
            Kind::TextIgnoreCase => Wanted::Text(Pattern::literal(&value.to_lowercase())),
            _ => Wanted::Text(Pattern::literal(value)),
        }
    }

    fn new(kind: Kind, value: &str, variables: bool) -> Wanted {
        match kind {
            Kind::Text | Kind::TextIgnoreCase | Kind::TextLike | Kind::Arn => {
                if !value.contains("${") {
                    return Wanted::fixed(kind, value);
                }
                let wildcards = matches!(kind, Kind::TextLike | Kind::Arn);
                match Template::parse(value, wildcards, variables) {
                    Text::Varying(template) => Wanted::Varying(template),
                    Text::Fixed(units) if kind == Kind::Arn => {
                        Wanted::Arn(ArnPattern::from_units(&units))
                    }
                    Text::Fixed(units) => Wanted::Text(text_pattern(kind, units)),
                }
            }
            Kind::Number(_) => Wanted::Number(values::number(value)),
            Kind::Date(_) => Wanted::Date(values::date(value)),
            Kind::Bool | Kind::Null => Wanted::Bool(values::boolean(value)),
            Kind::Binary => Wanted::Binary(value.to_owned()),
            Kind::Ip => Wanted::Ip(IpRange::parse(value)),
        }
    }

    fn matches(&self, kind: Kind, sent: &str, context: &Context) -> Truth {
        let order = match kind {
            Kind::Number(order) | Kind::Date(order) => order,
            _ => Order::Equal,
        };
        Truth::from(match self {
            Wanted::Text(pattern) => pattern.matches(sent),
            Wanted::Arn(pattern) => pattern.matches(sent),
            Wanted::Varying(template) => match template.resolve(context) {
                Resolved::NoValue(_) => false,
                Resolved::Unknown => return Truth::Unknown,
                Resolved::Units(units) if kind == Kind::Arn => {
                    ArnPattern::from_units(&units).matches(sent)
                }
                Resolved::Units(units) => text_pattern(kind, units).matches(sent),
            },
            Wanted::Number(wanted) => {
                values::number(sent).zip(*wanted).is_some_and(|(s, w)| order.holds(&s, &w))
            }
            Wanted::Date(wanted) => {
                values::date(sent).zip(*wanted).is_some_and(|(s, w)| order.holds(&s, &w))
            }
            Wanted::Bool(wanted) => wanted.is_some() && values::boolean(sent) == *wanted,
            Wanted::Binary(wanted) => sent == wanted,
            Wanted::Ip(wanted) => wanted
                .zip(IpRange::parse(sent))
                .is_some_and(|(range, address)| range.contains(address)),
        })
    }
}

fn text_pattern(kind: Kind, units: Vec<Unit>) -> Pattern {
    if kind != Kind::TextIgnoreCase {
        return Pattern::from_units(units);
    }
    Pattern::from_units(units.into_iter().flat_map(|unit| {
        let folded: Vec<Unit> = match unit {
            Unit::Char(c) => c.to_lowercase().map(Unit::Char).collect(),
            wildcard => vec![wildcard],
        };
        folded
    }))
}

#[cfg(test)]
mod tests;
