//! The report for people over made-up reports.

use super::*;
use crate::{
    outcome::Step,
    report::sample::{CHECKS, NARROW, WIDE, report, written},
};

fn human(name: &str, style: Style) -> String {
    written(|out| write_with(&report(name), &CHECKS, out, style))
}

#[test]
fn problems_for_people() {
    insta::assert_snapshot!(human("problems", NARROW), @r##"
karpenter-preflight 0.1.0

  Account             111122223333  (credentials)
  Caller              arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_PlatformReadOnly_0123456789abcdef/jane.doe@example.com
                      (credentials)
  Region              eu-west-1  (environment)
  Cluster             prod
  Kubernetes          1.35  (cluster)
  Product             Karpenter  (usual name)
  Karpenter version   1.14.1  (assumed: newest known)
  Controller role     KarpenterControllerRole-prod  (pod identity association)
  Node roles          KarpenterNodeRole-prod  (access entry)
                      KarpenterNodeRole-prod-gpu  (instance profile)
  Interruption queue  none known
  Discovery tag       karpenter.sh/discovery=prod  (default)
  Read at             2026-11-01 12:00:00 UTC

  Note  The Karpenter version is not known: judged as 1.14.1, the newest known;
        say which with --karpenter-version

The controller starts
  ✓ pass     Karpenter supports the cluster's Kubernetes version
  - skipped  EKS may take the cluster role: only for EKS Auto Mode

A node is launched
  ! warn     The discovery tag selects subnets that can hold nodes
             (1 warn, 2 pass)

    Subject        subnet-0a1b2c3d4e5f60718
    Seen           It has 11 free addresses of 251 (eu-west-1a, 10.0.1.0/24). A
                   node takes 1 to 30 of them.
    You would see  “InsufficientFreeAddressesInSubnet: There are not enough free
                   addresses in subnet 'subnet-0a1b2c3d4e5f60718' to satisfy the
                   requested number of instances.”
    Effect         New nodes fail to launch in this zone as soon as the
                   addresses are gone; pods on running nodes stay in
                   ContainerCreating.
    To mend        Tag a larger subnet of this zone with
                   `karpenter.sh/discovery=prod`, or turn on prefix delegation
                   where the CIDR has room.
    Docs           docs/checks.md#discovered-subnets
                   karpenter-preflight explain discovered-subnets

  ✓ pass     The discovery tag selects security groups of the cluster's VPC
  ? unknown  The account's IMDS defaults suit Karpenter's instances

    Subject        111122223333
    Why            Not allowed to call ec2:GetInstanceMetadataDefaults: You are
                   not authorized to perform this operation.
    Allow          ec2:GetInstanceMetadataDefaults to the caller
    To find out    Ask someone who may call it for this output:

      aws ec2 get-instance-metadata-defaults --region eu-west-1

    Docs           docs/checks.md#imds-defaults
                   karpenter-preflight explain imds-defaults

The node joins the cluster
  ✗ fail     EC2 may take each node role  (1 fail, 1 pass)

    Subject        arn:aws:iam::111122223333:role/KarpenterNodeRole-prod
    Seen           Its trust policy lets only `eks.amazonaws.com` take the role,
                   and no statement names `ec2.amazonaws.com`.
    You would see  unauthorized-node-role
                   “Node not registered with cluster”
    Effect         EC2 cannot hand the role's credentials to the instance, so
                   the kubelet never gets in.
    To mend        Write the trust policy anew.

      cat > node-role-trust.json <<'EOF'
      {
        "Version": "2012-10-17",
        "Statement": [
          {
            "Effect": "Allow",
            "Principal": {
              "Service": "ec2.amazonaws.com"
            },
            "Action": "sts:AssumeRole"
          }
        ]
      }
EOF

      aws iam update-assume-role-policy --role-name KarpenterNodeRole-prod --policy-document file://node-role-trust.json

    Docs           docs/checks.md#node-role-trust
                   karpenter-preflight explain node-role-trust

  ✗ fail     The cluster lets each node role join  (1 fail, 1 unknown)

    Subject        arn:aws:iam::111122223333:role/KarpenterNodeRole-prod (fail)
    Seen           The access entry has type STANDARD; nodes need EC2_LINUX or
                   EC2_WINDOWS.
    You would see  “Node not registered with cluster”
                   “Unable to register node with API server" err="Unauthorized"”
    Effect         Instances start, run and cost money, and never become nodes;
                   Karpenter deletes each after 15 minutes and starts another.
    To mend        The type of an entry cannot be changed: delete it and create
                   it again.

      aws eks delete-access-entry --region eu-west-1 --cluster-name prod --principal-arn arn:aws:iam::111122223333:role/KarpenterNodeRole-prod

      aws eks create-access-entry --region eu-west-1 --cluster-name prod --principal-arn arn:aws:iam::111122223333:role/KarpenterNodeRole-prod --type EC2_LINUX

    Subject        arn:aws:iam::111122223333:role/KarpenterNodeRole-prod-gpu
                   (unknown)
    Why            eks:DescribeAccessEntry failed: timed out after 10 s
    Docs           docs/checks.md#node-role-access-entry
                   karpenter-preflight explain node-role-access-entry

Interruptions are seen in time
  - skipped  interruption-queue, interruption-rules: no interruption queue is
             named or found, so Karpenter does not watch for interruptions

2 findings will stop or break Karpenter here. 2 things could not be judged.
5 pass, 1 warn, 2 fail, 2 unknown, 0 waived, 3 skipped; 47 calls in 2.3 seconds
"##);
}

#[test]
fn all_well_for_people() {
    insta::assert_snapshot!(human("all-well", NARROW), @r##"
karpenter-preflight 0.1.0

  Account             111122223333  (credentials)
  Caller              arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_PlatformReadOnly_0123456789abcdef/jane.doe@example.com
                      (credentials)
  Region              eu-west-1  (environment)
  Cluster             prod
  Kubernetes          1.35  (cluster)
  Product             Karpenter  (usual name)
  Karpenter version   1.14.1  (flag)
  Controller role     KarpenterControllerRole-prod  (pod identity association)
  Node roles          KarpenterNodeRole-prod  (access entry)
                      KarpenterNodeRole-prod-gpu  (instance profile)
  Interruption queue  prod  (usual name)
  Discovery tag       karpenter.sh/discovery=prod  (default)
  Read at             2026-11-01 12:00:00 UTC

The controller starts
  ✓ pass     Karpenter supports the cluster's Kubernetes version
  - skipped  EKS may take the cluster role: only for EKS Auto Mode

A node is launched
  ✓ pass     The discovery tag selects subnets that can hold nodes  (3 pass)
  ✓ pass     The discovery tag selects security groups of the cluster's VPC
  ✓ pass     The account's IMDS defaults suit Karpenter's instances

The node joins the cluster
  ✓ pass     EC2 may take each node role  (2 pass)
  ✓ pass     The cluster lets each node role join  (2 pass)

Interruptions are seen in time
  ✓ pass     The interruption queue exists and takes events
  ✓ pass     EventBridge rules feed the interruption queue every event that this
             Karpenter reads

All is well: nothing was found that would stop Karpenter in cluster prod.
12 pass, 0 warn, 0 fail, 0 unknown, 0 waived, 1 skipped; 47 calls in 1.9 seconds
"##);
}

#[test]
fn nothing_judged_is_not_called_well() {
    insta::assert_snapshot!(human("empty", NARROW), @r##"
karpenter-preflight 0.1.0

  Account             not known
  Caller              not known
  Region              eu-west-1  (flag)
  Cluster             prod
  Kubernetes          not known
  Product             none known
  Stage               before an install  (flag)
  Node roles          none known
  Discovery tag       karpenter.sh/discovery=prod  (default)
  Read at             2026-11-01 12:00:00 UTC

Nothing was judged: no check applied.
0 pass, 0 warn, 0 fail, 0 unknown, 0 waived, 0 skipped; 1 call in 0.0 seconds
"##);
}

#[test]
fn what_the_configuration_and_the_baseline_say() {
    use crate::{
        outcome::{Status, WaivedBy},
        report::{StaleWaiver, changes},
    };
    let mut report = report("problems");
    let waiver = |expired| WaivedBy {
        reason: "known".to_owned(),
        owner: Some("team-a".to_owned()),
        until: Some("2026-11-30".to_owned()),
        expired,
    };
    let before = report.clone();
    report.outcomes.retain(|outcome| outcome.check.starts_with("node-role"));
    report.outcomes[0].judged = Some(Status::Fail);
    report.outcomes[0].status = Status::Waived;
    report.outcomes[0].waiver = Some(waiver(false));
    report.outcomes[2].waiver = Some(waiver(true));
    report.outcomes[3].judged = Some(Status::Warn);
    report.outcomes[3].status = Status::Fail;
    report.stale_waivers.push(StaleWaiver {
        check: "versions".to_owned(),
        subject: "*".to_owned(),
        reason: "old".to_owned(),
    });
    report.changes = Some(changes::between(Some(&before), &report));
    let text = written(|out| write_with(&report, &CHECKS, out, WIDE));
    for line in [
        "  ~ waived   EC2 may take each node role  (1 waived, 1 pass)",
        "    Note           Its waiver by team-a expired on 2026-11-30: known",
        "    Note           The check says warn; the configuration makes it fail",
        "The waiver of versions for `*` fits nothing any more: take it out (old)",
        "  new        node-role-access-entry (fail, was unknown):",
        "1 new, 0 gone, 1 unchanged, 2 not judged this time since 2026-11-01",
    ] {
        assert!(text.lines().any(|found| found.starts_with(line)), "{line}\n{text}");
    }
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("(fail): waived by team-a until 2026-11-30: known"), "{text}");
}

#[test]
fn prose_keeps_to_the_width_and_commands_stay_whole() {
    for (style, columns) in [(NARROW, 80), (WIDE, 100), (Style { color: false, width: 0 }, 48)] {
        let text = human("problems", style);
        // The counts stay on one line, so that `tail -n 1` gives them all.
        let (prose, _counts) = text.trim_end().rsplit_once('\n').unwrap();
        for line in prose.lines().filter(|line| line.chars().count() > columns) {
            let is_command = line.starts_with("      aws ");
            let is_one_word = line.rsplit("  ").next().is_some_and(|value| !value.contains(' '));
            assert!(is_command || is_one_word, "at {columns} columns: {line}");
        }
        for outcome in report("problems").outcomes {
            for step in outcome.remedy.into_iter().flat_map(|remedy| remedy.steps) {
                if let Step::Command { command } = step {
                    assert!(text.lines().any(|line| line.trim() == command), "{command}");
                }
            }
        }
    }
}

#[test]
fn a_pasted_document_becomes_the_file() {
    let text = human("problems", NARROW);
    let start = text.find("      cat > node-role-trust.json").unwrap();
    let end = start + text[start..].find("\nEOF\n").unwrap() + "\nEOF\n".len();
    let folder = tempfile::tempdir().unwrap();
    let status = std::process::Command::new("sh")
        .args(["-c", &text[start..end]])
        .current_dir(&folder)
        .status()
        .unwrap();
    assert!(status.success());
    let file = std::fs::read_to_string(folder.path().join("node-role-trust.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&file).unwrap();
    assert_eq!(document["Statement"][0]["Action"], "sts:AssumeRole");
}
