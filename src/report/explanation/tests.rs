//! The answers for people, as they are printed.

use std::io;

use super::*;
use crate::{
    errors::{catalogue, decoded, explain::explain},
    report::sample::{NARROW, written},
};

fn page(explanation: &Explanation) -> String {
    written(|out| human::write(explanation, out, NARROW))
}

fn of(text: &str) -> Explanation {
    Explanation::of_text(explain(io::Cursor::new(text)).unwrap())
}

/// Without what the catalogue says of causes, which is longer than what is tested here.
fn without_causes(page: &str) -> String {
    let mut in_causes = false;
    let mut kept = String::new();
    for line in page.lines() {
        in_causes = (in_causes || line.starts_with("  1. ")) && !line.starts_with("  Sources");
        if !in_causes {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[test]
fn one_line() {
    let text = "InvalidParameterValue: 'karpenter.k8s.aws/ec2nodeclass' is not a valid tag key.";
    insta::assert_snapshot!(page(&of(text)), @r##"
    not-a-valid-tag-key
    EC2 refuses the tags, because tags are readable in the metadata.

      Seen        once, in line 1
      As          “InvalidParameterValue: 'karpenter.k8s.aws/ec2nodeclass' is not a
                  valid tag key.”
      Shown in    NodeClaim, controller log, installer
      Karpenter   up to 1.0.14

      1. The account makes instance tags readable in the metadata by default in this
         Region; then a tag key may hold no `/`, and all of Karpenter's keys do.
         Karpenter before 1.1 does not say otherwise in its launch templates.
         Signs   `aws ec2 get-instance-metadata-defaults` shows
                 `InstanceMetadataTags: enabled`.
         Check   `imds-metadata-tags`, `proved-launch`
         Fix     `aws ec2 modify-instance-metadata-defaults --region <region>
                 --instance-metadata-tags no-preference`, or upgrade Karpenter to
                 1.1 or later.

      2. A launch template or node group of your own switches on tags in the
         metadata.
         Signs   The account's default is not set, and it is not Karpenter that
                 launches.
         Fix     Set `InstanceMetadataTags` to `disabled` in that template.

      Sources     https://github.com/aws/karpenter-provider-aws/pull/7012
                  https://github.com/eksctl-io/eksctl/issues/8446
                  https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/work-with-tags-in-IMDS.html

    To see which cause it is, add `--cluster NAME` (or `--facts FILE`).
    "##);
}

#[test]
fn a_log_with_a_denial_a_consequence_and_a_failed_connection() {
    let text = "\
{\"level\":\"ERROR\",\"time\":\"2025-05-01T10:00:01.000Z\",\"message\":\"no nodepools found\"}
{\"level\":\"ERROR\",\"time\":\"2025-05-01T10:00:02.000Z\",\"error\":\"SubnetSelector did not match any Subnets\"}
{\"level\":\"ERROR\",\"time\":\"2025-05-01T10:00:03.000Z\",\"error\":\"api error UnauthorizedOperation: User: arn:aws:sts::111122223333:assumed-role/nodes/i-0abc1234def567890 is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:us-west-2:111122223333:instance/* with an explicit deny in a service control policy\"}
{\"level\":\"ERROR\",\"time\":\"2025-05-01T10:00:04.000Z\",\"error\":\"Post https://sts.us-west-2.amazonaws.com/: dial tcp 10.0.1.2:443: i/o timeout\"}
";
    insta::assert_snapshot!(without_causes(&page(&of(text))), @r##"
    4 documented errors in 4 lines, the most telling first

    subnets-not-found
    The NodeClass matches no subnets.

      Seen        once, in line 2, at 2025-05-01T10:00:02.000Z
      As          “{"level":"ERROR", "time":"2025-05-01T10:00:02.000Z",
                  "error":"SubnetSelector did not match any Subnets"}”
      Shown in    NodeClass, controller log
      Leads to    `no-nodepools-found` (once): Karpenter has no NodePool that it can
                  use

      Sources     https://github.com/aws/karpenter-provider-aws/issues/1558
                  https://github.com/aws/karpenter-provider-aws/issues/1368
                  https://github.com/aws/containers-roadmap/issues/2529

    create-fleet-denied
    The controller may not create a fleet or run instances.

      Seen        once, in line 3, at 2025-05-01T10:00:03.000Z
      As          “{"level":"ERROR", "time":"2025-05-01T10:00:03.000Z", "error":"api
                  error UnauthorizedOperation: User:
                  arn:aws:sts::111122223333:assumed-role/nodes/i-0abc1234def567890
                  is not authorized to perform: ec2:RunInstances on resource:
                  arn:aws:ec2:us-west-2:111122223333:instance/* with an explicit
                  deny in a service control policy"…”
      Shown in    controller log, CloudTrail

      Denied call: ec2:RunInstances  (once, in line 3)
        Caller    arn:aws:sts::111122223333:assumed-role/nodes/i-0abc1234def567890
                  These are the credentials of the node i-0abc1234def567890, not of
                  a pod. If it is the controller that calls, its own role is not
                  bound to it: give its service account a Pod Identity association,
                  or the annotation `eks.amazonaws.com/role-arn`, and add nothing to
                  nodes.
        Resource  arn:aws:ec2:us-west-2:111122223333:instance/*
        Why       A service control policy of your organization denies it. No policy
                  in the account can mend that: have the role exempted, or the
                  condition met.

      Sources     https://github.com/aws/karpenter-provider-aws/issues/5185
                  https://karpenter.sh/docs/reference/cloudformation/

    denied-by-organization-policy
    A service control policy of your AWS organization denies the call.

      Seen        once, in line 3, at 2025-05-01T10:00:03.000Z
      As          “{"level":"ERROR", "time":"2025-05-01T10:00:03.000Z", "error":"api
                  error UnauthorizedOperation: User:
                  arn:aws:sts::111122223333:assumed-role/nodes/i-0abc1234def567890
                  is not authorized to perform: ec2:RunInstances on resource:
                  arn:aws:ec2:us-west-2:111122223333:instance/* with an explicit
                  deny in a service control policy"…”
      Shown in    controller log, NodeClass, NodeClaim, CloudTrail

      Sources     https://github.com/aws/karpenter-provider-aws/issues/5185
                  https://github.com/aws/karpenter-provider-aws/issues/8190
                  https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html

    sts-not-reachable
    The controller does not reach STS.

      Seen        once, in line 4, at 2025-05-01T10:00:04.000Z
      As          “{"level":"ERROR", "time":"2025-05-01T10:00:04.000Z",
                  "error":"Post https://sts.us-west-2.amazonaws.com/: dial tcp
                  10.0.1.2:443: i/o timeout"}”
      Shown in    controller log, logs on the instance

      Failed connection: sts.us-west-2.amazonaws.com (10.0.1.2, a private address)
                         (once, in line 4)
        What      The name was resolved and packets went out, and no answer came:
                  they get lost on the way there or back.
        Look at   The address is private, so an endpoint or a cluster address
                  answers for the name: its security group must let port 443 in from
                  the nodes. Then the network ACLs.

      Sources     https://github.com/aws/karpenter-provider-aws/issues/1157
                  https://karpenter.sh/docs/getting-started/getting-started-with-karpenter/#private-clusters

    To see which cause it is, add `--cluster NAME` (or `--facts FILE`).
    "##);
}

#[test]
fn an_id() {
    let entry = catalogue().get("webhook-certificate-missing").unwrap();
    insta::assert_snapshot!(page(&Explanation::of_entry(entry)), @r##"
    webhook-certificate-missing
    The webhook has no certificate yet.

      Reads       “secret "karpenter-cert" is missing "ca-cert.pem" key”
      Shown in    controller log
      Karpenter   up to 1.0.14
      Note        It looks like an error; by itself it needs nothing done.

      1. The webhook makes its certificate when it starts, and its controllers look
         for it before it is there.
         Signs   Only in the first seconds after a start.
         Fix     Nothing. If the lines go on, look whether the controller may write
                 the secret `karpenter-cert` in its namespace.

      Sources     https://github.com/aws/karpenter-provider-aws/issues/2902
                  https://github.com/aws/karpenter-provider-aws/issues/6820
    "##);
}

#[test]
fn nothing_is_recognised() {
    insta::assert_snapshot!(page(&of("subnet selectors did match no subnets at all")), @r##"
    No documented error is in this line.

    The nearest that are known:

      subnets-not-found
        The NodeClass matches no subnets
        “SubnetSelector did not match any Subnets”
      node-affinity-unsatisfied
        No node fits the pod's node selector or affinity
        “node(s) didn't match Pod's node affinity/selector”

    If Karpenter, EKS or a part around them printed it, please report it to
    karpenter-preflight, so that the next one finds it: the text without your names
    and ids, where it was printed, and your versions of Karpenter and Kubernetes.
    "##);
}

#[test]
fn an_encoded_message_before_and_after_decoding() {
    let mut explanation = of(&"4Gdp_xQ2-b7TzYk9".repeat(12));
    insta::assert_snapshot!(page(&explanation), @r##"
      Denied call: an action that the text does not name  (once, in line 1)
        Why       The encoded message has it, as it has the caller and the call.

    To read the encoded message, add `--decode`, with credentials of the account
    that denied the call and `sts:DecodeAuthorizationMessage`.
    "##);
    let message = decoded::read(
        r#"{"explicitDeny": true,
            "matchedStatements": {"items": [{"statementId": "NoFleets"}]},
            "context": {
              "principal": {"arn": "arn:aws:sts::111122223333:assumed-role/karpenter/1717079343811266923"},
              "action": "ec2:CreateFleet",
              "resource": "arn:aws:ec2:us-west-2:111122223333:fleet/*",
              "conditions": {"items": [{"key": "aws:Region",
                "values": {"items": [{"value": "us-west-2"}]}}]}}}"#,
    );
    explanation.denials[0].decoded = message.map(Decoding::Message);
    insta::assert_snapshot!(page(&explanation), @r##"
    Denied call: ec2:CreateFleet  (once, in line 1)
      Caller    arn:aws:sts::111122223333:assumed-role/karpenter/1717079343811266923
                karpenter, through the service account's web identity token.
      Resource  arn:aws:ec2:us-west-2:111122223333:fleet/*
      Why       A statement denies it explicitly; the text does not say in which
                policy. More permissions do not help: find the statement and
                exempt the caller.
      Matched   NoFleets
      Context   aws:Region = us-west-2
    "##);
}
