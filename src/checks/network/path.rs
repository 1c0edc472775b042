//! Where a subnet's route table leads.

use crate::{
    checks::{Context, Stop},
    facts::network::{Route, RouteTable},
};

/// The route table of a subnet, and the way out of the VPC that it gives.
pub struct Path<'a> {
    pub table: &'a RouteTable,
    pub way: Way<'a>,
}

/// Where packets to the internet go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way<'a> {
    /// Through a NAT gateway.
    Nat(&'a str),
    /// Through an internet gateway, which takes only what has a public address.
    Internet(&'a str),
    /// To something behind which nothing is seen: a transit gateway, a firewall, a NAT instance.
    Beyond(&'a str),
    /// To something that is gone.
    Gone(&'a str),
    /// Nowhere; but some other networks are reached through this.
    Private(&'a str),
    /// Nowhere.
    None,
}

impl Way<'_> {
    /// Whether the internet is out of reach, for all that is seen.
    pub fn is_isolated(self) -> bool {
        matches!(self, Way::Private(_) | Way::None)
    }
}

impl<'a> Path<'a> {
    /// The path of a subnet: its own route table, else the VPC's main one.
    pub fn of(cx: &'a Context<'_>, subnet: &str) -> Result<Self, Stop> {
        let tables = cx.facts.network.route_tables.known()?;
        let own = tables.iter().find(|table| table.subnets.iter().any(|id| id == subnet));
        let table = own.or_else(|| tables.iter().find(|table| table.main));
        let table = table.ok_or_else(|| {
            Stop::unknown(format!("ec2:DescribeRouteTables shows no route table for {subnet}"))
        })?;
        Ok(Self { table, way: way(&table.routes) })
    }
}

fn way(routes: &[Route]) -> Way<'_> {
    // Some write the internet as two halves, to leave a default route alone.
    let internet = ["0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1"];
    let default = internet.iter().find_map(|whole| {
        routes.iter().find(|route| route.destination == *whole && !route.target.is_empty())
    });
    let Some(route) = default else {
        // A gateway endpoint's route has a prefix list and leads to no network.
        let other = routes.iter().find(|route| {
            let ipv4 = !route.destination.contains(':');
            ipv4 && !route.blackhole && !["local", "vpce-", ""].contains(&kind(&route.target))
        });
        return other.map_or(Way::None, |route| Way::Private(&route.target));
    };
    match kind(&route.target) {
        _ if route.blackhole => Way::Gone(&route.target),
        "nat-" => Way::Nat(&route.target),
        "igw-" => Way::Internet(&route.target),
        _ => Way::Beyond(&route.target),
    }
}

/// `nat-` of `nat-0123`; what has no hyphen is a kind of its own.
fn kind(target: &str) -> &str {
    target.find('-').map_or(target, |end| &target[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_out() {
        let route = |destination: &str, target: &str| Route {
            destination: destination.to_owned(),
            target: target.to_owned(),
            blackhole: target == "nat-gone",
        };
        let local = route("10.0.0.0/16", "local");
        let s3 = route("pl-1", "vpce-1");
        for (more, way_out) in [
            (vec![], Way::None),
            (vec![route("0.0.0.0/0", "nat-1")], Way::Nat("nat-1")),
            (vec![route("0.0.0.0/0", "nat-gone")], Way::Gone("nat-gone")),
            (vec![route("0.0.0.0/0", "igw-1")], Way::Internet("igw-1")),
            (vec![route("0.0.0.0/1", "tgw-1")], Way::Beyond("tgw-1")),
            (vec![route("0.0.0.0/0", "vpce-9")], Way::Beyond("vpce-9")),
            (vec![route("10.0.0.0/8", "tgw-1")], Way::Private("tgw-1")),
            (vec![route("::/0", "eigw-1")], Way::None),
        ] {
            let mut routes = vec![local.clone(), s3.clone()];
            routes.extend(more);
            assert_eq!(way(&routes), way_out, "{routes:?}");
        }
    }
}
