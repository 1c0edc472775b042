//! The interruption queue (SQS).

use serde::{Deserialize, Serialize};

/// `sqs:GetQueueUrl` and `sqs:GetQueueAttributes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    pub name: String,
    pub url: String,
    /// The attributes are a call of their own, and so a fact of their own.
    pub attributes: super::Fact<QueueAttributes>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueAttributes {
    pub arn: String,
    /// The queue policy as JSON text.
    pub policy: Option<String>,
    /// Set where the queue is encrypted with a KMS key: an id, an ARN or an alias.
    pub kms_key: Option<String>,
    /// Whether SQS encrypts with its own key.
    pub sse_sqs: bool,
    pub fifo: bool,
}
