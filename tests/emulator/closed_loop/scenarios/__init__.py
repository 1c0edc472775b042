"""The broken accounts, one file an area; importing this registers them all."""

from closed_loop.scenarios import (  # noqa: F401
    auto_mode,
    cluster,
    controller,
    interruption,
    join,
    launch,
    limits,
    network,
)
