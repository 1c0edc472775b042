//! Reading AWS: one file a service.

pub mod account;
pub mod dry_run;
pub mod ec2;
pub mod eks;
pub mod events;
pub mod iam;
pub mod images;
pub mod kms;
mod launch_template;
pub mod network;
pub mod organizations;
pub mod sqs;
pub mod ssm;
pub mod sts;

use aws_config::SdkConfig;
use aws_smithy_types::DateTime;
use jiff::Timestamp;

use super::{ask::Asker, call_log::CallLog, whole_answer::WholeAnswer};
use crate::facts::Fact;

/// A client for each service, all of which log their calls.
#[derive(Debug, Clone)]
pub struct Aws {
    ask: Asker,
    ec2: aws_sdk_ec2::Client,
    eks: aws_sdk_eks::Client,
    events: aws_sdk_eventbridge::Client,
    iam: aws_sdk_iam::Client,
    kms: aws_sdk_kms::Client,
    quotas: aws_sdk_servicequotas::Client,
    organizations: aws_sdk_organizations::Client,
    sqs: aws_sdk_sqs::Client,
    ssm: aws_sdk_ssm::Client,
    sts: aws_sdk_sts::Client,
}

impl Aws {
    pub fn new(config: &SdkConfig, ask: Asker, log: &CallLog) -> Self {
        macro_rules! client {
            ($sdk:ident) => {
                $sdk::Client::from_conf(
                    $sdk::config::Builder::from(config)
                        .interceptor(log.clone())
                        .interceptor(WholeAnswer)
                        .build(),
                )
            };
        }
        Self {
            ask,
            ec2: client!(aws_sdk_ec2),
            eks: client!(aws_sdk_eks),
            events: client!(aws_sdk_eventbridge),
            iam: client!(aws_sdk_iam),
            kms: client!(aws_sdk_kms),
            quotas: client!(aws_sdk_servicequotas),
            organizations: client!(aws_sdk_organizations),
            sqs: client!(aws_sdk_sqs),
            ssm: client!(aws_sdk_ssm),
            sts: client!(aws_sdk_sts),
        }
    }
}

/// A value that AWS always gives; an answer without it was not understood.
fn expect<T>(action: &str, what: &str, value: Option<T>) -> Fact<T> {
    match value {
        Some(value) => Fact::Known(value),
        None => Fact::Failed {
            action: action.to_owned(),
            message: format!("the answer holds no {what}"),
        },
    }
}

fn owned(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}

fn timestamp(time: &DateTime) -> Option<Timestamp> {
    Timestamp::from_second(time.secs()).ok()
}
