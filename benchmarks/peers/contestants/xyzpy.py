"""xyzpy: a function over all combinations of its arguments, as labelled arrays."""

import tempfile
from pathlib import Path

from benchmarks.peers.answers import done
from benchmarks.peers.contestants.cell import axes, cell, covered, seeded


def sweep_in_memory(cells):
    from xyzpy import Runner

    found = Runner(cell, var_names=["y"]).run_combos({"k": [float(k) for k in range(cells)]}, verbosity=0)
    return done(found.y.size)


def sweep_seeded(cells):
    from xyzpy import Runner

    found = Runner(seeded, var_names=["y", "error"]).run_combos({"k": [float(k) for k in range(cells)]}, verbosity=0)
    return done(found.y.size)


def sweep_durable(cells):
    from xyzpy import Harvester, Runner

    with tempfile.TemporaryDirectory() as folder:
        harvester = Harvester(Runner(cell, var_names=["y"]), data_name=str(Path(folder) / "cells.h5"))
        harvester.harvest_combos({"k": [float(k) for k in range(cells)]}, verbosity=0)
        return done(harvester.full_ds.y.size, "one file, written at the end")


NAMES = ["covered", "covered_error", "width", "width_error"]


def small_cells(cells):
    from xyzpy import Runner

    return done(Runner(covered, var_names=NAMES).run_combos(axes(cells), verbosity=0).covered.size)


def small_cells_durable(cells):
    from xyzpy import Harvester, Runner

    with tempfile.TemporaryDirectory() as folder:
        harvester = Harvester(Runner(covered, var_names=NAMES), data_name=str(Path(folder) / "cells.h5"))
        harvester.harvest_combos(axes(cells), verbosity=0)
        return done(harvester.full_ds.covered.size, "one file, written at the end")


def first_result():
    return sweep_in_memory(1)
