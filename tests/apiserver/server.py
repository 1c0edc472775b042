"""A real etcd and kube-apiserver on loopback, with TLS, static tokens and RBAC."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

DATA = Path(__file__).resolve().parents[1] / "data"
TLS = DATA / "tls"
PROGRAMS = Path(os.environ["APISERVER"])
ADMIN = "admin"
GROUP = "karpenter-preflight"
# Users are named after their tokens, which open nothing but this server.
TOKENS = f'{ADMIN}-token,{ADMIN},{ADMIN},"system:masters"\n'
# Seconds until it answers.
READY = 120
# Seconds that a request of the test may take.
PATIENCE = 30
# Only controllers, of which there is none here, would undo what these plug-ins do or ask for.
PLUGINS_OFF = "ServiceAccount,TaintNodesByCondition"
# Each request of a user once, when it was answered.
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}


@dataclass(frozen=True)
class Server:
    url: str
    folder: Path
    # As the administrator.
    session: requests.Session = field(default_factory=lambda: administrator())

    def ask(self, method: str, path: str, body: Any = None, patch: bool = False) -> Any:
        """As the administrator; gives the answer."""
        kind = "application/merge-patch+json" if patch else "application/json"
        answer = self.session.request(
            method,
            self.url + path,
            data=None if body is None else json.dumps(body),
            headers={"Content-Type": kind},
            timeout=PATIENCE,
        )
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def version(self) -> str:
        return self.ask("GET", "/version")["gitVersion"]

    def asked_by(self, user: str) -> list[dict[str, Any]]:
        """What the audit log says of a user, in order, once nothing is added any more."""
        log = self.folder / "audit.log"
        size = -1
        while size != (size := log.stat().st_size):
            time.sleep(0.5)
        events = [json.loads(line) for line in log.read_text().splitlines()]
        return [event for event in events if event["user"].get("username") == user]


def administrator() -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    session.verify = str(TLS / "authority.pem")
    session.headers["Authorization"] = f"Bearer {ADMIN}-token"
    return session


def free_ports(count: int) -> list[int]:
    """So many different ones."""
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


@contextlib.contextmanager
def running(folder: Path, users: dict[str, str]) -> Iterator[Server]:
    """The server with these users and the group of each, until the end of the block."""
    lines = [f'{user}-token,{user},{user},"{group}"\n' for user, group in users.items()]
    (folder / "tokens.csv").write_text(TOKENS + "".join(lines))
    (folder / "audit-policy.json").write_text(json.dumps(AUDIT_POLICY))
    with contextlib.ExitStack() as stack:
        port, *of_etcd = free_ports(3)
        etcd = stack.enter_context(etcd_in(folder, *of_etcd))
        url = f"https://127.0.0.1:{port}"
        process = stack.enter_context(started(folder, "kube-apiserver", flags(folder, etcd, url)))
        server = Server(url, folder)
        wait_until_ready(server, process)
        yield server


@contextlib.contextmanager
def etcd_in(folder: Path, *ports: int) -> Iterator[str]:
    client, peer = (f"http://127.0.0.1:{port}" for port in ports)
    command = [
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        # What is lost with the test may be lost.
        "--unsafe-no-fsync",
    ]
    with started(folder, "etcd", command):
        yield client


def flags(folder: Path, etcd: str, url: str) -> list[str]:
    return [
        f"--etcd-servers={etcd}",
        "--bind-address=127.0.0.1",
        f"--secure-port={url.rsplit(':', 1)[1]}",
        f"--tls-cert-file={TLS / 'server.pem'}",
        f"--tls-private-key-file={TLS / 'server.key'}",
        f"--cert-dir={folder}",
        "--authorization-mode=RBAC",
        f"--token-auth-file={folder / 'tokens.csv'}",
        f"--disable-admission-plugins={PLUGINS_OFF}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-signing-key-file={TLS / 'server.key'}",
        f"--service-account-key-file={TLS / 'server.pem'}",
        f"--audit-policy-file={folder / 'audit-policy.json'}",
        f"--audit-log-path={folder / 'audit.log'}",
        "--service-cluster-ip-range=10.100.0.0/16",
        # The address that the server tells of itself; nobody goes there.
        "--advertise-address=10.0.0.10",
        "--watch-cache=false",
    ]


@contextlib.contextmanager
def started(folder: Path, name: str, arguments: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """The program with its log in the folder; ended with the block."""
    with open(folder / f"{name}.log", "wb") as log:
        process = subprocess.Popen(
            [PROGRAMS / name, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_until_ready(server: Server, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + READY
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(requests.ConnectionError):
            if server.session.get(f"{server.url}/readyz", timeout=PATIENCE).ok:
                return
        time.sleep(0.2)
    raise AssertionError((server.folder / "kube-apiserver.log").read_text()[-3000:])
