//! Whether EventBridge can write to the queue in spite of its encryption.

use serde_json::{Value, json};

use super::each;
use crate::{
    checks::{Area, Check, Context, Stop, Verdicts, remedies::quote},
    facts::sqs::Queue,
    outcome::{Finding, Remedy, Unknown},
    target::Product,
};

const API: &str = "sqs:GetQueueAttributes";

/// The key that AWS keeps for SQS in each account.
const AWS_KEY: &str = "alias/aws/sqs";

pub static CHECK: Check = Check {
    id: "queue-encryption",
    title: "EventBridge can write to the queue in spite of its encryption",
    area: Area::Interruption,
    products: &[Product::Karpenter],
    errors: &[],
    needs: &["sqs:GetQueueUrl", API],
    doc: "\
## What
The queue is encrypted by SQS itself or not at all. If it is encrypted with a KMS key, that key's
policy lets `events.amazonaws.com` use it.

## Why
To write to a queue under a KMS key, EventBridge needs `kms:GenerateDataKey` and `kms:Decrypt` on
it. The policy of the AWS managed key `alias/aws/sqs` does not give them and cannot be changed,
so a queue under it gets no events. With a key of your own, the policy must name
`events.amazonaws.com`, and the controller's role needs `kms:Decrypt`. Key policies are not read,
so a queue under your own key stays unknown, and the report gives the commands that show its
policy. Once you have looked, leave this check out with `--exclude queue-encryption`.

## Seen as
Nothing in the controller's log: the events are dropped. EventBridge's metric
`FailedInvocations` counts them.

## Fix
Encrypt with SQS's own keys (SSE-SQS), or let `events.amazonaws.com` use the key.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    each(cx, |queue, attributes| {
        match attributes.kms_key.as_deref().filter(|key| !key.is_empty()) {
            None if attributes.sse_sqs => Ok(Finding::pass("SQS encrypts it with its own keys.")),
            None => Ok(Finding::pass("It is not encrypted with a KMS key.")),
            Some(key) if is_aws_key(key) => Ok(aws_key(cx, queue, key)),
            Some(key) => Err(own_key(cx, queue, key)),
        }
    })
}

fn is_aws_key(key: &str) -> bool {
    // An alias comes bare or at the end of its ARN, arn:aws:kms:<region>:<account>:alias/aws/sqs.
    key == AWS_KEY || key.rsplit(':').next() == Some(AWS_KEY)
}

fn aws_key(cx: &Context<'_>, queue: &Queue, key: &str) -> Finding {
    Finding::fail(
        format!("{} is encrypted with {key}, the key that AWS manages for SQS.", queue.name),
        "Its policy lets no other service use it, so EventBridge drops every event: interruptions \
         never arrive, and nothing is logged.",
    )
    .evidence(API, "KmsMasterKeyId", key)
    .mend(sse_sqs(
        Remedy::new("Encrypt the queue with SQS's own keys, as Karpenter's template does."),
        cx,
        queue,
    ))
}

fn sse_sqs(remedy: Remedy, cx: &Context<'_>, queue: &Queue) -> Remedy {
    remedy
        .document(
            "queue-encryption.json",
            &json!({ "KmsMasterKeyId": "", "SqsManagedSseEnabled": "true" }),
        )
        .run(format!(
            "aws sqs set-queue-attributes --region {} --queue-url {} --attributes \
             file://queue-encryption.json",
            quote(cx.region()),
            quote(&queue.url)
        ))
}

fn own_key(cx: &Context<'_>, queue: &Queue, key: &str) -> Stop {
    Stop::Unknown(Unknown {
        remedy: Some(look_at_key(cx, key)),
        ..Unknown::new(format!(
            "{} is encrypted with the KMS key {key}, and key policies are not read: look with `aws \
             kms get-key-policy`, as given here, whether the key's lets events.amazonaws.com use \
             it. If it does not, no interruption arrives",
            queue.name
        ))
    })
}

fn look_at_key(cx: &Context<'_>, key: &str) -> Remedy {
    let region = quote(cx.region());
    let id = quote(key);
    let describe = |query: &str| {
        format!(
            "aws kms describe-key --region {region} --key-id {id} --query KeyMetadata.{query} \
             --output text"
        )
    };
    // `get-key-policy` takes no alias.
    let of_alias = key.contains("alias/");
    let key_id = if of_alias { format!("\"$({})\"", describe("KeyId")) } else { id.clone() };
    Remedy::new(
        "See who manages the key: if it is AWS, EventBridge cannot use it, and the queue needs \
         another encryption. If it is you, its policy must have a statement like the one here, and \
         the controller's role needs kms:Decrypt on it. Or encrypt with SQS's own keys: \
         SqsManagedSseEnabled=true. Nothing else here hangs on it: once you have looked, leave it \
         out with --exclude queue-encryption.",
    )
    .run(describe("KeyManager"))
    .run(format!(
        "aws kms get-key-policy --region {region} --key-id {key_id} --policy-name default \
         --query Policy --output text"
    ))
    .document("key-policy-statement.json", &key_statement())
}

fn key_statement() -> Value {
    json!({
        "Sid": "AllowEvents",
        "Effect": "Allow",
        "Principal": { "Service": "events.amazonaws.com" },
        "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
        "Resource": "*",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::{Status, Step},
    };

    fn key(key: &str) -> Value {
        let attributes = json!({"known": {"kms_key": key, "sse_sqs": false}});
        json!({"facts": {"queues": {"demo": {"known": {"attributes": attributes}}}}})
    }

    #[test]
    fn rows() {
        let aws_arn = "arn:aws:kms:us-west-2:111122223333:alias/aws/sqs";
        let plain = json!({"known": {"sse_sqs": false}});
        let plain = json!({"facts": {"queues": {"demo": {"known": {"attributes": plain}}}}});
        let denied = json!({"denied": {"action": API, "message": "no"}});
        let denied = json!({"facts": {"queues": {"demo": {"known": {"attributes": denied}}}}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("SSE-SQS", json!({}), &[(Status::Pass, "demo")]),
                ("none", plain, &[(Status::Pass, "demo")]),
                ("AWS's key", key("alias/aws/sqs"), &[(Status::Fail, "demo")]),
                ("AWS's key by ARN", key(aws_arn), &[(Status::Fail, "demo")]),
                ("a key of one's own", key("alias/team/sqs"), &[(Status::Unknown, "demo")]),
                ("a key by id", key("1234abcd-12ab-34cd"), &[(Status::Unknown, "demo")]),
                ("not readable", denied, &[(Status::Unknown, "demo")]),
                (
                    "no queue",
                    json!({"facts": {"queues": {"demo": "absent"}}}),
                    &[(Status::Skipped, "demo")],
                ),
                (
                    "the named one is missing",
                    json!({"scope": {"interruption_queue": "jobs"}, "facts": {"queues": {"jobs": "absent"}}}),
                    &[(Status::Skipped, "jobs")],
                ),
            ],
        );
        let skipped = &[(Status::Skipped, "demo")];
        assert_rows(Account::AutoMode, &CHECK, &[("EKS does it", json!({}), skipped)]);
    }

    #[test]
    fn an_unknown_says_where_to_look() {
        for (id, command) in [
            ("1234abcd", "--key-id 1234abcd --policy-name default"),
            ("alias/team", "--key-id \"$(aws kms describe-key "),
        ] {
            let found = Account::Karpenter.judge(&CHECK, &key(id)).remove(0);
            assert!(found.seen.contains("aws kms get-key-policy"), "{}", found.seen);
            let steps = found.remedy.expect("it says how to look").steps;
            let Step::Command { command: looks } = &steps[1] else { panic!("{steps:?}") };
            assert!(looks.contains(command), "{looks}");
        }
    }
}
