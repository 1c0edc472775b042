//! Made-up reports and checks to render.

use super::{Report, Style};
use crate::{
    checks::{Area, Check},
    target::Product,
};

pub const NARROW: Style = Style { color: false, width: 80 };
pub const WIDE: Style = Style { color: false, width: 120 };
pub const COLORED: Style = Style { color: true, width: 80 };

/// One of `tests/data/reports/`.
pub fn report(name: &str) -> Report {
    serde_json::from_str(&text(name)).expect("a sample is a report")
}

pub fn text(name: &str) -> String {
    let path = format!("{}/tests/data/reports/{name}.json", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("a sample is there")
}

/// What a format writes.
pub fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("a Vec can be written to");
    String::from_utf8(out).expect("a report is UTF-8")
}

const fn check(id: &'static str, title: &'static str, area: Area) -> Check {
    Check {
        id,
        title,
        area,
        products: &[Product::Karpenter, Product::AutoMode],
        errors: &[],
        needs: &[],
        doc: "## What\n\n## Why\n\n## Seen as\n\n## Fix\n",
        run: |_| Ok(Vec::new()),
    }
}

static NODE_ROLE_TRUST: Check = Check {
    products: &[Product::Karpenter],
    errors: &["unauthorized-node-role", "node-not-registered"],
    needs: &["iam:GetRole", "iam:ListInstanceProfilesForRole"],
    doc: "\
## What
Each node role exists, and its trust policy lets EC2 take it: `ec2.amazonaws.com` may call
`sts:AssumeRole`.

## Why
An instance gets its credentials through the role:

- without trust, EC2 refuses to launch with `InvalidParameterValue`, and Karpenter tries the
  next instance type;
- with a condition that EC2 does not meet, the kubelet starts without credentials.

1. The instance starts.
2. The kubelet asks IMDS.

## Seen as
`Unauthorized` in the kubelet's log.

## Fix
Write the trust policy anew:

```sh
aws iam update-assume-role-policy --role-name KarpenterNodeRole-prod --policy-document file://trust.json
```
",
    ..check("node-role-trust", "EC2 may take each node role", Area::Join)
};

pub static CHECKS: [&Check; 9] = [
    &check("versions", "Karpenter supports the cluster's Kubernetes version", Area::Controller),
    &check("cluster-role-trust", "EKS may take the cluster role", Area::Controller),
    &check(
        "discovered-subnets",
        "The discovery tag selects subnets that can hold nodes",
        Area::Launch,
    ),
    &check(
        "discovered-security-groups",
        "The discovery tag selects security groups of the cluster's VPC",
        Area::Launch,
    ),
    &check("imds-defaults", "The account's IMDS defaults suit Karpenter's instances", Area::Launch),
    &NODE_ROLE_TRUST,
    &check("node-role-access-entry", "The cluster lets each node role join", Area::Join),
    &check(
        "interruption-queue",
        "The interruption queue exists and takes events",
        Area::Interruption,
    ),
    &check(
        "interruption-rules",
        "EventBridge rules feed the interruption queue every event that this Karpenter reads",
        Area::Interruption,
    ),
];
