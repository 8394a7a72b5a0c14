"""A kill after any step of any command that keeps a folder: the same commands put it right, with the same bytes."""

import shutil

import pytest
from torture.power import kills, published, recorded

import tcdp_sim
from tcdp_sim.privacy import PureDP

CODE = """
def largest(rng, trials, n):
    return {"top": rng.random((trials, n)).max(axis=1), "half": rng.random(trials) < 0.5}


def mean_of_largest(n):
    return n / (n + 1)
"""
SWEEP = ("sweep.n=[1,4]", "trials=60", "chunk=20", "cluster=serial", "exact.top=mean_of_largest", "name=r")
STUDY = ("trials=60", "chunk=20", "sweep.k=10", "sweep.omega_sqrt_rho=1", "sweep.noise=[gaussian,laplace]", "name=r")


def sweep(command, folder, place):
    yield command("sweep", f"{folder}/mine.py:largest", *SWEEP, f"results_dir={place}")


def parts_of_a_sweep(command, folder, place):
    for part in ("1/2", "2/2"):
        yield command("sweep", f"{folder}/mine.py:largest", *SWEEP, f"results_dir={place}", f"part={part}")
    yield command("finish", f"{place}/r")


def study(command, folder, place):
    yield command(*STUDY, "cluster=serial", f"results_dir={place}")


def parts_of_a_study(command, folder, place):
    for part in ("1/2", "2/2"):
        yield command(*STUDY, f"results_dir={place}", f"part={part}")
    yield command("finish", f"{place}/r")


def noisy_count(data, rng):
    return len(data) + rng.laplace()


def audit(command, folder, place):
    given = {"claim": PureDP(1.0), "neighbours": [([1.0, 2.0], [1.0])], "trials": 400, "cluster": "serial"}
    report = tcdp_sim.audit(noisy_count, **given, name="r", results_dir=place)
    yield int(report.refuted), "", ""


@pytest.fixture
def done(command, tmp_path, monkeypatch):
    """done(kind, place): run the commands of a kind, and know that each ends well."""
    (tmp_path / "mine.py").write_text(CODE)
    monkeypatch.setattr("tcdp_sim.cli.draw.main", lambda raw, console: None)

    def run(kind, place):
        for code, _, err in kind(command, tmp_path, place):
            assert code == 0, err

    return run


SLOW = [pytest.param(kind, marks=pytest.mark.slow) for kind in (parts_of_a_sweep, study, parts_of_a_study)]


@pytest.mark.parametrize("kind", [sweep, audit, *SLOW])
def test_the_same_commands_end_well_after_a_kill_at_any_step(done, tmp_path, monkeypatch, kind):
    """Every step until the first record of a journal, and then each ninth."""
    (tmp_path / "whole").mkdir()
    with recorded(tmp_path / "whole", monkeypatch) as recorder:
        done(kind, tmp_path / "whole")
    expected = published(tmp_path / "whole" / "r")
    assert len(recorder.steps) > 20
    early, tried = True, 0
    for step, kill in enumerate(kills(recorder)):
        if not early and step % 9:
            continue
        left = tmp_path / "left"
        kill.leave(left)
        early = early and not [file for file in left.rglob("*.seg") if file.stat().st_size]
        done(kind, left)
        assert published(left / "r") == expected, kill.name
        shutil.rmtree(left)
        tried += 1
    assert tried > 10
