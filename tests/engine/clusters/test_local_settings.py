"""What a user sets for Dask's workers stays beside what the cluster `local` sets."""

import dask
import pytest
from distributed.preloading import process_preloads

from tcdp_sim.core import safe_path
from tcdp_sim.engine.clusters import local

PRELOAD, ARGV = "distributed.worker.preload", "distributed.worker.preload-argv"


@pytest.mark.parametrize(
    ("given", "preloads"),
    [
        ({PRELOAD: []}, 1),
        ({PRELOAD: "json"}, 2),  # as a variable of the environment gives it
        ({PRELOAD: ["json", "string"]}, 3),
        ({PRELOAD: ["json"], ARGV: ["--a"]}, 2),
        ({PRELOAD: ["json", "string"], ARGV: [["--a"], []]}, 3),
    ],
)
def test_modules_that_the_user_preloads_are_loaded_too(given, preloads):
    with dask.config.set(given), dask.config.set(local._safe_path()):
        found = process_preloads(None, *map(dask.config.get, (PRELOAD, ARGV)))
    assert len(found) == preloads
    assert found[-1].name == safe_path.__name__
