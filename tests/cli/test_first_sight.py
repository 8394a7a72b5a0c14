"""What a user sees first: exit codes, blamed words, suggestions, whole words in pipes, promises from above."""

import io
import re

import pytest
import yaml
from rich.table import Table

import tcdp_sim
from tcdp_sim.accounting import CountTarget, DeviationTarget, plan_budget
from tcdp_sim.cli import budget_file
from tcdp_sim.core.errors import UserError
from tcdp_sim.privacy import ZCDP
from tcdp_sim.report.terminal import Terminal

FILE = """
def bad(rng, trials, n):
    if n == 2:
        raise RuntimeError("boom")
    return rng.random(trials)
"""


def uniform(rng, trials, n, k):
    return rng.random(trials)


@pytest.mark.parametrize("more", [(), ("on_error=continue",)])
def test_a_failing_chunk_ends_with_one(command, tmp_path, more):
    (tmp_path / "failing.py").write_text(FILE)
    code, _, err = command("sweep", "failing.py:bad", "sweep.n=[1,2]", "trials=10", "cluster=serial", *more)
    assert (code, "cell n=2: RuntimeError: boom" in err) == (1, True), err


@pytest.mark.parametrize("word", ["sweep.rho=0", "sweep.rho=[0.1,-1]", "sweep.omega_sqrt_rho=0"])
def test_the_word_that_was_written_is_blamed(command, word):
    code, _, err = command(word, "trials=100")
    assert (code, err.count("\n")) == (2, 1)
    assert f"{word.partition('=')[0]} = " in err
    assert "also." not in err


def test_an_axis_that_no_cell_uses_is_named_once(command):
    words = ("sweep.noise=gaussian", "sweep.rho=0.1", "sweep.k=10", "also=null", "trials=100", "chunk=100")
    assert "no cell uses" not in command("plan", *words)[1]
    assert command("plan", *words, "sweep.omega=9")[1].count("no cell uses the axis omega") == 1


@pytest.mark.parametrize("value", [{"a": 1}, [{"a": 1}, 2]])
def test_a_dictionary_is_no_value_of_an_axis(value):
    with pytest.raises(UserError, match=r"sweep.n has a dictionary as a value; valid: numbers, texts"):
        tcdp_sim.sweep(uniform, {"n": value, "k": 1}, trials=10)


@pytest.mark.parametrize("key", budget_file.KINDS)
def test_a_misspelt_error_gets_a_suggestion(tmp_path, key):
    path = tmp_path / "budget.yaml"
    path.write_text(yaml.safe_dump({"releases": [{"name": "a", key[:-1]: 3.0, "k": 10}]}))
    with pytest.raises(UserError, match=f"did you mean {key}\\?$"):
        budget_file.read(str(path))


POINTS = [{"n": 1, "k": 2}, {"n": 5, "k": 3}, {"n": 5, "k": 2}]


@pytest.mark.parametrize("name", [None, "kept"])
def test_cells_that_form_no_grid_have_one_dimension(tmp_path, name):
    found = tcdp_sim.sweep(uniform, {}, cells=POINTS, trials=10, name=name, results_dir=tmp_path)
    assert found["value"].dims == ("cell",)
    assert [{"n": int(n), "k": int(k)} for n, k in zip(found["n"], found["k"])] == POINTS
    assert not found["value"].isnull().any()
    if name:
        again = tcdp_sim.open_results(tmp_path / name)
        assert again["value"].dims == ("cell",)
        assert (again["value"] == found["value"]).all()
    grid = tcdp_sim.sweep(uniform, {"n": [1, 5]}, cells=[{"k": 2}, {"k": 3}], trials=10)
    assert grid["value"].dims == ("n", "k")


def test_tables_in_a_pipe_break_no_word():
    """A terminal of the same width may fold words."""
    words = ["sinh_normal_tight", "Balle-Barthe-Gaboardi", "a" * 70]
    table = Table("one", "two", "three")
    table.add_row(f"{words[0]} is a noise", f"see {words[1]} (2018), which is a paper of some length", words[2])
    printed = io.StringIO()
    Terminal(file=printed, width=80).print(table)
    for word in words:
        assert word in printed.getvalue()


def test_the_printed_promises_of_a_plan_are_safe():
    """Each printed number is at least the exact one, and the next number with as many digits is not."""
    for error in (3.0, 7.7, 10.0, 31.0):
        for budget in (None, ZCDP(0.123456789)):
            targets = [CountTarget(largest_error=error, k=10), DeviationTarget(deviation=error)]
            plan = plan_budget(targets) if budget is None else plan_budget(targets, budget)
            text = " ".join(plan.summary())
            together, rho, epsilon = (
                float(x) for x in re.findall(r"Together: (\S+)-zCDP. rho = (\S+); epsilon = (\S+)", text)[0]
            )
            attack = float(re.search(r"at most (\S+)%", text)[1])
            value = float(re.search(r": (\S+), (?:certified|stationary)", text)[1])
            exact = (plan.budget.rho, plan.rho, plan.epsilon.upper, 100 * plan.attack.upper, plan.value)
            for printed, true in zip((together, rho, epsilon, attack, value), exact):
                assert true <= printed * (1 + 1e-12) <= true * (1 + 2e-3)
