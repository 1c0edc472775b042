//! Which calls were really made: those to AWS learned from the SDK itself, those to the
//! Kubernetes API from the one place that makes them.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use aws_smithy_runtime_api::{
    box_error::BoxError,
    client::{
        interceptors::{
            Intercept,
            context::{BeforeSerializationInterceptorContextRef, FinalizerInterceptorContextRef},
            dyn_dispatch_hint,
        },
        orchestrator::Metadata,
        runtime_components::RuntimeComponents,
    },
};
use aws_smithy_types::config_bag::{ConfigBag, Storable, StoreReplace};

/// The service of requests to the Kubernetes API.
pub const KUBERNETES: &str = "Kubernetes";

/// One call, its retries included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The SDK's name of the service, such as `EventBridge`.
    pub service: String,
    /// The SDK's name of the operation; of Kubernetes the action, as a fact names it.
    pub operation: String,
    /// Since the log was made.
    pub started: Duration,
    pub took: Duration,
    pub failed: bool,
}

impl Call {
    /// The IAM action that the call needs, such as `events:DescribeRule`, or what RBAC must
    /// allow, such as `list pods (Kubernetes)`.
    pub fn action(&self) -> String {
        let prefix = match self.service.as_str() {
            KUBERNETES => return self.operation.clone(),
            "EventBridge" => "events".to_owned(),
            service => service.to_ascii_lowercase(),
        };
        format!("{prefix}:{}", self.operation)
    }
}

/// The calls of a run, in the order in which they ended.
#[derive(Debug, Clone)]
pub struct CallLog {
    since: Instant,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Default for CallLog {
    fn default() -> Self {
        Self { since: Instant::now(), calls: Arc::default() }
    }
}

impl CallLog {
    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    /// Notes a call that has just ended.
    pub fn record(&self, service: &str, operation: &str, started: Instant, failed: bool) {
        let call = Call {
            service: service.to_owned(),
            operation: operation.to_owned(),
            started: started.duration_since(self.since),
            took: started.elapsed(),
            failed,
        };
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }
}

#[derive(Debug)]
struct StartedAt(Instant);

impl Storable for StartedAt {
    type Storer = StoreReplace<Self>;
}

#[dyn_dispatch_hint]
impl Intercept for CallLog {
    fn name(&self) -> &'static str {
        "CallLog"
    }

    fn read_before_execution(
        &self,
        _: &BeforeSerializationInterceptorContextRef<'_>,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        cfg.interceptor_state().store_put(StartedAt(Instant::now()));
        Ok(())
    }

    fn read_after_execution(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let (Some(metadata), Some(StartedAt(started))) =
            (cfg.load::<Metadata>(), cfg.load::<StartedAt>())
        {
            let failed = !matches!(context.output_or_error(), Some(Ok(_)));
            self.record(metadata.service(), metadata.name(), *started, failed);
        }
        Ok(())
    }
}
