"""A run whose simulated numbers contradict exact ones: published all the same, told by name, exit code 3."""

from types import SimpleNamespace

import pandas as pd
import pytest

from tcdp_sim import exact, results
from tcdp_sim.store import source

SMALL = ("sweep.k=10", "sweep.noise=[gaussian,laplace]", "sweep.omega_sqrt_rho=1")


@pytest.fixture
def wrong(monkeypatch):
    """The exact 95% quantile of Gaussian noise's largest error comes out half as large again."""
    real = exact.max_abs_quantile

    def quantile(noise, bins, level):
        factor = 1.5 if type(noise).__name__ == "Gaussian" else 1.0
        return SimpleNamespace(estimate=factor * real(noise, bins, level).estimate)

    monkeypatch.setattr(exact, "max_abs_quantile", quantile)
    monkeypatch.setattr(source, "loaded", lambda uses=(): {source.OURS: "of files that say so"})
    monkeypatch.setattr(source, "own", lambda: "0" * 32)


def told(text):
    return [line for line in text.splitlines() if "CONTRADICTION" in line]


@pytest.mark.usefixtures("figures")
def test_a_contradicted_run_is_published_and_ends_with_3(tiny, folder, wrong):
    code, out, err = tiny(*SMALL)
    assert (code, err) == (3, "")
    cells = results.open_cells(folder).load()
    (name,) = cells["id"].values[cells["noise"].values == "gaussian"]
    (line,) = told(out)
    assert "CONTRADICTION: 1 of " in line
    assert f": linf_q95 of cell={name[:16]} (noise=gaussian data=one_bin k=10 rho=0.1): " in line
    assert "simulated, " in line
    assert told((folder / "run.log").read_text("utf-8"))[0].endswith(line)
    assert pd.read_csv(folder / "contradictions.csv")["alarm_cell"].tolist() == [name]
    assert (folder / "certificate.json").exists()
    assert "figure: " in out
    assert tiny(*SMALL, "verify")[0] == 0


@pytest.mark.slow
def test_also_where_nothing_is_left_to_do(tiny, folder, request):
    code, out, _ = tiny(*SMALL)
    assert (code, told(out)) == (0, [])
    request.getfixturevalue("wrong")
    code, out, _ = tiny(*SMALL, "code=any")
    assert "nothing to simulate" in out
    assert (code, len(told(out))) == (3, 1)
    code, out, _ = tiny(*SMALL, "draw")
    assert (code, len(told(out))) == (3, 1)
    assert len(told((folder / "run.log").read_text("utf-8"))) == 2
    assert tiny(*SMALL, "name=other", "sweep.noise=laplace")[0] == 0
    code, out, _ = tiny(*SMALL, "merge", folder.parent / "other", "code=any")
    assert (code, len(told(out))) == (3, 1)


def test_one_of_several_runs_does_not_end_the_others(tiny, folder, wrong):
    code, out, _ = tiny(*SMALL, "name=first,second", "--multirun")
    assert (code, len(told(out))) == (3, 2)
    assert all((folder.parent / name / "results.zarr").exists() for name in ("first", "second"))
