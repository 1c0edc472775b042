//! The same account under other names, in another region or partition: nothing of that matters.

use serde_json::Value;

use super::case::Problem;

/// What stands for what.
pub type Names = [(&'static str, &'static str)];

/// Other names, another account, another region.
pub const RENAMED: &Names = &[
    ("demo", "orders-7"),
    ("111122223333", "444455556666"),
    ("us-west-2", "eu-central-1"),
    ("usw2-az", "euc1-az"),
    ("subnet-0", "subnet-9f"),
    ("sg-0", "sg-9f"),
    ("vpc-0", "vpc-9f"),
];

/// AWS GovCloud (US).
pub const GOV_CLOUD: &Names =
    &[("arn:aws:", "arn:aws-us-gov:"), ("us-west-2", "us-gov-west-1"), ("usw2-az", "usgw1-az")];

pub fn renamed(facts: &Value, names: &Names) -> Value {
    serde_json::from_str(&text(&facts.to_string(), names)).unwrap()
}

pub fn problem((check, status, subject): &Problem, names: &Names) -> Problem {
    (check.clone(), status.clone(), text(subject, names))
}

fn text(text: &str, names: &Names) -> String {
    names.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
}
