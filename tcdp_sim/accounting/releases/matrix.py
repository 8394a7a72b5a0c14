"""Training with correlated noise: matrix mechanisms, also called DP-FTRL."""

from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from math import exp, log, sqrt
from typing import Any, NamedTuple

from tcdp_sim.accounting.releases.additive import LARGEST_SHIFT
from tcdp_sim.accounting.releases.matrix_pairs import Pairs, proved_pairs
from tcdp_sim.accounting.releases.noise_rho import noise_rho
from tcdp_sim.accounting.releases.release import Case, Laws, Release, need_relation
from tcdp_sim.core.errors import scalar, whole
from tcdp_sim.core.estimates import Estimate
from tcdp_sim.core.search import brentq
from tcdp_sim.core.streams import generator
from tcdp_sim.exact.correlated.draws import BinDraws, LossDraws, SeparatedDraws
from tcdp_sim.exact.correlated.moves import longest_move
from tcdp_sim.exact.correlated.participations import Cyclic, Fixed, MinSeparation, Participation, SameBin
from tcdp_sim.exact.correlated.simulated import simulated
from tcdp_sim.exact.correlated.strategies import strategy_of
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy.relation import ABSENT

LEAST_TRIALS, MOST_TRIALS = 100, 10**10
_CLOSE = 1e-4  # of the log of a calibrated noise multiplier
_LEAST_SIGMA = 0.05  # over the longest move, of simulations: the ratios are floats
_STREAM = sha256(b"calibration of a matrix mechanism").hexdigest()[:32]


class PrefixSumErrors(NamedTuple):
    """Standard deviations of the noise of prefix sums, in clipping lengths: root mean square and largest."""

    root_mean_square: float
    largest: float


class CalibratedMatrix(NamedTuple):
    """A matrix mechanism with a noise multiplier found by simulation, and delta of a fresh simulation of it."""

    release: "MatrixMechanism"
    check: Estimate


@dataclass(frozen=True)
class MatrixMechanism(Release):
    """A training run with correlated noise: C x + sigma z is released for a lower-triangular strategy C >= 0.

    Entry t of x is the sum of the vectors, of length 1 at most, of the records of batch t; it may depend on earlier
    outputs. With the prefix sums A, the run sees A x + A C^-1 sigma z, which is DP-FTRL. C = 1 is DP-SGD.

    A ledger takes the release with proved ends. They agree for `Fixed` with at most b bands or a Toeplitz strategy with
    falling entries, for `Cyclic`, and for one bin. For `SameBin` and `MinSeparation` they are apart, and `simulate`
    gives an interval that holds with confidence, which is no proof. No lower ends were published before.

    Source: Choquette-Choo et al. (2024), Lemma 3.2 [Cho24], for the pair of bins; Choquette-Choo et al. (2023)
    [Cho23], for Poisson samples of groups. The ends of bins are derived in `tcdp_sim.exact.correlated.domination`.

    Parameters
    ----------
    strategy : Bands, array or factorisation
        C: `Bands`, the first column of a Toeplitz matrix, a lower-triangular matrix, shape (steps, steps) with at most
        2,048 steps, or a factorisation with lower-triangular factors, such as `ordered.prefix_sums.SquareRoot`. No
        entry is negative, and the diagonal is above 0.
    participation : SameBin, Cyclic, MinSeparation or Fixed
        In which steps a record takes part. `Cyclic` and `MinSeparation` need at most as many bands as their distance b.
    sigma : float
        The noise multiplier: the standard deviation of each z over the largest length of a record's vector, > 0. It is
        not divided by the length of a column of C.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the ledger has a relation without a pair: `Fixed` has pairs for zero_out
        and substitute, the others for zero_out and add_remove.

    Examples
    --------
    >>> from tcdp_sim.accounting import Bands, Cyclic, Ledger, MatrixMechanism
    >>> run = MatrixMechanism(Bands(4, 1000), Cyclic(10, 0.1), sigma=2.0)
    >>> round(Ledger([run], relation="zero_out").epsilon(1e-6).upper, 2)
    3.54
    """

    strategy: Any
    participation: Any
    sigma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "strategy", strategy_of(self.strategy))
        given, c = self.participation, self.strategy
        if not isinstance(given, Participation):
            raise ValueError(
                f"participation = {given!r} is not valid; valid: SameBin(100), Cyclic, MinSeparation, Fixed"
            )
        b = given.groups if isinstance(given, Cyclic) else getattr(given, "separation", c.steps)
        if isinstance(given, Cyclic | MinSeparation) and c.width > b:
            raise ValueError(f"{c!r} has {c.width} bands; valid with {given!r}: at most {b} bands")
        if isinstance(given, SameBin) and given.bins > c.steps:
            raise ValueError(f"bins = {given.bins} is not valid; valid: at most the {c.steps} steps of the strategy")
        longest = float(c.lengths.max())
        object.__setattr__(self, "sigma", scalar("sigma", self.sigma, c.steps * longest / LARGEST_SHIFT))

    @property
    def has_scale(self) -> bool:
        return True

    def scaled(self, factor: float) -> "MatrixMechanism":
        return replace(self, sigma=self.sigma * factor)

    def less_noise_spends_more(self, in_rho: bool) -> bool:
        return not in_rho or isinstance(self.participation, Fixed)

    def least_rho(self, omega: float) -> float | None:
        """Return the rho of a Gaussian pair under zero_out, and None where it is not known."""
        if not isinstance(self.participation, Fixed):
            return None
        given = self.participation
        low, high = longest_move(self.strategy, given.separation, given.participations)
        return noise_rho(Gaussian(self.sigma), high, omega) if high <= low * (1 + 1e-9) else None

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pairs that are proved to dominate."""
        need_relation(self, relation, ("zero_out", "substitute") if isinstance(self.participation, Fixed) else ABSENT)
        return _times(self._pairs(relation).dominating, times)

    def attained(self, relation: str | None, times: int) -> tuple[Case, ...] | None:
        """Return pairs that are functions of the output, or None where the dominating pair is attained."""
        found = self._pairs(relation).attained
        return None if found is None else _times(found, times)

    def _pairs(self, relation: str | None) -> Pairs:
        return proved_pairs(self.strategy, self.participation, self.sigma, 2.0 if relation == "substitute" else 1.0)

    def prefix_sum_errors(self) -> PrefixSumErrors:
        """Return the standard deviations of the noise of the prefix sums, A C^-1 sigma z.

        Mechanisms are compared at equal epsilon, delta, relation and expected batch (`participation.rate`), with the
        sigma that each of them needs.

        Returns
        -------
        PrefixSumErrors
            The root mean square over all steps and the largest one, in clipping lengths.
        """
        variances = self.strategy.variances()
        return PrefixSumErrors(*(self.sigma * sqrt(float(each)) for each in (variances.mean(), variances.max())))

    def simulate(self, epsilon: float, trials: int = 100_000, level: float = 0.95, *, rng: Any) -> Estimate:
        """Return delta at epsilon from draws of the privacy loss: an interval that holds with confidence, not a proof.

        The number of draws is fixed beforehand, and their values are bounded, so both ends hold for every number of
        draws. If several epsilons or runs are looked at, each interval fails with 1 - level by itself.

        Source: the draws are those of jax_privacy's Monte Carlo accountant, on the b x b Gram matrix of the bins; the
        interval is ours (`tcdp_sim.exact.training.stretched_means`).

        Parameters
        ----------
        epsilon : float
            epsilon in nats, at least 0.
        trials : int
            The number of draws for each of the two directions, at least 100.
        level : float
            The confidence level of the interval of the larger delta, in (0, 1).
        rng : numpy.random.Generator
            The source of randomness. Its seed must not be published with the run's output.

        Returns
        -------
        Estimate
            delta under zero_out, with a lower and an upper end.

        Raises
        ------
        ValueError
            If an argument is out of range, or the proved ends agree, so that nothing has to be simulated.
        """
        epsilon, level = scalar("epsilon", epsilon, 0, closed=True), scalar("level", level, 0, 1)
        trials = whole("trials", trials, LEAST_TRIALS, MOST_TRIALS)
        return simulated(self._draws, epsilon, trials, level, rng)

    def calibrated(
        self, epsilon: float, delta: float, trials: int = 100_000, level: float = 0.95, *, rng: Any
    ) -> CalibratedMatrix:
        """Return the run with the noise that it needs for (epsilon, delta), found and then checked by simulation.

        The search uses the same draws for all noise multipliers. The check has draws of its own. It is passed if its
        upper end is at most delta; the search aims at this with a margin. Do not repeat it until it is passed.
        `calibration.calibrate_releases` finds noise by the proved ends.

        Parameters
        ----------
        epsilon : float
            epsilon in nats, at least 0.
        delta : float
            delta, in (0, 1).
        trials : int
            The number of draws of each simulation, for each of the two directions, at least 100.
        level : float
            The confidence level of the check, in (0, 1).
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        CalibratedMatrix
            The release with the noise multiplier that was found, and the estimate of its delta by the check.

        Raises
        ------
        ValueError
            If an argument is out of range, the proved ends agree, or too few draws are given to tell delta.
        """
        delta, seed = scalar("delta", delta, 0, 1), int(rng.integers(2**53))
        self.simulate(epsilon, LEAST_TRIALS, level, rng=generator(seed, _STREAM, 0))  # refuses what is not valid

        def excess(x: float) -> float:
            found = replace(self, sigma=exp(x)).simulate(epsilon, trials, level, rng=generator(seed, _STREAM, 1))
            aim = found.estimate + 2 * (found.upper - found.estimate)  # the margin: twice the half width
            return log(max(aim, 1e-300) / delta)

        release = replace(self, sigma=exp(_root(excess, log(self._longest))))
        return CalibratedMatrix(release, release.simulate(epsilon, trials, level, rng=rng))

    @property
    def _longest(self) -> float:
        return sqrt(self._draws.kappa) * self.sigma

    @cached_property
    def _draws(self) -> LossDraws:
        given = self.participation
        if isinstance(given, SameBin) and given.bins > 1:
            draws: LossDraws = BinDraws(self._gram, self.sigma)
        elif isinstance(given, MinSeparation):
            draws = SeparatedDraws(self.strategy, given, self.sigma)
        else:
            raise ValueError(f"{self!r} has proved ends alone; valid: Ledger([...], 'zero_out').delta(epsilon)")
        if draws.kappa * _LEAST_SIGMA**2 > 1:
            least = sqrt(draws.kappa) * self.sigma * _LEAST_SIGMA
            raise ValueError(f"sigma = {self.sigma:g} is not valid for simulations; valid: at least {least:.4g}")
        return draws

    @cached_property
    def _gram(self) -> Any:
        return self.strategy.gram(self.participation.bins)


def _times(cases: tuple[Case, ...], times: int) -> tuple[Case, ...]:
    """Return the pairs of several independent runs."""

    def laws(one: Laws) -> Laws:
        return tuple((law, times * count) for law, count in one)

    return tuple(Case(laws(case.forward), laws(case.backward)) for case in cases)


def _root(excess: Any, start: float) -> float:
    """Return a number at which a falling function is at most 0, to a relative 1e-4 of its exponential."""
    low = high = start
    while excess(low) <= 0:
        low -= 0.7
    while excess(high) > 0:
        high += 0.7
        if high > start + 40:
            raise ValueError("no noise meets delta with so few draws; valid: more trials, or a larger delta")
    found = brentq(excess, low, high, xtol=_CLOSE)
    return float(found) if excess(found) <= 0 else float(found) + 2 * _CLOSE
