//! Replaces a name where it stands by itself.

/// Names that are also words of ARNs, tags and policies, or so short that they are found
/// everywhere: they give nobody away, and replacing them would change what the facts say.
pub fn says_nothing(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "aws",
        "cluster",
        "default",
        "ec2",
        "eks",
        // Of the tag `eks:eks-cluster-name`.
        "eks-cluster",
        "events",
        "fleet",
        "iam",
        "image",
        "instance",
        "karpenter",
        "kubernetes",
        "node",
        "nodes",
        "policy",
        "queue",
        "role",
        "sqs",
        "sts",
        "subnet",
        "system",
        "volume",
        "vpc",
    ];
    name.len() <= 2 || WORDS.contains(&name)
}

/// Replaces a name: not inside a word, nor before a domain's dot. The cluster's name is also a
/// part of other names (`KarpenterNodeRole-<cluster>`), so it may have a hyphen or an
/// underscore beside it.
pub fn replace(text: &str, name: &str, by: &str, is_part: bool) -> String {
    let goes_on = |c: char| c.is_ascii_alphanumeric() || ("_-".contains(c) && !is_part);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let begins = !(if before.is_empty() { out.as_str() } else { before }).ends_with(goes_on);
        let ends = !after.starts_with(|c: char| goes_on(c) || c == '.');
        out.push_str(before);
        out.push_str(if begins && ends { by } else { name });
        rest = after;
    }
    out + rest
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
            assert_eq!(replace(text, "prod", "X", true), expected);
        }
    }
}
