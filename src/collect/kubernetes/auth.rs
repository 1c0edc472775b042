//! The `aws-auth` ConfigMap.

use serde::Deserialize;

use super::{kind::Kind, server::ApiServer};
use crate::facts::{Fact, kubernetes::auth::AwsAuth};

pub const CONFIG_MAPS: Kind = Kind::core("configmaps");

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ConfigMap {
    data: Data,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Data {
    map_roles: Option<String>,
    map_users: Option<String>,
    map_accounts: Option<String>,
}

pub async fn aws_auth(server: &ApiServer) -> Fact<AwsAuth> {
    let read = server.get(CONFIG_MAPS, Some("kube-system"), "aws-auth").await;
    read.map(|ConfigMap { data }| AwsAuth {
        map_roles: data.map_roles,
        map_users: data.map_users,
        map_accounts: data.map_accounts,
    })
}
