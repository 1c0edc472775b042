//! The catalogue over made-up checks.

use super::*;
use crate::report::sample::{CHECKS, COLORED, NARROW, written};

#[test]
fn lists_by_area() {
    insta::assert_snapshot!(written(|out| list_checks(&CHECKS, out, NARROW)), @r##"
The controller starts (controller)
  versions                    Karpenter supports the cluster's Kubernetes
                              version
  cluster-role-trust          EKS may take the cluster role

A node is launched (launch)
  discovered-subnets          The discovery tag selects subnets that can hold
                              nodes
  discovered-security-groups  The discovery tag selects security groups of the
                              cluster's VPC
  imds-defaults               The account's IMDS defaults suit Karpenter's
                              instances

The node joins the cluster (join)
  node-role-trust             EC2 may take each node role
  node-role-access-entry      The cluster lets each node role join

Interruptions are seen in time (interruption)
  interruption-queue          The interruption queue exists and takes events
  interruption-rules          EventBridge rules feed the interruption queue
                              every event that this Karpenter reads
"##);
}

#[test]
fn lists_as_json() {
    let text = written(|out| list_checks_json(&CHECKS, out));
    let list: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        list[5],
        serde_json::json!({
            "id": "node-role-trust",
            "title": "EC2 may take each node role",
            "area": "join",
            "products": ["karpenter"],
            "errors": ["unauthorized-node-role", "node-not-registered"],
            "also_behind": [],
            "needs": ["iam:GetRole", "iam:ListInstanceProfilesForRole"],
        })
    );
}

#[test]
fn explains() {
    insta::assert_snapshot!(written(|out| explain_check(CHECKS[5], out, NARROW)), @r##"
node-role-trust
EC2 may take each node role

Area         The node joins the cluster
Products     Karpenter
Reads with   iam:GetRole, iam:ListInstanceProfilesForRole
Errors       unauthorized-node-role, node-not-registered

What
  Each node role exists, and its trust policy lets EC2 take it:
  `ec2.amazonaws.com` may call `sts:AssumeRole`.

Why
  An instance gets its credentials through the role:

  - without trust, EC2 refuses to launch with `InvalidParameterValue`, and
    Karpenter tries the next instance type;
  - with a condition that EC2 does not meet, the kubelet starts without
    credentials.
  1. The instance starts.
  2. The kubelet asks IMDS.

Seen as
  `Unauthorized` in the kubelet's log.

Fix
  Write the trust policy anew:

    aws iam update-assume-role-policy --role-name KarpenterNodeRole-prod --policy-document file://trust.json
"##);
}

#[test]
fn explains_in_colour() {
    let text = written(|out| explain_check(CHECKS[5], out, COLORED));
    assert!(text.contains("with \u{1b}[36mInvalidParameterValue\u{1b}[0m, and\n"), "{text}");
    assert!(!text.contains('`'), "{text}");
}

#[test]
fn explains_as_json() {
    let text = written(|out| explain_check_json(CHECKS[5], out));
    let check: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(check["id"], "node-role-trust");
    assert_eq!(check["doc"]["seen_as"], "`Unauthorized` in the kubelet's log.");
    assert_eq!(check["doc"].as_object().unwrap().len(), 4);
}

#[test]
fn the_page_leads_to_every_check() {
    let page = docs_checks(&CHECKS);
    for check in CHECKS {
        assert_eq!(page.matches(&format!("\n### {}\n", check.id)).count(), 1);
        assert!(page.contains(&format!("](#{})", check.id)));
    }
    assert!(page.contains("\n- Reads with: `iam:GetRole`, `iam:ListInstanceProfilesForRole`\n"));
    assert!(page.contains("\n#### Seen as\n\n`Unauthorized` in the kubelet's log.\n"));
    assert!(page.ends_with('\n') && !page.contains("\n\n\n"));
}
