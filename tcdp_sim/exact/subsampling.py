"""Subsampled additive noise: the pairs of laws that decide its privacy, and their divergences in both directions.

Q is the law of Z, P that of Z + shift: the noisy answers without and with the record in question.
"""

from dataclasses import dataclass
from itertools import accumulate
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import choice, real, scalar
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.mixtures import Mixture, subsampled
from tcdp_sim.exact.renyi.kernels import divergence_of_mean, excess_over_q
from tcdp_sim.exact.renyi.mixture_divergences import hockey_stick_between, renyi_divergence_between
from tcdp_sim.noise import Gaussian, Noise
from tcdp_sim.privacy.amplification.schemes import SCHEMES, chance_drawn, drawn_again, drawn_more_often

DIRECTIONS = ("forward", "reverse")
_WIDEST = 60.0  # scales: half the side of the square that the plane's quadrature covers


def subsampled_renyi(
    noise: Noise, shift: float, order: ArrayLike, sampling_fraction: float, direction: str = "forward"
) -> Bounds[Any]:
    """D_order in nats of ((1-s) Q + s P, Q), "forward", or of (Q, (1-s) Q + s P), "reverse"; scalar or array orders.

    shift: counts; order >= 1 (inf: max-divergence), 0 < sampling_fraction <= 1. Under Poisson sampling and add/remove
    these are the two directions, and decide. Under substitution other pairs may be worse: see `equilateral_renyi`.
    Raises ValueError for arguments out of range.
    """
    return renyi_divergence_between(*_directed(noise, shift, sampling_fraction, direction), order)


def subsampled_hockey_stick(
    noise: Noise, shift: float, epsilon: ArrayLike, sampling_fraction: float, direction: str = "forward"
) -> Bounds[Any]:
    """delta(epsilon) of ((1-s) Q + s P, Q), "forward", or of (Q, (1-s) Q + s P), "reverse"; scalar or array epsilon.

    The forward direction decides for epsilon >= 0 under Poisson sampling (add/remove) and under sampling without
    replacement (substitution): Balle-Barthe-Gaboardi 2018, Theorems 8 and 9. Raises ValueError as `subsampled_renyi`.
    """
    return hockey_stick_between(*_directed(noise, shift, sampling_fraction, direction), epsilon)


def equilateral_renyi(noise: Gaussian, shift: float, order: float, sampling_fraction: float) -> Bounds:
    """D_order of (s P + (1-s) R, s Q + (1-s) R): Gaussians whose three centres are `shift` apart from each other.

    What a histogram in the plane of two bins gives under substitution: the record moves from one bin to another, and
    a third one takes its place where it is not drawn. At small s it is worse than the pair (sP + (1-s)Q, Q).
    1 < order < inf, scalar. By two-dimensional quadrature; the bounds are the difference between two rules.
    Raises ValueError for other noises than Gaussian and for arguments out of range.
    """
    if not noise.isotropic:
        raise ValueError(f"noise = {noise!r} is not valid; valid: Gaussian, whose law in the plane has no axes")
    s = real("sampling_fraction", sampling_fraction, 0, 1, finite=False)
    order, theta = real("order", order, 1), abs(real("shift", shift, -np.inf)) / noise.scale
    centres = theta / np.sqrt(3) * np.array([[-0.5, np.sqrt(0.75)], [-0.5, -np.sqrt(0.75)], [1.0, 0.0]])  # P, Q, R
    reach = 12 + order * theta  # the peak of p^a q^(1-a) is a - 1 shifts beyond P
    if reach > _WIDEST:
        most = (_WIDEST - 12) / theta
        raise ValueError(f"order = {order:g} is not valid for a shift of {theta:g} scales; valid: order < {most:.4g}")
    (coarse, top), (fine, _) = (_plane_moment(centres, order, s, reach, nodes) for nodes in (161, 321))
    error = abs(fine - coarse) + (1e-12 + 4e-16 * top) * fine
    return Bounds(*(divergence_of_mean(max(mean, 0.0), order, top) for mean in (fine - error, fine, fine + error)))


def _plane_moment(centres: Floats, order: float, s: float, reach: float, nodes: int) -> tuple[float, float]:
    """(E_q[e^(aL) - 1 - a (e^L - 1)] e^-top / (a - 1), top) by the trapezoid rule.

    It converges faster than any power for such integrands. p^a q^(1-a) peaks beyond P, as far away from Q as a - 1
    times their distance, if it does so at all.
    """
    x = np.linspace(-reach, reach, int(nodes * reach / 12))
    grid = np.stack(np.meshgrid(x, x))
    heights = [-0.5 * ((grid - c[:, None, None]) ** 2).sum(axis=0) for c in centres]
    rest = heights[2] + (np.log1p(-s) if s < 1 else -np.inf)
    at_p, at_q = (np.logaddexp(height + np.log(s), rest) for height in heights[:2])
    top = max(float((order * at_p + (1 - order) * at_q).max()) - 600, 0.0)
    with np.errstate(all="ignore"):
        rise = np.exp(heights[0] + np.log(s) - at_q) - np.exp(heights[1] + np.log(s) - at_q)
        loss = np.where(np.abs(rise) < 0.5, np.log1p(rise), at_p - at_q)  # where s is small all digits are in the rise
        terms = excess_over_q(order - 1, loss, at_q - top)
    return terms.sum() * (x[1] - x[0]) ** 2 / (2 * np.pi), top


@dataclass(frozen=True)
class DominatingPair:
    """Laws that are at least as easy to tell apart as what any two neighbours release, to be composed.

    parts: (probability, p, q): with that probability the label says which mixtures p and q it is to be.
    symmetric: only losses above 0 are those of the parts; those below mirror them.
    rest: the probability of labels that are not among the parts, >= 0; upper ends take them to tell everything, lower
    ends to tell nothing. None: what the parts leave of 1, which is no less than the rounding of their probabilities.
    Raises ValueError unless all that sums to 1 to within 1e-12.
    """

    parts: tuple[tuple[float, Mixture, Mixture], ...]
    symmetric: bool = False
    rest: float | None = None

    def __post_init__(self) -> None:
        chances = [scalar("probability", part[0], 0, 1, finite=False) for part in self.parts]
        rest = max(fsum([1.0, *(-chance for chance in chances)]), 0.0) if self.rest is None else self.rest
        object.__setattr__(self, "rest", scalar("rest", rest, 0, 1, closed=True))
        if not abs(fsum([*chances, rest]) - 1) <= 1e-12:
            raise ValueError(f"parts and rest have probability {fsum([*chances, rest]):.15g}; valid: 1")

    def without_rare(self, most: float) -> "DominatingPair":
        """Without the rarest parts, as many as have no more than that probability: they are added to the rest."""
        parts = sorted(self.parts, key=lambda part: part[0])
        gone = sum(total <= most for total in accumulate(chance for chance, _, _ in parts[:-1]))
        rest = fsum([self.rest or 0.0, *(chance for chance, _, _ in parts[:gone])])
        return DominatingPair(tuple(parts[gone:]), self.symmetric, rest)


def dominating_pairs(
    noise: Noise, shift: float, sampling_fraction: float, scheme: str, records: int | None = None
) -> tuple[DominatingPair, ...]:
    """The pairs whose compositions bound those of a subsampled query with additive noise; the worst of them counts.

    shift: the query's sensitivity, in counts: for "poisson" and "poisson_substitution" under add/remove, else under
    substitution.
    "poisson" (add/remove): both directions of ((1-s)Q + sP, Q). "without_replacement" (substitution): the same profile
    for epsilon >= 0, mirrored below. "with_replacement" (substitution) and "hybrid" (add/remove; each of
    round(s * records) draws from `records`, the larger data set): label k with the chance of drawing the record
    k times, told or not; white-box group profiles, the noise at k times the shift.
    These are the profiles of Balle-Barthe-Gaboardi 2018, Theorems 8 to 11, as pairs (Zhu-Dong-Wang 2022): attained
    without labels, an upper bound with them. "poisson_substitution": ((1-s)Q + sP, (1-s)Q + sP'), the record moves the
    answer by shift or by -shift; attained, and the worst: of records that move it by a > b only thresholds tell laws
    with monotone losses apart, the better the higher a is and the lower b; and if 0 < b < a or 0 < a < b, by advanced
    joint convexity (Theorem 2) no better than P and Q are told apart in place of P and (1-beta)Q + beta P'.
    Noises must say that they are log-concave (sinh-normal noise: knee >= scale): then losses are monotone, and the
    largest shift is the worst.
    Raises ValueError for arguments out of range.
    """
    choice("scheme", scheme, SCHEMES)
    s, shift = scalar("sampling_fraction", sampling_fraction, 0, 1, finite=False), scalar("shift", shift, 0)
    Mixture(noise).noise.need_log_concave(f"find dominating pairs of {noise!r}")
    if scheme == "poisson_substitution":
        up, down = (subsampled(noise, moved, s)[0] for moved in (shift, -shift))
        return (DominatingPair(((1.0, up, down),)),)
    if scheme in ("poisson", "without_replacement"):
        p, q = subsampled(noise, shift, s)
        if scheme == "poisson":
            return DominatingPair(((1.0, p, q),)), DominatingPair(((1.0, q, p),))
        return (DominatingPair(((1.0, p, q),), True),)
    chances, eta = drawn_again(s, records), chance_drawn(s, scheme, records)
    forward = tuple((chance / eta, *subsampled(noise, k * shift, eta)) for k, chance in enumerate(chances, start=1))
    rest = drawn_more_often(s, records, len(chances)) / eta
    if scheme == "with_replacement":
        return (DominatingPair(forward, True, rest),)
    return DominatingPair(forward, rest=rest), DominatingPair(tuple((w, q, p) for w, p, q in forward), rest=rest)


def _directed(noise: Noise, shift: float, sampling_fraction: float, direction: str) -> tuple[Mixture, Mixture]:
    pair = subsampled(noise, shift, sampling_fraction)
    return pair if choice("direction", direction, DIRECTIONS) == "forward" else pair[::-1]
