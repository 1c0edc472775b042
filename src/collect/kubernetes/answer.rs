//! What an answer of the API server means.

use std::time::Duration;

use http::{StatusCode, header, response::Parts};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::service_account;
use crate::facts::Fact;

/// Of a kind that every supported cluster has.
const NOT_SERVED: &str = "HTTP 404: this API server does not serve it, as one of a version long out \
                          of support would not, or another server in its place";

/// Why there is no object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// 403, in the API server's words.
    Forbidden(String),
    /// 401.
    Unauthorized(String),
    /// 404: no such object, or no such kind.
    NotFound,
    /// 410: the rest of a list is no longer there.
    Gone(String),
    Failed(String),
}

impl Refusal {
    pub fn not_kubernetes(status: u16) -> Self {
        Self::Failed(not_kubernetes(status))
    }

    /// Whether only an API server that knows the caller answers so.
    pub fn is_of_kubernetes(&self) -> bool {
        matches!(self, Self::Forbidden(_) | Self::NotFound | Self::Gone(_))
    }

    /// The fact; whether what was not found is absent, or cannot be missing.
    pub fn into_fact<T>(self, action: &str, may_be_absent: bool) -> Fact<T> {
        let action = action.to_owned();
        match self {
            Self::NotFound if may_be_absent => Fact::Absent,
            Self::NotFound => Fact::Failed { action, message: NOT_SERVED.to_owned() },
            Self::Forbidden(message) => {
                let role = role_for(&action);
                let message = format!("{message} ({role} is the role that allows it)");
                Fact::Denied { action, message }
            }
            Self::Unauthorized(message) | Self::Gone(message) | Self::Failed(message) => {
                Fact::Failed { action, message }
            }
        }
    }
}

/// The file with what an action takes: all but the token of `--prove` is read only.
fn role_for(action: &str) -> &'static str {
    if action == service_account::ACTION { "deploy/rbac-prove.yaml" } else { "deploy/rbac.yaml" }
}

/// An answer, whatever it says.
pub struct Answer {
    status: StatusCode,
    json: bool,
    /// How long to wait before the question is put again.
    pub retry_after: Option<Duration>,
    body: Vec<u8>,
}

/// The API server's own word on a failure.
#[derive(Deserialize)]
struct Status {
    kind: String,
    #[serde(default)]
    message: String,
}

impl Answer {
    pub fn new(head: &Parts, body: impl Into<Vec<u8>>) -> Self {
        let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        let content_type = text(header::CONTENT_TYPE).unwrap_or_default();
        Self {
            status: head.status,
            json: content_type.starts_with("application/json"),
            retry_after: text(header::RETRY_AFTER)
                .and_then(|value| value.parse().ok())
                .map(Duration::from_secs),
            body: body.into(),
        }
    }

    /// Whether the same question may be answered later.
    pub fn asks_for_patience(&self) -> bool {
        matches!(self.status.as_u16(), 429 | 500 | 502 | 503 | 504)
    }

    /// The object, or why there is none.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        if self.status.is_success() {
            if !self.json {
                return Err(Refusal::not_kubernetes(self.status.as_u16()));
            }
            // What the parser says may repeat a value, which may be anybody's secret.
            return understood(&self.body).map_err(|error| {
                Refusal::Failed(format!(
                    "the answer was not understood, at byte {} of {}",
                    error.column(),
                    self.body.len()
                ))
            });
        }
        Err(self.refusal())
    }

    fn refusal(&self) -> Refusal {
        let code = self.status.as_u16();
        let Some(message) = self.message() else {
            return Refusal::not_kubernetes(code);
        };
        match code {
            401 => Refusal::Unauthorized(message),
            403 => Refusal::Forbidden(message),
            404 => Refusal::NotFound,
            410 => Refusal::Gone(format!(
                "410 Gone, twice: the list changes faster than it can be read ({message})"
            )),
            429 => Refusal::Failed(format!(
                "429 Too Many Requests: the API server is busy{}",
                self.retry_after.map_or_else(String::new, |wait| format!(
                    " and asks to wait {} seconds",
                    wait.as_secs()
                ))
            )),
            _ => Refusal::Failed(format!("HTTP {code}: {message}")),
        }
    }

    /// What the API server says, or nothing where it is not the one that speaks.
    fn message(&self) -> Option<String> {
        match serde_json::from_slice::<Status>(&self.body) {
            Ok(status) if status.kind == "Status" => Some(status.message),
            // Of a kind that it does not know, and under load, it speaks plain text.
            _ => {
                let text = std::str::from_utf8(&self.body).ok()?.trim();
                let plain = ["404 page not found", "Too many requests, please try again later."];
                plain.contains(&text).then(|| text.to_owned())
            }
        }
    }
}

/// The object. Go writes an empty list or map as null where it was never made.
fn understood<T: DeserializeOwned>(body: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(body).or_else(|error| {
        let mut value = serde_json::from_slice(body).map_err(|_| error)?;
        drop_nulls(&mut value);
        serde_json::from_value(value)
    })
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

fn not_kubernetes(status: u16) -> String {
    format!(
        "the answer (HTTP {status}) is not a Kubernetes API server's: a proxy or another server \
         may stand between"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(status: u16, content_type: &str, body: &str) -> Answer {
        let (head, ()) = http::Response::builder()
            .status(status)
            .header(header::CONTENT_TYPE, content_type)
            .body(())
            .unwrap()
            .into_parts();
        Answer::new(&head, body.as_bytes())
    }

    fn refusal(status: u16, content_type: &str, body: &str) -> Refusal {
        answer(status, content_type, body).read::<Value>().unwrap_err()
    }

    #[test]
    fn only_an_api_server_s_own_word_counts() {
        let status = json!({"kind": "Status", "message": "no", "code": 403}).to_string();
        let json = "application/json";
        assert_eq!(refusal(403, json, &status), Refusal::Forbidden("no".to_owned()));
        assert_eq!(refusal(404, json, &status), Refusal::NotFound);
        assert_eq!(refusal(404, "text/plain", "404 page not found\n"), Refusal::NotFound);
        let built_in = Refusal::NotFound.into_fact::<()>("list nodes (Kubernetes)", false);
        let Fact::Failed { message, .. } = built_in else { panic!("{built_in:?}") };
        assert_eq!(message, NOT_SERVED);
        for (code, content_type, body) in [
            (200, "text/html", "<html></html>"),
            (403, "text/html", "<html></html>"),
            (404, "text/html", "<html></html>"),
            (404, "text/plain", "not here"),
            (403, json, r#"{"message":"Forbidden"}"#),
            (401, "text/html", ""),
        ] {
            let found = refusal(code, content_type, body);
            assert_eq!(found, Refusal::not_kubernetes(code), "{code} {body}");
        }
    }

    #[test]
    fn nulls_are_read_as_nothing() {
        #[derive(Debug, Default, Deserialize, PartialEq)]
        #[serde(default)]
        struct Read {
            values: Vec<String>,
        }
        for body in [r#"{"values":null}"#, r#"{"values":[]}"#, "{}"] {
            let read: Read = answer(200, "application/json", body).read().unwrap();
            assert_eq!(read, Read::default(), "{body}");
        }
    }

    #[test]
    fn what_is_not_found_is_absent_only_where_it_may_be() {
        assert_eq!(Refusal::NotFound.into_fact::<u8>("get x", true), Fact::Absent);
        let failed = Refusal::NotFound.into_fact::<u8>("list pods (Kubernetes)", false);
        assert!(matches!(failed, Fact::Failed { .. }), "{failed:?}");
    }

    #[test]
    fn a_denial_names_the_role_that_allows_it() {
        let denied = |action: &str| {
            Refusal::Forbidden("no".to_owned()).into_fact::<()>(action, false).known().unwrap_err()
        };
        assert!(denied("list pods (Kubernetes)").to_string().contains("(deploy/rbac.yaml is"));
        let token = denied(service_account::ACTION).to_string();
        assert!(token.contains("(deploy/rbac-prove.yaml is"), "{token}");
    }
}
