//! Amazon Resource Names: `arn:partition:service:region:account:resource`.

use std::fmt;
use std::str::FromStr;

use crate::iam::pattern::{Pattern, Unit};

/// An ARN taken apart. Region and account may be empty; the resource keeps its own colons.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arn {
    pub partition: String,
    pub service: String,
    pub region: String,
    pub account: String,
    pub resource: String,
}

/// A text that is not an ARN.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an ARN: it has to read arn:partition:service:region:account:resource")]
pub struct ArnError {
    pub text: String,
}

impl Arn {
    /// The part of the resource before the first `/` or `:`, such as `role` in
    /// `role/team/Node`; the whole resource where there is neither.
    pub fn resource_type(&self) -> &str {
        self.resource.split(['/', ':']).next().unwrap_or(&self.resource)
    }

    /// The last part of the resource: the role's name without its path, the instance's id.
    pub fn resource_name(&self) -> &str {
        self.resource.rsplit(['/', ':']).next().unwrap_or(&self.resource)
    }
}

impl FromStr for Arn {
    type Err = ArnError;

    fn from_str(text: &str) -> Result<Arn, ArnError> {
        let [prefix, partition, service, region, account, resource] =
            split(text).ok_or_else(|| ArnError { text: text.to_owned() })?;
        if prefix != "arn" || partition.is_empty() || service.is_empty() || resource.is_empty() {
            return Err(ArnError { text: text.to_owned() });
        }
        Ok(Arn {
            partition: partition.to_owned(),
            service: service.to_owned(),
            region: region.to_owned(),
            account: account.to_owned(),
            resource: resource.to_owned(),
        })
    }
}

impl fmt::Display for Arn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Arn { partition, service, region, account, resource } = self;
        write!(f, "arn:{partition}:{service}:{region}:{account}:{resource}")
    }
}

/// Whether a text has the six parts of an ARN.
pub(crate) fn is_arn(text: &str) -> bool {
    split(text).is_some()
}

/// The six parts of `text`; the last one keeps every further colon.
fn split(text: &str) -> Option<[&str; 6]> {
    let mut parts = text.splitn(6, ':');
    let mut next = || parts.next();
    Some([next()?, next()?, next()?, next()?, next()?, next()?])
}

/// A pattern for the ARN operators: each of the six parts is matched on its own, so that a
/// `*` never reaches over a colon into the next part. A pattern of fewer than six parts, even
/// a lone `*`, matches nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArnPattern(Option<Box<[Pattern; 6]>>);

impl ArnPattern {
    pub(crate) fn glob(text: &str) -> ArnPattern {
        ArnPattern(split(text).map(|parts| Box::new(parts.map(Pattern::glob))))
    }

    pub(crate) fn from_units(units: &[Unit]) -> ArnPattern {
        let parts: Vec<Pattern> = units
            .splitn(6, |unit| *unit == Unit::Char(':'))
            .map(|part| Pattern::from_units(part.iter().copied()))
            .collect();
        ArnPattern(<[Pattern; 6]>::try_from(parts).ok().map(Box::new))
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let Some((patterns, parts)) = self.0.as_ref().zip(split(text)) else { return false };
        patterns.iter().zip(parts).all(|(pattern, part)| pattern.matches(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_apart_and_put_together() {
        let text = "arn:aws-cn:iam::111122223333:role/team/Node";
        let arn: Arn = text.parse().unwrap();
        assert_eq!((arn.partition.as_str(), arn.region.as_str()), ("aws-cn", ""));
        assert_eq!((arn.resource_type(), arn.resource_name()), ("role", "Node"));
        assert_eq!(arn.to_string(), text);
        let logs: Arn = "arn:aws:logs:eu-west-1:111122223333:log-group:a:b".parse().unwrap();
        assert_eq!(logs.resource, "log-group:a:b");
        for bad in ["", "role/x", "arn:aws:iam::1", "urn:aws:iam::1:role/x", "arn:aws:iam::1:"] {
            assert!(bad.parse::<Arn>().is_err(), "{bad}");
        }
    }

    #[test]
    fn patterns_go_part_by_part() {
        let rows = [
            ("arn:aws:iam::*:role/*", "arn:aws:iam::111122223333:role/team/Node", true),
            ("arn:aws:iam::1111*:role/Node", "arn:aws:iam::111122223333:role/Node", true),
            ("arn:aws:iam::1111*", "arn:aws:iam::111122223333:role/Node", false),
            ("arn:aws:iam*:role/Node", "arn:aws:iam::111122223333:role/Node", false),
            ("arn:aws:iam::111122223333:role/n*", "arn:aws:iam::111122223333:role/Node", false),
            ("*", "arn:aws:iam::111122223333:role/Node", false),
            ("*:*:*:*:*:*", "arn:aws:iam::111122223333:role/Node", true),
            ("arn:aws:*:*:*:*", "not-an-arn", false),
        ];
        for (pattern, text, want) in rows {
            let units: Vec<Unit> = Unit::glob(pattern).collect();
            assert_eq!(ArnPattern::from_units(&units).matches(text), want, "{pattern} on {text}");
            assert_eq!(ArnPattern::glob(pattern), ArnPattern::from_units(&units), "{pattern}");
        }
    }
}
