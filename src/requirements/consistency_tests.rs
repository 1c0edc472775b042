//! The data agrees with itself, as the evaluator sees it: every version's requests are allowed
//! by the policy that is printed for it, and those of another version as far as the table says.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::load::{About, embedded};
use super::policy::{Layout, Policy as Printed};
use super::range::VersionRanges;
use super::request::Request;
use super::role::{Kind, print};
use super::setup::Setup;
use super::version::KarpenterVersion;
use super::versions::minors;
use crate::iam::{Decision, NamedPolicy, Policy, PolicyKind, PolicySet, Principal, trust};

const ROLE: &str = "arn:aws:iam::111122223333:role/KarpenterControllerRole-prod";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mismatches {
    about: About,
    mismatch: Vec<Mismatch>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mismatch {
    policy: VersionRanges,
    controller: VersionRanges,
    refused: Vec<String>,
    why: String,
}

fn setup(partition: &str, region: &str) -> Setup {
    Setup {
        ami_parameters: vec!["golden/al2023".to_owned()],
        ..Setup::new(partition, region, "111122223333", "prod").with_every_feature()
    }
}

fn set_of(policies: &[Printed]) -> PolicySet {
    super::iam_set(policies).unwrap()
}

fn decide(set: &PolicySet, request: &Request) -> Decision {
    set.decide(&request.by(Principal::aws(ROLE).unwrap()))
}

fn refused(set: &PolicySet, requests: &[Request]) -> BTreeSet<String> {
    let refused = requests.iter().filter(|request| !decide(set, request).is_allowed());
    refused.map(|request| request.id.clone()).collect()
}

/// The requests of every minor's first release, and of its newest where they are not the same.
fn releases(setup: &Setup) -> Vec<(KarpenterVersion, Vec<Request>)> {
    let mut releases: Vec<(_, Vec<Request>)> = Vec::new();
    for version in minors().iter().flat_map(|minor| [minor.first, minor.newest]) {
        let requests = super::controller(version, setup);
        let line = |v: KarpenterVersion| (v.major, v.minor);
        let known =
            releases.last().is_some_and(|(v, r)| line(*v) == line(version) && *r == requests);
        if !known {
            releases.push((version, requests));
        }
    }
    releases
}

#[test]
fn the_printed_controller_policy_allows_every_request_of_its_version() {
    for (partition, region) in
        [("aws", "eu-west-1"), ("aws-cn", "cn-north-1"), ("aws-us-gov", "us-gov-west-1")]
    {
        let setup = setup(partition, region);
        for (version, requests) in releases(&setup) {
            for layout in [Layout::One, Layout::Split] {
                let set = set_of(&super::policy::controller(version, &setup, layout));
                let refused = refused(&set, &requests);
                assert_eq!(refused, BTreeSet::new(), "{partition} {version} {layout:?}");
            }
        }
    }
}

#[test]
fn one_versions_policy_refuses_anothers_controller_exactly_what_the_table_says() {
    let table: Mismatches = embedded(include_str!("../../policies/karpenter/mismatches.toml"));
    table.about.assert_sound();
    assert!(table.mismatch.iter().all(|row| !row.why.is_empty()));
    let setup = setup("aws", "eu-west-1");
    let sets: Vec<_> = minors()
        .iter()
        .map(|m| (m.first, set_of(&super::policy::controller(m.first, &setup, Layout::One))))
        .collect();
    let mut met = BTreeSet::new();
    for (controller, requests) in releases(&setup) {
        let role = Principal::aws(ROLE).unwrap();
        let asked: Vec<_> = requests.iter().map(|r| (&r.id, r.by(role.clone()))).collect();
        for (policy, set) in &sets {
            let rows = table
                .mismatch
                .iter()
                .filter(|row| row.policy.contains(*policy) && row.controller.contains(controller));
            let named: BTreeSet<_> = rows.flat_map(|row| &row.refused).collect();
            for (id, request) in &asked {
                let decision = set.decide(request);
                let expected = !named.contains(id);
                let pair = format!("policy of {policy}, controller {controller}: {id}");
                assert_eq!(decision.is_allowed(), expected, "{pair}: {decision}");
                if !expected {
                    met.insert((*id).clone());
                }
            }
        }
    }
    let named: BTreeSet<_> = table.mismatch.into_iter().flat_map(|row| row.refused).collect();
    assert_eq!(met, named, "every request of the table is met");
}

/// pkg/…/cloudformation.yaml@v1.12.0: the statement that 1.13 put right.
#[test]
fn the_published_zonal_shift_statement_of_1_12_never_matches() {
    let text = r#"{"Version":"2012-10-17","Statement":{"Effect":"Allow",
        "Action":"arc-zonal-shift:GetManagedResource",
        "Resource":"arn:aws:eks:eu-west-1:111122223333:cluster/prod"}}"#;
    let policy = NamedPolicy::new("1.12", Policy::parse(text).unwrap());
    let set = PolicySet { identity: vec![policy], ..PolicySet::default() };
    let requests = super::controller(KarpenterVersion::new(1, 12, 2), &setup("aws", "eu-west-1"));
    let request = requests.iter().find(|request| request.id == "get-managed-resource").unwrap();
    assert!(decide(&set, request).is_refused());
}

/// Policies that ask for what this tool does not look at are never guessed at.
#[test]
fn conditions_on_what_nobody_looked_at_are_unknown() {
    let requests = super::controller(KarpenterVersion::NEWEST, &setup("aws", "eu-west-1"));
    for (id, key) in [
        ("run-instances-with-subnet", "ec2:Vpc"),
        ("run-instances-with-subnet", "aws:ResourceTag/karpenter.sh/discovery"),
        ("run-instances-instance", "ec2:InstanceType"),
        ("run-instances-instance", "ec2:MetadataHttpTokens"),
        ("run-instances-volume", "ec2:VolumeType"),
        ("describe-subnets", "aws:SourceVpce"),
        ("pass-node-role", "aws:PrincipalTag/team"),
    ] {
        let text = format!(
            r#"{{"Version":"2012-10-17","Statement":{{"Effect":"Allow","Action":"*","Resource":"*",
            "Condition":{{"StringEquals":{{"{key}":"x"}}}}}}}}"#
        );
        let policy = NamedPolicy::new("narrow", Policy::parse(&text).unwrap());
        let set = PolicySet { identity: vec![policy], ..PolicySet::default() };
        let request = requests.iter().find(|request| request.id == id).unwrap();
        let decision = decide(&set, request);
        assert!(matches!(decision, Decision::Unknown { .. }), "{id} {key}: {decision}");
    }
}

#[test]
fn the_custom_tag_policy_allows_tags_of_ones_own() {
    let setup = setup("aws", "eu-west-1");
    let printed = print(Kind::AutoModeCluster, KarpenterVersion::NEWEST, &setup, Layout::Fit);
    let set = set_of(&printed.policies);
    let custom: Vec<_> = super::auto_mode(&setup)
        .into_iter()
        .filter(|request| request.id.starts_with("custom-tags-"))
        .collect();
    assert_eq!(custom.len(), 13);
    assert_eq!(refused(&set, &custom), BTreeSet::new());
}

#[test]
fn the_ipv6_policy_stands_in_for_the_managed_one_of_the_cni() {
    let setup = setup("aws", "eu-west-1");
    let printed = print(Kind::Node, KarpenterVersion::NEWEST, &setup, Layout::Fit);
    assert!(!printed.managed.iter().any(|arn| arn.contains("CNI")), "{:?}", printed.managed);
    let asked = super::node(super::node::Capability::CniIpv6, &setup);
    assert_eq!(refused(&set_of(&printed.policies), &asked), BTreeSet::new());
}

#[test]
fn the_queue_policy_lets_events_in() {
    let setup = setup("aws", "eu-west-1");
    let printed = print(Kind::Queue, KarpenterVersion::NEWEST, &setup, Layout::Fit);
    let text = printed.policies[0].document.to_string();
    let policy = Policy::parse_as(PolicyKind::Resource, &text).unwrap();
    let queue = NamedPolicy::new("queue", policy);
    for (sender, allowed) in [(super::SENDER, true), ("ec2.amazonaws.com", false)] {
        for request in super::queue(&setup) {
            let asked = request.by(Principal::Service(sender.to_owned()));
            let layer = crate::iam::Layer::Resource;
            let decision = crate::iam::decide_alone(layer, std::slice::from_ref(&queue), &asked);
            assert_eq!(decision.is_allowed(), allowed, "{sender}: {decision}");
        }
    }
}

#[test]
fn the_trust_policies_let_the_right_ones_in() {
    let mut setup = setup("aws-cn", "cn-north-1");
    let service = |name: &str| Principal::Service(name.to_owned());
    for (kind, principal, action) in [
        (Kind::Controller, service("pods.eks.amazonaws.com"), "sts:TagSession"),
        (Kind::Node, service("ec2.amazonaws.com.cn"), "sts:AssumeRole"),
        (Kind::AutoModeNode, service("ec2.amazonaws.com.cn"), "sts:AssumeRole"),
        (Kind::Cluster, service("eks.amazonaws.com"), "sts:AssumeRole"),
        (Kind::AutoModeCluster, service("eks.amazonaws.com"), "sts:TagSession"),
    ] {
        let printed = print(kind, KarpenterVersion::NEWEST, &setup, Layout::Fit);
        let text = printed.trust.unwrap().to_string();
        let policy = NamedPolicy::new("trust", Policy::parse_as(PolicyKind::Trust, &text).unwrap());
        let decision = trust::decide(&policy, &crate::iam::Request::new(principal, action, ROLE));
        assert!(decision.is_allowed(), "{kind:?}: {decision}");
    }
    setup.oidc_provider = Some("oidc.eks.cn-north-1.amazonaws.com.cn/id/ABC".to_owned());
    let printed = print(Kind::Controller, KarpenterVersion::NEWEST, &setup, Layout::Fit);
    let text = printed.trust.unwrap().to_string();
    assert!(text.contains("oidc.eks.cn-north-1.amazonaws.com.cn/id/ABC:sub"), "{text}");
    assert!(text.contains("system:serviceaccount:kube-system:karpenter"), "{text}");
}

#[test]
fn the_tools_own_policy_only_reads() {
    let setup = setup("aws", "eu-west-1");
    let printed = print(Kind::Preflight, KarpenterVersion::NEWEST, &setup, Layout::Fit);
    let document = &printed.policies[0].document;
    Policy::parse(&document.to_string()).unwrap();
    for statement in document["Statement"].as_array().unwrap() {
        for action in statement["Action"].as_array().unwrap() {
            let (_, operation) = action.as_str().unwrap().split_once(':').unwrap();
            let reads = ["Describe", "Get", "List", "Simulate"];
            assert!(reads.iter().any(|verb| operation.starts_with(verb)), "{action}");
        }
    }
}

/// The trial launch of 1.3.0 to 1.3.2 carries metadata options, but no volumes.
#[test]
fn a_trial_launch_is_asked_for_as_its_version_sends_it() {
    let mut setup = setup("aws", "eu-west-1");
    setup.launch = [("ec2:Encrypted", "true"), ("ec2:MetadataHttpTokens", "required")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    for (patch, trial_is_known) in [(0, false), (2, false), (3, true), (5, true)] {
        let requests = super::controller(KarpenterVersion::new(1, 3, patch), &setup);
        let known = |id: &str, key: &str| {
            let request = requests.iter().find(|request| request.id == id).unwrap();
            request.context.contains_key(key)
        };
        assert!(known("run-instances-volume", "ec2:Encrypted"), "1.3.{patch}");
        assert_eq!(known("validate-run-instances-volume", "ec2:Encrypted"), trial_is_known);
        assert!(known("validate-run-instances-instance", "ec2:MetadataHttpTokens"), "1.3.{patch}");
    }
    let newest = super::controller(KarpenterVersion::NEWEST, &setup);
    let template = newest
        .iter()
        .find(|request| request.id == "validate-run-instances-from-launch-template")
        .unwrap();
    let bears = |key: &String| key.starts_with("ec2:Metadata");
    assert!(!template.context.keys().any(bears) && !template.unknown.iter().any(bears));
}
