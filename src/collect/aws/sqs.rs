//! The interruption queue (SQS).

use aws_sdk_sqs::types::QueueAttributeName;
use tokio::join;

use super::{Aws, expect};
use crate::facts::{
    Fact, arn,
    events::Rule,
    sqs::{Queue, QueueAttributes},
};

/// SQS says it in the new protocol's way or in the old one's.
const NO_QUEUE: &[&str] = &[
    "QueueDoesNotExist",
    "AWS.SimpleQueueService.NonExistentQueue",
    "com.amazonaws.sqs#QueueDoesNotExist",
];

impl Aws {
    /// The queue of this name, with the rules that target it.
    pub async fn queue_with_rules(
        &self,
        name: &str,
        region: &str,
    ) -> (Fact<Queue>, Fact<Vec<Fact<Rule>>>) {
        const ACTION: &str = "sqs:GetQueueUrl";
        let call = self.sqs.get_queue_url().queue_name(name).send();
        let answer = self.ask.ask(ACTION, NO_QUEUE, call).await;
        let url = match answer.and_then(|answer| expect(ACTION, "queue URL", answer.queue_url)) {
            Fact::Known(url) => url,
            unseen => {
                let why = "the queue could not be read";
                return (unseen.and_then(|_| Fact::not_asked(why)), Fact::not_asked(why));
            }
        };
        let (attributes, rules) = match arn_of(&url, region) {
            Some(arn) => join!(self.queue_attributes(&url), self.rules_to(&arn)),
            None => {
                let why = format!("the queue URL {url} does not show the account");
                (self.queue_attributes(&url).await, Fact::not_asked(why))
            }
        };
        (Fact::Known(Queue { name: name.to_owned(), url, attributes }), rules)
    }

    async fn queue_attributes(&self, url: &str) -> Fact<QueueAttributes> {
        const ACTION: &str = "sqs:GetQueueAttributes";
        let call =
            self.sqs.get_queue_attributes().queue_url(url).attribute_names(QueueAttributeName::All);
        let answer = self.ask.ask(ACTION, NO_QUEUE, call.send()).await;
        answer.and_then(|answer| {
            let given = answer.attributes.unwrap_or_default();
            let get = |name: QueueAttributeName| given.get(&name).cloned();
            let is_true = |name| get(name).is_some_and(|value| value == "true");
            let attributes = get(QueueAttributeName::QueueArn).map(|arn| QueueAttributes {
                policy: get(QueueAttributeName::Policy).filter(|policy| !policy.is_empty()),
                kms_key: get(QueueAttributeName::KmsMasterKeyId).filter(|key| !key.is_empty()),
                sse_sqs: is_true(QueueAttributeName::SqsManagedSseEnabled),
                fifo: is_true(QueueAttributeName::FifoQueue),
                arn,
            });
            expect(ACTION, "queue ARN", attributes)
        })
    }
}

/// The ARN of a queue, from its URL `https://<host>/<account>/<name>`: one call less to wait for.
fn arn_of(url: &str, region: &str) -> Option<String> {
    let mut segments = url.rsplit('/');
    let (name, account) = (segments.next()?, segments.next()?);
    let partition = arn::partition_of_region(region);
    let is_account = account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit());
    is_account.then(|| format!("arn:{partition}:sqs:{region}:{account}:{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arn_of_a_queue_by_its_url() {
        for (url, region, expected) in [
            (
                "https://sqs.us-west-2.amazonaws.com/111122223333/demo",
                "us-west-2",
                Some("arn:aws:sqs:us-west-2:111122223333:demo"),
            ),
            (
                "https://sqs.cn-north-1.amazonaws.com.cn/111122223333/demo",
                "cn-north-1",
                Some("arn:aws-cn:sqs:cn-north-1:111122223333:demo"),
            ),
            ("https://proxy.example/demo", "us-west-2", None),
        ] {
            assert_eq!(arn_of(url, region).as_deref(), expected, "{url}");
        }
    }
}
