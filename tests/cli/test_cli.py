"""The command line from outside: what it prints, leaves behind and ends with."""

import contextlib
import gc
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest
import yaml
from progress_lines import without_progress
from signals import sent, sent_to_group

from tcdp_sim.core.version import __version__
from tcdp_sim.engine import interrupts
from tcdp_sim.store import journal
from tcdp_sim.store.digests import tree_digest
from tcdp_sim.study.groups import options
from tcdp_sim.study.settings import KEYS

SCRIPT = (str(Path(sys.executable).with_name("tcdp-sim")),)
MODULE = (sys.executable, "-m", "tcdp_sim")
NOISES = "sweep.noise=[laplace,truncated_laplace,gaussian,sinh_normal]"
OMEGAS = "sweep.omega_sqrt_rho=[0.75,1,2]"
TINY = ("cluster=serial", "trials=1000", "chunk=500", NOISES, "sweep.k=[10,1e6]", "sweep.rho=0.1", "also=null")
CSV = ("cluster=serial", "trials=1000", "chunk=500", NOISES, "data=csv", "data.column=clinic", "sweep.rho=[0.01,0.1]")
PATIENCE = 300  # seconds, for what a busy machine may take


def program(*words, start=SCRIPT, cwd=None, **more):
    done = subprocess.run([*start, *words], capture_output=True, text=True, cwd=cwd, timeout=PATIENCE, **more)
    return done.returncode, done.stdout, without_progress(done.stderr)


def split(words):
    """At spaces that no bracket encloses."""
    parts, depth = [""], 0
    for c in words:
        depth += (c in "[{") - (c in "]}")
        parts = [*parts, ""] if c == " " and depth == 0 else [*parts[:-1], parts[-1] + c]
    return parts


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*"))


def visits(folder, name="visits.csv"):
    table = pd.DataFrame({"clinic": ["a", "b", "a", "c", "a"], "n": [1, 2, 3, 4, 5]})
    table.to_csv(folder / name, index=False) if name.endswith("csv") else table.to_parquet(folder / name)
    return f"data.path={name}"


# Words alone


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_names_every_key_and_group(command, word):
    code, out, err = command(word)
    assert (code, err) == (0, "")
    for key in {*KEYS, "cluster.workers"} - {"noises"}:  # records of a user's classes, which no user writes
        assert key in out
    for group in ("experiment", "mechanism", "noise", "data", "cluster"):
        assert f"{group}: {', '.join(options(group))}" in " ".join(out.split())
    assert all(len(line) <= 130 for line in out.splitlines())


def test_version(command):
    assert command("--version") == (0, f"tcdp-sim {__version__}\n", "")


def test_garbage_is_looked_for_again_once_all_is_imported(command, tmp_path):
    """And not in what is imported, which stays. After a mistake as well."""
    thresholds = gc.get_threshold()
    assert command("plan", f"results_dir={tmp_path}")[0] == 0
    assert gc.get_threshold() == thresholds
    assert gc.get_freeze_count()
    frozen = gc.get_freeze_count()
    assert command("plan", "trials=x", f"results_dir={tmp_path}")[0] == 2
    assert gc.get_threshold() == thresholds
    assert 0 < gc.get_freeze_count() <= frozen


COLLECTS = """
import gc, sys
from tcdp_sim.cli.imports import importing
with importing():
    import dask.array
dask.array.arange(10, chunks=2)[2:5]  # turns collection off, and on again if it was on when dask was imported
print(gc.isenabled(), min(gc.get_threshold()) > 0)
"""


def test_garbage_is_collected_though_dask_was_imported_without():
    done = subprocess.run([sys.executable, "-c", COLLECTS], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True True\n", "")


def test_the_composed_config_can_be_printed(command, tmp_path):
    code, out, err = command("show", "seed=7", "data=zipf")
    assert (code, err) == (0, "")
    shown = yaml.safe_load(out)
    assert (shown["seed"], shown["name"], shown["data"]["name"]) == (7, "histogram", "zipf")
    assert set(shown) == set(KEYS) - {"part", "figures", "noises"}
    assert everything(tmp_path) == []


@pytest.mark.slow
def test_script_and_module_are_the_same(tmp_path):
    words = ("plan", *TINY, OMEGAS)
    found, again = program(*words, cwd=tmp_path), program(*words, start=MODULE, cwd=tmp_path)
    times = re.compile("(estimated by a pilot|that is between|then .* for the exact values).*")
    assert [times.sub("", str(part)) for part in found] == [times.sub("", str(part)) for part in again]
    assert found[0] == 0
    assert "12 cells" in found[1]


def test_a_mistake_ends_the_program_with_2_and_one_line(tmp_path):
    code, out, err = program("invalid=nope", cwd=tmp_path)
    assert (code, out) == (2, "")
    assert err == "tcdp-sim: invalid = 'nope' is not known; valid: refuse, skip\n"


# Plan, run, draw


def test_a_plan_says_what_would_be_done_and_touches_nothing(command, tmp_path):
    code, out, err = command("plan", *TINY, OMEGAS, "seed=11")
    assert (code, err) == (0, "")
    assert "12 cells x 1,000 trials in 2 chunks, seed 11" in out
    assert "to simulate: 24 of 24 chunks, 12,000 trials" in out
    assert "estimated" in out
    assert "results/histogram" in out
    assert everything(tmp_path) == []


def test_the_default_study_is_planned(command, tmp_path):
    code, out, _ = command("plan")
    assert code == 0
    assert "x 25,000 trials in 1 chunks" in out
    assert everything(tmp_path) == []


@pytest.mark.usefixtures("figures")
def test_a_run_from_nothing_to_figures(tiny, folder):
    code, out, _ = tiny()
    assert code == 0
    assert re.search(r"([0-9]+) of \1 chunks to simulate", out)
    assert {"run.json", "provenance.json", "journal", "results.zarr", "figures"} <= set(os.listdir(folder))
    drawn = {path.suffix for path in (folder / "figures").iterdir() if path.stat().st_size > 100}
    assert drawn == {".csv", ".png", ".pdf"}
    assert json.loads((folder / "provenance.json").read_text())["config"]["seed"] == 2018
    table = pd.concat(pd.read_csv(path) for path in (folder / "figures").glob("error_vs_k*.csv"))
    cells = table[table["least_additive_error"].isna()]  # the others are points of the best additive noise's line
    assert len(cells) < len(table)
    assert set(cells["noise"]) == {"laplace", "truncated_laplace", "gaussian", "sinh_normal"}
    assert set(cells["k"]) == {10, 1e6}
    assert (cells["trials"] == 1000).all()
    before = tree_digest(folder / "results.zarr")
    code, out, _ = tiny()
    assert code == 0
    assert "nothing to simulate" in out
    assert tree_digest(folder / "results.zarr") == before
    code, out, _ = tiny("plan")
    assert "to simulate: 0 of" in out


@pytest.mark.parametrize("name", ["visits.csv", "visits.parquet"])
@pytest.mark.usefixtures("figures")
def test_a_table_of_ones_own_from_nothing_to_redrawn_figures(command, tmp_path, monkeypatch, name):
    words = (*CSV, visits(tmp_path, name), "data.count=n", "data.domain=[a,b,c,d]", "name=mine")
    code, out, err = command(*words)
    assert (code, err) == (0, "")
    told = f"data visits.clinic: 15 records of {name}, column 'clinic', counts 'n'; each record counted is taken for"
    assert out.count(told) == 2  # before it is simulated, and beside the results
    figures = sorted((tmp_path / "results/mine/figures").iterdir())
    shown = {path.name: path.read_bytes() for path in figures}
    assert shown
    table = pd.read_csv(next(path for path in figures if path.suffix == ".csv"))
    assert set(table["data"]) == {"visits.clinic"}
    assert set(table["k"]) == {4}
    assert set(table["n"]) == {15}
    (tmp_path / name).unlink()
    for path in figures:
        path.unlink()
    monkeypatch.setattr("tcdp_sim.engine.schedule.simulate", None)
    code, out, err = command("draw", "results/mine")
    assert (code, err) == (0, "")
    assert "figure: " in out
    assert out.count(told) == 1
    assert {path.name: path.read_bytes() for path in figures} == shown


def test_records_that_do_not_count_leave_a_trace(command, tmp_path):
    """Of 20,000 rows 50 have no clinic: said before and after the run, in its log, its results and its provenance."""
    table = pd.DataFrame({"clinic": ["a", "b"] * 9_975 + [None] * 50, "who": range(20_000)})
    table.to_csv(tmp_path / "visits.csv", index=False)
    words = (*CSV, "data.path=visits.csv", "data.domain=5", "name=mine", "sweep.noise=gaussian")
    code, _, err = command(*words)
    assert code == 2
    assert "50 empty cells" in err
    code, out, err = command(*words, "data.nulls=drop")
    assert (code, err) == (0, "")
    dropped = "50 rows with an empty cell were dropped"
    assert out.count(dropped) == 2
    folder = tmp_path / "results/mine"
    about = json.loads(json.loads((folder / "results.zarr/zarr.json").read_text())["attributes"]["data"])
    assert about["visits.clinic"]["records"] == 19_950
    assert about["visits.clinic"]["empty_dropped"] == 50
    assert json.loads((folder / "provenance.json").read_text())["data"] == about
    assert dropped in (folder / "run.log").read_text()
    assert dropped in command("plan", *words, "data.nulls=drop")[1]
    assert dropped in command("draw", "name=mine")[1]


def test_data_of_the_package_have_nothing_to_tell(tiny, folder):
    code, out, _ = tiny("sweep.k=10", "sweep.noise=gaussian")
    assert code == 0
    assert "data " not in out
    assert "data" not in json.loads((folder / "results.zarr/zarr.json").read_text())["attributes"]
    assert "data" not in json.loads((folder / "provenance.json").read_text())


def test_a_damaged_note_about_data_is_one_line(tiny, tiny_once, folder):
    tiny_once("sweep.k=10", "sweep.noise=gaussian")
    path = folder / "results.zarr" / "zarr.json"
    for text in ("x", "[1]", '{"a": 1}'):
        path.write_text(
            json.dumps(
                json.loads(path.read_text())
                | {"attributes": {**json.loads(path.read_text())["attributes"], "data": text}}
            )
        )
        code, _, err = tiny("draw")
        assert (code, err.count("\n")) == (2, 1)
        assert "is damaged" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["trials=100", "chunk=500"], "= 100 are rounded up to 500: whole chunks of 500; chunk=100 would run 100\n"),
        (["trials=1100", "chunk=500"], "trials = 1,100 are rounded up to 1,500: whole chunks of 500\n"),
        (["trials=1000", "chunk=500"], None),
        (["trials=100", "chunk=100"], None),
    ],
)
def test_more_trials_than_asked_for_are_announced(tiny, words, told):
    for name in ("plan", "run"):
        code, out, _ = tiny(name, "sweep.k=10", "sweep.noise=gaussian", *words)
        assert code == 0
        assert ("rounded up" in out) == (told is not None)
        assert (told or "") in out


def test_nothing_can_be_drawn_before_a_run(command, tmp_path):
    code, _, err = command("draw", "name=histogram")
    assert code == 2
    assert "results/histogram holds no results" in err
    assert everything(tmp_path) == []


def test_any_working_directory_will_do(command, monkeypatch, tmp_path):
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    visits(tmp_path)
    places = (f"data.path={tmp_path / 'visits.csv'}", f"results_dir={tmp_path / 'out'}", "name=here")
    monkeypatch.chdir(elsewhere)
    code, _, err = command(*CSV, "data.domain=5", *places)
    assert (code, err) == (0, "")
    assert everything(elsewhere) == []
    assert (tmp_path / "out/here/results.zarr/zarr.json").exists()


def test_several_runs_by_multirun(command, tmp_path):
    code, out, err = command("plan", "-m", "seed=1,2", "name=run_${seed}", *TINY, "sweep.noise=gaussian")
    assert (code, err) == (0, "")
    for seed in ("1", "2"):
        assert f"run_{seed}: 2 cells x 1,000 trials in 2 chunks, seed {seed}\n" in out
    assert everything(tmp_path) == []


@pytest.mark.slow
def test_several_runs_of_one_name_get_folders_of_their_own(command, tmp_path):
    words = (*TINY, "sweep.noise=gaussian", "sweep.k=[10],[1e6]", "seed=1,2")
    assert command("-m", *words)[0] == 0
    found = {path.name: json.loads((path / "run.json").read_text())["seed"] for path in tmp_path.glob("results/h*")}
    runs = [(seed, k) for seed in "12" for k in ("10", "1000000.0")]
    assert found == {f"histogram-sweep.k={k},seed={seed}": seed for seed, k in runs}
    assert all((tmp_path / "results" / name / "results.zarr/zarr.json").exists() for name in found)
    code, out, _ = command("-m", *words)
    assert code == 0
    assert out.count("nothing to simulate") == 4


LONG_NAMES = ["x" * 250, "'" + "é" * 100 + "'"]  # the second one is long in bytes only


@pytest.mark.parametrize("words", [["seed=1,1"], *(["mechanism.beta=0.1,0.2", f"name={name}"] for name in LONG_NAMES)])
def test_several_runs_that_cannot_be_told_apart_are_refused(command, tmp_path, words):
    code, out, err = command("-m", *TINY, *words)
    assert (code, out) == (2, "")
    assert is_one_line(err)
    assert "share a folder" in err
    assert "name=" in err
    assert everything(tmp_path) == []


@pytest.mark.parametrize(
    "word", ["name=(", "name='a", "name=é", "name=x=y", "sweep.where=k < 3", "sweep.where=k > 1 #", "name=a;b"]
)
def test_a_word_that_cannot_be_read_comes_with_one_that_can(command, word):
    code, _, err = command("plan", *TINY, word)
    assert code == 2
    assert is_one_line(err)
    assert err.startswith(f"tcdp-sim: {word} cannot be read")
    assert not re.search("ANTLR|Lexer|viable|hydra|EOF", err)
    (better,) = shlex.split(err.rsplit("the shell: ", 1)[1])
    code, _, err = command("plan", *TINY, better)
    assert code == 0 or "cannot be read" not in err


def test_brackets_in_a_folder_are_no_markup(command, tmp_path):
    code, out, _ = command("plan", *TINY, "results_dir='x[/bold]y'")
    assert code == 0
    assert "x[/bold]y/histogram" in out


@pytest.mark.parametrize(
    ("axis", "cells"),
    [
        ("sweep.omega_sqrt_rho={from: 1, to: 2, num: 5}", 8),
        ("sweep.omega={from: 4, to: 6, num: 4}", 7),
        ("sweep.omega=[4,5]", 5),
        ("sweep.omega_sqrt_rho=1", 4),
        ("sweep.omega_sqrt_rho=1 sweep.log10_delta=[-3,-6,-9]", 6),
        ("sweep.noise=laplace", 1),
    ],
)
def test_axes_of_the_experiment_are_replaced_in_any_form(command, axis, cells):
    code, out, err = command("plan", *TINY, "sweep.k=10", *split(axis))
    assert (code, err) == (0, "")
    assert f"histogram: {cells} cells" in out


def test_invalid_cells_are_left_out_on_demand(command):
    code, out, err = command("plan", *TINY, "sweep.k=10", "sweep.omega=[3,1.1]", "invalid=skip")
    assert (code, err) == (0, "")
    assert "4 cells" in out
    (line,) = [line for line in out.splitlines() if line.startswith("left out: ")]
    assert "noise=sinh_normal" in line
    assert "omega=1.1" in line


# Bad input

BAD = {
    "experiment=nope": ["experiment = 'nope'", "histogram"],
    "experiment.name=nope": ["experiment.name = 'nope'", "histogram"],
    "mechanism=nope": ["mechanism = 'nope'", "histogram"],
    "mechanism.name=nope": ["mechanism.name = 'nope'", "histogram"],
    "data=nope": ["data = 'nope'", "flights_dest"],
    "cluster=nope": ["cluster = 'nope'", "local", "serial"],
    "cluster.name=nope": ["cluster.name = 'nope'", "local", "serial"],
    "sweep.noise=nope": ["sweep.noise = nope", "gaussian, laplace"],
    "sweep.noise=[[gaussian]]": ["sweep.noise"],
    "sweep.data=nope": ["'nope'", "one_bin"],
    "sweep.rho=-1": ["rho = -1", "above 0"],
    "sweep.rho=0": ["rho = 0", "above 0"],
    "sweep.rho=nan": ["sweep.rho = nan"],
    "sweep.rho=[0.1,nan]": ["sweep.rho = nan"],
    "sweep.rho=[]": ["sweep.rho is empty"],
    "sweep.rho=abc": ["rho = 'abc'"],
    "sweep.rho=-inf": ["rho = -inf"],
    "sweep.log10_rho=400 sweep.rho=null": ["sweep.log10_rho = 400"],
    "sweep.k=0": ["k = 0.0", "1 to"],
    "sweep.k=0.5": ["k = 0.5", "1 to"],
    "sweep.k=-3": ["k = -3.0", "1 to"],
    "sweep.k=nan": ["sweep.k = nan"],
    "sweep.k=1e301": ["k = 1e+301", "1e+300"],
    "sweep.k=declared": ["one_bin", "needs k"],
    "sweep.rho={from: 1, to: 10}": ["sweep.rho", "num"],
    "sweep.rho={from: 1, to: 10, num: 1e9}": ["sweep.rho", "at most 1,000,000"],
    "sweep.omega=1": ["omega = 1", "1 < omega"],
    "sweep.omega=0.5": ["omega = 0.5", "1 < omega"],
    "sweep.omega=nan": ["sweep.omega = nan"],
    "sweep.omega=1.1": ["sinh_normal", "omega >= sqrt(2/(4 rho))"],
    "sweep.omega_sqrt_rho=-1": ["omega_sqrt_rho = -1"],
    "sweep.omega_sqrt_rho=0.1": ["omega = 0.316228", "1 < omega"],
    "sweep.delta=0": ["delta = 0", "0 < delta < 1"],
    "sweep.delta=1": ["delta = 1", "0 < delta < 1"],
    "sweep.delta=-1e-6": ["delta = -1e-06", "0 < delta < 1"],
    "sweep.delta=nan": ["sweep.delta = nan"],
    "sweep.zip=[[k,rho]] sweep.rho=[0.1,0.2,0.3]": ["sweep.zip", "equal length"],
    "sweep.where=[k]": ["sweep.where", "not a condition"],
    "sweep.cells=[{foo: 1}]": ["sweep.cells.foo", "omega_sqrt_rho"],
    "+sweep.foo=1": ["sweep.foo is not an axis", "omega_sqrt_rho"],
    "sweep.foo=1": ["sweep.foo", "omega_sqrt_rho"],
    "sweep=3": ["sweep = 3"],
    "~sweep": ["'sweep' is missing"],
    "~mechanism.beta": ["mechanism.beta is missing"],
    "mechanism.beta=0": ["beta = 0", "0 < beta < 1"],
    "mechanism.beta=nan": ["beta = nan"],
    "mechanism.beta=abc": ["beta = 'abc'"],
    "mechanism.sampling=nope": ["'nope'", "order_statistics, dense"],
    "mechanism.foo=1": ["mechanism.foo", "sampling, beta"],
    "data.n=-1": ["n = -1", "0 to 1e+12"],
    "data.n=nan": ["n = nan"],
    "data.foo=1": ["data.foo", "kind, shape, n"],
    "data=one_heavy data.fraction=2": ["fraction = 2", "0 to 1"],
    "seed=-1": ["seed = -1"],
    "seed=x": ["seed = 'x'"],
    "trials=0": ["trials = 0"],
    "trials=nan": ["trials = nan"],
    "trials=1.5": ["trials = 1.5"],
    "trials=1e12 chunk=1": ["1e+12 chunks are too many (1 cells of 1", "at most 100,000,000: chunk=10000 would do"],
    "chunk=0": ["chunk = 0"],
    "name=a/b": ["name = 'a/b'"],
    "invalid=nope": ["invalid = 'nope'", "refuse, skip"],
    "cluster=local cluster.workers=0": ["cluster.workers = 0", "1 to 1024"],
    "cluster=local cluster.workers=1.5": ["cluster.workers = 1.5"],
    "cluster=local cluster.workers=many": ["cluster.workers = 'many'"],
    "also={more: 3}": ["also.more = 3"],
    "also={more: {foo: 3}}": ["also.more.foo is not an axis"],
    "results_dir=/dev/null/x": ["/dev/null/x/histogram", "cannot be written", "choose another results_dir"],
    "results_dir=/proc/nope": ["/proc/nope/histogram", "cannot be written"],
    "results_dir=": ["results_dir = ''"],
    "sweep.cells=[{true: 1}]": ["sweep.cells: True is not an axis", "omega_sqrt_rho"],
    "cluster=[{a: 1}]": ["cluster=[{a: 1}] is not valid", "local, pbs"],
    "experiment=[[a]]": ["experiment=[[a]] is not valid", "histogram"],
    "a" * 5000 + "=1": ["too long"],
    "name=" + "x" * 300: ["name = 'xxx", "too long"],
    "results_dir=" + "z" * 5000: ["too long"],
    "bogus=1": ["bogus", "trials"],
    "+bogus=1": ["'bogus' is not a key", "trials"],
    "noise=gaussian": ["noise"],
    "seed": ["seed"],
    "sweep.k=[1,2": ["sweep.k=[1,2 cannot be read", "close every bracket"],
    "data=null": ["data=null is not valid", "one_bin"],
    "cluster=null": ["cluster=null is not valid", "local, pbs"],
    "=3": ["'=3' cannot be read", "KEY=VALUE"],
    "seed=1,2": ["write seed=[1,2] for a list", "--multirun"],
    "--bogus": ["--bogus", "--help"],
    "--config-name=nope": ["nope"],
    "seed=???": ["seed is not given"],
    "seed=${foo}": ["foo"],
    "name=${name}": ["name"],
    "hydra.run.dir=/dev/null/x": ["hydra.run.dir=/dev/null/x is not available"],
    "data=csv": ["data.path is not given"],
    "data=csv data.path=x.csv": ["data.column is not given"],
    "data.axes.k=[1] data=flights_dest data.axes.rho=[1]": ["data.axes.rho=[1]"],
    "+_target_=os.mkdir +path=ran": ["'_target_' is not a key"],
    "data._target_=os.mkdir": ["data._target_"],
    "+data._target_=os.mkdir +data.path=ran": ["'_target_'"],
    "+mechanism._target_=os.mkdir": ["'_target_' is not a key"],
    "+cluster._target_=os.mkdir": ["'_target_' is not a key"],
    "+experiment._target_=os.mkdir": ["'_target_' is not a key"],
    "+sweep._target_=os.mkdir": ["sweep._target_ is not an axis"],
}


def is_one_line(err):
    err = without_progress(err)
    return err.startswith("tcdp-sim: ") and err.endswith("\n") and err.count("\n") == 1 and "Traceback" not in err


@pytest.mark.parametrize("words", BAD)
def test_a_mistake_is_one_line_and_leaves_nothing(command, tmp_path, words):
    code, out, err = command(*TINY, *split(words))
    assert (code, out) == (2, "")
    assert is_one_line(err)
    for word in BAD[words]:
        assert word in err
    assert everything(tmp_path) == []
    assert not os.path.exists("/proc/nope")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["data.path=gone.csv"], ["gone.csv", "no such file"]),
        (["data.path=."], [".csv, .csv.gz, .parquet"]),
        (["data.path=3"], ["3 is not a path"]),
        (["data.column=nurse"], ["'nurse'", "'clinic', 'n'"]),
        (["data.count=nurse"], ["'nurse'", "'clinic', 'n'"]),
        (["data.count=clinic"], ["'a' is not a count"]),
        (["data.domain=null"], ["no domain is declared"]),
        (["data.domain=2"], ["3 distinct labels", "at most the 2 declared"]),
        (["data.domain=[a,b]"], ["'c'", "outside the 2 declared labels"]),
        (["data.domain={from: 0, to: 9}"], ["first 'a'", "0..9"]),
        (["data.domain={file: gone.csv, column: x}"], ["gone.csv", "no such file"]),
        (["data.domain=nan"], ["domain = nan"]),
        (["data.outside=ignore"], ["'ignore'", "error, drop, clip"]),
        (["data.nulls=ignore"], ["'ignore'", "error, drop"]),
        (["sweep.k=2"], ["k = 2", "5 bins"]),
    ],
)
def test_a_mistake_about_a_table_is_one_line_and_leaves_nothing(command, tmp_path, words, said):
    path = visits(tmp_path)
    code, out, err = command(*CSV, path, "data.domain=5", *words)
    assert (code, out) == (2, "")
    assert is_one_line(err)
    for word in said:
        assert word in err
    assert everything(tmp_path) == ["visits.csv"]


@pytest.mark.parametrize("change", ["seed=7", "chunk=250"])
def test_a_store_of_another_config_is_refused_and_left_alone(tiny, tiny_once, folder, change):
    tiny_once("sweep.k=10", "sweep.noise=gaussian")
    before = tree_digest(folder)
    code, _, err = tiny("sweep.k=10", "sweep.noise=gaussian", change)
    assert code == 2
    assert is_one_line(err)
    assert "belongs to another run" in err
    assert change.split("=")[1] in err
    assert tree_digest(folder) == before


def test_a_folder_of_something_else_is_refused_and_left_alone(tiny, folder):
    folder.mkdir(parents=True)
    (folder / "thesis.txt").write_text("mine")
    code, _, err = tiny()
    assert code == 2
    assert is_one_line(err)
    assert "not a run's folder" in err
    assert everything(folder) == ["thesis.txt"]


# Random words

FUZZ = {
    "sweep.noise": ["gaussian", "[laplace,sinh_normal]", "nope", "null", "[]", "1"],
    "sweep.data": ["one_bin", "[uniform,zipf]", "flights_dest", "x", "null"],
    "sweep.k": ["1", "1e300", "[2,3,3]", "declared", "-1", "nan", "{from: 1, to: 100, num: 5, scale: log}", "true"],
    "sweep.rho": ["0.1", "[1e-3,1]", "1e-9", "0", "inf", "'0.1'", "{from: 0.1, to: 1, num: 3}", "null"],
    "sweep.log10_rho": ["-1", "[0,-2]", "{from: -3, to: 0, num: 4}", "500"],
    "sweep.omega": ["5", "1", "[10,1e6]", "inf", "nan"],
    "sweep.omega_sqrt_rho": ["1", "0.01", "[0.75,2]", "-1", "x"],
    "sweep.delta": ["1e-6", "0", "0.99", "1e-300", "[1e-3,1e-6]"],
    "sweep.where": ["'k > 1'", "['rho < 1', 'omega >= 2']", "'noise == gaussian'", "x", "'k < k'", "'zz > 1'"],
    "sweep.zip": ["[[k,rho]]", "[k,omega]", "x", "[]", "[[[k]]]"],
    "sweep.cells": ["[{k: 5}]", "[{rho: 0.2, omega: 9}, {k: 7}]", "[]", "[1]", "{noise: gaussian}"],
    "also": ["null", "{b: {k: 4}}", "{b: {data: zipf}}", "{b: {data: nope}}", "1"],
    "data": ["one_bin", "uniform", "zipf", "flights_tailnum", "csv", "nope"],
    "data.n": ["0", "1", "1000", "-1", "1.5", "x"],
    "data.axes": ["null", "{k: 3}", "1"],
    "mechanism.beta": ["0.5", "0", "1", "x", "null"],
    "mechanism.sampling": ["dense", "order_statistics", "x"],
    "trials": ["1", "1e6", "0", "x"],
    "chunk": ["1", "1e7", "-1"],
    "seed": ["0", "-1", "1e10", "x"],
    "name": ["x", "''", "1", "[a]", "..", "'a b'"],
    "results_dir": ["x", "/dev/null/x", "null"],
    "invalid": ["skip", "refuse", "x"],
    "cluster": ["serial", "local", "x"],
    "cluster.workers": ["1", "0", "x"],
    "+extra": ["1"],
    "~sweep": [None],
    "~data.n": [None],
}


@pytest.mark.parametrize("seed", range(12))
def test_random_words_succeed_or_are_one_line(command, tmp_path, seed):
    rng = random.Random(seed)
    ends = []
    for _ in range(12):
        keys = rng.sample(sorted(FUZZ), rng.choice([1, 1, 2, 3, 5]))
        words = [key if FUZZ[key] == [None] else f"{key}={rng.choice(FUZZ[key])}" for key in keys]
        code, out, err = command("plan", *TINY, *words)
        assert (code == 0 and err == "") or (code == 2 and out == "" and is_one_line(err)), words
        ends.append(code)
    assert set(ends) == {0, 2}
    assert everything(tmp_path) == []


# Ctrl-C

LONG = ("trials=5e6", "chunk=20000", "sweep.noise=gaussian", "sweep.k=10", "sweep.rho=0.1", "also=null")
CLUSTERS = {"serial": ("cluster=serial",), "local": ("cluster=local", "cluster.workers=2")}


def chunks_written(folder):
    """How many chunks the journal holds; its first record is none, it says who writes."""
    records = (payload for _, _, payload in journal.read(folder / "journal"))
    return sum(payload is not None and payload.startswith(b"C") for payload in records)


def _hear_ctrl_c():
    """A shell that runs the tests in the background has told them, and so their children, to ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("cluster", ["serial", pytest.param("local", marks=pytest.mark.slow)])
def test_ctrl_c_says_what_is_kept_and_the_same_command_finishes(command, tmp_path, cluster):
    words = (*CLUSTERS[cluster], *LONG)
    folder = tmp_path / "results/histogram"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = subprocess.Popen([*SCRIPT, *words], cwd=tmp_path, preexec_fn=_hear_ctrl_c, **pipes)
    try:
        deadline = time.monotonic() + PATIENCE
        while chunks_written(folder) == 0 and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        workers = psutil.Process(running.pid).children(recursive=True)
        assert bool(workers) == (cluster == "local")
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=PATIENCE)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 130
    assert is_one_line(err)
    assert "chunks are kept in results/histogram; the same command goes on from there" in err
    assert psutil.wait_procs(workers, timeout=PATIENCE)[1] == []
    kept, total = (int(word) for word in err.split("interrupted: ")[1].split(" chunks")[0].split(" of "))
    assert 0 < kept < total
    assert not (folder / "results.zarr").exists()
    assert f"to simulate: {total - kept} of {total} chunks" in command("plan", *words)[1]
    code, out, err = command(*words)
    assert (code, err) == (0, "")
    assert f"{total - kept} of {total} chunks to simulate" in out
    assert (folder / "results.zarr/zarr.json").exists()


def members(session):
    """The living processes of a session: a program that was started in one of its own, and all it started."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def signals(pid, kind):
    """The signals that a process catches (kind "SigCgt") or has still to hear ("ShdPnd")."""
    status = Path(f"/proc/{pid}/status").read_text()
    mask = int(re.search(rf"^{kind}:\t([0-9a-f]+)$", status, re.MULTILINE)[1], 16)
    return {number for number in signal.Signals if mask >> (number - 1) & 1}


def loaded(pid, library):
    """Whether the process has mapped a file of that library."""
    return f"/{library}/" in Path(f"/proc/{pid}/maps").read_text()


MOMENTS = {  # what the driver has done: (its process id, its folder) -> whether it has
    "it listens": lambda pid, folder: signal.SIGTERM in signals(pid, "SigCgt"),
    "numpy is loaded": lambda pid, folder: loaded(pid, "numpy"),
    "the folder is there": lambda pid, folder: (folder / "run.json").exists(),
    "a worker starts": lambda pid, folder: psutil.Process(pid).children(),
    "a chunk is written": lambda pid, folder: chunks_written(folder) > 0,
    "ten chunks are written": lambda pid, folder: chunks_written(folder) >= 10,
}


def wait_until(running, done):
    """Wait for what a process is to do, as long as it lives; minutes on a machine that is busy with other things."""
    deadline = time.monotonic() + PATIENCE
    while not done() and running.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_signal_to_the_whole_group_at_any_moment(command, tmp_path, moment, number):
    """As a terminal sends it, and again as soon as it was heard: before, during and after the workers' start."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    words = (*CLUSTERS["local"], *LONG, "trials=5e7")
    running = subprocess.Popen(
        [*SCRIPT, *words], cwd=tmp_path, start_new_session=True, preexec_fn=_hear_ctrl_c, **pipes
    )
    try:
        wait_until(running, lambda: MOMENTS[moment](running.pid, tmp_path / "results/histogram"))
        sent_to_group(running.pid, number)
        wait_until(running, lambda: number not in signals(running.pid, "ShdPnd"))
        sent_to_group(running.pid, number)
        _, err = running.communicate(timeout=PATIENCE)
        assert psutil.wait_procs(members(running.pid), timeout=PATIENCE)[1] == []
    finally:
        for process in members(running.pid):
            sent(process.pid)
        running.wait()
    assert running.returncode == 130, err
    assert is_one_line(err)
    assert "the same command goes on" in err
    code, out, err = command("plan", *words)
    assert (code, err) == (0, "")
    assert "of 2500 chunks" in out


LOST = """
import signal
from tcdp_sim.engine import interrupts, schedule
from tcdp_sim.engine.simulate import Done

class Collected:
    def __del__(self):
        signal.raise_signal(signal.{number})  # Python prints and drops what is raised in here

class Executor:
    workers = 1
    def results(self, tasks, work, uses):
        Collected()
        for size in 1, 2:
            print("result", size, flush=True)
            yield Done((), "", float(size), 1.0)

interrupts.listen()
try:
    schedule.simulate(Executor(), [], 0, {{}}, 0, 1, print)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupt_that_python_drops_ends_the_run_all_the_same(name):
    done = subprocess.run(
        [sys.executable, "-c", LOST.format(number=name)],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=_hear_ctrl_c,
    )
    assert "Exception ignored in" in done.stderr
    assert done.stdout.splitlines() == ["result 1", "interrupted"]


TWICE = """
import signal
from tcdp_sim.engine import interrupts

interrupts.listen()
try:
    signal.raise_signal(signal.SIGTERM)
except KeyboardInterrupt:
    signal.raise_signal(signal.SIGTERM)
    print("ends in order")
    try:
        signal.raise_signal(signal.SIGTERM)
    except KeyboardInterrupt:
        print("at once")
"""


def test_a_second_signal_does_not_end_the_end_and_a_third_does():
    done = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("ends in order\nat once\n", "")


def test_held_signals_are_heard_at_the_end():
    done = []

    def work():
        with interrupts.held():
            signal.raise_signal(signal.SIGINT)
            done.append("the block")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.signal(signal.SIGINT, before)
    assert done == ["the block"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, set())


def test_signals_that_are_ignored_stay_so():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts.held():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_nothing_is_held_outside_the_main_thread():
    found = []

    def work():
        with interrupts.held():
            found.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [1]
