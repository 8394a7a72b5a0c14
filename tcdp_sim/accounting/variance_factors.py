"""The common factor by which the variances of released counts can be scaled at a given (epsilon, delta)."""

from dataclasses import dataclass
from math import exp, log, sqrt

from tcdp_sim.accounting.count_releases import CountReleases, continuous_epsilon, continuous_rho
from tcdp_sim.core.errors import scalar
from tcdp_sim.core.numerics import Bounds

_COARSE = (1e-2, 1e-3, 1e-4)  # relative tolerances of epsilon on the way to the fine one
_FINE = 0.1  # of the tolerance of the factor
_LARGEST_STEP = 0.5  # of log factor
_MOST_ROUNDS = 60


@dataclass(frozen=True)
class VarianceFactor:
    """A factor for all sigma^2 of a list of releases that meets an epsilon, and one just below that misses it.

    - factor: the factor. Below 1 the published noise is larger than the target needs.
    - epsilon: the exact epsilon at the factor. Its upper end is at most the target.
    - missed: a smaller factor, at which the target is missed.
    - missed_epsilon: the exact epsilon there. Its lower end is above the target.

    >>> from tcdp_sim.accounting import CountReleases, variance_factor
    >>> found = variance_factor(CountReleases([4.0], "add_remove"), 4.0, 1e-10)
    >>> found.missed < found.factor, found.epsilon.upper <= 4.0 < found.missed_epsilon.lower
    (True, True)
    """

    factor: float
    epsilon: Bounds
    missed: float
    missed_epsilon: Bounds


def variance_factor(releases: CountReleases, epsilon: float, delta: float, tolerance: float = 1e-5) -> VarianceFactor:
    """Return the factor for all sigma^2 at which the releases have this epsilon at delta.

    The factor is conservative: the upper end of the exact bracket at the factor is at most epsilon. A factor at most
    `tolerance` smaller is proved to miss epsilon. That is all that is claimed. Discrete Gaussian noise is not monotone
    in a common factor, so a much smaller factor may meet epsilon too, where the lattice is coarse.

    Parameters
    ----------
    releases : CountReleases
        The releases.
    epsilon : float
        The target in nats, above 0.
    delta : float
        delta, in (0, 1).
    tolerance : float
        The aim for the relative distance of the two factors, in [1e-8, 0.1].

    Returns
    -------
    VarianceFactor
        The factor and its proof.

    Raises
    ------
    ArithmeticError
        If no two such factors were found.

    Examples
    --------
    >>> from tcdp_sim.accounting import CountReleases, variance_factor
    >>> counts = CountReleases([50.0, 20.0], "substitute")
    >>> round(variance_factor(counts, counts.conversions(1e-10)["best"], 1e-10).factor, 3)
    0.916
    """
    target, delta = scalar("epsilon", epsilon, 0), scalar("delta", delta, 0, 1)
    tolerance = scalar("tolerance", tolerance, 0.99e-8, 0.1, closed=True)
    centre, steepness = _search(releases, target, delta, tolerance)
    low, high = (exp(centre + sign * tolerance / 3) for sign in (-1, 1))
    share = _FINE * tolerance * min(1.0, steepness)
    return _certified(_Side(releases, target, delta, share), low, high, tolerance)


@dataclass(frozen=True)
class _Side:
    """The bracket of epsilon at a factor, and which side of the target it is proved to be on."""

    releases: CountReleases
    target: float
    delta: float
    share: float

    def __call__(self, factor: float) -> tuple[Bounds, int]:
        found = self.releases.scaled(factor).ledger().epsilon(self.delta, self.share)
        return found, 1 if found.upper <= self.target else -1 if found.lower > self.target else 0


def _search(releases: CountReleases, target: float, delta: float, tolerance: float) -> tuple[float, float]:
    """Return log of a factor near the answer, and |d log epsilon / d log factor| there, by steps of Newton's method.

    Only the quality of the start of the proof depends on them. The slope is the slope for continuous noise.
    """
    rho = continuous_rho(target, delta)
    up, down = (continuous_epsilon(rho * exp(sign * 1e-3), delta) for sign in (1, -1))
    slope = log(up / max(down, 1e-3 * target)) / 2e-3
    place = log(releases.rho / rho)
    fine = _FINE * tolerance
    for share in (*(share for share in _COARSE if share > fine), fine):
        found = releases.scaled(exp(place)).ledger().epsilon(delta, share).estimate
        step = log(max(found, 1e-3 * target) / target) / slope
        place += max(-_LARGEST_STEP, min(step, _LARGEST_STEP))
    return place, slope


def _certified(side: _Side, low: float, high: float, tolerance: float) -> VarianceFactor:
    """Return a factor that is proved to meet the target and a smaller one that is proved to miss it.

    The ends move apart until both are proved. Then the gap is halved until it is at most the tolerance, or until the
    bracket at the middle has the target inside.
    """
    meets, misses = _outwards(side, high, 1, high / low), _outwards(side, low, -1, high / low)
    while meets[0] > misses[0] * (1 + tolerance):
        middle = sqrt(meets[0] * misses[0])
        found, proved = side(middle)
        if proved == 0:
            break
        meets, misses = ((middle, found), misses) if proved > 0 else (meets, (middle, found))
    return VarianceFactor(*meets, *misses)


def _outwards(side: _Side, start: float, wanted: int, ratio: float) -> tuple[float, Bounds]:
    """Return the first factor, in growing steps away from the start, that is proved to be on the wanted side."""
    factor, step = start, log(ratio)
    for _ in range(_MOST_ROUNDS):
        found, proved = side(factor)
        if proved == wanted:
            return factor, found
        factor *= exp(wanted * step)
        step = min(2 * step, _LARGEST_STEP)
    words = "meets" if wanted > 0 else "misses"
    raise ArithmeticError(f"no factor was found that {words} epsilon = {side.target:g} at delta = {side.delta:g}")
