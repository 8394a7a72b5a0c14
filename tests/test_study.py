"""What a run says and keeps when something outside it goes wrong."""

import json
import os

import pytest

from tcdp_sim import provenance, simulate
from tcdp_sim.store import tree_digest


def snapshot(folder):
    return tree_digest((folder / "results.zarr").resolve())


def test_a_full_disk_is_one_line_and_loses_nothing(tiny, folder, monkeypatch):
    real, room = os.write, [30_000]

    def write(file, data):
        if len(data) > room[0]:
            raise OSError(28, "No space left on device")
        room[0] -= len(data)
        return real(file, data)

    monkeypatch.setattr(os, "write", write)
    monkeypatch.setattr("tcdp_sim.engine.TASK_SECONDS", 1e-9)
    code, _, err = tiny()
    assert code == 2
    assert err.count("\n") == 1
    assert "No space left on device" in err
    assert "what was finished is kept" in err
    monkeypatch.undo()


def test_after_a_full_disk_the_same_command_ends_as_if_nothing_had_happened(tiny, folder, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        real, calls = os.write, []

        def write(file, data):
            calls.append(1)
            if len(calls) > 5:
                raise OSError(28, "No space left on device")
            return real(file, data)

        patch.setattr(os, "write", write)
        patch.setattr("tcdp_sim.engine.TASK_SECONDS", 1e-9)
        assert tiny()[0] == 2
    code, out, _ = tiny()
    assert code == 0
    assert "20 of 24 chunks to simulate" in out
    assert tiny("name=clean")[0] == 0
    assert snapshot(folder) == snapshot(folder.parent / "clean")


def test_the_same_command_again_computes_nothing(tiny, folder, monkeypatch):
    assert tiny()[0] == 0
    before = snapshot(folder)
    monkeypatch.setattr(simulate, "run", None)
    monkeypatch.setattr("tcdp_sim.engine.run", None)
    code, out, _ = tiny()
    assert code == 0
    assert "nothing to simulate" in out
    assert snapshot(folder) == before


def test_more_trials_and_cells_compute_only_what_is_new(tiny):
    assert tiny()[0] == 0
    assert "24 of 48 chunks to simulate" in tiny("trials=2000")[1]
    assert "48 of 96 chunks to simulate" in tiny("trials=2000", "sweep.k=[10,100,1e4,1e6]")[1]


def test_going_back_to_fewer_trials_gives_the_old_bytes(tiny, folder):
    assert tiny()[0] == 0
    before = snapshot(folder)
    assert tiny("trials=2000")[0] == 0
    assert snapshot(folder) != before
    assert tiny()[0] == 0
    assert snapshot(folder) == before


def test_a_damaged_journal_is_named_and_mended(tiny, folder):
    assert tiny()[0] == 0
    before = snapshot(folder)
    (segment,) = (folder / "journal").iterdir()
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    code, out, _ = tiny()
    assert code == 0
    assert segment.name[:20] in out
    assert "damaged" in out
    assert "1 of 24 chunks to simulate" in out
    assert snapshot(folder) == before


@pytest.mark.parametrize("mode", ["warn", "strict"])
def test_workers_with_foreign_numerics(tiny, monkeypatch, mode):
    monkeypatch.setattr("tcdp_sim.simulate.fingerprint", lambda: "another kind of CPU")
    code, out, err = tiny(f"numerics={mode}")
    assert code == (2 if mode == "strict" else 0)
    assert "differ from this machine's in the last bits" in " ".join((out + err).split())


def test_provenance_of_a_source_tree_and_of_none(tmp_path, monkeypatch):
    about = provenance.record(tmp_path, {"seed": 1})
    assert json.loads((tmp_path / "provenance.json").read_text()) == about
    monkeypatch.setattr(provenance.tcdp_sim, "__file__", str(tmp_path / "__init__.py"))
    assert provenance.record(tmp_path, {})["git"] == {"commit": None, "dirty": None}
