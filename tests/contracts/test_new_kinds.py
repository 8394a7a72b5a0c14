"""A new notion of privacy and new releases, each one class in a file of one's own: every road takes or refuses them."""

from dataclasses import dataclass

import numpy as np
import pytest

from tcdp_sim.accounting import (
    Additive,
    Claimed,
    DeviationTarget,
    Distributions,
    Filter,
    Ledger,
    Release,
    plan_budget,
    tight_rho,
)
from tcdp_sim.accounting.releases.release import Case
from tcdp_sim.api import audit
from tcdp_sim.audits import LedgerMechanism
from tcdp_sim.audits.claims import measure
from tcdp_sim.audits.parse import claim as claim_of_text
from tcdp_sim.audits.tradeoff import curve
from tcdp_sim.calibration import calibrate, calibrate_releases, calibrate_smooth
from tcdp_sim.calibration.optimal import optimal_noise
from tcdp_sim.core.errors import UserError
from tcdp_sim.exact.losses.grid_law import AtomicLoss
from tcdp_sim.mechanisms.ledger.releases import read_list
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.noise.objectives import Tail
from tcdp_sim.privacy import (
    TCDP,
    ZCDP,
    ApproxDP,
    Guarantee,
    PureDP,
    amplify,
    compose,
    delta_at,
    group_privacy,
    loss_tail_bound,
    renyi_bound,
    to_approx_dp,
    to_approx_zcdp,
    to_tcdp,
    to_zcdp,
)


@dataclass(frozen=True)
class BoundedRangeDP(Guarantee):
    """The losses of any two outputs differ by at most epsilon, which implies epsilon^2 / 8-zCDP."""

    epsilon: float

    def __str__(self):
        return f"{self.epsilon:g}-bounded range"

    def simplest(self):
        return ZCDP(self.epsilon**2 / 8)


@dataclass(frozen=True)
class Renamed(Guarantee):
    """(rho, omega)-tCDP or (epsilon, delta)-DP by another name, which tells its numbers."""

    meaning: Guarantee

    def simplest(self):
        return self.meaning

    @property
    def rho_omega(self):
        return self.meaning.rho_omega

    @property
    def epsilon_delta(self):
        return self.meaning.epsilon_delta


@dataclass(frozen=True)
class Coin(Release):
    """One bit, which is 1 with probability p with the record and q without it."""

    p: float
    q: float

    def cases(self, relation, times):
        forward, backward = self._law(self.p, self.q), self._law(self.q, self.p)
        return (Case(((forward, times),), ((backward, times),)),)

    def drawn_pair(self):
        return self

    def draw(self, first, size, *, rng):
        return (rng.random(size) < (self.p if first else self.q)).astype(float)

    def loss(self, outputs):
        return np.where(outputs == 1, np.log(self.p / self.q), np.log((1 - self.p) / (1 - self.q)))

    @staticmethod
    def _law(p, q):
        losses = np.log([(1 - p) / (1 - q), p / q])
        rising = np.argsort(losses)
        return AtomicLoss(losses[rising], np.array([1 - p, p])[rising], spacing=float(np.ptp(losses)), slack=1e-14)


@dataclass(frozen=True)
class Twice(Release):
    """Two answers with the same Laplace noise, which can be scaled."""

    scale: float

    has_scale = True

    def cases(self, relation, times):
        return Additive(Laplace(self.scale)).cases(relation, 2 * times)

    def scaled(self, factor):
        return Twice(self.scale * factor)

    def least_rho(self, omega):
        return 2 * tight_rho(Additive(Laplace(self.scale)), omega)


NEW, OLD = BoundedRangeDP(0.5), ZCDP(0.03125)
COIN, SAME = Coin(0.6, 0.5), Distributions((0.6, 0.4), (0.5, 0.5))
TARGETS = [DeviationTarget("gaussian", deviation=10.0)]


@pytest.mark.parametrize(
    "convert",
    [
        lambda it: to_approx_dp(it, 1e-5),
        lambda it: delta_at(it, 0.5),
        lambda it: renyi_bound(it)(8.0),
        to_zcdp,
        to_tcdp,
        to_approx_zcdp,
        lambda it: group_privacy(it, 3),
        lambda it: loss_tail_bound(it, 1.0),
        lambda it: amplify(it, 0.1, "poisson", order=8),
        lambda it: compose(it, it),
        lambda it: compose(it, PureDP(0.1)),
        lambda it: compose(it, TCDP(0.1, 5.0)),
        lambda it: compose(it, ApproxDP(0.1, 1e-6)),
        lambda it: Ledger([Claimed(it)]).epsilon(1e-5),
        lambda it: tight_rho(Claimed(it)),
        lambda it: _spent(Filter(ZCDP(1.0)), it),
        lambda it: _spent(Filter(PureDP(1.0), order=(2.0, 8.0)), it),
        measure,
        lambda it: curve(it).delta.tolist(),
    ],
)
def test_a_new_notion_counts_as_the_guarantee_that_it_implies(convert):
    assert convert(NEW) == convert(OLD)


def _spent(account, what):
    assert account.admit(what)
    return account.spent


def test_a_claim_of_a_new_notion_is_audited_from_python_and_from_text():
    mechanism = LedgerMechanism(Ledger([Additive(Gaussian(1.0))]))
    found = audit(mechanism, neighbours=mechanism.pairs, claim=NEW, trials=20_000, seed=1, learn=False)
    assert found.refuted  # 0.5-zCDP and no less
    assert claim_of_text("BoundedRangeDP(0.5)") == NEW


@pytest.mark.parametrize(
    "ask",
    [
        lambda: calibrate("laplace", NEW),
        lambda: calibrate("gaussian", NEW, method="paper"),
        lambda: calibrate("lattice", NEW),
        lambda: calibrate_smooth("gaussian", NEW, 0.1),
        lambda: calibrate_releases([Additive(Gaussian(1.0))], NEW),
        lambda: optimal_noise(NEW, Tail(3.0)),
        lambda: plan_budget(TARGETS, NEW),
        lambda: Filter(NEW),
    ],
)
def test_a_new_notion_as_a_target_is_refused_in_one_line(ask):
    """Noise that meets an implied guarantee need not meet the guarantee."""
    with pytest.raises(ValueError, match=r"0\.5") as caught:
        ask()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["tight", "paper"])
@pytest.mark.parametrize("guarantee", [TCDP(0.5, 10.0), ZCDP(0.5), ApproxDP(1.0, 1e-3), PureDP(1.0)], ids=repr)
@pytest.mark.parametrize("family", ["gaussian", "laplace", "sinh_normal", "truncated_laplace", "discrete_gaussian"])
def test_a_notion_that_tells_its_numbers_is_calibrated(family, guarantee, method):
    """Its noise is that of the same guarantee of the package, and it is refused where that one is."""
    new, old = (_calibrated(family, each, method) for each in (Renamed(guarantee), guarantee))
    assert new == old


def _calibrated(family, guarantee, method):
    said = ""
    try:
        return calibrate(family, guarantee, method=method).noise
    except ValueError as mistake:
        said = str(mistake)
    assert said
    assert "\n" not in said
    return None


def test_a_list_of_releases_is_calibrated_for_it():
    for guarantee in (TCDP(0.5, 10.0), ApproxDP(1.0, 1e-3), PureDP(1.0)):
        new, old = (
            calibrate_releases([Additive(Laplace(1.0))], each).factor for each in (Renamed(guarantee), guarantee)
        )
        assert new == old


def test_a_notion_that_implies_nothing_known_is_refused_in_one_line():
    @dataclass(frozen=True)
    class Nothing(Guarantee):
        size: float

    for ask in (to_zcdp, lambda it: to_approx_dp(it, 1e-5), Claimed, measure, lambda it: compose(it, it)):
        with pytest.raises(ValueError, match="Nothing") as caught:
            ask(Nothing(1.0))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda ledger: ledger.epsilon(1e-2),
        lambda ledger: ledger.delta(0.1),
        lambda ledger: ledger.renyi(4.0),
        lambda ledger: ledger.tradeoff(0.1),
        lambda ledger: ledger.attack(0.5),
        lambda ledger: ledger.times(3).delta(0.2),
        lambda ledger: ledger.parallel(ledger).delta(0.2),
        lambda ledger: (ledger + Ledger([Additive(Laplace(2.0))])).epsilon(1e-3),
    ],
)
def test_a_new_release_is_accounted_for_like_the_same_one_of_the_package(ask):
    new, old = ask(Ledger([COIN], "add_remove")), ask(Ledger([SAME], "add_remove"))
    assert new.upper == pytest.approx(old.upper, rel=1e-9)
    assert new.lower == pytest.approx(old.lower, rel=1e-9)


def test_a_new_release_is_paid_for_planned_around_printed_and_drawn():
    assert "Coin" in repr(Ledger([(COIN, 3)], "add_remove"))
    spent = [_spent(Filter(ZCDP(1.0), relation="add_remove"), release) for release in (COIN, SAME)]
    assert float(spent[0]) == pytest.approx(float(spent[1]), rel=1e-6)
    found = calibrate_releases([Additive(Laplace(1.0)), COIN], PureDP(0.5), relation="add_remove")
    assert 1 / found.noise.scale == pytest.approx(0.5 - np.log(1.25), rel=1e-5)
    mechanism = LedgerMechanism(Ledger([(COIN, 2)], "add_remove"))
    outputs = mechanism(np.array([1.0]), np.random.default_rng(0), 4000)
    assert outputs.mean() == pytest.approx(0.6, abs=0.03)
    report = audit(
        mechanism, neighbours=mechanism.pairs, claim=Ledger([(COIN, 2)], "add_remove"), trials=5000, seed=1, learn=False
    )
    assert not report.refuted


def test_a_new_release_with_a_scale_is_calibrated():
    found = calibrate_releases([Twice(1.0)], PureDP(0.5))
    assert found.ledger.entries[0][0].scale == pytest.approx(4.0, rel=1e-5)
    assert not found.least  # nothing is known of less noise
    for rho in (ZCDP(0.1), TCDP(0.1, 5.0)):
        assert calibrate_releases([Twice(1.0)], rho).spent.upper <= 0.1


@pytest.mark.parametrize(
    "ask",
    [
        lambda: tight_rho(COIN),
        lambda: calibrate_releases([COIN], PureDP(1.0), free=0, relation="add_remove"),
        lambda: calibrate_releases([Additive(Laplace(1.0)), COIN], ZCDP(0.5), relation="add_remove"),
        lambda: LedgerMechanism(Ledger([Twice(1.0)])),
        lambda: COIN.scaled(2.0),
        lambda: read_list("mine", {"releases": [{"coin": 0.6}]}),
    ],
)
def test_what_a_new_release_does_not_say_is_refused_in_one_line(ask):
    with pytest.raises((ValueError, UserError), match=r"(?i)coin|twice") as caught:
        ask()
    assert "\n" not in str(caught.value)
