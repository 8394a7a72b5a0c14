"""Privacy profiles and losses of vector queries, whose coordinates have independent noise and change by the same shift.

H_eps(P1 x P2 || Q1 x Q2) = E_{x ~ P1}[H_{eps - L1(x)}(P2 || Q2)] is one more quadrature, over one coordinate's profile.
The probability of a larger loss is P[L1 + L2 > l] = E_{x ~ P1}[P(L2 > l - L1(x))], which is bracketed by two sums,
since the first loss is monotone for log-concave noise.
"""

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, RealFunction
from tcdp_sim.core.errors import choice, real, whole
from tcdp_sim.core.numerics import ArrayBounds, Bounds, integrate
from tcdp_sim.exact.losses.distribution import LAWS, PrivacyLossDistribution
from tcdp_sim.exact.profile import hockey_stick
from tcdp_sim.exact.resolution import need_density, resolved, with_kinks
from tcdp_sim.exact.work import spend, within
from tcdp_sim.noise import DiscreteNoise, Noise

NEGLIGIBLE = 1e-13  # share of the answer that may be lost in the tails, which the upper end includes
MOST_COORDINATES = 2
_ARM = np.concatenate(  # probabilities of exceeding the points at which the first loss is taken, on each side
    [np.logspace(-300, -20, 400), np.logspace(-20, -1.5, 400)[1:], np.linspace(10**-1.5, 0.5, 151)[1:]]
)
_ROUNDED = 1e-11  # relative error of a probability of one coordinate's loss
_TIE = 1e-14  # relative error of a loss: brackets hold wherever an atom falls
_SUMMED = 1e-13  # relative error of a sum of probabilities
MOST_POINTS = 130_000_000  # of an answer: less than ten seconds for the most expensive noise


def _name(noise: Noise) -> str:
    return getattr(noise, "family", repr(noise))


@within(MOST_POINTS, "valid: a noise whose class defines `log_concave` as true, or choose one coordinate")
def product_profile(noise: Noise, shift: float, epsilon: float, coordinates: int = 2) -> Bounds:
    """Return delta(epsilon) when `coordinates` coordinates, each with its own draw of a noise, all change by `shift`.

    Isotropic noise and one coordinate reduce to one dimension. For Gaussian noise the shift is multiplied by the root
    of `coordinates`. Other noise takes quadrature in two dimensions.

    Source: Balle et al. (2018) [BBG18], for the profile of one coordinate. The product is derived here.

    Parameters
    ----------
    noise : Noise
        The noise of each coordinate.
    shift : float
        The change of each coordinate, in counts, finite, of either sign.
    epsilon : float
        epsilon in nats, finite.
    coordinates : int
        The number of coordinates, a whole number of at least 1. Noise that is not isotropic takes 1 or 2.

    Returns
    -------
    Bounds
        delta(epsilon), in [0, 1].

    Raises
    ------
    ValueError
        If there are too many coordinates, the noise is discrete or gives no privacy loss of its own, or the quadrature
        needs more evaluations than its budget.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(product_profile(Gaussian(2.0), 1.0, 0.0, 4).estimate, 6)
    0.382925
    """
    coordinates = whole("coordinates", coordinates, 1, 1e15)
    if noise.isotropic:
        return hockey_stick(noise, shift * np.sqrt(coordinates), epsilon)
    if coordinates == 1 or shift == 0:
        return hockey_stick(noise, shift, epsilon)
    if coordinates > MOST_COORDINATES:
        valid = f"1 or {MOST_COORDINATES} (any number for gaussian)"
        raise ValueError(f"coordinates = {coordinates} is not valid for {_name(noise)} noise; valid: {valid}")
    if isinstance(noise, DiscreteNoise):
        return _on_lattice(noise, abs(real("shift", shift, -np.inf)), real("epsilon", epsilon, -np.inf))
    noise.need_loss()
    need_density(noise)
    size, epsilon = abs(real("shift", shift, -np.inf)), real("epsilon", epsilon, -np.inf)
    least = hockey_stick(noise, size, epsilon).lower  # of one coordinate alone: the answer is no smaller
    lowest = np.log10(max(NEGLIGIBLE * least, 1e-307))
    arm = noise.isf(np.concatenate([[0.5, 0.35, 0.2], np.logspace(-1, lowest, max(6, int(-lowest / 2)))]))
    arm = with_kinks(noise, arm)
    edges = np.concatenate([-arm, arm, arm + size, size - arm, [size / 2]])
    edges = resolved(noise, np.unique(edges[noise.pdf(edges) > 0]))

    def part(end: RealFunction) -> Bounds:
        def integrand(x: Floats) -> Floats:
            loss = noise.privacy_loss(x, size)
            inside = np.exp(noise.logpdf(x))
            rest = np.where(np.isfinite(loss), epsilon - loss, 0.0)
            return inside * np.where(loss == np.inf, 1.0, np.where(loss == -np.inf, 0.0, end(rest)))

        return integrate(integrand, edges, relative=1e-9)

    wider = [0.0]  # error of a profile beyond 1e-10 of itself

    def profile(rest: Floats) -> Floats:
        low, middle, high = hockey_stick(noise, size, rest)
        wider.append(float(np.max(np.maximum(high - middle, middle - low) - 1e-10 * middle)))
        return middle

    estimate = part(profile)
    beyond = float(noise.cdf(edges[0]) + noise.sf(edges[-1]))  # there a profile is at most one
    slack = 1e-10 * estimate.estimate + max(wider)
    ends = estimate.lower - slack, estimate.estimate, estimate.upper + slack + beyond
    return Bounds(*map(float, ends)).clipped(0.0, 1.0)


@within(MOST_POINTS, "valid: fewer losses")
def product_loss_sf(noise: Noise, shift: float, loss: ArrayLike, coordinates: int = 2, under: str = "P") -> ArrayBounds:
    """Return P[L > l] of the privacy loss L of a release whose `coordinates` coordinates all change by `shift`.

    The two sums are derived here.

    Parameters
    ----------
    noise : Noise
        The noise of each coordinate.
    shift : float
        The change of each coordinate, in counts, finite, of either sign.
    loss : array
        The losses l in nats, shape (n,).
    coordinates : int
        The number of coordinates, a whole number of at least 1. Noise that is not isotropic takes 1 or 2.
    under : str
        "P" for outputs on the data, "Q" for outputs on the neighbour, where L is the same log P(y)/Q(y).

    Returns
    -------
    Bounds
        Arrays of shape (n,). For two coordinates of noise with a density, the ends are apart by a hundredth of a common
        value, by a tenth at 1e-5, and by a factor of two to four below 1e-20; the estimate lies half way. At an atom
        of the loss they lie on both sides of it.

    Raises
    ------
    ValueError
        If there are too many coordinates, the noise gives no privacy loss of its own, or two coordinates have noise
        that is neither discrete nor log-concave.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> product_loss_sf(Gaussian(1.0), 1.0, [1.0]).estimate.round(12).tolist()
    [0.5]
    """
    at = np.atleast_1d(np.asarray(real("loss", np.asarray(loss), -np.inf)))
    coordinates, under = whole("coordinates", coordinates, 1, 1e15), choice("under", under, LAWS)
    size = abs(real("shift", shift, -np.inf))
    if noise.isotropic or coordinates == 1 or size == 0:
        factor = np.sqrt(coordinates) if noise.isotropic else 1.0
        one = PrivacyLossDistribution(noise, size * factor)
        low, high = _ends(one, at, under)
        return Bounds(low, one.sf(at, under), high).clipped(0.0, 1.0)
    if coordinates > MOST_COORDINATES:
        valid = f"1 or {MOST_COORDINATES} (any number for gaussian)"
        raise ValueError(f"coordinates = {coordinates} is not valid for {_name(noise)} noise; valid: {valid}")
    if isinstance(noise, DiscreteNoise):
        return _sums_on_lattice(noise, size, at, under)
    if not noise.log_concave:
        need = "a class that defines `log_concave` as true, or choose discrete noise or one coordinate"
        raise ValueError(
            f"{_name(noise)}: the losses of {coordinates} coordinates need log-concave noise; valid: {need}"
        )
    noise.need_loss()
    arm = noise.isf(_ARM)
    spend(4 * len(at) * len(arm) * noise.tail_cost)
    beyond = noise.sf(arm)  # the quantiles are rounded, so their probabilities are taken again
    half = np.append(beyond[0], np.diff(beyond))
    mass = np.concatenate([half, [max(1 - 2 * beyond[-1], 0.0)], half[::-1]])
    first = noise.privacy_loss(np.concatenate([arm, -arm[::-1]]), size)  # ascends
    first = -first[::-1] if under == "Q" else first  # the noise is symmetric
    rest = _ends(PrivacyLossDistribution(noise, size), at[:, None] - first, under)
    none, every = np.zeros((len(at), 1)), np.ones((len(at), 1))
    low = np.concatenate([none, rest[0]], axis=1) @ mass * (1 - _ROUNDED)
    high = np.concatenate([rest[1], every], axis=1) @ mass * (1 + _ROUNDED)
    return Bounds(low, 0.5 * (low + high), high).clipped(0.0, 1.0)


def _ends(losses: PrivacyLossDistribution, at: Floats, under: str) -> tuple[Floats, Floats]:
    """Return P[L > l] of one coordinate from below and above, with the rounding of the loss and of the probability."""
    slack = np.where(np.isfinite(at), _TIE * np.maximum(np.abs(at), 1.0), 0.0)
    return losses.sf(at + slack, under) * (1 - _ROUNDED), losses.sf(at - slack, under) * (1 + _ROUNDED)


def _sums_on_lattice(noise: DiscreteNoise, shift: float, at: Floats, under: str) -> ArrayBounds:
    """Return P[L1 + L2 > l] at each of `at`, from the sums of pairs of losses."""
    if noise.steps_of(shift) is None:
        return Bounds(*np.full((3, len(at)), 1.0 if under == "P" else 0.0))
    loss, log_mass, log_above, log_below = noise.loss_atoms(shift)
    spend(3 * loss.size * (noise.density_cost + len(at)))
    loss = -loss if under == "Q" else loss  # the noise is symmetric
    order = np.argsort(-loss, kind="stable")
    loss, mass = loss[order], np.exp(log_mass[order])
    under_p = np.append(0.0, np.cumsum(mass))
    slack = _TIE * (np.abs(loss[np.isfinite(loss)]).max(initial=1.0) + np.abs(at))
    low, value, high = (
        np.array([mass @ under_p[np.searchsorted(-loss, loss - each)] for each in at + end])
        for end in (slack, 0, -slack)
    )
    left_out = 2 * float(np.exp(log_above) + np.exp(log_below))
    return Bounds(low * (1 - _SUMMED), value, high * (1 + _SUMMED) + left_out).clipped(0.0, 1.0)


def _on_lattice(noise: DiscreteNoise, shift: float, epsilon: float) -> Bounds:
    """Return delta(epsilon) when two coordinates move, from the sums of pairs of their losses.

    Given the loss of the first coordinate, the loss of the second has to exceed the rest. Sums over the largest losses
    give its probabilities under P and Q.
    """
    if noise.steps_of(shift) is None:
        return Bounds(1.0, 1.0, 1.0)
    loss, log_mass, log_above, log_below = noise.loss_atoms(shift)
    spend(loss.size * noise.density_cost)
    order = np.argsort(-loss, kind="stable")
    loss, mass = loss[order], np.exp(log_mass[order])
    under_p, under_q = (np.append(0.0, np.cumsum(each)) for each in (mass, mass * np.exp(-loss)))
    count = np.searchsorted(-loss, loss - epsilon)  # losses above epsilon less the loss of the first coordinate
    with np.errstate(over="ignore", invalid="ignore"):
        lost = np.where(count > 0, np.exp(epsilon - loss) * under_q[count], 0.0)
    value = float(mass @ np.maximum(under_p[count] - lost, 0.0))
    slack = _SUMMED * float(mass @ under_p[count])
    left_out = 2 * float(np.exp(log_above) + np.exp(log_below))
    return Bounds(value - slack, value, value + slack + left_out).clipped(0.0, 1.0)
