//! From flags to a set-up: the names are checked, so that no document is filled with one that
//! AWS would refuse.

use crate::{
    cli::policy::NamesArgs,
    requirements::{Feature, Setup},
    target::names::{ROLE_NAME_LIMIT, is_role_name},
};

/// Where the documents are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub partition: String,
    pub region: String,
    pub account: String,
}

/// The set-up that the flags describe, in this place.
///
/// # Errors
/// What is wrong with which flag.
pub fn setup(args: &NamesArgs, place: &Place) -> Result<Setup, String> {
    check(args)?;
    let cluster = args.cluster.clone().unwrap_or_default();
    let mut setup = Setup::new(&place.partition, &place.region, &place.account, &cluster);
    let iam = format!("arn:{}:iam::{}", place.partition, place.account);
    let role_arn = |role: &String| match role.starts_with("arn:") {
        true => role.clone(),
        false => format!("{iam}:role/{role}"),
    };
    setup.node_role_arns = args.node_roles.iter().map(role_arn).collect();
    if let Some(queue) = &args.interruption_queue {
        setup.features.insert(Feature::Queue);
        setup.queue_arn = Some(queue_arn(queue, place));
    }
    setup.oidc_provider = args.oidc_provider.as_deref().map(issuer).map(str::to_owned);
    if let Some(namespace) = &args.namespace {
        setup.namespace.clone_from(namespace);
    }
    if let Some(account) = &args.service_account {
        setup.service_account.clone_from(account);
    }
    setup.ami_parameters =
        args.ami_parameters.iter().map(|name| name.trim_start_matches('/').to_owned()).collect();
    setup.features.extend(args.uses.iter().flat_map(|features| &features.0));
    if !setup.ami_parameters.is_empty() {
        setup.features.insert(Feature::SsmParameterAmi);
    }
    if !args.node_class_tags.is_empty() {
        setup.features.insert(Feature::NodeClassTags);
        setup.tags.extend(args.node_class_tags.iter().cloned());
    }
    Ok(setup)
}

/// The ARN of a queue that was given as a name or an ARN.
pub fn queue_arn(queue: &str, place: &Place) -> String {
    match queue.starts_with("arn:") {
        true => queue.to_owned(),
        false => format!("arn:{}:sqs:{}:{}:{queue}", place.partition, place.region, place.account),
    }
}

/// The issuer without its scheme; an ARN of the provider gives it as well.
pub fn issuer(url: &str) -> &str {
    let bare = url.split_once(":oidc-provider/").map_or(url, |(_, issuer)| issuer);
    bare.trim_start_matches("https://").trim_end_matches('/')
}

/// Whether the names are such as AWS and Kubernetes would take.
///
/// # Errors
/// What is wrong with which flag.
pub fn check(args: &NamesArgs) -> Result<(), String> {
    if let Some(cluster) = args.cluster.as_ref().filter(|name| !is_cluster_name(name)) {
        return Err(format!(
            "`{cluster}` is no name of an EKS cluster: it has 1 to 100 letters, digits, hyphens \
             and underscores, and begins with a letter or digit"
        ));
    }
    let digits =
        |account: &String| account.len() == 12 && account.bytes().all(|b| b.is_ascii_digit());
    if let Some(account) = args.account.as_ref().filter(|account| !digits(account)) {
        return Err(format!("`{account}` is no account id: it has twelve digits"));
    }
    if let Some(region) = args.region.as_ref().filter(|region| !is_region(region)) {
        return Err(format!("`{region}` is no region: write it like eu-west-1"));
    }
    let bad_role = |role: &&String| !is_role_name(role) && !is_arn(role, ":role/");
    if let Some(role) = args.node_roles.iter().find(bad_role) {
        return Err(format!(
            "`{role}` is no role: give a name of at most {ROLE_NAME_LIMIT} characters, or an ARN"
        ));
    }
    let bad_queue = |queue: &&String| !is_queue_name(queue) && !is_arn(queue, ":sqs:");
    if let Some(queue) = args.interruption_queue.as_ref().filter(bad_queue) {
        return Err(format!("`{queue}` is no queue: give its name or its ARN"));
    }
    let plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic());
    let rest = args.namespace.iter().chain(&args.service_account).chain(&args.oidc_provider);
    match rest.chain(&args.ami_parameters).find(|name| !plain(name)) {
        Some(name) => Err(format!("`{name}` is no name that AWS or Kubernetes would take")),
        None => Ok(()),
    }
}

pub fn is_cluster_name(name: &str) -> bool {
    name.len() <= 100
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

pub fn is_region(name: &str) -> bool {
    let parts: Vec<_> = name.split('-').collect();
    let words = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase());
    match parts.as_slice() {
        [middle @ .., last] if middle.len() >= 2 => {
            middle.iter().all(words) && last.bytes().all(|b| b.is_ascii_digit())
        }
        _ => false,
    }
}

fn is_queue_name(name: &str) -> bool {
    (1..=80).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn is_arn(text: &str, holds: &str) -> bool {
    text.starts_with("arn:") && text.contains(holds) && text.chars().all(|c| c.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place {
            partition: "aws".to_owned(),
            region: "eu-west-1".to_owned(),
            account: "111122223333".to_owned(),
        }
    }

    fn args(cluster: &str) -> NamesArgs {
        NamesArgs { cluster: Some(cluster.to_owned()), ..NamesArgs::default() }
    }

    #[test]
    fn names_become_arns() {
        let mut args = args("prod");
        args.node_roles = vec!["N".to_owned(), "arn:aws:iam::111122223333:role/p/N".to_owned()];
        args.interruption_queue = Some("q".to_owned());
        args.oidc_provider = Some("https://oidc.eks.eu-west-1.amazonaws.com/id/A/".to_owned());
        let setup = setup(&args, &place()).unwrap();
        let roles = ["arn:aws:iam::111122223333:role/N", "arn:aws:iam::111122223333:role/p/N"];
        assert_eq!(setup.node_role_arns, roles);
        assert_eq!(setup.queue_arn.as_deref(), Some("arn:aws:sqs:eu-west-1:111122223333:q"));
        assert_eq!(setup.oidc_provider.as_deref(), Some("oidc.eks.eu-west-1.amazonaws.com/id/A"));
        assert!(setup.features.contains(&Feature::Queue));
    }

    #[test]
    fn names_that_aws_would_refuse_are_refused() {
        let wrong = |change: fn(&mut NamesArgs), what: &str| {
            let mut args = args("prod");
            change(&mut args);
            let error = setup(&args, &place()).unwrap_err();
            assert!(error.contains(what), "{error}");
        };
        wrong(|args| args.cluster = Some("a\"b".to_owned()), "no name of an EKS cluster");
        wrong(|args| args.account = Some("123".to_owned()), "twelve digits");
        wrong(|args| args.region = Some("Ireland".to_owned()), "write it like eu-west-1");
        wrong(|args| args.node_roles = vec!["r".repeat(65)], "64 characters");
        wrong(|args| args.interruption_queue = Some("https://q".to_owned()), "its name or its ARN");
        wrong(|args| args.namespace = Some("a b".to_owned()), "no name");
        for region in ["us-gov-west-1", "eu-isoe-west-1", "ap-southeast-5"] {
            assert!(is_region(region), "{region}");
        }
    }
}
