"""Dask: a graph of calls in this process; nothing is kept on disk."""

from benchmarks.peers.answers import done
from benchmarks.peers.contestants.cell import cell, seeded


def sweep_in_memory(cells):
    return _swept(cell, cells)


def sweep_seeded(cells):
    return _swept(seeded, cells)


def _swept(function, cells):
    from dask import compute, delayed

    return done(len(compute(*[delayed(function)(float(k)) for k in range(cells)], scheduler="synchronous")))


def first_result():
    return sweep_in_memory(1)
