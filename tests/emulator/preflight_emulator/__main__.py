"""Start the emulated account: ``python -m preflight_emulator [--port N]``."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import threading

HOST = "127.0.0.1"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="preflight_emulator", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--log-file", help="default: stderr")
    parser.add_argument("--verbose", action="store_true", help="log every request")
    parser.add_argument(
        "--until-stdin-closes",
        action="store_true",
        help="stop when the parent closes our standard input",
    )
    return parser.parse_args()


def configure_logging(log_file: str | None, verbose: bool) -> None:
    level = logging.INFO if verbose else logging.WARNING
    logging.basicConfig(filename=log_file, level=level)
    logging.getLogger("werkzeug").setLevel(level)


def stop(_signal: int, _frame: object) -> None:
    raise SystemExit(0)


def stop_with_stdin() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    arguments = parse_arguments()
    configure_logging(arguments.log_file, arguments.verbose)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)

    # Imported here: moto reads its settings from the environment when it is imported.
    from preflight_emulator.server import make_emulator

    server = make_emulator(HOST, arguments.port)
    if arguments.until_stdin_closes:
        threading.Thread(target=stop_with_stdin, daemon=True).start()
    ready = {"endpoint": f"http://{HOST}:{server.port}", "pid": os.getpid()}
    print(json.dumps(ready), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
