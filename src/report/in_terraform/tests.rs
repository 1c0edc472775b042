use serde_json::json;

use super::*;
use crate::outcome::Status;

#[test]
fn what_has_a_resource_becomes_one() {
    let entry = Remedy::new("x").run(
        "aws eks create-access-entry --cluster-name demo --principal-arn \
         arn:aws:iam::111122223333:role/Nodes-1 --type EC2_LINUX --region us-west-2",
    );
    assert_eq!(
        of(&entry, None).unwrap(),
        r#"resource "aws_eks_access_entry" "nodes_1" {
  cluster_name  = "demo"
  principal_arn = "arn:aws:iam::111122223333:role/Nodes-1"
  type          = "EC2_LINUX"
}
"#
    );
    let policy = Remedy::new("x")
        .document("p.json", &json!({"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Action": "a:B", "Resource": "${aws:x}"}]}))
        .run("aws iam put-role-policy --role-name 'a b' --policy-name p --policy-document file://p.json")
        .run("kubectl rollout restart deployment/karpenter")
        .run("aws iam get-role --role-name x");
    let text = of(&policy, None).unwrap();
    assert!(text.contains("role = \"a b\"") && text.contains("$${aws:x}"), "{text}");
    assert!(text.contains("\"aws_iam_role_policy\" \"a_b_p\""), "{text}");
    assert_eq!(by_hand(&policy), ["kubectl rollout restart deployment/karpenter"]);
    assert!(!text.contains("kubectl") && text.matches("resource \"").count() == 1, "{text}");
    let access = Remedy::new("x").run(
        "aws eks associate-access-policy --cluster-name demo --principal-arn \
         arn:aws:iam::111122223333:role/Nodes --policy-arn \
         arn:aws:eks::aws:cluster-access-policy/Auto --access-scope type=cluster",
    );
    assert!(of(&access, None).unwrap().contains("_association\" \"nodes_auto\""));
    let tags = Remedy::new("x")
        .run("aws ec2 create-tags --region r --resources subnet-1 subnet-2 --tags Key=a/b,Value=c");
    assert_eq!(of(&tags, None).unwrap().matches("aws_ec2_tag").count(), 2);
}

#[test]
fn what_has_none_makes_the_whole_none() {
    for command in [
        "aws ec2 replace-route --x y",
        "aws ec2 create-tags --resources \"$(aws x)\" --tags Key=a,Value=b",
        "aws iam put-role-policy --role-name a --policy-name p --policy-document file://gone.json",
    ] {
        let remedy = Remedy::new("x")
            .run("aws iam create-service-linked-role --aws-service-name spot.amazonaws.com")
            .run(command);
        assert_eq!(of(&remedy, None), None, "{command}");
    }
    assert_eq!(of(&Remedy::new("look").run("aws iam get-role --role-name x"), None), None);
}

#[test]
fn other_defaults_of_the_region_are_kept() {
    let remedy = Remedy::new("x").run(
        "aws ec2 modify-instance-metadata-defaults --region us-west-2 --http-endpoint enabled",
    );
    let present = ImdsDefaults {
        http_tokens: Some("required".to_owned()),
        http_endpoint: Some("disabled".to_owned()),
        ..ImdsDefaults::default()
    };
    assert_eq!(
        of(&remedy, Some(&present)).unwrap(),
        r#"resource "aws_ec2_instance_metadata_defaults" "us_west_2" {
  http_endpoint = "enabled"
  http_tokens   = "required"
}
"#
    );
    assert_eq!(of(&remedy, None), None);
}

/// The findings on one region's defaults have one resource, and none writes back what another mends.
#[test]
fn findings_on_the_same_defaults_say_the_same() {
    let outcome = |option: &str, status| {
        let mut outcome = crate::report::sample::report("problems").outcomes.remove(0);
        outcome.status = status;
        let command =
            format!("aws ec2 modify-instance-metadata-defaults --region us-west-2 {option}");
        outcome.remedy = Some(Remedy::new("x").run(command));
        outcome
    };
    let present = ImdsDefaults {
        http_endpoint: Some("disabled".to_owned()),
        instance_metadata_tags: Some("enabled".to_owned()),
        http_tokens: Some("required".to_owned()),
        ..ImdsDefaults::default()
    };
    let outcomes = [
        outcome("--http-endpoint enabled", Status::Fail),
        outcome("--instance-metadata-tags no-preference", Status::Warn),
        outcome("--http-tokens optional", Status::Waived),
    ];
    let wanted = wanted(&outcomes, &present);
    let blocks: Vec<_> = outcomes[..2]
        .iter()
        .map(|outcome| of(outcome.remedy.as_ref().unwrap(), Some(&wanted)).unwrap())
        .collect();
    assert_eq!(blocks[0], blocks[1]);
    for line in [
        "http_endpoint          = \"enabled\"",
        "instance_metadata_tags = \"no-preference\"",
        "http_tokens            = \"required\"",
    ] {
        assert!(blocks[0].contains(line), "{}", blocks[0]);
    }
}

#[test]
fn a_target_follows_the_rule_that_is_made_with_it() {
    let put = "aws events put-targets --region us-west-2 --rule demo-spot --targets \
               Id=demo-spot,Arn=arn:aws:sqs:us-west-2:111122223333:demo";
    let alone = of(&Remedy::new("x").run(put), None).unwrap();
    assert!(alone.contains("rule      = \"demo-spot\""), "{alone}");
    let both = Remedy::new("x")
        .document("spot.json", &json!({"source": ["aws.ec2"]}))
        .run(
            "aws events put-rule --region us-west-2 --name demo-spot --event-pattern \
             file://spot.json",
        )
        .run(put);
    let both = of(&both, None).unwrap();
    assert!(both.contains("rule      = aws_cloudwatch_event_rule.demo_spot.name"), "{both}");
    let other = put.replace("Id=demo-spot", "Id=b");
    let other = of(&Remedy::new("x").run(other), None).unwrap();
    assert!(
        other.starts_with("resource \"aws_cloudwatch_event_target\" \"demo_spot_b\""),
        "{other}"
    );
}

#[test]
fn tags_in_json_and_what_needs_its_place_in_its_name() {
    let tags = json!([{"Key": "karpenter.sh/discovery", "Value": "a b+c"}]).to_string();
    let tags = crate::outcome::shell::quote(&tags);
    let command = format!("aws ec2 create-tags --region r --resources sg-1 --tags {tags}");
    let text = of(&Remedy::new("x").run(command), None).unwrap();
    assert!(text.starts_with("resource \"aws_ec2_tag\" \"sg_1_discovery\""), "{text}");
    assert!(text.contains("value       = \"a b+c\""), "{text}");
    let bad = "aws ec2 create-tags --region r --resources sg-1 --tags '[{\"Key\":\"a\"}]'";
    assert_eq!(of(&Remedy::new("x").run(bad), None), None);
    let association = of(
        &Remedy::new("x").run(
            "aws eks create-pod-identity-association --cluster-name demo --region r --namespace \
             kube-system --service-account karpenter --role-arn arn:aws:iam::1:role/x",
        ),
        None,
    )
    .unwrap();
    assert!(association.contains("\"demo_kube_system_karpenter\""), "{association}");
}
