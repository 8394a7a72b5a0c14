"""A preload of dask workers: a line for each chunk that was computed, whether the driver ever heard of it or not."""

import os

from distributed import WorkerPlugin

FILE = "TORTURE_TALLY"


class Tally(WorkerPlugin):
    """Writes task, cell and chunk as soon as a task's result is there."""

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
