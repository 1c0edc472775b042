//! Condition operators: `ForAnyValue:StringNotLikeIfExists` taken apart.

/// A condition operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operator {
    pub(crate) set: Set,
    pub(crate) kind: Kind,
    /// `…Not…`: no value may match.
    pub(crate) negated: bool,
    pub(crate) if_exists: bool,
}

/// How the several values of one key are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    /// No qualifier.
    One,
    ForAllValues,
    ForAnyValue,
}

/// What is compared, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    TextIgnoreCase,
    TextLike,
    Arn,
    Number(Order),
    Date(Order),
    Bool,
    Binary,
    Ip,
    Null,
}

/// How the value sent must stand to the value wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Base names in lower case, each with its kind and whether it is negated.
const NAMES: &[(&str, Kind, bool)] = &[
    ("stringequals", Kind::Text, false),
    ("stringnotequals", Kind::Text, true),
    ("stringequalsignorecase", Kind::TextIgnoreCase, false),
    ("stringnotequalsignorecase", Kind::TextIgnoreCase, true),
    ("stringlike", Kind::TextLike, false),
    ("stringnotlike", Kind::TextLike, true),
    ("arnequals", Kind::Arn, false),
    ("arnnotequals", Kind::Arn, true),
    ("arnlike", Kind::Arn, false),
    ("arnnotlike", Kind::Arn, true),
    ("numericequals", Kind::Number(Order::Equal), false),
    ("numericnotequals", Kind::Number(Order::Equal), true),
    ("numericlessthan", Kind::Number(Order::Less), false),
    ("numericlessthanequals", Kind::Number(Order::LessOrEqual), false),
    ("numericgreaterthan", Kind::Number(Order::Greater), false),
    ("numericgreaterthanequals", Kind::Number(Order::GreaterOrEqual), false),
    ("dateequals", Kind::Date(Order::Equal), false),
    ("datenotequals", Kind::Date(Order::Equal), true),
    ("datelessthan", Kind::Date(Order::Less), false),
    ("datelessthanequals", Kind::Date(Order::LessOrEqual), false),
    ("dategreaterthan", Kind::Date(Order::Greater), false),
    ("dategreaterthanequals", Kind::Date(Order::GreaterOrEqual), false),
    ("bool", Kind::Bool, false),
    ("binaryequals", Kind::Binary, false),
    ("ipaddress", Kind::Ip, false),
    ("notipaddress", Kind::Ip, true),
    ("null", Kind::Null, false),
];

impl Operator {
    /// Reads an operator's name, whatever its case; `None` if there is no such operator.
    pub(crate) fn parse(name: &str) -> Option<Operator> {
        let name = name.to_ascii_lowercase();
        let (set, rest) = match name.split_once(':') {
            None => (Set::One, name.as_str()),
            Some(("forallvalues", rest)) => (Set::ForAllValues, rest),
            Some(("foranyvalue", rest)) => (Set::ForAnyValue, rest),
            Some(_) => return None,
        };
        let (base, if_exists) = match rest.strip_suffix("ifexists") {
            Some(base) => (base, true),
            None => (rest, false),
        };
        let &(_, kind, negated) = NAMES.iter().find(|(known, ..)| *known == base)?;
        if kind == Kind::Null && if_exists {
            return None;
        }
        Some(Operator { set, kind, negated, if_exists })
    }
}

impl Order {
    /// Whether `sent` stands to `wanted` in this way.
    pub(crate) fn holds<T: PartialOrd>(self, sent: &T, wanted: &T) -> bool {
        match self {
            Order::Equal => sent == wanted,
            Order::Less => sent < wanted,
            Order::LessOrEqual => sent <= wanted,
            Order::Greater => sent > wanted,
            Order::GreaterOrEqual => sent >= wanted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let like = Operator::parse("ForAnyValue:StringNotLikeIfExists").unwrap();
        assert_eq!(
            like,
            Operator {
                set: Set::ForAnyValue,
                kind: Kind::TextLike,
                negated: true,
                if_exists: true
            }
        );
        assert_eq!(Operator::parse("stringequals"), Operator::parse("StringEquals"));
        for bad in ["", "Equals", "ForSomeValues:Bool", "NullIfExists", "StringEqualsIfExist"] {
            assert_eq!(Operator::parse(bad), None, "{bad}");
        }
    }
}
