"""Curves that meet a guarantee for persons with several keys, against the ledger's exact accounting."""

import mpmath as mp
import numpy as np
import pytest

from tcdp_sim.accounting import Claimed, Ledger, Thresholded
from tcdp_sim.privacy import ApproxDP, ApproxTCDP, ApproxZCDP, PureDP
from tcdp_sim.selection.keys import (
    OptimalApproxDP,
    OptimalTCDP,
    ThresholdCurve,
    key_delta,
    optimal_curve,
    threshold_curve,
)
from tcdp_sim.selection.keys.targets import OPTIMA

TARGET = ApproxDP(1.0, 1e-6)


def _spent(p, q, keys):
    """Delta of keys that are each released with probability p or q, by sums over binomials in many digits."""
    with mp.workdps(40):
        p, q, factor = mp.mpf(float(p)), mp.mpf(float(q)), mp.exp(TARGET.epsilon)

        def beyond(a, b):
            masses = ((a**j * (1 - a) ** (keys - j), b**j * (1 - b) ** (keys - j)) for j in range(keys + 1))
            return sum(mp.binomial(keys, j) * max(u - factor * v, 0) for j, (u, v) in enumerate(masses))

        return float(max(beyond(p, q), beyond(q, p)))


@pytest.mark.parametrize("keys", [1, 3, 12])
@pytest.mark.parametrize("method", OPTIMA)
def test_no_person_with_several_keys_is_shown_more_than_promised(method, keys):
    """Exact delta of all keys together, where each of them has the same number of records, in both directions."""
    curve = optimal_curve(method, TARGET, keys)
    some = (0, 1, 2, 5, curve.records_needed(0.02), curve.records_needed(0.5), curve.records_needed(0.98))
    spent = [_spent(curve.released(n), curve.released(n + 1), keys) for n in some]
    assert max(spent) <= TARGET.delta * (1 + 1e-9)  # the probabilities are floats
    assert max(spent) > 0.05 * TARGET.delta


def test_the_curves_are_as_large_as_their_accounting_allows():
    keys = 5
    own = optimal_curve("optimal_dp", TARGET, keys)
    whole = Ledger([(Claimed(ApproxDP(own.epsilon, own.delta)), keys)])
    assert whole.epsilon(TARGET.delta).upper == pytest.approx(TARGET.epsilon, rel=1e-4)
    tcdp = optimal_curve("optimal_tcdp", TARGET, keys, omega=8.0)
    assert tcdp.omega == 8.0
    whole = Ledger([(Claimed(ApproxTCDP(tcdp.delta, tcdp.rho, tcdp.omega)), keys)])
    assert whole.delta(TARGET.epsilon).upper == pytest.approx(TARGET.delta, rel=0.02)


def test_for_one_key_nothing_beats_the_optimum_of_the_notion():
    counts = np.arange(1, 60)
    best = optimal_curve("optimal_dp", TARGET).released(counts)
    for other in OPTIMA[1:]:
        assert (optimal_curve(other, TARGET).released(counts) <= best * (1 + 1e-9)).all()
    best = optimal_curve("optimal_tcdp", ApproxZCDP(1e-6, 0.1)).released(counts)
    assert (optimal_curve("optimal_dp", ApproxZCDP(1e-6, 0.1)).released(counts) <= best * (1 + 1e-9)).all()


def test_renyi_divergences_pay_for_many_keys():
    needed = {method: optimal_curve(method, TARGET, 20).records_needed(0.5) for method in OPTIMA}
    gauss = threshold_curve("gaussian", TARGET, 20).records_needed(0.5)
    assert needed["optimal_rdp"] < needed["optimal_tcdp"] < gauss < needed["optimal_dp"]


@pytest.mark.parametrize("comparison", [">", ">="])
@pytest.mark.parametrize(
    ("family", "keys"),
    [("gaussian", 1), ("gaussian", 6), pytest.param("laplace", 3, marks=pytest.mark.slow), ("discrete_laplace", 2)],
)
def test_the_ledger_confirms_thresholds(family, keys, comparison):
    curve = threshold_curve(family, TARGET, keys, comparison=comparison)
    spent = Ledger([Thresholded(curve.noise, curve.threshold, comparison, keys)], "add_remove").delta(TARGET.epsilon)
    assert spent.lower <= TARGET.delta
    assert 0.3 * TARGET.delta < spent.upper <= TARGET.delta * (1 + 1e-3)  # the width of the bracket
    if not curve.noise.is_discrete:
        assert spent.upper > 0.9 * TARGET.delta


def test_thresholds_under_concentrated_dp_by_hand():
    curve = threshold_curve("gaussian", ApproxZCDP(1e-6, 0.5), 4, 3)
    assert curve.noise.scale == pytest.approx(3 * np.sqrt(4 / (2 * 0.5)), rel=1e-9)
    assert curve.released(3) == pytest.approx(1 - (1 - 1e-6) ** 0.25, rel=1e-9)
    assert curve.per_key == 3
    assert threshold_curve("gaussian", ApproxTCDP(1e-6, 0.5, 7.0), 4, 3) == curve


def test_concentrated_targets_divide_rho():
    assert optimal_curve("optimal_tcdp", ApproxTCDP(0.19, 0.4, 6.0), 2, 5) == OptimalTCDP(
        0.2, key_delta(0.19, 2), 6.0, 5
    )
    assert key_delta(0.19, 2) == pytest.approx(0.1, rel=1e-12)
    assert key_delta(0.19, 2) < 0.1
    assert isinstance(optimal_curve("optimal_dp", ApproxZCDP(1e-3, 0.4)), OptimalApproxDP)
    assert isinstance(threshold_curve("laplace", ApproxTCDP(1e-3, 0.4, 3.0)), ThresholdCurve)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: optimal_curve("best", TARGET), "method = 'best' is not known|method = best is not known"),
        (lambda: optimal_curve("optimal_dp", PureDP(1.0)), "guarantee = 1-DP cannot release unknown keys"),
        (lambda: optimal_curve("optimal_dp", ApproxZCDP(0.0, 1.0)), "with 0 < delta < 1"),
        (lambda: optimal_curve("optimal_rdp", ApproxZCDP(0.1, 1.0)), "optimal_rdp is not valid for 0.1-approximate"),
        (lambda: optimal_curve("optimal_dp", TARGET, 0), "keys = 0"),
        (lambda: threshold_curve("gaussian", TARGET, 1, 0), "per_key = 0"),
        (lambda: threshold_curve("sinh_normal", ApproxZCDP(1e-6, 0.5)), "sinh_normal cannot be calibrated"),
    ],
)
def test_mistakes_are_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
