"""Exact values of a kept sweep: stored once, computed anew where their functions give others now."""

from pathlib import Path

import pytest

import tcdp_sim
from tcdp_sim.store import exact_columns, journal
from tcdp_sim.sweeps import exact

FILE = """
from pathlib import Path


def largest(rng, trials, n):
    return rng.random((trials, n)).max(axis=1)


def known(n):
    return n / (n + 1)


def read(n):
    return float(Path("data.txt").read_text()) if n == 4 else 0.5
"""
WORDS = ("my_file.py:largest", "sweep.n=[1,4,9]", "trials=200", "chunk=100", "cluster=serial")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my_file.py").write_text(FILE)
    Path("data.txt").write_text("0.8")
    return Path("results/largest")


def largest(rng, trials, n):
    return rng.random((trials, n)).max(axis=1)


def files(run):
    return {path: path.read_bytes() for path in sorted((run / "exact").iterdir())}


def published(run):
    flat = tcdp_sim.results.open_cells(run).load()
    return dict(zip(flat["n"].values.tolist(), flat["value_mean_exact"].values.tolist()))


def test_values_are_stored_once_and_found_again(command, folder, monkeypatch):
    """However many cells are tried again, nothing is written for them, and the published table stays."""
    assert command("sweep", *WORDS, "exact.value=known")[0] == 0
    before, tree = files(folder), (folder / "results.zarr").resolve()
    inode = tree.stat().st_ino
    calls, value = [], exact.value
    monkeypatch.setattr(exact, "value", lambda *given: calls.append(given) or value(*given))
    assert command("sweep", *WORDS, "exact.value=known")[0] == 0
    assert len(calls) == 1 + 3
    monkeypatch.setattr("tcdp_sim.engine.exact.TRIED", -1.0)
    assert command("sweep", *WORDS, "exact.value=known")[0] == 0
    assert len(calls) == 1 + 3 + 1
    assert files(folder) == before
    assert (folder / "results.zarr").resolve().stat().st_ino == inode


@pytest.mark.parametrize("part", [(), ("part=1/1",)], ids=["whole", "part"])
def test_a_function_that_reads_other_data_now_is_called_anew(command, folder, part):
    """The data are of one cell, and the simulated function does not read them."""
    for value in ("0.8", "0.7"):
        Path("data.txt").write_text(value)
        command("sweep", *WORDS, "exact.value=read", *part)
        if part:
            command("finish", str(folder))
        assert published(folder) == {1: 0.5, 4: float(value), 9: 0.5}
        assert len(files(folder)) == 1


def test_a_function_without_identity_is_always_called(tmp_path):
    """Its values are told apart by nothing but themselves, at whatever cell they change."""

    class Carried:
        def __init__(self, last):
            self.last, self.other = last, object()

        def __call__(self, n):
            return self.last if n == 399 else n / (n + 1)

    for last in (0.997, 0.998):
        asked = {"trials": 10, "exact": {"value": Carried(last)}, "name": "x", "results_dir": tmp_path}
        tcdp_sim.sweep(largest, {"n": range(1, 400)}, **asked)
        assert published(tmp_path / "x")[399] == last


def test_a_sweep_without_exact_values_forgets_those_of_an_earlier_one(command, folder):
    """No later `finish` publishes them."""
    assert command("sweep", *WORDS, "exact.value=known")[0] == 0
    assert command("sweep", *WORDS)[0] == 0
    assert not files(folder)
    assert "no part has exact values" in command("finish", str(folder))[1]


def test_values_of_parts_come_before_those_of_the_whole_sweep(command, folder):
    """Other functions are an error between parts alone."""
    assert command("sweep", *WORDS, "exact.value=0.7", "bound.value=1")[0] == 3
    for i in (1, 2):
        assert command("sweep", *WORDS, "exact.value=known", f"part={i}/2")[0] == 0
    assert command("finish", str(folder))[0] == 0
    assert published(folder) == {1: 0.5, 4: 0.8, 9: 0.9}
    assert "value_mean_bound" in tcdp_sim.results.open_cells(folder)


def test_a_part_without_cells_names_the_functions_too(command, folder):
    """A command that is lacking has their words."""
    one = ("sweep", WORDS[0], "sweep.n=4", *WORDS[2:], "exact.value=known")
    for i in range(1, 5):
        if not list(folder.glob("exact/*")):
            assert command(*one, f"part={i}/4")[0] == 0
            empty = not exact_columns.stored(folder)["value_mean_exact"].values
            assert exact_columns.words(folder) == ["exact.value=known"]
            if empty:
                assert list(journal.segments(folder / "exact").values()) != [0]
                return
            for path in folder.glob("exact/*"):
                path.unlink()
    raise AssertionError("every part has cells")


def test_an_error_of_an_exact_value_at_the_first_cell_comes_before_anything_is_simulated(tmp_path):
    with pytest.raises(tcdp_sim.Failure, match="cell n=1: exact value of value: ZeroDivisionError"):
        tcdp_sim.sweep(largest, {"n": [1, 2]}, exact={"value": lambda n: 1 / 0}, name="x", results_dir=tmp_path)
    assert not list(tmp_path.glob("x/journal/*"))


@pytest.mark.parametrize("at", [1, 2])
def test_a_value_of_a_wrong_form_is_refused_at_any_cell(tmp_path, at):
    """A function refuses a point with ValueError, and that is no mistake."""

    def known(n):
        if n == 3:
            raise ValueError(n)
        return "a" if n == at else n / (n + 1)

    asked = {"trials": 100, "name": "x", "results_dir": tmp_path}
    with pytest.raises(tcdp_sim.UserError, match=f"cell n={at}: exact value of value: 'a' is not a number"):
        tcdp_sim.sweep(largest, {"n": [1, 3, 2]}, exact={"value": known}, **asked)


def test_an_error_at_a_later_cell_keeps_the_chunks_and_names_it(tmp_path):
    asked = {"trials": 100, "name": "x", "results_dir": tmp_path}
    with pytest.raises(tcdp_sim.Failure, match="cell n=2: exact value of value: ZeroDivisionError"):
        tcdp_sim.sweep(largest, {"n": [1, 2]}, exact={"value": lambda n: 1 / (2 - n)}, **asked)
    found = tcdp_sim.sweep(largest, {"n": [1, 2]}, exact={"value": lambda n: n / (n + 1)}, **asked)
    assert found["value_exact"].values.tolist() == [0.5, 2 / 3]
