"""Dask's messages: kept off the terminal, and written to the run's log together with the workers' messages."""

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client


def mute() -> None:
    """Silence dask's own handlers, and pass its messages to the root logger."""
    import distributed  # noqa: F401 (sets up its loggers)

    for name in ("distributed", "distributed.client", "distributed.gc", "tornado", "tornado.application"):
        logger = logging.getLogger(name)
        logger.propagate = True
        for handler in logger.handlers:
            handler.setLevel(logging.CRITICAL + 1)
    logging.getLogger("asyncio").addHandler(logging.NullHandler())  # without one Python would write to the terminal
    logging.getLogger("distributed").setLevel(logging.WARNING)
    # It fails to remove files that went with their folder (protection.scratch), and complains as the process ends.
    logging.getLogger("distributed.diskutils").setLevel(logging.CRITICAL)


def forward(client: "Client") -> None:
    """Log the workers' warnings in this process."""
    client.forward_logging("distributed", logging.WARNING)
