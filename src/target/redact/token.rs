//! Replaces a name where it stands by itself.

/// Names that are also words of ARNs, tags and policies, or so short that they are found
/// everywhere: these are replaced only where nothing else can be meant.
fn is_ambiguous(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "aws",
        "cluster",
        "default",
        "ec2",
        "eks",
        "events",
        "iam",
        "instance",
        "karpenter",
        "node",
        "nodes",
        "policy",
        "queue",
        "role",
        "sqs",
        "sts",
        "subnet",
        "system",
        "vpc",
    ];
    name.len() <= 2 || WORDS.contains(&name)
}

/// Replaces a name: not inside a word, nor before a domain's dot. An ambiguous one must be the
/// last part of its value.
pub fn replace(text: &str, name: &str, by: &str) -> String {
    let strict = is_ambiguous(name);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let begins = begins_here(if before.is_empty() { &out } else { before });
        let ends = if strict { ends_value(after) } else { ends_here(after) };
        out.push_str(before);
        out.push_str(if begins && ends { by } else { name });
        rest = after;
    }
    out + rest
}

fn begins_here(before: &str) -> bool {
    !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

/// Karpenter's instance profiles are named `<cluster>_<number>`, and policies follow that.
fn ends_here(after: &str) -> bool {
    !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.')
}

/// The end of the text, or of a string in the JSON that the text is.
fn ends_value(after: &str) -> bool {
    after.is_empty() || after.starts_with('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words() {
        for (text, expected) in [
            ("KarpenterNodeRole-prod", "KarpenterNodeRole-X"),
            ("arn:aws:sqs:us-east-1:1:prod", "arn:aws:sqs:us-east-1:1:X"),
            ("production", "production"),
            ("prod.example.com", "prod.example.com"),
            ("prod-prod", "X-X"),
            ("instance-profile/prod_*", "instance-profile/X_*"),
        ] {
            assert_eq!(replace(text, "prod", "X"), expected);
        }
    }

    #[test]
    fn a_name_that_is_also_a_word_only_at_the_end() {
        for (text, expected) in [
            ("arn:aws:eks:us-east-1:1:cluster/eks", "arn:aws:eks:us-east-1:1:cluster/X"),
            ("eks.amazonaws.com", "eks.amazonaws.com"),
            (
                r#"{"Resource":"arn:aws:eks:a:1:cluster/eks"}"#,
                r#"{"Resource":"arn:aws:eks:a:1:cluster/X"}"#,
            ),
            ("karpenter.sh/discovery=eks", "karpenter.sh/discovery=X"),
        ] {
            assert_eq!(replace(text, "eks", "X"), expected);
        }
    }
}
