"""The Python API: the folder, bytes, resume and refusals of the command line, from a plain script or a notebook."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tcdp_sim
from tcdp_sim.api import Contradiction
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


def test_a_plain_script_needs_no_main_guard(here, command):
    (here / "script.py").write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=120)
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
    with pytest.raises(tcdp_sim.UserError, match=r"sweep.rh is not an axis.*did you mean rho"):
        tcdp_sim.run(sweep={"rh": 0.1})
    with pytest.raises(tcdp_sim.UserError, match=r"data.column is not given"):
        tcdp_sim.run(data={"path": "x.csv"})


def test_a_plan_touches_nothing(here, command):
    plan = tcdp_sim.plan(**SMALL)
    assert (len(plan.cells), plan.trials, plan.chunks, plan.missing) == (4, 1000, 8, 8)
    assert list(plan.cells["guarantee"].unique()) == ["0.1-zCDP", "0.447214-DP"]
    assert plan.seconds > 0
    assert list(here.iterdir()) == []
    assert "to simulate: 8 of 8 chunks" in command(*WORDS, "cluster=serial", "mode=plan")[1]
    tcdp_sim.run(**SMALL)
    assert (tcdp_sim.plan(**SMALL).missing, tcdp_sim.plan(**SMALL | {"trials": 1500}).missing) == (0, 4)


def test_figures_are_returned_and_written(here, command):
    tcdp_sim.run(**SMALL)
    assert not (here / "results/histogram/figures").exists()
    figures = tcdp_sim.draw("results/histogram")
    written = {path.stem for path in (here / "results/histogram/figures").glob("*.png")}
    assert set(figures) == written == {"error_vs_k_one_bin", "exceedance_one_bin"}
    assert figures["error_vs_k_one_bin"].axes[0].get_xlabel() == "number of bins k"
    with pytest.raises(tcdp_sim.UserError, match="holds no results"):
        tcdp_sim.draw("nowhere")


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


def test_an_error_in_a_simulation_is_a_failure_and_no_exit(here, monkeypatch):
    monkeypatch.setattr("tcdp_sim.mechanisms.Histogram.simulate", lambda *_: 1 / 0)
    with pytest.raises(tcdp_sim.Failure, match="ZeroDivisionError"):
        tcdp_sim.run(**SMALL)


def test_importing_it_loads_nothing_heavy():
    code = "import sys, tcdp_sim; dir(tcdp_sim); print(sorted({'numpy', 'dask', 'hydra', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"


def test_the_package_says_what_it_has():
    assert {"run", "plan", "draw", "open_results", "UserError"} <= set(dir(tcdp_sim))
    with pytest.raises(AttributeError, match="no attribute 'rum'"):
        tcdp_sim.rum  # noqa: B018


def test_the_notebook_runs(here):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    source = Path(__file__).parent.parent / "examples" / "first_steps.ipynb"
    notebook = nbformat.read(source, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "committed without its outputs"
    done = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": here}})
    done.execute()
    kinds = {kind for cell in notebook.cells for out in cell.get("outputs", ()) for kind in out.get("data", ())}
    assert "image/png" in kinds
    assert json.loads((here / "results/first_steps/certificate.json").read_text())["experiment"] == "histogram"
