//! The few things about ARNs that facts, targets and checks need: partitions and role names.

/// The partition of a region, such as `aws-cn` for `cn-north-1`.
///
/// Source: the region prefixes of AWS's public partition list.
pub fn partition_of_region(region: &str) -> &'static str {
    const PREFIXES: &[(&str, &str)] = &[
        ("cn-", "aws-cn"),
        ("us-gov-", "aws-us-gov"),
        ("us-isob-", "aws-iso-b"),
        ("us-isof-", "aws-iso-f"),
        ("eu-isoe-", "aws-iso-e"),
        ("us-iso-", "aws-iso"),
        ("eusc-", "aws-eusc"),
    ];
    PREFIXES
        .iter()
        .find(|(prefix, _)| region.starts_with(prefix))
        .map_or("aws", |(_, partition)| partition)
}

/// The service principal of EC2 in a partition: `ec2.amazonaws.com.cn` in China.
pub fn ec2_principal(partition: &str) -> &'static str {
    if partition == "aws-cn" { "ec2.amazonaws.com.cn" } else { "ec2.amazonaws.com" }
}

/// The last segment of a role ARN or name: `arn:aws:iam::1:role/team/x` and `team/x` give `x`.
pub fn role_name(arn_or_name: &str) -> &str {
    arn_or_name.rsplit(['/', ':']).next().unwrap_or(arn_or_name)
}

/// The account id of an ARN.
pub fn account(arn: &str) -> Option<&str> {
    arn.split(':').nth(4).filter(|account| !account.is_empty())
}

/// The ARN of the identity provider for a cluster's issuer, in the cluster's own account. IAM
/// names a provider after the issuer, without `https://`.
pub fn oidc_provider(cluster: &super::eks::Cluster) -> Option<String> {
    let issuer = oidc_issuer(cluster)?;
    let mut parts = cluster.arn.split(':').skip(1);
    let (partition, account) = (parts.next()?, parts.nth(2)?);
    Some(format!("arn:{partition}:iam::{account}:oidc-provider/{issuer}"))
}

/// The cluster's issuer as IAM writes it: host and path.
pub fn oidc_issuer(cluster: &super::eks::Cluster) -> Option<&str> {
    cluster.oidc_issuer.as_deref().map(|issuer| issuer.trim_start_matches("https://"))
}

/// Prefixes of EC2's ids, and the kind of resource in their ARNs.
const EC2_IDS: [(&str, &str); 14] = [
    ("acl", "network-acl"),
    ("ami", "image"),
    ("cr", "capacity-reservation"),
    ("dopt", "dhcp-options"),
    ("eni", "network-interface"),
    ("i", "instance"),
    ("lt", "launch-template"),
    ("rtb", "route-table"),
    ("sg", "security-group"),
    ("snap", "snapshot"),
    ("subnet", "subnet"),
    ("vol", "volume"),
    ("vpc", "vpc"),
    ("vpce", "vpc-endpoint"),
];

/// The kind of resource in the ARN of an EC2 id, such as `image` of `ami-0123456789abcdef0`.
pub fn ec2_kind(id: &str) -> Option<&'static str> {
    let (prefix, number) = id.split_once('-')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    EC2_IDS.iter().find(|(known, _)| is_number && *known == prefix).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_by_region() {
        for (region, partition) in [
            ("us-east-1", "aws"),
            ("eu-central-1", "aws"),
            ("cn-northwest-1", "aws-cn"),
            ("us-gov-west-1", "aws-us-gov"),
            ("us-iso-east-1", "aws-iso"),
            ("us-isob-east-1", "aws-iso-b"),
        ] {
            assert_eq!(partition_of_region(region), partition, "{region}");
        }
    }

    #[test]
    fn role_names_lose_their_path() {
        for (text, name) in [
            ("arn:aws:iam::111122223333:role/a/b/node", "node"),
            ("arn:aws:iam::111122223333:role/node", "node"),
            ("a/node", "node"),
            ("node", "node"),
        ] {
            assert_eq!(role_name(text), name);
        }
    }

    #[test]
    fn ids_of_ec2_tell_their_kind() {
        for (id, kind) in [
            ("ami-0123456789abcdef0", Some("image")),
            ("vpce-0a", Some("vpc-endpoint")),
            ("i-0a", Some("instance")),
            ("i-am-no-instance", None),
            ("subnet-", None),
            ("nodepool-0a", None),
        ] {
            assert_eq!(ec2_kind(id), kind, "{id}");
        }
    }
}
