"""Interruptions: the queue, its policy and encryption, and the rules that feed it."""

from __future__ import annotations

import json

from closed_loop import edits
from closed_loop.scenario import FAIL, WARN, Made, scenario
from seeds.account import Account

EXISTS, POLICY, RULES = "queue-exists", "queue-policy", "queue-rules"
NAMED = ("--interruption-queue", "demo")


def delete_queue(account: Account) -> None:
    account.client("sqs").delete_queue(QueueUrl=edits.queue_url(account))


def delete_rules(account: Account, *names: str) -> None:
    events = account.client("events")
    for name in names:
        targets = events.list_targets_by_rule(Rule=name)["Targets"]
        events.remove_targets(Rule=name, Ids=[target["Id"] for target in targets])
        events.delete_rule(Name=name)


@scenario(
    f"{EXISTS}: the one that is named does not",
    (EXISTS, FAIL),
    arguments=NAMED,
    cases=("C62", "C64"),
)
def no_queue(account: Account, _made: Made) -> None:
    delete_rules(account, *edits.rule_names(account))
    delete_queue(account)


@scenario(f"{EXISTS}: none", (EXISTS, WARN))
def none_named(account: Account, made: Made) -> None:
    no_queue(account, made)


@scenario(
    f"{EXISTS}: given by its ARN",
    (EXISTS, FAIL),
    arguments=("--interruption-queue", "arn:aws:sqs:us-west-2:111122223333:demo"),
    arguments_after=("--interruption-queue", "demo"),
    kubectl=("set env deployment/karpenter --namespace kube-system INTERRUPTION_QUEUE=demo",),
)
def by_arn(_account: Account, _made: Made) -> None:
    """settings.interruptionQueue holds the ARN."""


@scenario(
    f"{EXISTS}: a FIFO queue",
    (EXISTS, FAIL),
    arguments=("--interruption-queue", "jobs.fifo"),
    arguments_after=("--interruption-queue", "jobs"),
    kubectl=("set env deployment/karpenter --namespace kube-system INTERRUPTION_QUEUE=jobs",),
)
def fifo(account: Account, _made: Made) -> None:
    account.client("sqs").create_queue(QueueName="jobs.fifo", Attributes={"FifoQueue": "true"})


@scenario(f"{POLICY}: none", (POLICY, FAIL))
def no_policy(account: Account, _made: Made) -> None:
    edits.set_queue(account, Policy="")


@scenario(f"{POLICY}: a condition leaves rules out", (POLICY, FAIL))
def of_other_rules(account: Account, _made: Made) -> None:
    statement = {
        "Sid": "AllowEvents",
        "Effect": "Allow",
        "Principal": {"Service": "events.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": account.arn("sqs", account.cluster),
        "Condition": {"ArnLike": {"aws:SourceArn": account.arn("events", "rule/Old*")}},
    }
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    edits.set_queue(account, Policy=json.dumps(policy))


@scenario(
    f"{POLICY}: a deny",
    (POLICY, FAIL),
    not_looped="what denies is a statement of somebody's, to be narrowed by them",
)
def denied(account: Account, _made: Made) -> None:
    statement = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "sqs:SendMessage",
        "Resource": account.arn("sqs", account.cluster),
    }
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    edits.set_queue(account, Policy=json.dumps(policy))


@scenario("queue-encryption: AWS's key", ("queue-encryption", FAIL), cases=("C65",))
def aws_key(account: Account, _made: Made) -> None:
    edits.set_queue(account, KmsMasterKeyId="alias/aws/sqs")


@scenario(f"{RULES}: none", (RULES, FAIL), (RULES, WARN))
def no_rules(account: Account, _made: Made) -> None:
    delete_rules(account, *edits.rule_names(account))


@scenario(f"{RULES}: disabled", (RULES, FAIL))
def disabled(account: Account, _made: Made) -> None:
    account.client("events").disable_rule(Name=edits.rule(account, "SpotInterruption"))


@scenario(f"{RULES}: narrowed", (RULES, WARN))
def of_one_instance(account: Account, _made: Made) -> None:
    pattern = {
        "source": ["aws.ec2"],
        "detail-type": ["EC2 Spot Instance Interruption Warning"],
        "detail": {"instance-id": ["i-0123456789abcdef0"]},
    }
    account.client("events").put_rule(
        Name=edits.rule(account, "SpotInterruption"), EventPattern=json.dumps(pattern)
    )


@scenario(f"{RULES}: one kind is left out", (RULES, WARN))
def older_template(account: Account, _made: Made) -> None:
    delete_rules(account, edits.rule(account, "CapacityReservation"))
