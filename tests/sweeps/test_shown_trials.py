"""What no source shows is seen by trials: a data file that changes between runs, parts, and runs that are merged."""

import csv
import os

import pytest

import tcdp_sim
from tcdp_sim.store import source

FUNCTION = """
from pathlib import Path

def f(rng, trials, n, kind):
    shift = float(Path("data.txt").read_text()) if kind == "read" and n == 3 else 0.0
    return rng.normal(size=trials) + shift
"""
WORDS = ("sweep", "m.py:f", "sweep.n=[1,2,3]", "sweep.kind=[plain,read]", "chunk=100", "cluster=serial")


@pytest.fixture
def files(command, tmp_path, monkeypatch):
    """files(shift): the folder of a function whose data file, that one of its cells reads, holds this number."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(FUNCTION)

    def write(shift):
        (tmp_path / "data.txt").write_text(f"{shift}")

    write(0.0)
    return write


def means(command, folder="results/f"):
    """The mean of each cell."""
    code, out, err = command("table", folder)
    assert code == 0, err
    rows = (row for row in csv.DictReader(out.splitlines()) if row["quantity"] == "value")
    return {(float(row["n"]), row["kind"]): float(row["value"]) for row in rows}


def test_a_resume_with_other_data_starts_anew(command, files):
    """The file is read in one cell of six, the last one."""
    assert command(*WORDS, "trials=200")[0] == 0
    code, out, err = command(*WORDS, "trials=400")
    assert (code, "draws other numbers" in out + err) == (0, False)
    files(10.0)
    code, out, err = command(*WORDS, "trials=600")
    assert code == 0
    assert "draws other numbers than before" in " ".join((out + err).split())
    found = means(command)
    assert abs(found[3, "read"] - 10) < 0.5
    assert max(abs(value) for at, value in found.items() if at != (3, "read")) < 0.5


def test_a_file_that_is_lost_discards_nothing(command, files):
    assert command(*WORDS, "trials=200")[0] == 0
    os.rename("data.txt", "away.txt")
    code, _, err = command(*WORDS, "trials=400")
    assert code != 0
    assert "n=3" in err
    assert "FileNotFoundError" in err
    os.rename("away.txt", "data.txt")
    code, out, _ = command(*WORDS, "trials=400")
    assert code == 0
    assert "12 of 24 chunks to simulate" in out


def test_parts_with_other_data_are_not_published(command, files):
    assert command(*WORDS, "trials=400", "part=1/2")[0] == 0
    files(10.0)
    assert command(*WORDS, "trials=400", "part=2/2")[0] == 0
    code, _, err = command("finish", "results/f")
    assert code == 2
    assert "part 1/2 of" in err
    assert "part 2/2 of" in err
    assert "kind=read n=3" in " ".join(err.split())
    code, out, _ = command("status", "results/f")
    assert "drew other numbers at kind=read n=3" in " ".join(out.split())
    code, out, err = command(*WORDS, "trials=400", "part=1/2")
    assert code == 0
    assert "part 1/2: the function draws other numbers than before" in " ".join((out + err).split())
    assert command("finish", "results/f")[0] == 0
    assert abs(means(command)[3, "read"] - 10) < 0.5


EXACT = (
    FUNCTION
    + """
def known(n, kind):
    return float(Path("data.txt").read_text()) if kind == "read" and n == 3 else 0.0
"""
)


def test_exact_values_of_parts_that_read_other_data_are_computed_anew(command, files, tmp_path, monkeypatch):
    """All of them, if the function draws other numbers now, even where none is tried."""
    monkeypatch.setattr("tcdp_sim.engine.exact.TRIED", -1.0)
    (tmp_path / "m.py").write_text(EXACT)
    words = (*WORDS, "trials=400", "exact.value=known")
    for shift in (0.0, 10.0):
        files(shift)
        for part in ("1/2", "2/2"):
            assert command(*words, f"part={part}")[0] == 0
    code, out, err = command("finish", "results/f")
    assert code == 0, err
    assert "6 simulated numbers have an exact one beside them; none contradicts" in " ".join(out.split())
    files(-5.0)
    code, out, err = command(*words)
    assert code == 0, err
    assert "none contradicts" in " ".join(out.split())
    assert abs(means(command)[3, "read"] + 5) < 0.5


def test_other_code_is_refused_before_anything_is_discarded(command, files, monkeypatch):
    """Both have changed: with code=any the chunks are discarded, because the function draws other numbers."""
    assert command(*WORDS, "trials=200")[0] == 0
    files(10.0)
    with monkeypatch.context() as patch:
        patch.setattr(source, "own", lambda: "edited")
        patch.setattr(source, "loaded", source.loaded.__wrapped__)
        code, _, err = command(*WORDS, "trials=400")
        assert (code, "another state of the files of tcdp_sim" in " ".join(err.split())) == (2, True)
    files(0.0)
    code, out, _ = command(*WORDS, "trials=400")
    assert (code, "12 of 24 chunks to simulate" in out) == (0, True)


def test_threads_of_linear_algebra_are_not_taken_for_other_data(tmp_path, capsys):
    """The sum of 200,000 products has other last bits with one thread, as a worker has, than with several."""

    def product(rng, trials, n):
        x = rng.normal(size=200_000)
        return rng.random(trials) + x @ x

    found = tcdp_sim.sweep(product, {"n": [1]}, trials=40, chunk=20, cluster={"name": "local", "workers": 1})
    assert float(found["value"]) == pytest.approx(200_000, rel=0.02)


def test_runs_of_other_data_are_not_merged(command, files):
    assert command(*WORDS, "trials=200", "name=here")[0] == 0
    files(10.0)
    assert command(*WORDS[:2], "sweep.n=[3,4]", *WORDS[3:], "trials=200", "name=there")[0] == 0
    code, _, err = command("merge", "results/here", "results/there")
    assert code == 2
    assert "drew other numbers at kind=read n=3" in " ".join(err.split())


def test_what_a_merged_run_has_read_is_known_of_the_whole(command, files):
    """Only the run that is taken in has the cell that reads the file."""
    files(10.0)
    assert command(*WORDS[:2], "sweep.n=[1,2]", *WORDS[3:], "trials=200", "name=here")[0] == 0
    assert command(*WORDS[:2], "sweep.n=3", *WORDS[3:], "trials=200", "name=there")[0] == 0
    assert command("merge", "results/here", "results/there")[0] == 0
    files(0.0)
    code, out, err = command(*WORDS, "trials=400", "name=here")
    assert code == 0
    assert "draws other numbers than before" in " ".join((out + err).split())
    assert abs(means(command, "results/here")[3, "read"]) < 0.5


def test_a_resume_by_other_code_is_refused(command, files, monkeypatch):
    assert command(*WORDS, "trials=200")[0] == 0
    assert (
        command("run", "trials=20", "chunk=20", "sweep.k=10", "sweep.rho=1", "sweep.noise=laplace", "also=null")[0] == 0
    )
    monkeypatch.setattr(source, "own", lambda: "edited")
    monkeypatch.setattr(source, "loaded", source.loaded.__wrapped__)
    for words, folder in ((WORDS, "f"), (("status", "results/f"), "f"), (("finish", "results/f"), "f")):
        code, out, err = command(*words)
        said = " ".join((out + err).split())
        assert code == (0 if "status" in words else 2), words
        assert f"results/{folder} has chunks of another state of the files of tcdp_sim" in said
    code, out, err = command(
        "run", "trials=40", "chunk=20", "sweep.k=10", "sweep.rho=1", "sweep.noise=laplace", "also=null"
    )
    assert code == 2
    assert "code=any" in " ".join(err.split())
    code, out, err = command(*WORDS, "trials=400", "code=any")
    assert code == 0
    assert "warning: results/f has chunks of another state" in " ".join((out + err).split())
