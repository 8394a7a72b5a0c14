"""The Python API: the folder, bytes, resume and refusals of the command line, from a plain script or a notebook."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from types import MappingProxyType

import nbclient
import nbformat
import numpy as np
import pandas as pd
import pytest

import tcdp_sim
from tcdp_sim.api import Contradiction
from tcdp_sim.exact import max_abs_quantile
from tcdp_sim.mechanisms import Histogram, Mechanism, Observable, declared
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import ZCDP
from tcdp_sim.store.digests import tree_digest

SWEEP = {"k": [1e3, 1e6], "noise": ["gaussian", "laplace"], "rho": 0.1}
WORDS = ("sweep.k=[1e3,1e6]", "sweep.noise=[gaussian,laplace]", "sweep.rho=0.1", "trials=1000", "chunk=500")
WORDS += ("also=null",)
SMALL = {"sweep": SWEEP, "trials": 1e3, "chunk": 500, "also": None, "cluster": "serial"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def snapshot(folder: Path) -> str:
    return tree_digest((folder / "results.zarr").resolve())


def test_the_bytes_of_the_command_line(here, command):
    data = tcdp_sim.run("histogram", **SMALL, name="by_function")
    assert command(*WORDS, "cluster=serial", "name=by_words")[0] == 0
    assert snapshot(here / "results" / "by_function") == snapshot(here / "results" / "by_words")
    assert data["linf_error_mean"].sizes["k"] == 2
    assert data.equals(tcdp_sim.open_results("results/by_words"))


def test_what_is_there_is_not_computed_again(here, capsys):
    first = tcdp_sim.run(**SMALL)
    capsys.readouterr()
    again = tcdp_sim.run(**SMALL)
    out, err = capsys.readouterr()
    assert "nothing to simulate" in err
    assert not out
    assert first.equals(again)
    more = tcdp_sim.run(**SMALL | {"trials": "+500"})
    assert "4 of 12 chunks to simulate" in capsys.readouterr().err
    assert set(np.unique(more["trials"])) == {1500}


def test_values_of_numpy_and_of_python_are_the_same_study(here):
    tcdp_sim.run(**SMALL, name="lists")
    arrays = {"k": np.logspace(3, 6, 2), "noise": ("gaussian", "laplace"), "rho": np.float64(0.1)}
    tcdp_sim.run(**SMALL | {"sweep": arrays, "trials": np.int64(1000), "results_dir": here / "results"}, name="arrays")
    assert snapshot(here / "results" / "lists") == snapshot(here / "results" / "arrays")


SCRIPT = """
    import tcdp_sim

    data = tcdp_sim.run(
        sweep={"k": [1e3, 1e6], "noise": ["gaussian", "laplace"], "rho": 0.1}, trials=1000, chunk=500, also=None,
        cluster={"name": "local", "workers": 2}, name="script",
    )
    print(float(data["trials"].max()), __name__, "__file__" in globals())
"""


@pytest.mark.slow
def test_a_plain_script_needs_no_main_guard(here, command):
    (here / "script.py").write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1000.0 __main__ True\n"  # once, and its file is there again
    assert command(*WORDS, "cluster=serial", "name=by_words")[0] == 0
    assert snapshot(here / "results" / "script") == snapshot(here / "results" / "by_words")


MISTAKES = [  # what is given, words of the command line that are the same mistake
    ({"experiment": "histogrm"}, ("experiment=histogrm",)),
    ({"sweep": {"rho": -1}}, ("sweep.rho=-1",)),
    ({"trials": 1.5}, ("trials=1.5",)),
    ({"cluster": "lokal"}, ("cluster=lokal",)),
    ({"cluster": {"workers": 0}}, ("cluster.workers=0",)),
    ({"data": {"path": "nowhere.csv", "column": "x"}}, ("data=csv", "data.path=nowhere.csv", "data.column=x")),
    ({"trials": "+10"}, ("trials=+10",)),
    ({"name": "a/b"}, ("name=a/b",)),
]


@pytest.mark.parametrize(("given", "words"), MISTAKES, ids=lambda case: str(case)[:40])
def test_a_mistake_is_the_line_of_the_command_line(here, command, given, words):
    with pytest.raises(tcdp_sim.UserError) as caught:
        tcdp_sim.run(**given)
    code, _, err = command(*words)
    assert code == 2
    assert err.strip() == f"tcdp-sim: {caught.value}"
    assert not list(here.glob("results/*/journal/*"))


def test_keys_that_nobody_knows_are_refused_with_the_right_one(here):
    with pytest.raises(tcdp_sim.UserError, match=r"'rho' is not a key.*did you mean sweep.rho"):
        tcdp_sim.run(rho=0.1)
    with pytest.raises(tcdp_sim.UserError, match=r"sweep.rh is not an axis.*did you mean sweep.rho"):
        tcdp_sim.run(sweep={"rh": 0.1})
    with pytest.raises(tcdp_sim.UserError, match=r"data.column is not given"):
        tcdp_sim.run(data={"path": "x.csv"})


def test_a_plan_touches_nothing(here, command):
    plan = tcdp_sim.plan(**SMALL)
    assert (len(plan.cells), plan.trials, plan.chunks, plan.missing) == (4, 1000, 8, 8)
    assert list(plan.cells["guarantee"].unique()) == ["0.1-zCDP", "0.447214-DP"]
    assert plan.seconds > 0
    assert list(here.iterdir()) == []
    assert "to simulate: 8 of 8 chunks" in command("plan", *WORDS, "cluster=serial")[1]
    tcdp_sim.run(**SMALL)
    assert (tcdp_sim.plan(**SMALL).missing, tcdp_sim.plan(**SMALL | {"trials": 1500}).missing) == (0, 4)


@pytest.mark.usefixtures("figures")
def test_figures_are_returned_and_written(here, command):
    tcdp_sim.run(**SMALL)
    assert not (here / "results/histogram/figures").exists()
    figures = tcdp_sim.draw("results/histogram")
    written = {path.stem for path in (here / "results/histogram/figures").glob("*.png")}
    assert set(figures) == written == {"error_vs_k_one_bin", "exceedance_one_bin"}
    assert figures["error_vs_k_one_bin"].axes[0].get_xlabel() == "number of bins k"
    with pytest.raises(tcdp_sim.UserError, match="holds no results"):
        tcdp_sim.draw("nowhere")
    for chosen in ("exceedance_one_bin", ["exceedance_one_bin"]):
        assert [*tcdp_sim.draw("results/histogram", figures=chosen)] == ["exceedance_one_bin"]
    with pytest.raises(tcdp_sim.UserError, match="no figure 'x'; valid: exceedance_one_bin, error_vs_k_one_bin"):
        tcdp_sim.draw("results/histogram", figures="x")


def test_a_contradiction_is_a_warning(here, monkeypatch):
    from tcdp_sim.exact import extremes

    right = extremes.max_abs_quantile
    tcdp_sim.run(**SMALL)

    def wrong(noise, count, level):
        return right(noise, 10 * count, level)  # the answer for ten times as many bins

    monkeypatch.setattr("tcdp_sim.exact.max_abs_quantile", wrong)
    with pytest.warns(Contradiction, match="contradictions.csv"):
        tcdp_sim.run(**SMALL | {"name": "wrong", "trials": 10_000})
    table = pd.read_csv(here / "results/wrong/contradictions.csv")
    assert (table["alarm_quantity"].str.contains("q")).all()


def an_eighth(mechanism):
    """A value that is wrong."""
    return 0.125


def test_a_single_contradiction_is_a_warning_too(here, monkeypatch):
    from tcdp_sim.experiments import histogram

    monkeypatch.setitem(histogram.EXACT, "top_stays", an_eighth)
    with pytest.warns(Contradiction, match=r"\b1 of \d+ simulated numbers"):
        tcdp_sim.run(**SMALL | {"sweep": SWEEP | {"k": 1e3, "noise": "gaussian"}})
    assert len(pd.read_csv(here / "results/histogram/contradictions.csv")) == 1


def test_cells_that_share_a_law_share_its_chunks(here):
    """All records in the one bin there is, or spread evenly over it: two cells, and one law of two chunks."""
    plan = tcdp_sim.plan(**SMALL | {"sweep": SWEEP | {"k": 1, "noise": "gaussian", "data": ["one_bin", "uniform"]}})
    assert (len(plan.cells), plan.trials, plan.chunks, plan.missing) == (2, 1000, 2, 2)


def test_an_error_in_a_simulation_is_a_failure_and_no_exit(here, monkeypatch):
    monkeypatch.setattr("tcdp_sim.mechanisms.Histogram.simulate", lambda *_: 1 / 0)
    with pytest.raises(tcdp_sim.Failure, match="ZeroDivisionError"):
        tcdp_sim.run(**SMALL)


def test_importing_it_loads_nothing_heavy():
    code = "import sys, tcdp_sim; dir(tcdp_sim); print(sorted({'numpy', 'dask', 'hydra', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "[]\n"


def test_the_package_says_what_it_has():
    assert {"run", "plan", "draw", "open_results", "UserError"} <= set(dir(tcdp_sim))
    with pytest.raises(AttributeError, match="no attribute 'rum'"):
        tcdp_sim.rum  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize("name", ["first_steps", "own_statistic", "privacy_loss_distribution"])
def test_the_notebooks_run(here, name):
    source = Path(__file__).parent.parent / "examples" / f"{name}.ipynb"
    notebook = nbformat.read(source, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "committed without its outputs"
    done = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": here}})
    done.execute()
    kinds = {kind for cell in notebook.cells for out in cell.get("outputs", ()) for kind in out.get("data", ())}
    assert "image/png" in kinds
    assert any((here / "results").rglob("certificate.json"))


def test_a_tidy_table_has_the_exact_beside_the_simulated(here, command):
    tcdp_sim.run(**SMALL)
    frame = tcdp_sim.table("results/histogram")
    assert {"value", "mcse", "lower", "upper", "exact", "bound", "quantity", "unit", "k", "noise"} <= set(frame.columns)
    cell = (frame["noise"] == "laplace") & (frame["k"] == 1e3) & (frame["level"] == 0.95)
    (row,) = frame[cell & (frame["quantity"] == "linf_error_quantile")].to_dict("records")
    scale = 2 / np.sqrt(0.2)  # epsilon = sqrt(2 rho), two bins change by one
    assert row["exact"] == pytest.approx(-scale * np.log(-np.expm1(np.log(0.95) / 1e3)), rel=1e-9)
    assert abs(row["value"] - row["exact"]) < 5 * row["mcse"]
    assert not frame["quantity"].str.endswith("_histogram").any()
    assert tcdp_sim.table("results/histogram", histograms=True)["quantity"].str.endswith("_histogram").any()
    code, out, _ = command("table", "results/histogram")
    assert code == 0
    assert len(out.splitlines()) == len(frame) + 1
    for name in ("t.csv", "t.tex"):
        assert command("table", "results/histogram", name)[0] == 0
    assert len(pd.read_csv(here / "t.csv")) == len(frame)
    assert r"\toprule" in (here / "t.tex").read_text()
    code, _, err = command("table", "results/histogram", "t.pdf")
    assert code == 2
    assert "ends in none of .csv, .md, .tex, .txt" in err


class Coin(Mechanism):
    """Heads with probability p, and how many of ten: somebody's own, without a config."""

    name, version = "coin", 1
    axes = declared()
    required = options = ()
    observables = MappingProxyType({"heads": Observable("1", "heads of ten")})
    events = MappingProxyType({"head": "the first is a head"})
    guarantee = None
    work = 1.0

    def __init__(self, p):
        self.p = p

    uses = law = build = classmethod(lambda cls, *_: None)

    def simulate(self, rng, trials):
        tosses = rng.random((trials, 10)) < self.p
        return {"heads": tosses.sum(axis=1).astype(float), "head": tosses[:, 0]}


def test_a_mechanism_object_of_ones_own_needs_no_config(here):
    """False alarms of 5 standard errors: 6e-7 each."""
    found = tcdp_sim.simulate(Coin(0.3), 120_000, seed=7)
    assert int(found["trials"]) == 120_000
    assert abs(found["heads_mean"] - 3.0) < 5 * found["heads_mean_mcse"]
    assert float(found["heads_mean_mcse"]) == pytest.approx(np.sqrt(10 * 0.3 * 0.7 / 120_000), rel=0.02)
    assert abs(found["head"] - 0.3) < 5 * found["head_mcse"]
    assert float(found["heads_quantile"].sel(quantile=0.5)) == pytest.approx(3, rel=0.002)  # the width of a bin
    assert found.equals(tcdp_sim.simulate(Coin(0.3), 1.2e5, seed=7))
    assert not found.equals(tcdp_sim.simulate(Coin(0.3), 120_000, seed=8))
    assert list(here.iterdir()) == []


def test_every_chunk_has_random_numbers_of_its_own(here):
    once, twice = (tcdp_sim.simulate(Coin(0.3), trials, seed=7)["heads_mean"] for trials in (50_000, 100_000))
    assert float(once) != float(twice)  # a second chunk like the first would leave the mean as it is


def test_objects_of_the_package_are_simulated_as_in_a_study(here):
    noise = Gaussian(3.0)
    found = tcdp_sim.simulate(Histogram(noise, ZCDP(1 / 9), np.array([5, 2]), 1e6), 50_000, seed=1)
    exact = float(max_abs_quantile(noise, 1e6, 0.95).estimate)
    row = found.sel(quantile=0.95)
    assert abs(row["linf_error_quantile"] - exact) < 5 * row["linf_error_quantile_mcse"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("histogram", 10, 1), "is not a mechanism"),
        ((Coin(0.5), 0, 1), "trials = 0 is not valid; valid: a whole number from 1"),
        ((Coin(0.5), 1.5, 1), "trials = 1.5"),
        ((Coin(0.5), 10, -1), "seed = -1"),
        ((Coin(0.5), 10, True), "seed = True"),
    ],
)
def test_what_cannot_be_simulated_is_one_line(arguments, words):
    with pytest.raises(ValueError, match=words) as caught:
        tcdp_sim.simulate(*arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("what", ["open_results", "run", "lazy"])
def test_a_forked_child_reads_and_runs(here, what):
    """Where the parent has read with dask's pool of threads, which do not run in the child; 60 s end what hangs."""
    opened = tcdp_sim.run(**SMALL)
    before = opened["linf_error_mean"].values
    process = os.fork()
    if not process:
        signal.alarm(60)
        try:
            if what == "run":
                opened = tcdp_sim.run(**SMALL | {"name": "child"})
            elif what == "open_results":
                opened = tcdp_sim.open_results("results/histogram")
            os._exit(0 if np.array_equal(opened["linf_error_mean"].values, before, equal_nan=True) else 1)
        finally:
            os._exit(2)
    assert os.waitpid(process, 0)[1] == 0


def test_a_contradiction_is_told_once(here, monkeypatch, capsys):
    monkeypatch.setattr("tcdp_sim.results.published.contradicted", lambda run, tell: tell("CONTRADICTION: 1 of 9") or 1)
    with pytest.warns(Contradiction, match="CONTRADICTION: 1 of 9") as warned:
        tcdp_sim.run(**SMALL)
    assert len(warned) == 1
    assert "CONTRADICTION" not in capsys.readouterr().err


def test_what_is_not_there_is_not_called_damaged(here):
    with pytest.raises(tcdp_sim.UserError, match=r"nothing.* holds no results"):
        tcdp_sim.table("results/nothing")
