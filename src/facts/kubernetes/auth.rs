//! The `aws-auth` ConfigMap.

use serde::{Deserialize, Serialize};

/// `kube-system/aws-auth`: strings of YAML, as people wrote them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AwsAuth {
    pub map_roles: Option<String>,
    pub map_users: Option<String>,
    pub map_accounts: Option<String>,
}
