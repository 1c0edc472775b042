//! The forms that names on the command line must have, so that a slip is a usage error here and
//! not a riddle from AWS.

use std::time::Duration;

use regex::Regex;

/// Longest tag value that EC2 takes, in characters.
const TAG_VALUE_LIMIT: usize = 256;

/// An EKS cluster name: letters, digits, `-` and `_`, at most 100.
pub fn cluster(text: &str) -> Result<String, String> {
    matching(text, r"^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$").ok_or_else(|| {
        "a cluster's name has up to 100 letters, digits, - and _, a letter or digit first"
            .to_owned()
    })
}

/// A region such as `us-gov-west-1`.
pub fn region(text: &str) -> Result<String, String> {
    matching(text, r"^[a-z]{2,}(-[a-z]+)+-[0-9]+$")
        .ok_or_else(|| "a region is written like eu-central-1".to_owned())
}

/// A profile; an empty one is no choice.
pub fn profile(text: &str) -> Result<String, String> {
    matching(text, r"^.+$").ok_or_else(|| "a profile has a name".to_owned())
}

/// A Kubernetes namespace or service account.
pub fn kubernetes_name(text: &str) -> Result<String, String> {
    matching(text, r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$").ok_or_else(|| {
        "a name in Kubernetes has lower-case letters, digits, - and . inside".to_owned()
    })
}

/// A role, by name, by path and name, or by ARN. Whether IAM could have a name that long is
/// judged by a check, which explains it.
pub fn role(text: &str) -> Result<String, String> {
    let role =
        r"^(arn:aws[a-z-]*:iam::[0-9]{12}:role/|/)?([A-Za-z0-9+=,.@_-]+/)*[A-Za-z0-9+=,.@_-]+$";
    matching(text, role).ok_or_else(|| {
        "give the name or ARN of an IAM role: my-role, or \
         arn:aws:iam::111122223333:role/my-role (no user, instance profile or session)"
            .to_owned()
    })
}

/// A queue: its name, or a URL or ARN that a check then tells apart.
pub fn queue(text: &str) -> Result<String, String> {
    let name = r"[A-Za-z0-9_-]{1,80}(\.fifo)?";
    let queue = format!(
        r"^({name}|https?://[A-Za-z0-9.:-]+/[0-9]{{12}}/{name}|arn:aws[a-z-]*:sqs:[a-z0-9-]+:[0-9]{{12}}:{name})$"
    );
    matching(text, &queue)
        .ok_or_else(|| "a queue's name has up to 80 letters, digits, - and _".to_owned())
}

/// A tag of a NodeClass. Whether it may be set is judged by a check, which explains it.
pub fn user_tag(text: &str) -> Result<(String, String), String> {
    let tag = text.split_once('=').filter(|(key, _)| !key.is_empty());
    tag.map(|(key, value)| (key.to_owned(), value.to_owned()))
        .ok_or_else(|| "write a tag as KEY=VALUE".to_owned())
}

/// A tag that can be set: AWS keeps the prefix `aws:` to itself.
pub fn tag(text: &str) -> Result<crate::target::Tag, String> {
    let tag: crate::target::Tag = text.parse().map_err(|error| format!("{error}"))?;
    if tag.key.to_ascii_lowercase().starts_with("aws:") {
        return Err(
            "tag keys that begin with aws: are AWS's own: nobody else can set them".to_owned()
        );
    }
    if tag.value.as_ref().is_some_and(|value| value.chars().count() > TAG_VALUE_LIMIT) {
        return Err(format!("a tag's value has at most {TAG_VALUE_LIMIT} characters"));
    }
    Ok(tag)
}

fn matching(text: &str, pattern: &str) -> Option<String> {
    Regex::new(pattern).ok()?.is_match(text).then(|| text.to_owned())
}

/// A time, such as 45s.
pub fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<u64>().map(Duration::from_secs);
    let duration = seconds.or_else(|_| {
        let parsed = text.parse::<jiff::SignedDuration>().map_err(|_| ())?;
        Duration::try_from(parsed).map_err(|_| ())
    });
    match duration {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("write a time such as 45s or 2m".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_and_what_is_not() {
        type Form = fn(&str) -> Result<String, String>;
        let long = "q".repeat(81);
        let rows: [(&str, Form, &[&str], &[&str]); 6] = [
            (
                "cluster",
                cluster,
                &["demo", "a_b-1", "1x"],
                &["", "../x", "demo/", "my cluster", "ünï", "-x"],
            ),
            (
                "region",
                region,
                &["us-west-2", "us-gov-west-1", "cn-north-1"],
                &["", "us west", "../", "US-WEST-2"],
            ),
            (
                "namespace",
                kubernetes_name,
                &["kube-system", "karpenter"],
                &["", "a b", "$(x)", "X"],
            ),
            (
                "role",
                role,
                &["my-role", "team/my-role", "arn:aws-cn:iam::111122223333:role/a/b"],
                &[
                    "",
                    " x",
                    "rölé",
                    "a$(id)",
                    "*",
                    "arn:aws:iam::111122223333:user/x",
                    "arn:aws:iam::111122223333:instance-profile/x",
                    "arn:aws:sts::111122223333:assumed-role/x/y",
                ],
            ),
            (
                "queue",
                queue,
                &[
                    "demo",
                    "demo.fifo",
                    "https://sqs.us-east-1.amazonaws.com/111122223333/demo",
                    "arn:aws:sqs:us-east-1:111122223333:demo",
                ],
                &["", "a b", "q$(id)", &long],
            ),
            ("profile", profile, &["ops"], &[""]),
        ];
        for (what, form, good, bad) in rows {
            for text in good {
                assert!(form(text).is_ok(), "{what} {text:?}");
            }
            for text in bad {
                assert!(form(text).is_err(), "{what} {text:?}");
            }
        }
        assert!(tag("a/b=c").is_ok());
        assert!(tag("aws:x=y").is_err());
        assert!(tag(&format!("a={}", "v".repeat(257))).is_err());
    }

    #[test]
    fn durations() {
        assert_eq!(duration("45"), Ok(Duration::from_secs(45)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        for text in ["0", "-3s", "soon", ""] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
