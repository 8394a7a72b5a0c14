"""dask's messages: off the terminal, and those of the workers too into the run's log."""

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client


def mute() -> None:
    """From now on dask's own handlers are silent, and what it reports goes on to the root logger."""
    import distributed  # noqa: F401 (sets up its loggers)

    for name in ("distributed", "distributed.client", "distributed.gc", "tornado", "tornado.application"):
        logger = logging.getLogger(name)
        logger.propagate = True
        for handler in logger.handlers:
            handler.setLevel(logging.CRITICAL + 1)
    logging.getLogger("asyncio").addHandler(logging.NullHandler())  # without one Python would write to the terminal
    logging.getLogger("distributed").setLevel(logging.WARNING)
    # It fails to remove what went with its folder already (protection.scratch), and says so as the process ends.
    logging.getLogger("distributed.diskutils").setLevel(logging.CRITICAL)


def forward(client: "Client") -> None:
    """Warnings of the workers are logged here as well."""
    client.forward_logging("distributed", logging.WARNING)
