//! The security groups that the discovery tag selects.

pub mod discovered;
pub mod vpc;

const API: &str = "ec2:DescribeSecurityGroups";
