"""Audited methods against exact laws: claims are true, planted bugs break them, and draws have the stated laws.

The laws are in references/audited_laws.py, and share no code with the draws. Seeds are fixed. For fresh seeds all tests
of draws together fail with probability 1e-3.
"""

import numpy as np
import pytest
from audited_laws import exact_value, laws
from scipy import stats

from tcdp_sim.audits.claims import measure
from tcdp_sim.core.streams import generator
from tcdp_sim.mechanisms.audit import Audit
from tcdp_sim.mechanisms.audited import METHODS, AuditedRelease

TRIALS = 40_000
LABELS = [name for name, method in METHODS.items() if method.labels]
LOSSES = [name for name in METHODS if name not in LABELS]
DOUBT = 1e-3 / (4 * len(METHODS))


def drawn(name, planted, first, trials=TRIALS):
    stream = generator(31, f"{list(METHODS).index(name):064d}", 2 * planted + first)
    return AuditedRelease(name, planted).sample(first, trials, rng=stream)


@pytest.mark.parametrize("name", METHODS)
def test_claims_are_true_and_planted_bugs_break_them(name):
    """The exact values are right to about 1e-4, or rounded upwards by dp_accounting."""
    claimed, planted = (measure(METHODS[name].claim(bug)).claimed for bug in (False, True))
    assert exact_value(name, False) <= claimed * (1 + 1e-4)
    assert exact_value(name, True) > 1.07 * planted


TIGHT = [name for name in METHODS if not name.startswith(("quantile", "candidates", "keys_above", "keys_several"))]


@pytest.mark.parametrize("name", TIGHT)
def test_claims_are_no_larger_than_they_must_be(name):
    """These neighbours attain their claims, so a claim or a law with too much privacy is noticed."""
    assert exact_value(name, False) == pytest.approx(measure(METHODS[name].claim(False)).claimed, rel=1e-3)


@pytest.mark.parametrize("planted", [False, True])
@pytest.mark.parametrize("name", LABELS)
def test_labels_have_their_law(name, planted):
    """By a chi-squared test of the labels with five outputs or more."""
    for first, law in zip((True, False), laws(name, planted)):
        found = np.unique(drawn(name, planted, first), return_counts=True)[1]
        expected = TRIALS * law[law > 0]
        assert len(found) <= len(expected)
        if len(found) == len(expected):
            often = expected >= 5
            pairs = [np.append(side[often], side[~often].sum()) for side in (found, expected)]
            pairs = [side[pairs[1] > 0] for side in pairs]
            assert len(pairs[0]) == 1 or stats.chisquare(*pairs, sum_check=False).pvalue > DOUBT


@pytest.mark.parametrize("planted", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_those_of_the_two_worlds(name, planted):
    """Q[L > l] = E_P[e^-L; L > l], and P[L < l] = E_Q[e^L; L < l]. The errors of both differences are nearly normal."""
    one, two = (drawn(name, planted, first) for first in (True, False))
    for loss, other in ((one, two), (-two, -one)):
        for level in np.quantile(loss[np.isfinite(loss)], [0.05, 0.5, 0.95]):
            weights = np.where(loss > level, np.exp(-loss), 0.0)
            seen = other > level
            error = np.hypot(weights.std(), seen.std()) / np.sqrt(TRIALS)
            assert abs(weights.mean() - seen.mean()) <= stats.norm.isf(DOUBT / 12) * error


def test_tiles_are_drawn_one_after_the_other(monkeypatch):
    """A trial has one number whatever the size of a tile, and each tile goes on where the last one ended."""
    monkeypatch.setattr("tcdp_sim.mechanisms.audited.TILE", 7)
    parts = AuditedRelease("ledger_responses", False).sample(True, 20, rng=generator(1, "0" * 64, 0))
    rng = generator(1, "0" * 64, 0)
    method = METHODS["ledger_responses"]
    assert parts.tolist() == [x for size in (7, 7, 6) for x in method.draw(False, True, size, rng=rng)]


def test_a_law_has_the_release_and_the_labels_of_its_method():
    for name, method in METHODS.items():
        built = Audit.build(Audit.law({"method": name, "planted": "true"}, {}, None), ())
        assert (built.release, built.labels) == (AuditedRelease(name, True), method.labels)
