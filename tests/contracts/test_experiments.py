"""The contract of experiments, for what no other file holds over all of them: a mistake in a sweep.

Other parts of it are in experiments/conftest.py (tables, reports and figures of every study that runs there),
experiments/test_exact_or_reason.py, test_one_cell.py and test_extreme_values.py, and study/test_configs_contract.py.
"""

import pytest

from tcdp_sim.mechanisms import mechanism_class
from tcdp_sim.study import groups
from tcdp_sim.study.compose import composed


def mistakes():
    """A word beyond its range for the axes that every cell of an experiment has; the first one always runs."""
    for name in groups.options("experiment"):
        config = composed({"experiment": name})
        mechanism = mechanism_class(config["mechanism"]["name"])
        needed = mechanism.required or ("rho",)
        asked = [mechanism.axes[axis] for axis in needed if mechanism.axes[axis].kind != "option"]
        for i, axis in enumerate(asked):
            word = {"text": "nonsense", "flag": "maybe"}.get(axis.kind, "-inf")
            marks = [pytest.mark.kept] * (i == 0)
            yield pytest.param(name, axis.name, word, id=f"{name}-{axis.name}", marks=marks)


@pytest.mark.parametrize(("name", "axis", "word"), list(mistakes()))
def test_a_mistake_is_exit_code_2_and_one_line_that_names_it(command, name, axis, word):
    words = ("cluster=serial", "also=null", "invalid=refuse", f"sweep.{axis}={word}")
    code, out, err = command("plan", f"experiment={name}", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert axis in err or word in err
