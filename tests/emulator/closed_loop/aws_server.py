"""The real ``aws`` program, started in advance: ``aws_server.py FOLDER``.

Loading the AWS CLI takes most of a second, and the loop runs it hundreds of times. This process
loads it once and forks for each command; FOLDER/aws is what a shell script finds as ``aws``.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import sys
import traceback
from pathlib import Path

# Imported by the AWS CLI sooner or later, and shared by every fork.
import awscli.clidriver
import awscli.handlers
import botocore.loaders
from awscli.customizations import overridesslcommonname

SOCKET = "aws.socket"
# Started anew for each command, so it imports next to nothing.
CLIENT = """#!{python} -SEI
import os, pickle, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect({socket!r})
data = pickle.dumps((sys.argv[1:], os.getcwd(), dict(os.environ)))
socket.send_fds(s, [len(data).to_bytes(8, "big")], [0, 1, 2])
s.sendall(data)
os._exit(s.recv(1)[0])
"""


def share_what_is_read() -> None:
    """Service models are read once for all commands, not once a command."""
    read = botocore.loaders.JSONFileLoader.load_file
    kept: dict[str, object] = {}

    def load_file(loader, path):
        if path not in kept:
            kept[path] = read(loader, path)
        return kept[path]

    botocore.loaders.JSONFileLoader.load_file = load_file  # type: ignore[method-assign]


def warm_up() -> None:
    session = awscli.clidriver.create_clidriver().session
    for service in ("ec2", "eks", "events", "iam", "kms", "sqs", "ssm", "sts"):
        session.get_service_model(service)
        session.create_client(service, region_name="us-west-2")


def serve(folder: Path) -> None:
    path = str(folder / SOCKET)
    client = folder / "aws"
    client.write_text(CLIENT.format(python=sys.executable, socket=path))
    client.chmod(0o755)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(16)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            run(connection)
        connection.close()


def run(connection: socket.socket) -> None:
    """In the fork: become the command, and tell its exit code."""
    code = 255
    try:
        head, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
        left = int.from_bytes(head, "big")
        data = b""
        while left > len(data):
            data += connection.recv(left - len(data))
        arguments, place, environment = pickle.loads(data)
        for target, descriptor in enumerate(descriptors):
            os.dup2(descriptor, target)
        os.chdir(place)
        # Where the AWS CLI keeps its data; it says so to itself when it is imported.
        own = os.environ["AWS_DATA_PATH"]
        os.environ.clear()
        os.environ.update(environment, AWS_DATA_PATH=own)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        code = awscli.clidriver.create_clidriver().main(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        connection.sendall(bytes([code & 0xFF]))
        os._exit(0)


if __name__ == "__main__":
    # Version 1 gives SQS an old name in the place of AWS_ENDPOINT_URL.
    overridesslcommonname.SSL_COMMON_NAMES.clear()
    share_what_is_read()
    warm_up()
    serve(Path(sys.argv[1]))
