"""What a run says and keeps when something outside it goes wrong."""

import errno
import json
import os
import shutil
from contextlib import nullcontext

import pytest

from tcdp_sim.core.streams import fingerprint
from tcdp_sim.engine import simulate
from tcdp_sim.results import open_results
from tcdp_sim.store import journal, provenance
from tcdp_sim.store.digests import tree_digest


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
    monkeypatch.setattr("tcdp_sim.engine.schedule.TASK_SECONDS", 1e-9)
    code, _, err = tiny()
    assert code == 2
    assert err.count("\n") == 1
    assert "No space left on device" in err
    assert "finished chunks are kept" in err


@pytest.mark.slow
def test_after_a_full_disk_the_same_command_ends_as_if_nothing_had_happened(tiny, folder, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        real, calls = os.write, []

        def write(file, data):
            calls.extend([1] * bytes(data).startswith(journal.MAGIC))  # the head and each chunk
            if len(calls) > 5:
                raise OSError(28, "No space left on device")
            return real(file, data)

        patch.setattr(os, "write", write)
        patch.setattr("tcdp_sim.engine.schedule.TASK_SECONDS", 1e-9)
        assert tiny()[0] == 2
    code, out, _ = tiny()
    assert code == 0
    assert "20 of 24 chunks to simulate" in out
    assert tiny("name=clean")[0] == 0
    assert snapshot(folder) == snapshot(folder.parent / "clean")


def test_the_same_command_again_computes_nothing(tiny, tiny_once, folder, monkeypatch):
    tiny_once()
    before = snapshot(folder)
    monkeypatch.setattr(simulate, "run", None)
    monkeypatch.setattr("tcdp_sim.engine.schedule.run", None)
    monkeypatch.setattr("tcdp_sim.engine.exact.row", None)
    code, out, _ = tiny()
    assert code == 0
    assert "nothing to simulate" in out
    assert snapshot(folder) == before


def test_more_trials_and_cells_compute_only_what_is_new(tiny, tiny_once):
    tiny_once()
    assert "24 of 48 chunks to simulate" in tiny("trials=2000")[1]
    assert "48 of 96 chunks to simulate" in tiny("trials=2000", "sweep.k=[10,100,1e4,1e6]")[1]


def test_going_back_to_fewer_trials_gives_the_old_bytes(tiny, tiny_once, folder):
    tiny_once()
    before = snapshot(folder)
    assert tiny("trials=2000")[0] == 0
    assert snapshot(folder) != before
    assert tiny()[0] == 0
    assert snapshot(folder) == before


def test_a_damaged_journal_is_named_and_mended(tiny, tiny_once, folder):
    tiny_once()
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
    monkeypatch.setattr("tcdp_sim.engine.numerics_mismatch.fingerprint", lambda: "another kind of CPU")
    code, out, err = tiny(f"numerics={mode}")
    assert code == (2 if mode == "strict" else 0)
    assert "differ from this machine's in the last bits" in " ".join((out + err).split())


@pytest.mark.parametrize("mode", ["warn", "strict"])
def test_a_resume_on_another_kind_of_processor(tiny, folder, monkeypatch, mode):
    """The first half was written elsewhere, as the head of its journal says; the certificate names both."""
    small = ("sweep.k=10", "sweep.noise=laplace", "sweep.omega_sqrt_rho=1")
    with monkeypatch.context() as patch:
        patch.setattr(provenance, "fingerprint", lambda: "elsewhere")
        assert tiny(*small)[0] == 0
    code, out, err = tiny(*small, "trials=2000", f"numerics={mode}")
    said = " ".join((out + err).split())
    assert code == (2 if mode == "strict" else 0)
    assert "come from a machine whose elementary functions differ from this one's in the last bits" in said
    if mode == "warn":
        named = json.loads((folder / "certificate.json").read_text("utf-8"))["elementary_functions"]
        assert set(named.split()) == {"elsewhere", fingerprint()}


@pytest.mark.parametrize("mode", ["warn", "strict"])
def test_a_merge_with_a_run_of_another_kind_of_processor(tiny, folder, monkeypatch, mode):
    small = ("sweep.noise=laplace", "sweep.omega_sqrt_rho=1")
    assert tiny(*small, "sweep.k=10", "name=here")[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr(provenance, "fingerprint", lambda: "elsewhere")
        assert tiny(*small, "sweep.k=100", "name=there")[0] == 0
    words = ("merge", "name=here", "sweep.k=[10,100]", folder.parent / "there", f"numerics={mode}")
    code, out, err = tiny(*small, *words)
    assert code == (2 if mode == "strict" else 0)
    assert "there come from a machine whose elementary functions differ" in " ".join((out + err).split())
    if mode == "warn":
        certified = json.loads((folder.parent / "here" / "certificate.json").read_text("utf-8"))
        assert set(certified["elementary_functions"].split()) == {"elsewhere", fingerprint()}


def test_foreign_workers_are_named_by_the_certificate(tiny, folder, monkeypatch):
    monkeypatch.setattr("tcdp_sim.engine.numerics_mismatch.fingerprint", lambda: "the driver's")
    monkeypatch.setattr(provenance, "fingerprint", lambda: "the driver's")
    assert tiny("sweep.k=10", "sweep.noise=laplace", "sweep.omega_sqrt_rho=1")[0] == 0
    heads = [json.loads(payload[1:]) for _, _, payload in journal.read(folder / "journal") if payload[:1] == b"H"]
    assert provenance.fingerprints(heads) == {"the driver's", fingerprint()}


def test_provenance_of_a_source_tree_and_of_none(tmp_path, monkeypatch):
    about = provenance.record(tmp_path, {"seed": 1})
    written = json.loads((tmp_path / "provenance.json").read_text())
    assert written == about | {"digest": written["digest"]}
    monkeypatch.setattr(provenance.resources, "files", lambda package: tmp_path)
    assert provenance.record(tmp_path, {})["git"] == {"commit": None, "dirty": None}


def test_git_is_asked_once(tmp_path, monkeypatch):
    first = provenance.record(tmp_path, {})["git"]
    monkeypatch.setattr(provenance.subprocess, "run", None)
    assert provenance.record(tmp_path, {})["git"] == first


def test_provenance_says_what_a_reader_asks(tiny, folder):
    assert tiny("sweep.k=10", "sweep.noise=gaussian", "seed=12")[0] == 0
    about = json.loads((folder / "provenance.json").read_text("utf-8"))
    assert about["config_hash"] == open_results(folder).attrs["config_hash"]
    assert about["config"]["seed"] == 12
    assert about["processor"]
    assert all(one["num_threads"] >= 1 and one["internal_api"] for one in about["blas"])
    assert about["time"] < about["ended"]
    assert tiny("sweep.k=10", "sweep.noise=gaussian", "seed=12")[0] == 0  # nothing to do, nothing written
    assert json.loads((folder / "provenance.json").read_text("utf-8")) == about


ONE = ("sweep.k=10", "sweep.noise=gaussian")


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def array_file(tree):
    return next(path for path in (tree / "linf_error_mean").rglob("*") if path.is_file() and path.name != "zarr.json")


def a_real_folder(run):
    tree = (run / "results.zarr").resolve()
    (run / "results.zarr").unlink()
    shutil.copytree(tree, run / "results.zarr")


def a_damaged_copy(run):
    a_real_folder(run)
    shutil.rmtree(run / "results.zarr/linf_error_mean")


PUBLISHED = {
    "no braces": lambda run: (run / "results.zarr/zarr.json").write_text("["),
    "no group": lambda run: (run / "results.zarr/zarr.json").write_text("{}"),
    "flipped bit": lambda run: flip(array_file(run / "results.zarr")),
    "lost file": lambda run: array_file(run / "results.zarr").unlink(),
    "lost array": lambda run: shutil.rmtree((run / "results.zarr").resolve() / "linf_error_mean"),
    "copy without an array": a_damaged_copy,
}


@pytest.fixture
def done(tiny, tiny_once):
    """A finished run without figures: done() does its command again."""
    tiny_once(*ONE)
    return lambda *more: tiny(*ONE, *more)


@pytest.mark.parametrize("damage", PUBLISHED)
def test_damaged_results_are_told_and_published_again(done, folder, damage):
    before = snapshot(folder)
    PUBLISHED[damage](folder)
    code, out, err = done("draw")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "results.zarr is damaged" in err
    assert "publishes it again" in err
    code, out, err = done()
    assert (code, err) == (0, "")
    assert "nothing to simulate" in out
    assert snapshot(folder) == before
    assert done("draw")[0] == 0


def test_results_copied_as_a_real_folder_are_drawn_and_replaced(done, folder):
    before = snapshot(folder)
    a_real_folder(folder)
    assert done("draw")[0] == 0
    assert done()[0] == 0
    assert (folder / "results.zarr").is_symlink()
    assert snapshot(folder) == before


@pytest.mark.parametrize("name", ["figures", "journal", "snapshots"])
def test_a_file_in_place_of_a_folder_is_one_line(done, folder, monkeypatch, name):
    with monkeypatch.context() as patch:
        patch.setattr(
            "tcdp_sim.report.saving.save_all", lambda _, folder, *__: folder.mkdir(parents=True, exist_ok=True)
        )
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).write_text("in the way")
        (folder / "drawn.json").unlink(missing_ok=True)  # so that there is something to draw
        code, _, err = done()
    assert (code, err.count("\n")) == (2, 1)
    assert f"{folder.name}/{name}: File exists" in err
    assert "once the cause is repaired" in err
    (folder / name).unlink()
    assert done()[0] == 0


def test_figures_that_cannot_be_written_are_one_line(done, folder, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system", "figures")

    monkeypatch.setattr("tcdp_sim.report.saving.save_all", refuse)
    (folder / "drawn.json").unlink()  # so that there is something to draw
    code, _, err = done("draw")
    assert (code, err.count("\n")) == (2, 1)
    assert "cannot be written (figures: Read-only file system)" in err


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EIO])
def test_only_a_full_disk_asks_for_room(done, folder, monkeypatch, number):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    (folder / "published.json").unlink()
    monkeypatch.setattr("tcdp_sim.store.run_folder.Run.publish", refuse)
    code, _, err = done()
    assert (code, err.count("\n")) == (2, 1)
    assert os.strerror(number) in err
    assert "room" not in err


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"\xff\xfe{", None])
def test_an_unreadable_provenance_keeps_nobody_from_the_results(done, folder, content):
    path = folder / "provenance.json"
    path.unlink()
    path.write_bytes(content) if content else path.mkdir()
    damaged = pytest.warns(UserWarning, match=r"provenance\.json is damaged; the command that ran it")
    with damaged if content else nullcontext():
        assert done("draw")[0] == 0
        assert open_results(folder)["k"].size == 1
    code, _, err = done("trials=2000")
    assert code == (0 if content else 2)
    assert content or ("provenance.json: Is a directory" in err and err.count("\n") == 1)


def test_results_of_another_experiment_are_not_drawn(done, folder, monkeypatch):
    monkeypatch.setattr("tcdp_sim.study.study.title", lambda settings: "tcdp_sim experiment other")
    code, out, err = done("draw")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "holds 'tcdp_sim experiment histogram'" in err


@pytest.mark.parametrize("experiment", ["thresholds", "interior_point", "gap_max"])
def test_data_that_would_not_be_read_are_refused(command, experiment):
    code, _, err = command("plan", f"experiment={experiment}", "data=flights_dest")
    assert code == 2
    assert err.startswith(f"tcdp-sim: data = flights_dest is not read by {experiment}; its axes are: ")
    assert err.count("\n") == 1
