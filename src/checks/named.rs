//! Which roles and resources an error text names, so that a finding about others is not taken
//! for its cause.

use std::collections::BTreeSet;

use crate::{facts::arn::ec2_kind, outcome::Outcome};

/// How long an id's number is at least; what is shorter is a word of the text.
const NUMBER: usize = 8;

/// What a text names, beside the roles that the target is known to have.
pub struct Named<'a> {
    /// Roles of the target, of which a text may give the bare name.
    known: &'a [&'a str],
    /// Roles that call.
    callers: BTreeSet<String>,
    /// Roles that something is done to.
    roles: BTreeSet<String>,
    ids: BTreeSet<String>,
}

impl<'a> Named<'a> {
    /// `known` are the names of the target's roles.
    pub fn of(text: &str, known: &'a [&'a str]) -> Self {
        let mut named = Self {
            known,
            callers: after(text, ":assumed-role/", |path| path.split('/').next()),
            roles: after(text, ":role/", |path| path.rsplit('/').next()),
            ids: ids(text),
        };
        if named.callers.is_empty() && named.roles.is_empty() {
            named.roles = mentioned(text, known);
        }
        named
    }

    /// Whether an outcome is about another role or resource than the text.
    pub fn leaves_out(&self, outcome: &Outcome) -> bool {
        self.other_ids(&outcome.subject) || self.other_roles(outcome)
    }

    fn other_ids(&self, subject: &str) -> bool {
        let subject = ids(subject);
        let same_kind = |id: &String| {
            self.ids.iter().any(|named| kind(named).is_some_and(|k| kind(id) == Some(k)))
        };
        let of_kind: Vec<_> = subject.iter().filter(|id| same_kind(id)).collect();
        !of_kind.is_empty() && of_kind.iter().all(|id| !self.ids.contains(*id))
    }

    fn other_roles(&self, outcome: &Outcome) -> bool {
        let is_other = |found: &BTreeSet<String>, named: &BTreeSet<String>| {
            !found.is_empty() && !named.is_empty() && found.is_disjoint(named)
        };
        let of_subject = mentioned(&outcome.subject, self.known);
        let all = self.callers.union(&self.roles).cloned().collect();
        if is_other(&of_subject, &all) {
            return true;
        }
        // What the subject does to another role than the text says.
        let seen = mentioned(&outcome.seen, self.known);
        let beside = seen.difference(&of_subject).cloned().collect();
        self.roles.is_disjoint(&of_subject) && is_other(&beside, &self.roles)
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+=,.@_-".contains(c)
}

/// What stands after a mark in an ARN, as far as `part` wants it.
fn after(text: &str, mark: &str, part: fn(&str) -> Option<&str>) -> BTreeSet<String> {
    let paths = text.split(mark).skip(1);
    let path = |rest: &'_ str| {
        let end = rest.find(|c| !(is_of_name(c) || c == '/')).unwrap_or(rest.len());
        let path = rest.get(..end)?.trim_end_matches([',', '.', '/']);
        part(path).filter(|name| !name.is_empty()).map(str::to_owned)
    };
    paths.filter_map(path).collect()
}

/// Which of these names stand in a text as words of their own.
fn mentioned(text: &str, names: &[&str]) -> BTreeSet<String> {
    let words: BTreeSet<&str> =
        text.split(|c| !is_of_name(c)).map(|word| word.trim_end_matches([',', '.'])).collect();
    names.iter().filter(|name| words.contains(*name)).map(|name| (*name).to_owned()).collect()
}

fn ids(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.filter(|word| kind(word).is_some()).map(str::to_owned).collect()
}

/// The kind of an id of EC2's, such as `subnet` of `subnet-0123456789abcdef0`.
fn kind(word: &str) -> Option<&'static str> {
    let (_, number) = word.split_once('-')?;
    ec2_kind(word).filter(|_| number.len() >= NUMBER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Status;

    const KNOWN: [&str; 3] = ["controller", "nodes-a", "nodes-b"];

    fn outcome(subject: &str, seen: &str) -> Outcome {
        Outcome {
            check: "controller-pass-role".to_owned(),
            status: Status::Fail,
            subject: subject.to_owned(),
            resource: None,
            seen: seen.to_owned(),
            effect: String::new(),
            errors: Vec::new(),
            evidence: Vec::new(),
            remedy: None,
            missing_action: None,
            docs: String::new(),
            judged: None,
            waiver: None,
        }
    }

    #[test]
    fn roles() {
        let text = "User: arn:aws:sts::111122223333:assumed-role/controller/17 is not authorized \
                    to perform: iam:PassRole on resource: arn:aws:iam::111122223333:role/x/nodes-a \
                    because no identity-based policy allows it";
        for (text, subject, seen, is_other) in [
            (text, "controller", "controller may not pass nodes-a", false),
            (text, "controller", "controller may not pass nodes-b.", true),
            (text, "nodes-a", "", false),
            (text, "nodes-b", "", true),
            (text, "subnet-0123456789abcdef0", "", false),
            ("the role nodes-a has no entry", "nodes-b", "", true),
            ("the role nodes-a has no entry", "nodes-a", "", false),
            ("Node not registered with cluster", "nodes-b", "", false),
            ("role arn:aws:iam::1:role/elsewhere is not there", "nodes-a", "", true),
        ] {
            let found = Named::of(text, &KNOWN).leaves_out(&outcome(subject, seen));
            assert_eq!(found, is_other, "{text}: {subject}, {seen}");
        }
    }

    #[test]
    fn resources() {
        let text = "InvalidSubnetID: subnet-0aaaaaaaaaaaaaaaa does not exist in vpc-0123456789";
        for (subject, is_other) in [
            ("subnet-0aaaaaaaaaaaaaaaa", false),
            ("NodeClass default: subnet-0aaaaaaaaaaaaaaaa", false),
            ("subnet-0bbbbbbbbbbbbbbbb", true),
            ("sg-0bbbbbbbbbbbbbbbb", false),
            ("subnets of the cluster", false),
        ] {
            let found = Named::of(text, &KNOWN).leaves_out(&outcome(subject, ""));
            assert_eq!(found, is_other, "{subject}");
        }
    }
}
