//! Failed connections: what kind of failure, to what, and where to look.

use std::io::{self, Write};

use super::rows::{Rows, heading};
use crate::{
    errors::{Counted, NetworkFault, NetworkKind},
    report::style::Style,
};

/// Writes one failed connection.
pub(super) fn write(
    counted: &Counted<NetworkFault>,
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    let rows = Rows { style, indent: 4, labels: 10 };
    let (fault, seen) = (&counted.what, &counted.seen);
    heading("Failed connection", &peer(fault), seen, out, style)?;
    rows.row("What", what(fault.kind), out)?;
    rows.row("Look at", &look_at(fault), out)
}

fn peer(fault: &NetworkFault) -> String {
    let address = fault.address.map(|address| match fault.public {
        Some(true) => format!("{address}, a public address"),
        Some(false) => format!("{address}, a private address"),
        None => address.to_string(),
    });
    match (&fault.host, address) {
        (Some(host), Some(address)) => format!("{host} ({address})"),
        (Some(host), None) => host.clone(),
        (None, Some(address)) => address,
        (None, None) => "an address that the text does not name".to_owned(),
    }
}

fn what(kind: NetworkKind) -> &'static str {
    match kind {
        NetworkKind::Dns => "The name could not be resolved: no packet went out to the service.",
        NetworkKind::NoRoute => "The name was resolved, and there is no way to the address.",
        NetworkKind::Refused => {
            "The address was reached and refused: nothing listens on that port, or a proxy or \
             firewall says no at once."
        }
        NetworkKind::Reset => {
            "The connection was made, and the other side or something between broke it off."
        }
        NetworkKind::Timeout => {
            "The name was resolved and packets went out, and no answer came: they get lost on the \
             way there or back."
        }
        NetworkKind::Certificate => {
            "The connection was made, and the certificate was not accepted."
        }
    }
}

fn look_at(fault: &NetworkFault) -> String {
    let text = match (fault.kind, fault.public) {
        (NetworkKind::Dns, _) => {
            "Whether CoreDNS runs (a controller that makes CoreDNS's nodes needs `dnsPolicy: \
             Default`); the VPC's `enableDnsSupport` and `enableDnsHostnames`; the region in the \
             name."
        }
        (NetworkKind::NoRoute, _) => {
            "The route table of the subnet: a route to a NAT gateway, or an interface endpoint for \
             the service; for IPv6, whether the VPC has an egress route."
        }
        (NetworkKind::Refused, _) => {
            "Whether the target runs and is ready, the port, and `HTTPS_PROXY` and `NO_PROXY`."
        }
        (NetworkKind::Reset, _) => {
            "A proxy or firewall between, the policy of a VPC endpoint, and the target's own log."
        }
        (NetworkKind::Timeout, Some(true)) => {
            "The address is public, so no interface endpoint with private DNS was used: the subnet \
             needs a route to a NAT gateway, or the VPC an endpoint for the service. Then the \
             security group's outbound rules and the network ACL."
        }
        (NetworkKind::Timeout, Some(false)) => {
            "The address is private, so an endpoint or a cluster address answers for the name: its \
             security group must let port 443 in from the nodes. Then the network ACLs."
        }
        (NetworkKind::Timeout, None) => {
            "The route to a NAT gateway or an endpoint for the service, the security groups on both \
             sides, and the network ACLs."
        }
        (NetworkKind::Certificate, _) => {
            "A proxy that opens TLS and whose authority the pod does not know, the clock, and \
             whether the name belongs to the server."
        }
    };
    text.to_owned()
}
