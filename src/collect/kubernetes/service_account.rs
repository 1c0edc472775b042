//! A token of a service account, as its pods get it (TokenRequest).

use serde_json::json;

use super::{ApiServer, kind::Kind};
use crate::facts::Fact;

pub const ACTION: &str = "create serviceaccounts/token (Kubernetes)";
/// Seconds: the shortest that the API gives.
const LIFETIME: u32 = 600;

/// A token: the holder is the service account until it expires. It cannot be printed.
pub struct Token(String);

impl Token {
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Asks for a token for this audience.
pub async fn token(server: &ApiServer, namespace: &str, name: &str, audience: &str) -> Fact<Token> {
    let path = Kind::core("serviceaccounts").path(Some(namespace), Some(name));
    let body = json!({
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"audiences": [audience], "expirationSeconds": LIFETIME},
    });
    let answer = server.request(ACTION, &format!("{path}/token"), &body).await;
    answer.and_then(|answer| match answer["status"]["token"].as_str() {
        Some(token) if !token.is_empty() => Fact::Known(Token(token.to_owned())),
        _ => Fact::Failed {
            action: ACTION.to_owned(),
            message: "the answer holds no token".to_owned(),
        },
    })
}
