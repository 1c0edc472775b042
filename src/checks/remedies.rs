//! Commands that more than one check prints, with the quoting done once.

pub use crate::outcome::shell::quote;

use serde_json::{Value, json};

use crate::outcome::Remedy;

/// The trust policy that lets a service do these actions on a role, and nobody else.
pub fn service_trust(service: &str, actions: &[&str]) -> Value {
    json!({
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Principal": {"Service": service}, "Action": actions}
        ],
    })
}

/// A role that is to be created.
pub struct NewRole<'a> {
    pub name: &'a str,
    /// Begins and ends with `/`.
    pub path: &'a str,
    pub trust: &'a Value,
    /// Names of AWS-managed policies.
    pub policies: &'a [&'a str],
}

/// Adds the steps that create a role and attach its policies.
pub fn create_role(remedy: Remedy, partition: &str, new: &NewRole<'_>) -> Remedy {
    let file = trust_file(new.name);
    let role = quote(new.name);
    let path = match new.path {
        "/" => String::new(),
        path => format!(" --path {}", quote(path)),
    };
    let create = format!(
        "aws iam create-role --role-name {role}{path} --assume-role-policy-document {}",
        quote(&format!("file://{file}"))
    );
    new.policies.iter().fold(remedy.document(file, new.trust).run(create), |remedy, policy| {
        remedy.run(format!(
            "aws iam attach-role-policy --role-name {role} \
             --policy-arn arn:{partition}:iam::aws:policy/{policy}"
        ))
    })
}

/// Adds the steps that put this trust policy in place of a role's own.
pub fn replace_trust(remedy: Remedy, name: &str, trust: &Value) -> Remedy {
    let file = trust_file(name);
    let command = format!(
        "aws iam update-assume-role-policy --role-name {} --policy-document {}",
        quote(name),
        quote(&format!("file://{file}"))
    );
    remedy.document(file, trust).run(command)
}

fn trust_file(role: &str) -> String {
    format!("{role}-trust.json")
}

/// The value of `--tags` for one tag: the CLI's shorthand where it can say it, else JSON.
pub fn tags_argument(key: &str, value: &str) -> String {
    let plain = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:@".contains(c))
    };
    if plain(key) && plain(value) {
        format!("Key={key},Value={value}")
    } else {
        quote(&serde_json::json!([{"Key": key, "Value": value}]).to_string())
    }
}

/// `a`, `a and b`, `a, b and c`; after four, the number of the rest.
pub fn listed<T: AsRef<str>>(items: &[T]) -> String {
    const SHOWN: usize = 4;
    let joined = |items: &[T]| items.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] if items.len() <= SHOWN => {
            format!("{} and {}", joined(first), last.as_ref())
        }
        many => format!("{} and {} more", joined(&many[..SHOWN]), many.len() - SHOWN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_fall_back_to_json() {
        assert_eq!(
            tags_argument("karpenter.sh/discovery", "demo"),
            "Key=karpenter.sh/discovery,Value=demo"
        );
        assert_eq!(tags_argument("a b", "c,d"), r#"'[{"Key":"a b","Value":"c,d"}]'"#);
    }

    #[test]
    fn long_lists_are_cut() {
        for (items, text) in [
            (vec!["a"], "a"),
            (vec!["a", "b", "c", "d"], "a, b, c and d"),
            (vec!["a", "b", "c", "d", "e", "f"], "a, b, c, d and 2 more"),
        ] {
            assert_eq!(listed(&items), text);
        }
    }
}
