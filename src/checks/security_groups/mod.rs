//! The security groups that NodeClasses or the discovery tag select.

pub mod discovered;
pub mod vpc;

const API: &str = "ec2:DescribeSecurityGroups";
