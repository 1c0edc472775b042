//! Whether `aws-auth` maps a role, or why it does not.

use super::document::{Entry, Mapping, Text};
use crate::facts::{arn, kubernetes::auth};

/// The two lists in which a role is looked for, in this order.
pub struct AwsAuth {
    pub roles: Text,
    pub users: Text,
}

/// What the ConfigMap says of a role.
#[derive(Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// It is mapped.
    Mapped {
        mapping: &'a Mapping,
        list: &'static str,
        /// How many mappings there are for it; the last one counts.
        of: usize,
    },
    /// The list with the roles is lost as a whole.
    Lost { line: u64, why: String },
    /// A mapping is meant for it, and does not fit.
    Near { line: u64, arn: &'a str, why: &'static str },
    /// A mapping mentions it, and is left out.
    Bad { line: u64, why: &'static str },
    /// Nothing speaks of it.
    Nowhere,
}

impl AwsAuth {
    pub fn read(facts: &auth::AwsAuth) -> Self {
        Self {
            roles: Text::read(facts.map_roles.as_deref(), "rolearn"),
            users: Text::read(facts.map_users.as_deref(), "userarn"),
        }
    }

    /// What it says of the role with this ARN.
    pub fn find(&self, role_arn: &str) -> Found<'_> {
        let canonical = without_path(role_arn);
        for (list, text) in [("mapRoles", &self.roles), ("mapUsers", &self.users)] {
            let fits = |mapping: &&Mapping| mapping.arn.eq_ignore_ascii_case(&canonical);
            let found: Vec<_> = mappings(text).filter(fits).collect();
            if let Some(mapping) = found.last() {
                return Found::Mapped { mapping, list, of: found.len() };
            }
        }
        match &self.roles {
            Text::Broken { line, why } => Found::Lost { line: *line, why: why.clone() },
            Text::NotAList(what) => {
                Found::Lost { line: 1, why: format!("it is no list but {what}") }
            }
            Text::Empty => Found::Nowhere,
            Text::Mappings(entries) => nearest(entries, &canonical),
        }
    }
}

fn mappings(text: &Text) -> impl Iterator<Item = &Mapping> {
    let entries = match text {
        Text::Mappings(entries) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().filter_map(|entry| match entry {
        Entry::Mapping(mapping) => Some(mapping),
        Entry::Bad { .. } => None,
    })
}

/// The ARN that a node shows: the session's, in which the role has no path.
fn without_path(role_arn: &str) -> String {
    match role_arn.split_once(":role/") {
        Some((before, _)) => format!("{before}:role/{}", arn::role_name(role_arn)),
        None => role_arn.to_owned(),
    }
}

/// The last entry that is meant for the role.
fn nearest<'a>(entries: &'a [Entry], canonical: &str) -> Found<'a> {
    let name = arn::role_name(canonical);
    let is_named = |text: &str| {
        let text = text.trim().trim_end_matches('/');
        arn::role_name(text).eq_ignore_ascii_case(name)
            || text.split('/').nth(1).is_some_and(|part| part.eq_ignore_ascii_case(name))
    };
    let meant = entries.iter().rev().find_map(|entry| match entry {
        Entry::Mapping(mapping) if is_named(&mapping.arn) => Some(Found::Near {
            line: mapping.line,
            arn: &mapping.arn,
            why: why_not(&mapping.arn, canonical),
        }),
        Entry::Bad { line, why, mentions } if mentions.iter().any(|text| is_named(text)) => {
            Some(Found::Bad { line: *line, why })
        }
        _ => None,
    });
    meant.unwrap_or(Found::Nowhere)
}

/// What tells an ARN of the same name from the one that the node shows.
fn why_not(written: &str, canonical: &str) -> &'static str {
    let parts = |arn: &str, at: usize| arn.split(':').nth(at).unwrap_or_default().to_lowercase();
    let resource = parts(written, 5);
    match () {
        () if written.trim() != written => "there is white space around the ARN",
        () if !written.to_lowercase().starts_with("arn:") => "it is no ARN",
        () if parts(written, 1) != parts(canonical, 1) => "the ARN is of another partition",
        () if resource.starts_with("instance-profile/") => {
            "it is the ARN of an instance profile, not of the role in it"
        }
        () if resource.starts_with("assumed-role/") => {
            "it is the ARN of a session, not of the role"
        }
        () if !resource.starts_with("role/") => "it is not the ARN of a role",
        () if parts(written, 4) != parts(canonical, 4) => "the ARN is of another account",
        () if resource.matches('/').count() > 1 => {
            "it has the role's path, and aws-auth knows roles without their paths"
        }
        () => "the ARN is not the role's",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARN: &str = "arn:aws:iam::111122223333:role/team/Node";

    fn read(roles: &str) -> AwsAuth {
        AwsAuth::read(&auth::AwsAuth { map_roles: Some(roles.to_owned()), ..Default::default() })
    }

    #[test]
    fn the_last_mapping_counts_whatever_its_case() {
        let text = "- rolearn: arn:aws:iam::111122223333:role/Node\n  username: a\n- rolearn: \
                    ARN:AWS:iam::111122223333:role/NODE\n  username: b\n";
        let auth = read(text);
        let Found::Mapped { mapping, list: "mapRoles", of: 2 } = auth.find(ARN) else { panic!() };
        assert_eq!((mapping.username.as_str(), mapping.line), ("b", 3));
    }

    #[test]
    fn roles_are_found_among_users_too() {
        let auth = AwsAuth::read(&auth::AwsAuth {
            map_users: Some("- userarn: arn:aws:iam::111122223333:role/node\n".to_owned()),
            ..Default::default()
        });
        assert!(matches!(auth.find(ARN), Found::Mapped { list: "mapUsers", of: 1, .. }));
    }

    #[test]
    fn says_why_a_mapping_does_not_fit() {
        for (arn, words) in [
            ("arn:aws:iam::111122223333:role/team/Node", "path"),
            ("arn:aws:iam::111122223333:instance-profile/Node", "instance profile"),
            ("arn:aws:iam::444455556666:role/Node", "account"),
            ("arn:aws-cn:iam::111122223333:role/Node", "partition"),
            ("arn:aws:sts::111122223333:assumed-role/Node/i-0abc", "session"),
            ("Node", "no ARN"),
            ("role/Node", "no ARN"),
            ("arn:aws:iam::111122223333:user/Node", "not the ARN of a role"),
            ("' arn:aws:iam::111122223333:role/Node'", "white space"),
            ("arn:aws:iam:us-west-2:111122223333:role/Node", "not the role's"),
        ] {
            let auth = read(&format!("- rolearn: x\n- rolearn: {arn}\n"));
            let Found::Near { line: 2, why, .. } = auth.find(ARN) else {
                panic!("{arn}: {:?}", auth.find(ARN))
            };
            assert!(why.contains(words), "{arn}: {why}");
        }
    }

    #[test]
    fn says_what_is_lost() {
        for (text, expected) in [
            ("- rolearn: a\n\tusername: b\n", "Lost"),
            ("rolearn: arn:aws:iam::111122223333:role/Node\n", "Lost"),
            ("- arn:aws:iam::111122223333:role/Node\n", "Bad"),
            ("- role: arn:aws:iam::111122223333:role/Node\n", "Bad"),
            ("- rolearn: arn:aws:iam::111122223333:role/Other\n", "Nowhere"),
            ("", "Nowhere"),
        ] {
            let found = format!("{:?}", read(text).find(ARN));
            assert!(found.starts_with(expected), "{text:?}: {found}");
        }
    }
}
