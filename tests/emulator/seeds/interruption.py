"""The interruption queue and the EventBridge rules that feed it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from seeds.account import Account

TARGET_ID = "KarpenterInterruptionQueueTarget"
EVENTS = {
    "ScheduledChangeRule": ("aws.health", "AWS Health Event"),
    "SpotInterruptionRule": ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
    "RebalanceRule": ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
    "InstanceStateChangeRule": ("aws.ec2", "EC2 Instance State-change Notification"),
    "CapacityReservationInterruptionRule": (
        "aws.ec2",
        "EC2 Capacity Reservation Instance Interruption Warning",
    ),
}
"""Source and detail type by the template's logical name of the rule."""


def create_interruption(
    account: Account, queue: str, rule_name: Callable[[str], str]
) -> None:
    create_queue(account, queue)
    create_rules(account, account.arn("sqs", queue), rule_name)


def create_queue(account: Account, name: str) -> None:
    account.client("sqs").create_queue(
        QueueName=name,
        Attributes={
            "MessageRetentionPeriod": "300",
            "SqsManagedSseEnabled": "true",
            "Policy": json.dumps(queue_policy(account.arn("sqs", name))),
        },
    )


def queue_policy(queue_arn: str) -> dict[str, Any]:
    return {
        "Version": "2012-10-17",
        "Id": "EC2InterruptionPolicy",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": ["events.amazonaws.com", "sqs.amazonaws.com"]},
                "Action": "sqs:SendMessage",
                "Resource": queue_arn,
            },
            {
                "Sid": "DenyHTTP",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "sqs:*",
                "Resource": queue_arn,
                "Condition": {"Bool": {"aws:SecureTransport": False}},
            },
        ],
    }


def create_rules(account: Account, queue_arn: str, rule_name: Callable[[str], str]) -> None:
    events = account.client("events")
    for logical_name, (source, detail_type) in EVENTS.items():
        name = rule_name(logical_name)
        pattern = {"source": [source], "detail-type": [detail_type]}
        events.put_rule(Name=name, EventPattern=json.dumps(pattern))
        events.put_targets(Rule=name, Targets=[{"Id": TARGET_ID, "Arn": queue_arn}])
