"""Commands about runs: they take a folder, and nothing else has to be known of its study."""

import json
import os
import re
import shutil

import pytest

from tcdp_sim.cli import listing
from tcdp_sim.mechanisms import MECHANISMS
from tcdp_sim.store import run_settings
from tcdp_sim.store.digests import tree_digest
from tcdp_sim.study import groups

WORDS = ("cluster=serial", "trials=1000", "chunk=500", "also=null", "sweep.rho=0.1", "seed=12")
# an order of axes and values that sorting would change
CELLS = ("sweep.noise=[sinh_normal,gaussian]", "sweep.k=[1e6,10]", "sweep.omega_sqrt_rho=[2,0.75]")


@pytest.fixture
def ran(ran_once, tmp_path):
    ran_once(*WORDS, *CELLS, "name=mine")
    return tmp_path / "results" / "mine"


def test_a_folder_and_the_words_of_its_study_say_the_same(command, ran):
    for name, more in (("status", ()), ("verify", ("sample=100",)), ("draw", ())):
        by_folder = command(name, "results/mine", *more)
        by_words = command(name, *WORDS, *CELLS, "name=mine", *more)
        assert by_folder[0] == by_words[0] == 0
        ago = re.compile(r"last written \d+ s ago")
        assert ago.sub("", by_folder[1]) == ago.sub("", by_words[1])


def test_verify_certifies_what_another_order_of_the_same_keys_would_not_be(command, ran):
    code, out, _ = command("verify", "results/mine", "sample=100")
    assert code == 0
    assert "certificate: 6 cells, 12 chunks, all as certified" in out
    assert "that is every chunk" in out


def test_a_run_that_was_moved_is_read_where_it_is(command, ran, tmp_path):
    elsewhere = tmp_path / "a" / "b"
    elsewhere.parent.mkdir()
    shutil.move(ran, elsewhere)
    for place in ("a/b", "a/b/", str(elsewhere), "a/b/results.zarr"):
        code, out, err = command("status", place)
        assert (code, err) == (0, "")
        assert "12 of 12 chunks, 6 of 6 cells done" in out
    os.chdir(elsewhere)
    assert "12 of 12 chunks" in command("status", ".")[1]
    assert not (elsewhere / "results").exists()


@pytest.mark.parametrize("damage", ["gone", "torn", "forged", "not ours"])
def test_settings_come_from_the_journal_where_provenance_is_damaged(command, ran, damage):
    path = ran / "provenance.json"
    right = run_settings.settings_of(ran)
    text = path.read_text()
    if damage == "gone":
        path.unlink()
    else:
        path.write_text({"torn": text[:200], "forged": text.replace("2018", "2019"), "not ours": "[1]"}[damage] + " ")
    assert run_settings.settings_of(ran) == right
    assert right.seed == 12
    assert "12 of 12 chunks" in command("status", "results/mine")[1]


def test_a_run_that_tells_nothing_is_one_line(command, ran):
    (ran / "provenance.json").unlink()
    shutil.rmtree(ran / "journal")
    code, out, err = command("status", "results/mine")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "cannot be read" in err


def test_replay_and_its_bits(command, ran):
    cell = next(iter(json.loads((ran / "certificate.json").read_text())["cells"]))
    code, out, _ = command("replay", "results/mine", f"cell={cell}", "index=1")
    assert code == 0
    assert "the same bits as stored" in out
    code, _, err = command("replay", "results/mine")
    assert code == 2
    assert "cell is not given" in err


def test_two_runs_compared_and_merged(command, ran, tmp_path):
    assert command(*WORDS, "seed=13", *CELLS, "name=other")[0] == 0
    assert "same within Monte Carlo error" in command("diff", "results/mine", "results/other")[1]
    code, _, err = command("merge", "results/mine", "results/other")
    assert code == 2
    assert "another" in err or "seed" in err
    assert command(*WORDS, *CELLS, "trials=1500", "name=longer")[0] == 0
    assert command("merge", "results/longer", "results/mine")[0] == 0
    merged = tmp_path / "results" / "longer" / "results.zarr"
    shutil.rmtree(tmp_path / "results" / "mine")
    assert command(*WORDS, *CELLS, "trials=1500", "name=mine")[0] == 0
    assert tree_digest(merged.resolve()) == tree_digest((tmp_path / "results/mine/results.zarr").resolve())


def test_an_unfinished_run_and_a_finished_one_are_listed(command, ran, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("tcdp_sim.engine.run._table", lambda *_: 1 / 0)  # after simulating, before publishing
        with pytest.raises(ZeroDivisionError):
            command(*WORDS, *CELLS, "name=half")
    (tmp_path / "results" / "no run").mkdir()
    lines = {line.name: line for line in listing.lines(tmp_path / "results")}
    assert set(lines) == {"mine", "half"}
    mine = lines["mine"]
    assert (mine.state, mine.contradictions, mine.experiment) == ("6 cells", "none", "histogram")
    assert (lines["half"].state, lines["half"].contradictions) == ("stopped at 12 of 12 chunks", "not looked for")
    (ran / "contradictions.csv").write_text('alarm,where\n1,"two\nlines"\n2,b\n')
    assert {line.name: line.contradictions for line in listing.lines(tmp_path / "results")}["mine"] == "2"
    code, out, _ = command("list")
    assert code == 0
    assert "mine" in out
    assert "stopped at" in out
    assert "holds no run" in command("list", "results/mine")[1]


@pytest.mark.parametrize("name", groups.options("experiment"))
def test_every_experiment_is_described(command, name):
    code, out, err = command("describe", name)
    assert (code, err) == (0, "")
    assert groups.named("experiment", name)["experiment"]["question"][:40] in out
    assert "Axes of the sweep" in out
    assert "What a trial yields" in out


def test_a_long_list_of_names_is_whole_in_a_narrow_terminal(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = command("describe", "histogram")
    assert f"noise: {', '.join(groups.options('noise'))}" in out


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=lambda mechanism: mechanism.name)
def test_every_axis_of_a_mechanism_is_declared_in_full(mechanism):
    for name, axis in mechanism.axes.items():
        assert name == axis.name
        assert axis.meaning
        assert axis.valid or axis.kind == "option"
        assert bool(axis.unit) == (axis.kind in ("number", "whole"))


MISTAKES = [
    ("stauts results/mine", "no command.*did you mean status"),
    ("verify results/mine smple=3", "'smple' is not a key.*did you mean sample"),
    ("verify results/mine sample=many", "sample = 'many' is not valid; valid: a whole number"),
    ("verify results/mine sample=0", "sample = 0 is not valid; valid: a whole number of chunks, at least 1"),
    ("status", "status takes RUN, not nothing"),
    ("status a b", "status takes RUN, not a b"),
    ("status nowhere", "nowhere holds no run"),
    ("run my_file.py:f", "my_file.py:f is a function, which follows the word sweep"),
    ("script slurm my_file.py:f parts=3", "my_file.py:f is a function, which follows the word sweep"),
    ("draw nowhere", "nowhere holds no results"),
    ("diff results/mine", "diff takes RUN FOLDER"),
    ("diff results/mine nowhere", "nowhere holds no results"),
    ("merge results/mine nowhere", "nowhere holds no run"),
    ("list nowhere", "nowhere.*give a folder of runs"),
    ("describe histogrm", "did you mean histogram"),
    ("replay results/mine cell=zz", "no cell's id begins with 'zz'"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES)
def test_a_mistake_is_one_line(command, ran, words, said):
    code, out, err = command(*words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert re.search(said, err)


def test_a_list_of_nothing_says_so(command, tmp_path):
    assert command("list")[:2] == (0, "no run has been started here: there is no folder results\n")
    (tmp_path / "results").mkdir()
    assert command("list")[:2] == (0, "results holds no run\n")
    assert command("list", "nowhere")[0] == 2


def test_several_runs_leave_nothing_before_they_are_checked(command, tmp_path):
    code, _, err = command("--multirun", "trials=0,1", "results_dir=made\x1b[2J")
    assert (code, err.count("\n")) == (2, 1)
    code, _, err = command("trials=0,1", "--multirun")
    assert (code, "trials = 0" in err) == (2, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("workers", ["{where: x}", "0", "many"])
def test_workers_of_a_serial_cluster_are_a_number_or_none(command, workers):
    code, _, err = command("plan", "cluster=serial", f"++cluster.workers={workers}")
    assert (code, "cluster.workers = " in err) == (2, True)
