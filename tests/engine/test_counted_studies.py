"""Studies whose trials fail by a NaN (`on_error=count`): the laws, the numbers and the files."""

import csv
from pathlib import Path

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.core.streams import generator
from tcdp_sim.mechanisms import NoiseDraw
from tcdp_sim.results.open import open_cells
from tcdp_sim.summaries.estimates import proportion

STUDY = {
    "experiment": "sinh_normal", "sweep": {"noise": "gaussian", "sigma": [1.0, 2.0]}, "trials": 2000, "chunk": 1000,
    "cluster": "serial", "losses": False,
}  # fmt: skip
LIMIT = 1.5  # beyond it a trial fails


@pytest.fixture
def broken(monkeypatch, tmp_path):
    """A mechanism whose large draws are NaN, as those of a solver that does not converge."""
    monkeypatch.chdir(tmp_path)
    real = NoiseDraw.simulate

    def simulate(self, rng, trials):
        found = real(self, rng, trials)
        lost = found["noise"] > LIMIT
        return {name: np.where(lost, np.nan, values) for name, values in found.items()}

    monkeypatch.setattr(NoiseDraw, "simulate", simulate)
    return real


def drawn(redraw, cell, sigma):
    """Return the noise of all trials of a cell, NaN for missing ones, and the trials whose first draw fails."""
    kept, failed = [], 0
    for chunk in (0, 1):
        rng = generator(2018, cell, chunk)
        noise = sigma * rng.normal(size=1000)
        failed += int((noise > LIMIT).sum())
        for _ in range(redraw):
            lost = np.flatnonzero(noise > LIMIT)
            noise[lost] = sigma * rng.normal(size=len(lost))
        kept.append(np.where(noise > LIMIT, np.nan, noise))
    return np.concatenate(kept), failed


@pytest.mark.parametrize("redraw", [0, 1])
def test_failed_trials_of_a_mechanism_are_missing(broken, redraw):
    with pytest.warns(tcdp_sim.Contradiction, match="trials failed, and simulated numbers are those given success"):
        found = tcdp_sim.run(**STUDY, on_error="count", redraw=redraw)
    folder, flat = Path("results/sinh_normal"), found.squeeze()
    cells = open_cells(folder)
    ids = dict(zip(cells["sigma"].values.tolist(), cells["id"].values.tolist()))
    assert flat.attrs["on_error"] == "count"
    for sigma in (1.0, 2.0):
        noise, failed = drawn(redraw, ids[sigma], sigma)
        own, there = flat.sel(sigma=sigma), noise[~np.isnan(noise)]
        assert own["error_rate_count"].item() == failed > 0
        assert [own["error_rate" + end].item() for end in ("", "_mcse")] == pytest.approx(proportion(failed, 2000)[:2])
        if redraw:
            assert own["missing_rate_count"].item() == 2000 - len(there)
        assert own["noise_mean"].item() == pytest.approx(there.mean())
        assert own["noise_sd"].item() == pytest.approx(there.std(ddof=1))
    rows = list(csv.DictReader((folder / "errors.csv").read_text("utf-8").splitlines()))
    assert {row["message"] for row in rows} == {"noise is NaN"}
