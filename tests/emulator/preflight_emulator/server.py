"""Build the HTTP server: moto's application with our extension in it."""

from __future__ import annotations

import os

from werkzeug.serving import BaseWSGIServer, make_server


def set_moto_environment() -> None:
    """What moto must find in its environment before it is imported."""
    # Without it every AWS-managed policy is NoSuchEntity.
    os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "true"
    # It would pin every access key to one account.
    os.environ.pop("MOTO_ACCOUNT_ID", None)
    # moto asks botocore for its lists of regions; no profile of the user may matter.
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE"):
        os.environ.pop(name, None)


def make_emulator(host: str, port: int) -> BaseWSGIServer:
    """Return a server that is bound and listening, but does not serve yet."""
    set_moto_environment()

    from moto.moto_server.werkzeug_app import (
        DomainDispatcherApplication,
        MotoRequestHandler,
        create_backend_app,
    )

    from preflight_emulator.extension import install
    from preflight_emulator.speed import calm_the_garbage_collector

    install()
    calm_the_garbage_collector()
    application = DomainDispatcherApplication(create_backend_app)
    server = make_server(
        host, port, application, threaded=True, request_handler=MotoRequestHandler
    )
    # moto calls itself on this port in a few places.
    os.environ["MOTO_PORT"] = str(server.port)
    return server
