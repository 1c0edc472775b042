//! From the SDK's many kinds of failure to a [`Fact`].

use std::{
    collections::BTreeMap,
    error::Error,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use aws_smithy_runtime_api::{
    client::{orchestrator::HttpResponse, result::SdkError},
    http::StatusCode,
};
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use tokio::time::Instant;

use crate::facts::Fact;

/// Why a call brought nothing, where that may be true of the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// AWS does not accept the credentials: expired, unknown, or wrongly signed.
    Credentials,
    /// Nothing answered, or something that is not AWS.
    Network,
}

/// Asks one question after the other, within the run's time.
#[derive(Debug, Clone)]
pub struct Asker {
    limit: Duration,
    deadline: Instant,
    troubles: Arc<Mutex<BTreeMap<String, Trouble>>>,
}

impl Asker {
    /// A run may take `limit`, of which `spent` is over: credentials take time too.
    pub fn new(limit: Duration, spent: Duration) -> Self {
        let deadline = Instant::now() + limit.saturating_sub(spent);
        Self { limit, deadline, troubles: Arc::default() }
    }

    /// When the run ends, and how long it may take in all.
    pub fn time(&self) -> (Instant, Duration) {
        (self.deadline, self.limit)
    }

    /// Makes a call. `absent` are the error codes that mean *it does not exist*.
    pub async fn ask<T, E>(
        &self,
        action: &str,
        absent: &[&str],
        call: impl Future<Output = Result<T, SdkError<E, HttpResponse>>>,
    ) -> Fact<T>
    where
        E: ProvideErrorMetadata + Error + 'static,
    {
        let failed = |message: String| Fact::Failed { action: action.to_owned(), message };
        match tokio::time::timeout_at(self.deadline, call).await {
            Err(_) => {
                self.note(action, Trouble::Network);
                failed(format!("no answer within the run's {} seconds", self.limit.as_secs()))
            }
            Ok(Ok(value)) => Fact::Known(value),
            Ok(Err(error)) => {
                let code = error.code().unwrap_or_default();
                if absent.contains(&code) {
                    return Fact::Absent;
                }
                if is_denial(code) {
                    return Fact::Denied { action: action.to_owned(), message: describe(&error) };
                }
                if let Some(trouble) = trouble(&error) {
                    self.note(action, trouble);
                }
                failed(describe(&error))
            }
        }
    }

    /// The trouble that a call had, if it is one of those that can be true of the whole run.
    pub fn trouble(&self, action: &str) -> Option<Trouble> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).get(action).copied()
    }

    fn note(&self, action: &str, trouble: Trouble) {
        let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        troubles.insert(action.to_owned(), trouble);
    }
}

/// The codes with which AWS's services say *you may not*.
fn is_denial(code: &str) -> bool {
    matches!(
        code,
        "AccessDenied"
            | "AccessDeniedException"
            | "AuthorizationError"
            | "AuthorizationErrorException"
            | "NotAuthorized"
            | "UnauthorizedOperation"
    )
}

/// The codes with which they say *I do not know you*.
pub fn is_about_the_caller(code: &str) -> bool {
    matches!(
        code,
        "AuthFailure"
            | "ExpiredToken"
            | "ExpiredTokenException"
            | "IncompleteSignature"
            | "InvalidAccessKeyId"
            | "InvalidClientTokenId"
            | "InvalidSignatureException"
            | "MissingAuthenticationToken"
            | "RequestExpired"
            | "SignatureDoesNotMatch"
            | "UnrecognizedClientException"
    )
}

fn trouble<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> Option<Trouble> {
    match error {
        SdkError::TimeoutError(_) | SdkError::DispatchFailure(_) => Some(Trouble::Network),
        SdkError::ResponseError(_) => Some(Trouble::Network),
        // Every error of AWS's has a code; a proxy's page has none.
        SdkError::ServiceError(_) => match error.code() {
            Some(code) => is_about_the_caller(code).then_some(Trouble::Credentials),
            None => Some(Trouble::Network),
        },
        _ => None,
    }
}

/// What went wrong, in one line without a request id, so that equal faults read equal.
fn describe<E>(error: &SdkError<E, HttpResponse>) -> String
where
    E: ProvideErrorMetadata + Error + 'static,
{
    match error {
        SdkError::ConstructionFailure(_) => {
            format!("the request could not be made: {}", root(error))
        }
        SdkError::TimeoutError(_) => "it timed out".to_owned(),
        SdkError::DispatchFailure(failure) if failure.is_timeout() => "it timed out".to_owned(),
        SdkError::DispatchFailure(_) => format!("no connection: {}", root(error)),
        SdkError::ResponseError(response) => not_understood(response.raw().status()),
        SdkError::ServiceError(service) => match (service.err().code(), service.err().message()) {
            (Some(code), Some(message)) => format!("{code}: {message}"),
            (Some(code), None) => code.to_owned(),
            (None, _) => not_understood(service.raw().status()),
        },
        _ => root(error),
    }
}

fn not_understood(status: StatusCode) -> String {
    format!(
        "the answer (HTTP {}) is not one of AWS's: a proxy or another server may stand between",
        status.as_u16()
    )
}

/// The innermost cause, which names the fault; the outer ones only say where it passed.
fn root(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
