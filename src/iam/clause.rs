//! One clause of a statement that a request does not meet: what is wanted, what is sent.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::iam::condition::Condition;
use crate::iam::context::Context;
use crate::iam::decision::enumerate;
use crate::iam::document::Statement;
use crate::iam::nearest::Nearest;
use crate::iam::operator::{Kind, Operator, Order, Set};
use crate::iam::request::Request;

/// A clause that fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "clause", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Clause {
    /// `negated`: `NotPrincipal`, which leaves these out.
    Principal {
        negated: bool,
        wanted: Vec<String>,
        sent: String,
    },
    Action {
        negated: bool,
        wanted: Vec<String>,
        sent: String,
    },
    Resource {
        negated: bool,
        wanted: Vec<String>,
        sent: String,
    },
    Condition {
        key: String,
        operator: String,
        /// With the values of variables put in.
        wanted: Vec<String>,
        /// None where the key is not sent.
        sent: Option<Vec<String>>,
        /// Of the values sent, those that fail, where every value has to pass.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        offending: Vec<String>,
        /// Variables among the wanted values that have no value in this request.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        void: Vec<String>,
    },
}

pub(crate) fn action(statement: &Statement, request: &Request) -> Clause {
    Clause::Action {
        negated: statement.action.negated,
        wanted: statement.action.items.iter().map(|item| item.text.clone()).collect(),
        sent: request.action().to_owned(),
    }
}

pub(crate) fn principal(statement: &Statement, request: &Request) -> Option<Clause> {
    let element = statement.principal.as_ref()?;
    Some(Clause::Principal {
        negated: element.negated,
        wanted: element.items.iter().map(|item| item.text.clone()).collect(),
        sent: request.principal().to_string(),
    })
}

pub(crate) fn resource(statement: &Statement, request: &Request) -> Option<Clause> {
    let element = statement.resource.as_ref()?;
    Some(Clause::Resource {
        negated: element.negated,
        wanted: element.items.iter().map(|item| item.text.clone()).collect(),
        sent: request.resource().to_owned(),
    })
}

pub(crate) fn condition(condition: &Condition, context: &Context) -> Clause {
    let sent = condition.sent(context).values();
    Clause::Condition {
        key: condition.key.clone(),
        operator: condition.operator.clone(),
        wanted: condition.wanted_texts(context),
        sent: (!sent.is_empty()).then(|| sent.to_vec()),
        offending: condition.offending(context),
        void: condition.void_variables(context),
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.statement)?;
        for (i, clause) in self.failed.iter().enumerate() {
            if i > 0 {
                f.write_str("; it also ")?;
            }
            clause.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Clause {
    /// A predicate of the statement: "wants … to be …, but … is sent".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clause::Action { negated: false, sent, .. } => write!(f, "does not list {sent}"),
            Clause::Action { negated: true, sent, .. } => write!(f, "leaves out {sent}"),
            Clause::Principal { negated: true, sent, .. } => write!(f, "leaves out {sent}"),
            Clause::Principal { negated: false, wanted, sent } => {
                write!(f, "is for {}, but {sent} asks", enumerate(wanted, "and"))
            }
            Clause::Resource { negated: true, sent, .. } => {
                write!(f, "leaves out the resource {sent}")
            }
            Clause::Resource { negated: false, wanted, sent } => write!(
                f,
                "covers only the resource{} {}, but {sent} is meant",
                if wanted.len() == 1 { "" } else { "s" },
                enumerate(wanted, "and")
            ),
            Clause::Condition { key, operator, wanted, sent, offending, void } => {
                let wish = wish(key, operator, wanted);
                let values = if offending.is_empty() { sent.as_ref() } else { Some(offending) };
                let fact = match values {
                    _ if !void.is_empty() => {
                        format!("{} has no value", enumerate(void, "and"))
                    }
                    None => "it is not sent".to_owned(),
                    Some(values) => {
                        let verb = if values.len() == 1 { "is" } else { "are" };
                        format!("{} {verb} sent", enumerate(&quoted_if_empty(values), "and"))
                    }
                };
                write!(f, "wants {wish}, but {fact}")
            }
        }
    }
}

fn quoted_if_empty(values: &[String]) -> Vec<&str> {
    values.iter().map(|v| if v.is_empty() { "an empty value" } else { v.as_str() }).collect()
}

/// "aws:RequestedRegion to be eu-west-1".
fn wish(key: &str, operator: &str, wanted: &[String]) -> String {
    let values = enumerate(wanted, "or");
    let Some(operator) = Operator::parse(operator) else {
        return format!("{key} {operator} {values}");
    };
    let relation = match operator.kind {
        Kind::Null if wanted.iter().any(|w| w.eq_ignore_ascii_case("true")) => {
            return format!("{key} not to be sent");
        }
        Kind::Null => return format!("{key} to be sent"),
        Kind::TextLike | Kind::Arn if wanted.iter().any(|w| w.contains(['*', '?'])) => "be like ",
        Kind::Ip => "be within ",
        Kind::Number(order) | Kind::Date(order) => match order {
            Order::Equal => "be ",
            Order::Less => "be less than ",
            Order::LessOrEqual => "be at most ",
            Order::Greater => "be greater than ",
            Order::GreaterOrEqual => "be at least ",
        },
        _ => "be ",
    };
    let subject = match operator.set {
        Set::One => key.to_owned(),
        Set::ForAllValues => format!("every value of {key}"),
        Set::ForAnyValue => format!("some value of {key}"),
    };
    let not = if operator.negated { "not " } else { "" };
    format!("{subject} {not}to {relation}{values}")
}
