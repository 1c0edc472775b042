//! The data agrees with itself, as the evaluator sees it: every version's requests are allowed
//! by the policy that is printed for it.

use super::policy::Layout;
use super::request::Request;
use super::role::{Kind, print};
use super::setup::Setup;
use super::version::KarpenterVersion;
use super::versions::minors;
use crate::iam::{NamedPolicy, Policy, PolicySet, Principal};

const ROLE: &str = "arn:aws:iam::111122223333:role/KarpenterControllerRole-prod";

fn set_of(policies: &[super::policy::Policy]) -> PolicySet {
    let parse = |p: &super::policy::Policy| {
        NamedPolicy::new(&p.name, Policy::parse(&p.document.to_string()).unwrap())
    };
    PolicySet { identity: policies.iter().map(parse).collect(), ..PolicySet::default() }
}

fn refused(requests: &[Request], set: &PolicySet) -> Vec<String> {
    let asked = requests.iter().map(|r| (r, set.decide(&r.by(Principal::aws(ROLE).unwrap()))));
    asked.filter(|(_, d)| !d.is_allowed()).map(|(r, d)| format!("{}: {d}", r.id)).collect()
}

fn setup(partition: &str, region: &str) -> Setup {
    Setup::new(partition, region, "111122223333", "prod").with_every_feature()
}

/// The first and the newest patch release of every minor.
fn releases() -> impl Iterator<Item = KarpenterVersion> {
    minors().iter().flat_map(|minor| [minor.first, minor.newest])
}

#[test]
fn the_printed_controller_policy_allows_every_request_of_its_version() {
    for (partition, region) in
        [("aws", "eu-west-1"), ("aws-cn", "cn-north-1"), ("aws-us-gov", "us-gov-west-1")]
    {
        let setup = setup(partition, region);
        for version in releases() {
            for layout in [Layout::One, Layout::Split] {
                let set = set_of(&super::policy::controller(version, &setup, layout));
                let refused = refused(&super::controller(version, &setup), &set);
                assert_eq!(refused, Vec::<String>::new(), "{partition} {version} {layout:?}");
            }
        }
    }
}
