"""joblib: calls in sequence or in parallel, cached by their arguments."""

import tempfile
from itertools import product

from benchmarks.peers.answers import done
from benchmarks.peers.contestants.cell import axes, cell, covered, seeded


def sweep_in_memory(cells):
    from joblib import Parallel, delayed

    return done(len(Parallel(n_jobs=1)(delayed(cell)(float(k)) for k in range(cells))))


def sweep_seeded(cells):
    from joblib import Parallel, delayed

    return done(len(Parallel(n_jobs=1)(delayed(seeded)(float(k)) for k in range(cells))))


def sweep_durable(cells):
    from joblib import Memory

    with tempfile.TemporaryDirectory() as folder:
        kept = Memory(folder, verbose=0).cache(cell)
        return done(len([kept(float(k)) for k in range(cells)]), "a folder of two files a cell, not flushed")


def small_cells(cells):
    from joblib import Parallel, delayed

    return done(len(Parallel(n_jobs=1)(delayed(covered)(n, p) for n, p in product(*axes(cells).values()))))


def small_cells_durable(cells):
    from joblib import Memory

    with tempfile.TemporaryDirectory() as folder:
        kept = Memory(folder, verbose=0).cache(covered)
        found = [kept(n, p) for n, p in product(*axes(cells).values())]
        return done(len(found), "a folder of two files a cell, not flushed")


def first_result():
    return sweep_in_memory(1)
