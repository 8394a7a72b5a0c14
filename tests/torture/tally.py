"""A preload of dask workers that notes every computed chunk, also those that the driver never hears of."""

import os

from distributed import WorkerPlugin

FILE = "TORTURE_TALLY"


class Tally(WorkerPlugin):
    """A plugin that writes task, cell and chunk to a file as soon as a task has its result."""

    def setup(self, worker):
        self._worker = worker

    def transition(self, key, start, finish, **_):
        if finish != "memory" or key not in self._worker.data:
            return
        records = getattr(self._worker.data[key], "records", ())
        text = "".join(f"{key} {_cell(one)} {_index(one)}\n" for one in records)
        file = os.open(os.environ[FILE], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, text.encode())
        os.close(file)


def _cell(record):
    return getattr(record, "cell", None) or record[0]


def _index(record):
    return record.chunk if hasattr(record, "chunk") else record[1]


async def dask_setup(worker):
    await worker.plugin_add(Tally())
