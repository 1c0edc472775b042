//! Filling the placeholders of `policies/` with the names of one set-up.

use std::collections::BTreeMap;

use serde_json::Value;

use super::kubernetes;
use super::setup::Setup;
use super::version::KarpenterVersion;

/// The values of the placeholders, each a list: one ARN may stand for several roles or subnets.
pub struct Values {
    lists: BTreeMap<&'static str, Vec<String>>,
    /// The placeholders whose value is made up, as the set-up names none.
    made_up: Vec<&'static str>,
}

impl Values {
    pub fn new(version: KarpenterVersion, setup: &Setup) -> Self {
        let Setup { partition, region, account, cluster, .. } = setup;
        let newest = kubernetes::range(version).max;
        let ec2 = format!("arn:{partition}:ec2:{region}:{account}");
        let mut values = Self { lists: BTreeMap::new(), made_up: Vec::new() };
        values.one("partition", partition);
        values.one("region", region);
        values.one("account", account);
        values.one("cluster", cluster);
        values.one("node_pool", &setup.node_pool);
        values.one("node_class", &setup.node_class);
        values.one("namespace", &setup.namespace);
        values.one("service_account", &setup.service_account);
        let issuer = format!("oidc.eks.{region}.{}/id/EXAMPLE", dns_suffix(partition));
        values.list("oidc_provider", setup.oidc_provider.as_slice(), &issuer);
        values.one("node_class_uid", "11111111-2222-3333-4444-555555555555");
        values.one("node_claim", "default-abcde");
        values.one("kubernetes", &setup.kubernetes.unwrap_or(newest).to_string());
        values.one("pricing_region", pricing_region(region));
        values.one("iam_region", iam_region(partition, region));
        values.one("ec2_service", ec2_service(partition));
        values.one("dns_suffix", dns_suffix(partition));
        values.one("profile_path", &format!("/karpenter/{region}/{cluster}/"));
        let queue = format!("arn:{partition}:sqs:{region}:{account}:{cluster}");
        values.list("queue_arn", setup.queue_arn.as_slice(), &queue);
        let node_role = format!("arn:{partition}:iam::{account}:role/KarpenterNodeRole-{cluster}");
        values.list("node_role_arn", &setup.node_role_arns, &node_role);
        values.list("ami_parameter", &setup.ami_parameters, "karpenter/ami");
        let subnet = format!("{ec2}:subnet/subnet-0123456789abcdef0");
        values.list("subnet_arn", &setup.subnet_arns, &subnet);
        let group = format!("{ec2}:security-group/sg-0123456789abcdef0");
        values.list("security_group_arn", &setup.security_group_arns, &group);
        let image = format!("arn:{partition}:ec2:{region}::image/ami-0123456789abcdef0");
        values.list("image_arn", &setup.image_arns, &image);
        values
    }

    fn one(&mut self, name: &'static str, value: &str) {
        self.lists.insert(name, vec![value.to_owned()]);
    }

    fn list(&mut self, name: &'static str, values: &[String], made_up: &str) {
        if values.is_empty() {
            self.made_up.push(name);
            self.one(name, made_up);
        } else {
            self.lists.insert(name, values.to_vec());
        }
    }

    /// `text` with every placeholder filled; more than one text where a placeholder has more
    /// than one value. What is not a placeholder (`${aws:PrincipalTag/…}`) stays.
    pub fn fill_all(&self, text: &str) -> Vec<String> {
        let mut texts = vec![text.to_owned()];
        for (name, values) in &self.lists {
            let mark = format!("${{{name}}}");
            if texts.iter().any(|text| text.contains(&mark)) {
                let filled =
                    texts.iter().flat_map(|text| values.iter().map(|v| text.replace(&mark, v)));
                texts = filled.collect();
            }
        }
        texts
    }

    /// Like [`Values::fill_all`], for texts that name one thing only: the first filling.
    pub fn fill(&self, text: &str) -> String {
        self.fill_all(text).swap_remove(0)
    }

    /// Whether a value that `text` asks for is made up.
    pub fn is_made_up(&self, text: &str) -> bool {
        self.made_up.iter().any(|name| text.contains(&format!("${{{name}}}")))
    }

    /// A JSON value with every string and every key filled. A string that stands for several
    /// becomes as many elements of the list it is in.
    pub fn fill_json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => Value::Array(items.iter().flat_map(|i| self.item(i)).collect()),
            Value::Object(fields) => {
                fields.iter().map(|(key, v)| (self.fill(key), self.fill_json(v))).collect()
            }
            other => other.clone(),
        }
    }

    fn item(&self, value: &Value) -> Vec<Value> {
        match value {
            Value::String(text) => self.fill_all(text).into_iter().map(Value::String).collect(),
            other => vec![self.fill_json(other)],
        }
    }
}

/// The region whose Price List endpoint is asked for the prices of `region`.
/// pkg/providers/pricing/pricing.go@v1.14.1
fn pricing_region(region: &str) -> &'static str {
    match region.split('-').next() {
        Some("ap") => "ap-south-1",
        Some("eu") => "eu-central-1",
        Some("cn") => "cn-northwest-1",
        _ => "us-east-1",
    }
}

/// The region that counts as the requested one for IAM, which is one service a partition.
/// <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html#condition-keys-requestedregion>
fn iam_region<'a>(partition: &str, region: &'a str) -> &'a str {
    match partition {
        "aws" => "us-east-1",
        "aws-cn" => "cn-north-1",
        "aws-us-gov" => "us-gov-west-1",
        _ => region,
    }
}

/// The service principal of EC2, which has an ending of its own in China.
fn ec2_service(partition: &str) -> &'static str {
    match partition {
        "aws-cn" => "ec2.amazonaws.com.cn",
        _ => "ec2.amazonaws.com",
    }
}

fn dns_suffix(partition: &str) -> &'static str {
    match partition {
        "aws-cn" => "amazonaws.com.cn",
        _ => "amazonaws.com",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_one_or_many_and_leaves_policy_variables() {
        let mut setup = Setup::new("aws", "eu-west-1", "111122223333", "prod");
        setup.node_role_arns = vec!["arn:a".to_owned(), "arn:b".to_owned()];
        let values = Values::new(KarpenterVersion::NEWEST, &setup);
        for (text, filled) in [
            ("kubernetes.io/cluster/${cluster}", vec!["kubernetes.io/cluster/prod"]),
            ("${node_role_arn}", vec!["arn:a", "arn:b"]),
            ("${pricing_region} ${iam_region}", vec!["eu-central-1 us-east-1"]),
            ("${aws:PrincipalTag/x}", vec!["${aws:PrincipalTag/x}"]),
        ] {
            assert_eq!(values.fill_all(text), filled, "{text}");
        }
        assert!(values.is_made_up("${queue_arn}") && !values.is_made_up("${node_role_arn}"));
        let json = serde_json::json!({ "Resource": ["${node_role_arn}"], "k${cluster}": 1 });
        let filled = serde_json::json!({ "Resource": ["arn:a", "arn:b"], "kprod": 1 });
        assert_eq!(values.fill_json(&json), filled);
    }
}
