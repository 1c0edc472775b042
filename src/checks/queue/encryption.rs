//! Whether EventBridge can write to the queue in spite of its encryption.

use serde_json::{Value, json};

use super::{EVENTS, each};
use crate::{
    checks::{
        Area, Check, Context, Stop, Verdicts, controller,
        kms::{self, State},
        permissions::{Answer, ROLE_POLICIES},
        remedies::{listed, quote},
    },
    facts::{arn, kms::Key, sqs::Queue},
    iam::{Decision, Entry, Layer, Principal, Request, decide_alone},
    outcome::{Finding, Remedy, Unknown},
    target::Product,
};

const API: &str = "sqs:GetQueueAttributes";

/// What EventBridge does with the key to write to the queue.
const WRITE: [&str; 2] = ["kms:GenerateDataKey", "kms:Decrypt"];

/// The key that AWS keeps for SQS in each account.
const AWS_KEY: &str = "alias/aws/sqs";

pub static CHECK: Check = Check {
    id: "queue-encryption",
    title: "EventBridge can write to the queue in spite of its encryption",
    area: Area::Interruption,
    products: &[Product::Karpenter],
    errors: &["kms-key-denied", "queue-access-denied"],
    needs: &[
        "sqs:GetQueueUrl",
        API,
        "kms:DescribeKey",
        "kms:GetKeyPolicy",
        "kms:ListGrants",
        ROLE_POLICIES,
        "eks:DescribePodIdentityAssociation",
        "eks:ListPodIdentityAssociations",
    ],
    doc: "\
## What
The queue is encrypted by SQS itself or not at all. If it is encrypted with a KMS key, that key is
enabled, its policy lets `events.amazonaws.com` use it, and with the policies of the controller's
role it lets the controller decrypt.

## Why
To write to a queue under a KMS key, EventBridge needs `kms:GenerateDataKey` and `kms:Decrypt` on
it. The policy of the AWS managed key `alias/aws/sqs` does not give them and cannot be changed,
so a queue under it gets no events. With a key of your own, the policy must name
`events.amazonaws.com`; and the controller's role needs `kms:Decrypt` to read what was written.
Where the key's policy cannot be read, the queue stays unknown, and the report gives the commands
that show it. Once you have looked, leave this check out with `--exclude queue-encryption`.

## Seen as
Nothing in the controller's log: the events are dropped. EventBridge's metric
`FailedInvocations` counts them. A controller that may not decrypt logs `KMS.AccessDenied` for
`ReceiveMessage`.

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
            Some(key) => own_key(cx, queue, key),
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

fn own_key(cx: &Context<'_>, queue: &Queue, named: &str) -> Result<Finding, Stop> {
    let key = match kms::state(cx, named) {
        Ok(State::Missing) => return Ok(unusable(cx, queue, named, "does not exist", None)),
        Ok(State::OfAws) => return Ok(aws_key(cx, queue, named)),
        Ok(State::Unusable(key, why)) => return Ok(unusable(cx, queue, named, &why, Some(key))),
        Ok(State::Own(key)) => key,
        Err(stop) => return Err(unread(cx, queue, named, stop)),
    };
    let policy = match kms::policy(key) {
        Ok(policy) => [policy],
        Err(stop) => return Err(unread(cx, queue, named, stop)),
    };
    let refused: Vec<_> = WRITE
        .into_iter()
        .map(|action| (action, decide_alone(Layer::Resource, &policy, &by_events(cx, key, action))))
        .filter(|(_, decision)| !decision.is_allowed())
        .collect();
    match refused.first() {
        Some((_, decision)) if decision.is_refused() => {
            Ok(events_shut_out(cx, queue, key, &refused))
        }
        Some((action, decision)) => Err(Stop::Unknown(Unknown {
            remedy: Some(look_at_key(cx, named)),
            ..Unknown::new(format!("whether {EVENTS} may do {action} with {named} {decision}"))
        })),
        None => by_controller(cx, key),
    }
}

/// What EventBridge asks of KMS. Which rule it acts for may be sent along.
fn by_events(cx: &Context<'_>, key: &Key, action: &str) -> Request {
    let request = Request::new(Principal::Service(EVENTS.to_owned()), action, &key.arn)
        .with("aws:RequestedRegion", cx.region())
        .with("aws:SourceAccount", cx.account().map_or(Entry::Unknown, Entry::from))
        .unknown("aws:SourceArn")
        .unknown("aws:SourceOrgID")
        .unknown("aws:SourceOrgPaths");
    kms::describe(cx, request)
}

fn events_shut_out(
    cx: &Context<'_>,
    queue: &Queue,
    key: &Key,
    refused: &[(&str, Decision)],
) -> Finding {
    let actions: Vec<_> = refused.iter().map(|(action, _)| *action).collect();
    let decision = &refused[0].1;
    let words = "Let EventBridge use the key in its policy, or encrypt the queue with SQS's own \
                 keys.";
    let remedy = match decision {
        Decision::Denied { .. } => sse_sqs(Remedy::new(words), cx, queue),
        _ => {
            let statements = [key_statement()].into_iter().chain(for_readers(cx, key));
            kms::allow(cx, Remedy::new(words), key, statements.collect())
        }
    };
    Finding::fail(
        format!(
            "{} is encrypted with {}, whose policy does not let {EVENTS} do {}: {decision}.",
            queue.name,
            key.arn,
            listed(&actions)
        ),
        "EventBridge drops every event: interruptions never arrive, and nothing is logged.",
    )
    .errors(&["kms-key-denied"])
    .evidence("kms:GetKeyPolicy", "Policy", decision.to_string())
    .mend(remedy)
}

/// The statement for controllers that may not decrypt either: mended at once, not one by one.
fn for_readers(cx: &Context<'_>, key: &Key) -> Option<Value> {
    let readers = controller::grants(cx).ok()?;
    let refused = readers.iter().filter(|(role, grants)| {
        let answer = kms::role_may(cx, key, role, grants, "kms:Decrypt", "sqs");
        matches!(answer, Ok(Answer::Refused(_)))
    });
    let roles: Vec<_> = refused.map(|(role, _)| role.as_str()).collect();
    (!roles.is_empty()).then(|| read_statement(&roles))
}

fn read_statement(roles: &[&str]) -> Value {
    json!({
        "Sid": "ReadInterruptions",
        "Effect": "Allow",
        "Principal": {"AWS": roles},
        "Action": "kms:Decrypt",
        "Resource": "*",
    })
}

/// Whether the controller may read what was written. Where there is no role of it, that is for
/// other checks to say.
fn by_controller(cx: &Context<'_>, key: &Key) -> Result<Finding, Stop> {
    let pass = format!("{} may use {}.", EVENTS, key.arn);
    let readers = match controller::grants(cx) {
        Ok(readers) => readers,
        Err(Stop::Skipped(_)) => return Ok(Finding::pass(pass)),
        Err(stop) => return Err(stop),
    };
    for (role, grants) in &readers {
        let decision = match kms::role_may(cx, key, role, grants, "kms:Decrypt", "sqs")? {
            Answer::Allowed => continue,
            Answer::Refused(decision) => decision,
            Answer::Unknown(unknown) => return Err(Stop::Unknown(unknown)),
        };
        let name = arn::role_name(role);
        let statement = read_statement(&[role]);
        let remedy = Remedy::new(format!("Let {name} decrypt with the key, in its policy."));
        return Ok(Finding::fail(
            format!("{name} may not decrypt with {}, the queue's key: {decision}.", key.arn),
            "The controller cannot read the queue: interruptions go unseen.",
        )
        .errors(&["kms-key-denied", "queue-access-denied"])
        .evidence("kms:GetKeyPolicy", "Policy", decision.to_string())
        .mend(kms::allow(cx, remedy, key, vec![statement])));
    }
    Ok(Finding::pass(pass))
}

fn unusable(cx: &Context<'_>, queue: &Queue, named: &str, why: &str, key: Option<&Key>) -> Finding {
    let words = "Encrypt the queue with SQS's own keys, or make the key usable.";
    let remedy = sse_sqs(Remedy::new(words), cx, queue);
    Finding::fail(
        format!("{} is encrypted with {named}, which {why}.", queue.name),
        "EventBridge cannot write and the controller cannot read: interruptions never arrive.",
    )
    .errors(&["kms-key-denied", "queue-access-denied"])
    .evidence("kms:DescribeKey", "KeyState", key.map_or(why, |key| key.state.as_str()))
    .mend(remedy)
}

/// The key could not be read: the reason, and where to look.
fn unread(cx: &Context<'_>, queue: &Queue, named: &str, stop: Stop) -> Stop {
    match stop {
        Stop::Unknown(unknown) => {
            let why = format!("could not be read ({})", unknown.why);
            not_read(cx, queue, named, &why, unknown.missing_action)
        }
        stop @ (Stop::Skipped(_) | Stop::LeftOut(_)) => stop,
    }
}

fn not_read(
    cx: &Context<'_>,
    queue: &Queue,
    named: &str,
    why: &str,
    missing_action: Option<String>,
) -> Stop {
    Stop::Unknown(Unknown {
        why: format!(
            "{} is encrypted with the KMS key {named}, which {why}: look with `aws kms \
             get-key-policy`, as given here, whether its policy lets events.amazonaws.com use it. \
             If it does not, no interruption arrives",
            queue.name
        ),
        missing_action,
        remedy: Some(look_at_key(cx, named)),
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
mod tests;
