//! What the documents themselves say of the place they are for. It is said in the report, and
//! a flag overrides it.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;

use super::names::is_region;
use crate::iam::Policy;

/// The region and the account that the texts of documents name most often.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Named {
    pub region: Option<String>,
    pub account: Option<String>,
}

/// Reads the texts of documents, as JSON or URL-encoded.
pub fn named<'a>(texts: impl Iterator<Item = &'a str>) -> Named {
    let mut regions = Counted::default();
    let mut accounts = Counted::default();
    for text in texts {
        let text = percent_encoding::percent_decode_str(text).decode_utf8_lossy();
        for found in ARN.captures_iter(&text) {
            regions.add(found.get(1).map_or("", |region| region.as_str()), is_region);
            accounts.add(found.get(2).map_or("", |account| account.as_str()), |account| {
                account.len() == 12
            });
        }
        for found in REQUESTED_REGION.captures_iter(&text) {
            regions.add(found.get(1).map_or("", |region| region.as_str()), is_region);
        }
    }
    Named { region: regions.most(), account: accounts.most() }
}

/// The ARNs without wildcards that the statements about this action name.
pub fn resources<'a>(
    policies: impl Iterator<Item = &'a Policy>,
    action: &str,
    service: &str,
) -> Vec<String> {
    let statements = policies.flat_map(|policy| policy.statements.iter());
    let about = statements.filter(|statement| statement.action.covers(&action.to_lowercase()));
    let items = about.filter_map(|statement| statement.resource.as_ref()).flat_map(|r| &r.items);
    let mut arns: Vec<String> = Vec::new();
    for text in items.map(|item| &item.text) {
        let is_of = text.split(':').nth(2) == Some(service);
        if is_of && !text.contains(['*', '?', '$']) && !arns.contains(text) {
            arns.push(text.clone());
        }
    }
    arns
}

#[derive(Default)]
struct Counted(BTreeMap<String, usize>);

impl Counted {
    fn add(&mut self, name: &str, is_one: fn(&str) -> bool) {
        if is_one(name) {
            *self.0.entry(name.to_owned()).or_default() += 1;
        }
    }

    /// The one that is named most often.
    fn most(self) -> Option<String> {
        self.0.into_iter().max_by_key(|(_, count)| *count).map(|(name, _)| name)
    }
}

static ARN: LazyLock<Regex> =
    LazyLock::new(|| constant(r"arn:aws[a-z-]*:[a-z0-9-]*:([a-z0-9-]*):([0-9*]*):"));

static REQUESTED_REGION: LazyLock<Regex> =
    LazyLock::new(|| constant(r#"(?i)aws:RequestedRegion"\s*:\s*\[?\s*"([a-z0-9-]+)""#));

#[expect(clippy::expect_used, reason = "the pattern is a constant that a test compiles")]
fn constant(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a regular expression")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arns_say_where_they_are() {
        let text = r#"{"Statement": [
            {"Effect": "Allow", "Action": "ec2:*", "Resource": [
                "arn:aws:ec2:eu-west-1:*:instance/*", "arn:aws:ec2:eu-west-1::image/*",
                "arn:aws:ec2:us-east-1::image/*", "arn:aws:iam::aws:policy/X"]},
            {"Effect": "Allow", "Action": "sts:AssumeRole",
                "Resource": "arn:aws:iam::111122223333:role/other"},
            {"Effect": "Allow", "Action": "iam:Pass*", "Resource": [
                "arn:aws:iam::111122223333:role/N", "arn:aws:iam::111122223333:role/*"]}]}"#;
        let found = named([text].into_iter());
        assert_eq!(found.region.as_deref(), Some("eu-west-1"));
        assert_eq!(found.account.as_deref(), Some("111122223333"));
        let policy = Policy::parse(text).unwrap();
        let of = |action, service| resources([&policy].into_iter(), action, service);
        assert_eq!(of("iam:PassRole", "iam"), ["arn:aws:iam::111122223333:role/N"]);
        assert_eq!(of("sqs:ReceiveMessage", "sqs"), Vec::<String>::new());
        let text = r#"{"Condition": {"StringEquals": {"aws:RequestedRegion": ["cn-north-1"]}}}"#;
        assert_eq!(named([text].into_iter()).region.as_deref(), Some("cn-north-1"));
        assert_eq!(named(["{}"].into_iter()), Named::default());
    }
}
