//! What the documents themselves say of the place they are for. It is said in the report, and
//! a flag overrides it.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;

use super::{
    facts::issuer_of,
    names::{Place, is_region},
    subject::Subject,
};
use crate::{
    cli::policy::{NamesArgs, RoleKind},
    facts::arn::partition_of_region,
    iam::Policy,
    target::{Origin, names},
};

/// Names that the documents gave, or that are made up, where no flag does.
pub struct Inferred {
    pub place: Place,
    pub region: Origin,
    pub node_roles: Origin,
    pub queue: Origin,
    /// What the reader must know.
    pub notes: Vec<String>,
}

/// Fills in what no flag says: as the documents do, else made up.
pub fn infer(subject: &Subject, kind: RoleKind, names: &mut NamesArgs) -> Inferred {
    let texts = subject.documents().map(|document| document.text.as_str());
    let found = named(texts.chain(subject.role.arn.as_deref()));
    // The requests of the other kinds do not turn on it.
    let is_telling = matches!(kind, RoleKind::Controller | RoleKind::Queue);
    let mut notes = Vec::new();
    let mut value = |flag: &Option<String>, found: &Option<String>, made_up: &str, name: &str| {
        let (value, origin, note) = match (flag, found) {
            (Some(value), _) => return (value.clone(), Origin::Flag),
            (None, Some(value)) => {
                let note = format!("{name} {value} is what the documents name");
                (value.as_str(), Origin::Documents, note)
            }
            (None, None) => {
                let note = format!("the documents name no {name}, and {made_up} is made up");
                (made_up, Origin::StandIn, note)
            }
        };
        if is_telling {
            notes.push(format!("{note}: --{name} says which"));
        }
        (value.to_owned(), origin)
    };
    let (region, region_origin) = value(&names.region, &found.region, "us-east-1", "region");
    let (account, _) = value(&names.account, &found.account, "111122223333", "account");
    let partition = partition_of_region(&region).to_owned();
    let mut inferred = Inferred {
        place: Place { partition, region, account },
        region: region_origin,
        node_roles: Origin::Flag,
        queue: Origin::Flag,
        notes,
    };
    match kind {
        RoleKind::Controller => inferred.of_controller(subject, names),
        RoleKind::Queue => inferred.of_queue(subject, names),
        RoleKind::Node | RoleKind::Cluster | RoleKind::Preflight => {}
    }
    inferred
}

impl Inferred {
    fn of_controller(&mut self, subject: &Subject, names: &mut NamesArgs) {
        if names.node_roles.is_empty() {
            let roles = of(subject, "iam:PassRole", "iam");
            self.node_roles = Origin::Documents;
            if roles.is_empty() {
                self.node_roles = Origin::StandIn;
                let cluster = names.cluster.as_deref().unwrap_or_default();
                let [usual, ..] = names::node_roles(cluster);
                names.node_roles =
                    vec![usual.chars().take(names::ROLE_NAME_LIMIT).collect::<String>()];
            } else {
                let listed = roles.join(", ");
                self.notes.push(format!(
                    "node role {listed} is what the documents name: --node-role says which"
                ));
                names.node_roles = roles;
            }
        }
        if names.oidc_provider.is_none()
            && let Some(issuer) = issuer_of(&subject.role)
        {
            self.notes.push(format!(
                "OIDC issuer {issuer} is what the trust policy names: --oidc-provider says which"
            ));
        }
        self.take_queue(subject, names, "sqs:ReceiveMessage");
        if names.interruption_queue.is_none() {
            self.notes.push(
                "no interruption queue is judged: --interruption-queue says which, if there is one"
                    .to_owned(),
            );
        }
    }

    fn of_queue(&mut self, subject: &Subject, names: &mut NamesArgs) {
        self.take_queue(subject, names, "sqs:SendMessage");
        if names.interruption_queue.is_none() {
            // A policy that names no queue is taken to be on one called as the cluster.
            self.queue = Origin::StandIn;
            names.interruption_queue = names.cluster.clone();
        }
    }

    fn take_queue(&mut self, subject: &Subject, names: &mut NamesArgs, action: &str) {
        if names.interruption_queue.is_some() {
            return;
        }
        if let Some(queue) = of(subject, action, "sqs").into_iter().next() {
            self.notes.push(format!(
                "queue {queue} is what the documents name: --interruption-queue says which"
            ));
            self.queue = Origin::Documents;
            names.interruption_queue = Some(queue);
        }
    }
}

fn of(subject: &Subject, action: &str, service: &str) -> Vec<String> {
    resources(subject.documents().map(|document| &document.named.policy), action, service)
}

/// The region and the account that the texts of documents name most often.
#[derive(Debug, Default, PartialEq, Eq)]
struct Named {
    region: Option<String>,
    account: Option<String>,
}

/// Reads the texts of documents, as JSON or URL-encoded.
fn named<'a>(texts: impl Iterator<Item = &'a str>) -> Named {
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
fn resources<'a>(
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
