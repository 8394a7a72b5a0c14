"""The power fails at any moment of a run: the same command puts it right, and nothing twice.

What a failure may leave is worked out in torture/power.py; `make blackout` tries hundreds of states, with figures.
"""

import random
from collections import Counter
from pathlib import Path

import pytest
from torture.power import Failure, Recorder, Sync, failures, published, recorded

from tcdp_sim.core import system
from tcdp_sim.store import durable, journal
from tcdp_sim.store.run_folder import CHUNK
from tcdp_sim.summaries.decoding import decoded

WORDS = ("trials=60", "chunk=10", "sweep.k=10", "sweep.omega_sqrt_rho=1", "sweep.noise=[gaussian,laplace]", "name=r")
CHUNKS = 12


@pytest.fixture
def undrawn(tiny, monkeypatch):
    """The command without its figures, in results_dir: undrawn(folder) -> (exit code, stdout, stderr)."""
    monkeypatch.setattr("tcdp_sim.cli.draw.main", lambda raw, console: None)
    return lambda folder, *words: tiny(*WORDS, f"results_dir={folder}", *words)


def whole_records(folder: Path) -> Counter:
    """(cell, chunk) -> how many whole records there are."""
    payloads = (payload for _, _, payload in journal.read(folder / "journal"))
    summaries = (decoded(payload[1:]) for payload in payloads if payload and payload[:1] == CHUNK)
    return Counter((summary.cell, *summary.chunks) for summary in summaries)


def recorded_run(undrawn, home, monkeypatch) -> Recorder:
    home.mkdir()
    with recorded(home, monkeypatch) as recorder:
        code, _, err = undrawn(home)
    assert code == 0, err
    return recorder


@pytest.mark.slow
def test_the_same_command_heals_what_a_power_failure_leaves(undrawn, tmp_path, monkeypatch):
    """And of a run that has ended everything is on the disk, so that nothing has to be healed."""
    recorder = recorded_run(undrawn, tmp_path / "run", monkeypatch)
    expected = published(tmp_path / "run" / "r")
    assert recorder.syncs > 100
    Failure(recorder, len(recorder.steps), "synced", random.Random(1)).leave(tmp_path / "end")
    assert published(tmp_path / "end" / "r") == expected
    assert set(whole_records(tmp_path / "end" / "r").values()) == {1}
    assert "2 cells, 12 chunks, all as certified" in undrawn(tmp_path / "end", "verify")[1]
    for i, failure in enumerate(failures(recorder, 1, 20)):
        failure.leave(tmp_path / f"{i}")
        code, out, err = undrawn(tmp_path / f"{i}")
        assert code == 0, (failure.name, out, err)
        folder = tmp_path / f"{i}" / "r"
        assert published(folder) == expected, failure.name
        records = whole_records(folder)
        assert (len(records), set(records.values())) == (CHUNKS, {1}), failure.name


@pytest.mark.slow
def test_records_are_on_the_disk_once_they_were_synced(undrawn, tmp_path, monkeypatch):
    """With a sync after every write: whenever something was synced, all records but those of one write are there."""
    written, extend = [0], journal.Writer.extend

    def counted(self, payloads):
        written.append(written[-1] + sum(payload[:1] == CHUNK for payload in payloads))
        return extend(self, payloads)

    monkeypatch.setattr(journal, "SYNC_SECONDS", -1.0)
    monkeypatch.setattr(journal.Writer, "extend", counted)
    recorder = recorded_run(undrawn, tmp_path / "run", monkeypatch)
    expected = sorted(set(written))
    assert expected[-1] == CHUNKS
    seen = []
    for step in range(recorder.start, len(recorder.steps) + 1):
        if step < len(recorder.steps) and not isinstance(recorder.steps[step - 1], Sync):
            continue
        left = tmp_path / f"{step}"
        Failure(recorder, step, "synced", random.Random(1)).leave(left)
        seen.append(len(whole_records(left / "r")))
        if seen[-1] == CHUNKS:
            break
    assert seen == sorted(seen)
    assert sorted(set(seen)) == expected


# The model itself


def test_only_what_was_synced_is_left_for_sure(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    with recorded(home, monkeypatch) as recorder:
        (home / "lost").write_text("x")
        (home / "named").write_text("y")
        durable.sync_folder(home)
        (home / "nameless").write_text("z")
        system.sync_file(home / "nameless")
        durable.write(home / "kept", "w")
        (home / "kept").rename(home / "moved")
    Failure(recorder, len(recorder.steps), "synced", random.Random(1)).leave(tmp_path / "left")
    found = {path.name: path.read_text() for path in (tmp_path / "left").iterdir()}
    assert found == {"lost": "", "named": "", "nameless": "z", "kept": "w"}


def test_states_differ_and_hold_nothing_that_never_was(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    with recorded(home, monkeypatch) as recorder:
        for text in ("ab", "abcdef", "ghi"):
            durable.write(home / "file", text)
    assert isinstance(recorder, Recorder)
    found = set()
    for i, failure in enumerate(failures(recorder, 3, 60)):
        failure.leave(tmp_path / f"{i}")
        path = tmp_path / f"{i}" / "file"
        found.add(path.read_text() if path.exists() else None)
    assert found == {None, "ab", "abcdef", "ghi"}  # a file that is replaced is never torn
