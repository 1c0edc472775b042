"""The server as a process, and what it does with what it does not know."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError
from conftest import ROOT, post


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "preflight_emulator", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_is_and_ends_on_a_signal(end):
    process = start()
    ready = json.loads(process.stdout.readline())
    assert ready["pid"] == process.pid
    assert ready["endpoint"].startswith("http://127.0.0.1:")
    process.send_signal(end)
    assert process.wait(timeout=5) == 0


def test_it_ends_when_its_parent_closes_stdin():
    process = start("--until-stdin-closes")
    process.stdout.readline()
    process.stdin.close()
    assert process.wait(timeout=5) == 0


def test_a_reset_forgets_everything(client, endpoint, make_cluster):
    make_cluster()
    client("ec2").modify_instance_metadata_defaults(HttpEndpoint="disabled")
    client("sqs").create_queue(QueueName="q")
    post(endpoint, "/moto-api/reset")
    assert client("eks").list_clusters()["clusters"] == []
    assert "HttpEndpoint" not in client("ec2").get_instance_metadata_defaults()["AccountLevel"]
    assert "QueueUrls" not in client("sqs").list_queues()
    assert client("iam").list_roles()["Roles"] == []


def test_an_unknown_operation_is_not_a_missing_thing(client, make_cluster):
    make_cluster()
    with pytest.raises(ClientError) as error:
        client("eks").list_insights(clusterName="c")
    assert error.value.response["Error"]["Code"] == "404"
    assert "html" in error.value.response["Error"]["Message"]
    with pytest.raises(ResponseParserError):
        client("ec2").describe_trunk_interface_associations()


def test_accounts_and_regions_are_apart(client, make_cluster):
    make_cluster()
    assert client("eks", region="eu-west-1").list_clusters()["clusters"] == []
    other = client("eks", key="AKIATEST111122223333")
    assert other.list_clusters()["clusters"] == []
    assert client("eks").list_clusters()["clusters"] == ["c"]
