"""Approximate tCDP: its special cases, composition and conversion."""

import math

import pytest

from tcdp_sim.accounting import Claimed, Ledger
from tcdp_sim.privacy import (
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxTCDP,
    ApproxZCDP,
    PureDP,
    compose,
    delta_at,
    renyi_bound,
    to_approx_dp,
    to_tcdp,
    to_zcdp,
)

OWN = ApproxTCDP(1e-7, 0.1, 5.0)


@pytest.mark.parametrize("method", ["tight", "paper"])
def test_its_delta_is_spent_first(method):
    found = to_approx_dp(OWN, 1e-6, method)
    assert found.epsilon == pytest.approx(to_approx_dp(TCDP(0.1, 5.0), 9e-7 / (1 - 1e-7), method).epsilon, rel=1e-9)
    assert delta_at(OWN, found.epsilon, method) == pytest.approx(1e-6, rel=1e-5)


def test_special_cases():
    assert to_approx_dp(ApproxTCDP(1e-7, 0.1, math.inf), 1e-6) == to_approx_dp(ApproxZCDP(1e-7, 0.1), 1e-6)
    assert to_tcdp(ApproxTCDP(0, 0.1, 5.0)) == TCDP(0.1, 5.0)
    assert to_zcdp(ApproxTCDP(0, 0.1, math.inf)) == ZCDP(0.1)
    assert str(OWN) == "1e-07-approximate (0.1, 5)-tCDP"


def test_composition():
    twice = compose(OWN, OWN)
    assert (twice.rho, twice.omega) == (0.2, 5.0)
    assert twice.delta == pytest.approx(1 - (1 - 1e-7) ** 2, rel=1e-9)
    assert compose(OWN, ZCDP(0.2), TCDP(0.1, 3.0)) == ApproxTCDP(1e-7, 0.4, 3.0)
    mixed = compose(OWN, ApproxDP(0.1, 1e-3), PureDP(0.2), ApproxZCDP(1e-2, 0.3, 0.4))
    assert mixed.rho == pytest.approx(0.1 + 0.005 + 0.02 + 0.7)
    assert mixed.delta == pytest.approx(1 - (1 - 1e-7) * (1 - 1e-3) * (1 - 1e-2))


def test_the_ledger_accounts_for_it():
    ledger = Ledger([(Claimed(OWN), 2)])
    assert ledger.epsilon(1e-6).upper == pytest.approx(to_approx_dp(compose(OWN, OWN), 1e-6).epsilon, rel=1e-3)
    assert ledger.epsilon(1.5e-7).upper == math.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ApproxTCDP(2.0, 0.1, 5.0), "delta = 2"),
        (lambda: ApproxTCDP(0.1, 0.0, 5.0), "rho = 0"),
        (lambda: ApproxTCDP(0.1, 0.1, 1.0), "omega = 1"),
        (lambda: to_approx_dp(OWN, 1e-7), "delta = 1e-07 is not valid for 1e-07-approximate"),
        (lambda: to_tcdp(OWN), "implies no tCDP: with probability delta anything may happen"),
        (lambda: renyi_bound(OWN), "bounds no Renyi divergence"),
    ],
)
def test_mistakes_are_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
