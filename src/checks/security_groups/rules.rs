//! What the rules of security groups let pass.

use super::API;
use crate::{
    checks::{Context, Stop, network::covers},
    facts::ec2::{GroupRule, SecurityGroup},
};

/// The rules of one direction of several groups, which add up.
pub struct Rules<'a>(Vec<&'a GroupRule>);

impl<'a> Rules<'a> {
    pub fn ingress_of(cx: &'a Context<'_>, ids: &[String]) -> Result<Self, Stop> {
        Self::of(cx, ids, |group| group.rules.as_ref().map(|rules| rules.ingress.as_slice()))
    }

    pub fn egress_of(cx: &'a Context<'_>, ids: &[String]) -> Result<Self, Stop> {
        Self::of(cx, ids, |group| group.rules.as_ref().map(|rules| rules.egress.as_slice()))
    }

    fn of(
        cx: &'a Context<'_>,
        ids: &[String],
        direction: impl Fn(&SecurityGroup) -> Option<&[GroupRule]>,
    ) -> Result<Self, Stop> {
        let groups = cx.facts.vpc_security_groups.known()?;
        let mut rules = Vec::new();
        for id in ids {
            let group = groups.iter().find(|group| group.id == *id);
            let group = group.ok_or_else(|| {
                Stop::unknown(format!("{API} shows no group {id} in the cluster's VPC"))
            })?;
            let of_group = direction(group).ok_or_else(|| {
                Stop::unknown(format!("these facts do not hold the rules of {id}"))
            })?;
            rules.extend(of_group);
        }
        Ok(Self(rules))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether TCP to this port passes from or to all of a block.
    pub fn admit_block(&self, port: i32, cidr: &str) -> bool {
        self.of_port(port).any(|rule| covers(&rule.cidrs, cidr))
    }

    /// Whether TCP to this port passes from or to interfaces that have one of these groups.
    pub fn admit_group(&self, port: i32, groups: &[String]) -> bool {
        self.of_port(port).any(|rule| rule.groups.iter().any(|id| groups.contains(id)))
    }

    /// Whether a rule for this port names a prefix list, whose blocks are not read.
    pub fn has_prefix_list(&self, port: i32) -> bool {
        self.of_port(port).any(|rule| !rule.prefix_lists.is_empty())
    }

    fn of_port(&self, port: i32) -> impl Iterator<Item = &&'a GroupRule> {
        self.0.iter().filter(move |rule| {
            let ports = rule.from_port.zip(rule.to_port);
            rule.protocol == "-1"
                || (["tcp", "6"].contains(&rule.protocol.as_str())
                    && ports.is_none_or(|(from, to)| (from..=to).contains(&port)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_sources() {
        let rule = |protocol: &str, from, to| GroupRule {
            protocol: protocol.to_owned(),
            from_port: from,
            to_port: to,
            cidrs: vec!["10.0.0.0/16".to_owned()],
            groups: vec!["sg-1".to_owned()],
            ..GroupRule::default()
        };
        let (inside, outside) = ("10.0.16.0/20", "10.1.0.0/20");
        for (rule, admitted) in [
            (rule("-1", None, None), true),
            (rule("tcp", Some(443), Some(443)), true),
            (rule("tcp", Some(0), Some(65_535)), true),
            (rule("6", Some(443), Some(443)), true),
            (rule("udp", Some(443), Some(443)), false),
            (rule("tcp", Some(80), Some(80)), false),
        ] {
            let rules = Rules(vec![&rule]);
            assert_eq!(rules.admit_block(443, inside), admitted, "{rule:?}");
            assert!(!rules.admit_block(443, outside), "{rule:?}");
            assert_eq!(rules.admit_group(443, &["sg-1".to_owned()]), admitted, "{rule:?}");
            assert!(!rules.admit_group(443, &["sg-2".to_owned()]), "{rule:?}");
        }
    }
}
