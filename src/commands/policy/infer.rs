//! What the documents themselves say of the place they are for. It is said in the report, and
//! a flag overrides it.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;

use super::names::is_region;

/// What the texts name; nothing where they name none.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Named {
    pub region: Option<String>,
    pub account: Option<String>,
    /// ARNs of roles, without wildcards.
    pub roles: Vec<String>,
    /// ARNs of queues, without wildcards.
    pub queues: Vec<String>,
}

/// Reads the texts of documents, as JSON or URL-encoded.
pub fn named<'a>(texts: impl Iterator<Item = &'a str>) -> Named {
    let mut regions = Counted::default();
    let mut accounts = Counted::default();
    let mut named = Named::default();
    for text in texts {
        let text = percent_encoding::percent_decode_str(text).decode_utf8_lossy();
        for found in ARN.captures_iter(&text) {
            let part = |i: usize| found.get(i).map_or("", |part| part.as_str());
            let (arn, service, region, account, resource) =
                (part(0), part(1), part(2), part(3), part(4));
            regions.add(region, is_region);
            accounts.add(account, |account| account.len() == 12);
            let plain = account.len() == 12 && !arn.contains(['*', '?', '$']);
            let list = match service {
                "iam" if resource.starts_with("role/") => &mut named.roles,
                "sqs" => &mut named.queues,
                _ => continue,
            };
            if plain && !list.iter().any(|known| known == arn) {
                list.push(arn.to_owned());
            }
        }
        for found in REQUESTED_REGION.captures_iter(&text) {
            regions.add(found.get(1).map_or("", |region| region.as_str()), is_region);
        }
    }
    named.region = regions.most();
    named.account = accounts.most();
    named
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
    LazyLock::new(|| constant(r#"arn:aws[a-z-]*:([a-z0-9-]*):([a-z0-9-]*):([0-9]*):([^"\\\s]+)"#));

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
        let text = r#"{"Resource": ["arn:aws:ec2:eu-west-1:*:instance/*",
            "arn:aws:ec2:eu-west-1::image/*", "arn:aws:ec2:us-east-1::image/*",
            "arn:aws:sqs:eu-west-1:111122223333:q", "arn:aws:sqs:eu-west-1:111122223333:*",
            "arn:aws:iam::111122223333:role/N", "arn:aws:iam::111122223333:role/N",
            "arn:aws:iam::aws:policy/X"]}"#;
        let found = named([text].into_iter());
        assert_eq!(found.region.as_deref(), Some("eu-west-1"));
        assert_eq!(found.account.as_deref(), Some("111122223333"));
        assert_eq!(found.roles, ["arn:aws:iam::111122223333:role/N"]);
        assert_eq!(found.queues, ["arn:aws:sqs:eu-west-1:111122223333:q"]);
        let text = r#"{"Condition": {"StringEquals": {"aws:RequestedRegion": ["cn-north-1"]}}}"#;
        assert_eq!(named([text].into_iter()).region.as_deref(), Some("cn-north-1"));
        assert_eq!(named(["{}"].into_iter()), Named::default());
    }
}
