"""A valid config, and a check of refusals."""

import pytest

from tcdp_sim.core.errors import UserError

GOOD = {
    "name": "study",
    "seed": 2018,
    "trials": 100000,
    "chunk": 20000,
    "target_mcse": None,
    "max_trials": 10_000_000,
    "results_dir": "results",
    "invalid": "refuse",
    "numerics": "warn",
    "code": "same",
    "on_error": "stop",
    "share": None,
    "sweep": {"data": "one_bin"},
    "also": {},
    "experiment": {"name": "histogram"},
    "mechanism": {"name": "histogram", "sampling": "order_statistics", "beta": 0.05},
    "data": {"name": "one_bin", "kind": "shape"},
    "cluster": {"name": "serial"},
}


def refused(call, *words):
    with pytest.raises(UserError) as caught:
        call()
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)
