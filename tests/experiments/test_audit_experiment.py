"""Our own claims, audited: none is refuted as it stands, and every planted bug is; the command's table and figures."""

import numpy as np
import pytest
from audited_laws import exact_value
from scipy import stats

from tcdp_sim.core.streams import generator
from tcdp_sim.mechanisms.audit import Audit
from tcdp_sim.mechanisms.audited import METHODS
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.privacy import PureDP
from tcdp_sim.results import published
from tcdp_sim.selection.calibration import selection_algorithm

WORDS = ("experiment=audit", "cluster=serial", "trials=100000", "chunk=50000")


@pytest.fixture
def table(command, tmp_path):
    def run(*words):
        code, out, err = command(*WORDS, *words)
        assert code == 0
        assert all(" ETA " in line for line in err.splitlines())  # the progress of a long run, and no warning
        return published.read(tmp_path / "results" / "audit").table, out

    return run


@pytest.mark.slow
def test_no_claim_of_ours_is_refuted_and_every_planted_bug_is(table):
    """All verdicts together are wrong with probability 0.05 at most, at other seeds than this one."""
    rows, out = table("trials=200000")
    cells = rows[rows["trials"] > 0]
    assert len(cells) == 18 + 2 * len(METHODS)
    assert cells["refuted"].tolist() == cells["planted"].tolist()
    assert "0 of 28 claims are refuted; 28 of 28 planted bugs are found." in out
    laplace = cells[(cells["noise"] == "laplace") & cells["threshold"].notna()].iloc[0]
    assert 0.95 < laplace["bound"] <= 1
    assert laplace["event"].startswith("loss ")
    methods = cells[cells["bug"] != ""]
    assert set(methods["method"]) == set(METHODS)
    exact = [exact_value(row["method"], row["planted"]) for row in methods.to_dict("records")]
    assert (methods["bound"] <= np.array(exact) * (1 + 1e-4)).all()


def test_a_method_is_shown_beside_its_planted_bug(table, tmp_path):
    rows, out = table("sweep.method=[keys_best,ledger_responses]")
    cells = rows[rows["trials"] > 0]
    assert cells["refuted"].tolist() == cells["planted"].tolist()
    assert cells["bug"].tolist() == [METHODS[name].bug for name in cells["method"]]
    assert set(cells["neighbours"]) == {"add-remove"}
    lines = [line.split() for line in out.splitlines() if line.startswith((" keys_best", " ledger_responses"))]
    assert [(line[0], line[-1]) for line in lines] == [
        (name, verdict) for name in ("keys_best", "ledger_responses") for verdict in ("stands", "REFUTED")
    ]
    labels = cells[cells["method"] == "keys_best"]
    assert labels["event"].str.startswith("output: ").all()
    names = {path.name for path in (tmp_path / "results" / "audit" / "figures").glob("*.png")}
    assert names == {"audit_methods.png"}


def test_the_bug_alone_is_swept_if_asked_for(table):
    rows, _ = table("sweep.method=ledger_responses", "sweep.planted=true")
    cells = rows[rows["trials"] > 0]
    assert cells["planted"].tolist() == [True]


def test_figures_are_drawn(table, tmp_path):
    table("sweep.noise=laplace", "also=null")
    names = {path.name for path in (tmp_path / "results" / "audit" / "figures").iterdir()}
    assert {"audit_bounds.png", "audit_events.png", "audit_bounds.csv"} <= names


def test_events_of_the_figure_are_where_the_bound_is(table):
    rows, _ = table("sweep.noise=gaussian", "sweep.shift=1", "also=null")
    curve = rows[rows["trials"] == 0]
    first = stats.norm(0.5, 1).sf(curve["threshold_at"].astype(float))
    assert curve["share_first"].to_numpy() == pytest.approx(first, abs=0.01)
    assert curve["share_second"].to_numpy() == pytest.approx(stats.norm(-0.5, 1).sf(curve["threshold_at"]), abs=0.01)


def test_what_a_trial_yields():
    """Losses of both neighbours; scores that a planted bug moves by two."""
    drawn = Audit(Laplace(1.0), PureDP(1.0), 2.0).simulate(generator(1, "0" * 64, 0), 20_000)
    assert set(drawn) == {"choose_first", "choose_second", "bound_first", "bound_second"}
    assert np.mean(drawn["bound_first"] == 2) == pytest.approx(0.5, abs=0.02)  # at or left of the centre
    assert np.mean(drawn["bound_second"] == -2) == pytest.approx(0.5, abs=0.02)
    assert not np.array_equal(drawn["choose_first"], drawn["bound_first"])
    loss = Audit(Gaussian(1.0), PureDP(1.0)).simulate(generator(1, "0" * 64, 0), 20_000)
    assert loss["choose_first"].mean() == pytest.approx(0.5, abs=0.04)
    assert loss["choose_second"].mean() == pytest.approx(-0.5, abs=0.04)
    algorithm = selection_algorithm("noisy_max_laplace", None, {"epsilon": 1.0})
    picked = Audit(algorithm, PureDP(1.0), 2.0).simulate(generator(1, "0" * 64, 0), 20_000)
    assert np.mean(picked["bound_first"] == 0) == pytest.approx(1 / 3, abs=0.02)
    assert np.mean(picked["bound_second"] == 0) > 0.7


def test_a_scale_beside_a_target_is_refused(command):
    code, out, err = command(*WORDS, "sweep.noise=laplace", "+sweep.scale=3", "also=null")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "scale" in err
