"""Noise classes of a user's own file in a sweep: names, identity, workers, and what needs the code."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from references.sech_noise import write
from scipy import integrate, optimize, stats

import tcdp_sim
from tcdp_sim.core import own_noises, user_files
from tcdp_sim.core.errors import UserError
from tcdp_sim.engine import simulate
from tcdp_sim.engine.carried_noises import carrying
from tcdp_sim.engine.run import prepare
from tcdp_sim.store import run_settings
from tcdp_sim.study import noise_classes

SMALL = ("also=null", "sweep.rho=0.1", "sweep.k=10", "trials=4000", "chunk=1000", "cluster=serial")
NOISE = "sweep.noise=[my_noise.py:Sech,gaussian]"
RUN = "results/histogram"


@pytest.fixture
def fresh(monkeypatch):
    """Forget the classes and files of this process: fresh() is what a new process would begin with."""
    before = set(sys.modules)

    def forget():
        monkeypatch.setattr(own_noises, "_HERE", {})
        monkeypatch.setattr(user_files, "_LOADED", {})
        for name in set(sys.modules) - before:
            if name.startswith("my_noise"):
                del sys.modules[name]

    forget()
    yield forget
    forget()


@pytest.fixture
def ran(command, tmp_path, fresh):
    """Run a small study with the noise Sech, and forget its code."""
    write(tmp_path)
    assert command(NOISE, *SMALL)[0] == 0
    fresh()


def _divergence_over_order(scale, order):
    """Return D_order / order of sech noise at shift 1, by quadrature of its definition."""
    law = stats.hypsecant(scale=scale)

    def integrand(y):
        return np.exp(order * law.logpdf(y) + (1 - order) * law.logpdf(y - 1))

    edge = 40 * scale
    total = sum(integrate.quad(integrand, low, high)[0] for low, high in ((-edge, 0), (0, 1), (1, edge)))
    return np.log(total) / (order - 1) / order


def test_numbers_are_those_of_scipy_and_of_numpy(ran):
    found = tcdp_sim.open_results(RUN).squeeze()
    assert found["noise"].values.tolist() == ["sech", "gaussian"]
    sech = found.sel(noise="sech")
    scale = float(str(sech["noise_law"].values).removeprefix("Sech(scale=").removesuffix(")"))
    worst = optimize.minimize_scalar(
        lambda log_s: -_divergence_over_order(scale, 1 + np.exp(log_s)), bounds=(-5, 3), method="bounded"
    )
    assert -worst.fun == pytest.approx(0.1 / 2, rel=1e-3)  # two bins change by one
    assert -worst.fun <= 0.1 / 2
    assert str(sech["guarantee"].values) == "0.1-zCDP"
    exact = stats.hypsecant.isf((1 - 0.95 ** (1 / 10)) / 2) * scale
    at = sech.sel(quantile=0.95)
    assert float(at["linf_error_quantile_exact"]) == pytest.approx(exact, rel=1e-6)
    draws = stats.hypsecant.rvs(scale=scale, size=(200_000, 10), random_state=np.random.default_rng(5))
    largest = np.abs(draws).max(axis=1)
    error = np.hypot(float(sech["linf_error_mean_mcse"]), largest.std() / np.sqrt(len(largest)))
    assert abs(float(sech["linf_error_mean"]) - largest.mean()) < 4 * error


def test_readers_need_no_code(ran, command, tmp_path, fresh):
    table = tcdp_sim.table(RUN)
    published = sorted((tmp_path / RUN / "snapshots").iterdir())
    (tmp_path / "my_noise.py").unlink()
    for name in ("finished.json", "status.json"):  # as if the run had just been interrupted
        (tmp_path / RUN / name).unlink()
    for words in (("status", RUN), ("draw", RUN), ("report", RUN), ("table", RUN, "x.csv"), ("finish", RUN)):
        code, _, err = command(*words)
        assert code == 0, (words, err)
    (tmp_path / RUN / "published.json").unlink()
    assert command("finish", RUN)[0] == 0
    assert tcdp_sim.table(RUN).equals(table)
    assert sorted((tmp_path / RUN / "snapshots").iterdir()) == published  # the same bytes


@pytest.mark.parametrize("words", [("verify", RUN), ("replay", RUN, "cell=")], ids=lambda words: words[0])
def test_verify_and_replay_say_which_words_bring_the_code(ran, command, tmp_path, fresh, words):
    code, _, err = command(*words)
    assert code == 2
    assert "give noise=my_noise.py:Sech" in err
    assert err.count("\n") == 1
    cell = str(tcdp_sim.open_results(RUN)["id"].values.ravel()[0])
    whole = [word.replace("cell=", f"cell={cell}") for word in words]
    code, out, _ = command(*whole, "noise=my_noise.py:Sech")
    assert code == 0
    assert "stored bits" in out or "same bits as stored" in out


def test_resume_needs_the_code_and_the_same_class(ran, command, tmp_path, fresh):
    for path in (tmp_path / RUN / "journal").glob("*.seg"):
        path.unlink()
    (tmp_path / RUN / "finished.json").unlink()
    code, _, err = command("run", RUN)
    assert code == 2
    assert "give noise=my_noise.py:Sech" in err
    write(tmp_path, **{"np.pi * self.scale / 2": "self.scale * np.pi / 2"})
    code, _, err = command("run", RUN, "noise=my_noise.py:Sech")
    assert code == 2
    assert "its source differs" in err
    fresh()
    write(tmp_path)
    assert command("run", RUN, "noise=my_noise.py:Sech")[0] == 0


def test_an_edited_class_starts_anew(ran, command, tmp_path, fresh):
    before = tcdp_sim.open_results(RUN)
    write(tmp_path, **{"np.pi * self.scale / 2": "self.scale * np.pi / 2"})  # the same law
    _, out, _ = command(NOISE, *SMALL)
    assert "4 of 8 chunks to simulate" in out  # those of gaussian noise are there
    after = tcdp_sim.open_results(RUN)
    same = (before["id"] == after["id"]).squeeze().values.tolist()
    assert same == [False, True]


def test_a_study_file_brings_no_code(command, tmp_path, fresh):
    write(tmp_path)
    text = "experiment: histogram\nalso: null\nsweep:\n  rho: 0.1\n  k: 10\n  noise: [my_noise.py:Sech, gaussian]\n"
    (tmp_path / "study.yaml").write_text(text)
    code, _, err = command("plan", "study.yaml")
    assert code == 2
    assert "study.yaml:6:" in err
    assert "no file brings" in err
    assert "my_noise" not in sys.modules
    assert command("plan", "study.yaml", NOISE)[0] == 0
    with pytest.raises(UserError, match="no file brings"):
        tcdp_sim.plan(study=tmp_path / "study.yaml")
    (tmp_path / "records.yaml").write_text("experiment: histogram\nnoises: {sech: {family: sech}}\n")
    code, _, err = command("plan", "records.yaml")
    assert code == 2
    assert "'noises' is not a key" in err


def test_show_names_the_class_in_its_place(ran, command, tmp_path):
    text = command("show", RUN)[1]
    assert "- my_noise.py:Sech" in text
    assert "sweep.noise=[my_noise.py:Sech,...]" in text
    assert "source" not in text
    (tmp_path / "again.yaml").write_text(text)
    assert "nothing to simulate" in command("again.yaml", NOISE)[1]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("gone.py:Sech", "gone.py is not a file"),
        ("my_noise.py:Sach", "did you mean Sech"),
        ("my_noise.py:NoNoise", "is not a noise"),
        ("my_noise.py:np", "is not a noise"),
        ("my_noise.py:Taken", "calls itself 'gaussian', a name that is taken"),
        ("my_noise.py:Lacks", "has no isf, which every noise gives"),
        ("my_noise.py:Wrong", "breaks the contract of a noise: Wrong.var() is 1"),
        ("my_noise.py", "my_noise.py"),
        ("broken.py:Sech", "broken.py cannot be imported (line 1:"),
    ],
)
def test_what_is_no_noise_is_refused_in_one_line(command, tmp_path, fresh, place, message):
    write(tmp_path)
    (tmp_path / "broken.py").write_text("1 / 0\n")
    code, _, err = command(f"sweep.noise=[{place},gaussian]", *SMALL)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_python_takes_classes_objects_and_texts(tmp_path, monkeypatch, fresh):
    monkeypatch.chdir(tmp_path)
    file = user_files.load(f"{write(tmp_path)}:Sech")
    wide = user_files.load(f"{tmp_path / 'my_noise.py'}:WIDE")
    keys = {"also": None, "trials": 2000, "chunk": 1000, "cluster": "serial"}
    sweep = {"noise": [file, wide, "gaussian"], "rho": 0.1, "k": 10}
    found = tcdp_sim.run("histogram", sweep=sweep, **keys).squeeze()
    assert found["noise"].values.tolist() == ["sech", "sech(scale=50)", "gaussian"]
    assert str(found["noise_law"].values[1]) == "Sech(scale=50.0)"
    named = {"noise": ["my_noise.py:Sech", "my_noise.py:WIDE", "gaussian"], "rho": 0.1, "k": 10}
    assert tcdp_sim.plan("histogram", sweep=named, **keys).missing == 0
    with pytest.raises(UserError, match=r"Sech\(scale=1.0\) does not keep 0.1-zCDP; valid: scale >= 2.227"):
        tcdp_sim.plan("histogram", sweep=sweep | {"noise": file(1.0)}, **keys)
    with pytest.raises(UserError, match="is not a noise"):
        tcdp_sim.plan("histogram", sweep=sweep | {"noise": [int]}, **keys)


def test_a_class_in_a_block_of_also(command, tmp_path, fresh):
    write(tmp_path)
    code, _, err = command("plan", *SMALL[1:], "also=null", "+also.more={noise: 'my_noise.py:Sech', k: 20}")
    assert code == 0, err


_WORKER = """
import pickle, sys
work, task = pickle.load(open(sys.argv[1], "rb"))
pickle.dump(work(task).records, open(sys.argv[2], "wb"))
"""


def test_another_process_runs_the_source_that_it_is_sent(ran, tmp_path):
    noise_classes.load("my_noise.py:Sech", {})
    study = prepare(run_settings.settings_of(Path(RUN)))
    cell = study.plan.laws[0]
    task = simulate.Task(
        study.settings.seed, 1000, (simulate.Batch(cell.id, cell.law, study.plan.counts[cell.counts], (0,)),)
    )
    (tmp_path / "task").write_bytes(pickle.dumps((carrying(study, simulate.run), task)))
    write(tmp_path, **{"self.isf(rng": "7 + self.isf(rng"})  # what a worker would find on its own disk
    (tmp_path / "worker.py").write_text(_WORKER)
    subprocess.run([sys.executable, "worker.py", "task", "found"], cwd=tmp_path, check=True, timeout=120)
    (record,) = pickle.loads((tmp_path / "found").read_bytes())
    assert record.summary == simulate.run(task).records[0].summary
    assert record.summary is not None


@pytest.mark.slow
def test_workers_of_a_cluster(ran, command, tmp_path, fresh):
    serial = tcdp_sim.table(RUN).drop(columns="id")
    code, _, err = command(NOISE, *SMALL[:-1], "cluster=local", "cluster.workers=2", "name=local")
    assert code == 0, err
    assert tcdp_sim.table("results/local").drop(columns="id").equals(serial)


def test_parts_are_published_without_the_code(command, tmp_path, fresh):
    write(tmp_path)
    for part in ("1/2", "2/2"):
        assert command(NOISE, *SMALL, f"part={part}")[0] == 0
    fresh()
    (tmp_path / "my_noise.py").unlink()
    code, _, err = command("finish", RUN)
    assert code == 0, err


def test_an_experiment_that_needs_the_noise_is_drawn_plainly_without_it(command, tmp_path, fresh):
    write(tmp_path)
    words = ("experiment=privacy_loss", "sweep.noise=my_noise.py:Sech", "sweep.rho=0.1", "also=null", "trials=1000")
    code, _, err = command(*words, "chunk=1000", "cluster=serial")
    assert code == 0, err
    fresh()
    (tmp_path / "results/privacy_loss/drawn.json").unlink()
    code, out, _ = command("draw", "results/privacy_loss")
    assert code == 0
    assert "because privacy_loss needs code" in out
    assert "give noise=FILE.py:CLASS" in out
    code, out, _ = command("draw", "results/privacy_loss", "noise=my_noise.py:Sech")
    assert code == 0
    assert "needs code" not in out
