"""Subsampled additive noise: the pairs of laws that decide its privacy.

Q is the law of Z, and P is the law of Z + shift. They are the noisy answers without and with the record in question.
"""

from dataclasses import dataclass
from itertools import accumulate
from math import comb, fsum
from typing import NamedTuple

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import choice, real, scalar
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.mixtures import Mixture, subsampled
from tcdp_sim.exact.renyi.kernels import divergence_of_mean, excess_over_q
from tcdp_sim.exact.resolution import need_density
from tcdp_sim.noise import Gaussian, Noise
from tcdp_sim.privacy.amplification.schemes import (
    SCHEMES,
    draw_count_probabilities,
    draw_count_tail,
    inclusion_probability,
)

_WIDEST = 60.0  # half the side of the square that the quadrature in the plane covers, in scales


def equilateral_renyi(noise: Gaussian, shift: float, order: float, sampling_probability: float) -> Bounds:
    """Return D_order of (s P + (1-s) R, s Q + (1-s) R) for Gaussians with three centres `shift` apart.

    A histogram in the plane of two bins gives this pair under substitution. The record moves from one bin to another,
    and a third record takes its place if it is not drawn. At small s the pair is worse than (sP + (1-s)Q, Q). The
    computation is two-dimensional quadrature.

    Derived here.

    Parameters
    ----------
    noise : Gaussian
        The noise.
    shift : float
        The distance of the centres, in counts, finite, of either sign.
    order : float
        The order, 1 < order < inf.
    sampling_probability : float
        The sampling probability s, in (0, 1].

    Returns
    -------
    Bounds
        The divergence in nats. The ends are the difference between two rules apart.

    Raises
    ------
    ValueError
        If the noise is not Gaussian or an argument is out of range.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(equilateral_renyi(Gaussian(1.0), 1.0, 2.0, 1.0).estimate, 6)
    1.0
    """
    if not noise.isotropic:
        raise ValueError(f"noise = {noise!r} is not valid; valid: Gaussian, whose law in the plane has no axes")
    s = real("sampling_probability", sampling_probability, 0, 1, finite=False)
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
    """Return (E_q[e^(aL) - 1 - a (e^L - 1)] e^-top / (a - 1), top) by the trapezoid rule.

    The rule converges faster than any power for such integrands. The peak of p^a q^(1-a), if there is one, lies beyond
    P by a - 1 times the distance between P and Q.
    """
    x = np.linspace(-reach, reach, int(nodes * reach / 12))
    grid = np.stack(np.meshgrid(x, x))
    heights = [-0.5 * ((grid - c[:, None, None]) ** 2).sum(axis=0) for c in centres]
    rest = heights[2] + (np.log1p(-s) if s < 1 else -np.inf)
    at_p, at_q = (np.logaddexp(height + np.log(s), rest) for height in heights[:2])
    top = max(float((order * at_p + (1 - order) * at_q).max()) - 600, 0.0)
    with np.errstate(all="ignore"):
        rise = np.exp(heights[0] + np.log(s) - at_q) - np.exp(heights[1] + np.log(s) - at_q)
        loss = np.where(np.abs(rise) < 0.5, np.log1p(rise), at_p - at_q)  # at small s the rise has all the digits
        terms = excess_over_q(order - 1, loss, at_q - top)
    return terms.sum() * (x[1] - x[0]) ** 2 / (2 * np.pi), top


@dataclass(frozen=True)
class DominatingPair:
    """A pair of laws that is at least as easy to tell apart as the outputs of any two neighbours, for composition.

    Source: Zhu et al. (2022) [ZDW22].

    `parts`: for each label its probability and the mixtures p and q. `symmetric`: True if only the losses above 0 come
    from the parts, and the losses below mirror them. `rest`: the probability, >= 0, of labels that are not among the
    parts. For upper ends these labels reveal everything, for lower ends nothing. None stands for 1 minus the
    probability of the parts.
    """

    parts: tuple[tuple[float, Mixture, Mixture], ...]
    symmetric: bool = False
    rest: float | None = None

    def __post_init__(self) -> None:
        for _, *mixtures in self.parts:
            for mixture in mixtures:
                need_density(mixture.noise)
        probabilities = [scalar("probability", part[0], 0, 1, finite=False) for part in self.parts]
        rest = max(fsum([1.0, *(-each for each in probabilities)]), 0.0) if self.rest is None else self.rest
        object.__setattr__(self, "rest", scalar("rest", rest, 0, 1, closed=True))
        if not abs(fsum([*probabilities, rest]) - 1) <= 1e-12:
            raise ValueError(f"parts and rest have probability {fsum([*probabilities, rest]):.15g}; valid: 1")

    def without_rare(self, most: float) -> "DominatingPair":
        """Return the pair without its rarest parts, whose total probability is at most `most`.

        It is added to the rest.
        """
        parts = sorted(self.parts, key=lambda part: part[0])
        gone = sum(total <= most for total in accumulate(probability for probability, _, _ in parts[:-1]))
        rest = fsum([self.rest or 0.0, *(probability for probability, _, _ in parts[:gone])])
        return DominatingPair(tuple(parts[gone:]), self.symmetric, rest)


def dominating_pairs(
    noise: Noise, shift: float, sampling_probability: float, scheme: str, records: int | None = None
) -> tuple[DominatingPair, ...]:
    """Return the pairs whose compositions bound the compositions of a subsampled query with additive noise.

    The worst of the pairs counts.

    | scheme | neighbours | pairs |
    |---|---|---|
    | poisson | add/remove | both directions of ((1-s)Q + sP, Q) |
    | poisson_substitution | substitution | ((1-s)Q + sP, (1-s)Q + sP') |
    | without_replacement | substitution | ((1-s)Q + sP, Q) for losses above 0, mirrored below |
    | with_replacement | substitution | one label for each number k of draws of the record |
    | hybrid | add/remove | one label for each number k of draws of the record, both directions |

    The last two schemes make round(s * records) draws with replacement. Their labels have the probability of drawing
    the record k times, and the noise moves by k times the shift. The profiles of "poisson" and "without_replacement"
    are attained by one release. With labels they are an upper bound, and so are compositions of "without_replacement",
    since data sets attain the losses of one order.

    For "poisson_substitution" the record moves the answer by `shift` (P) or by -`shift` (P'). That is attained and the
    worst case. If two records move the answer by a > b, only thresholds tell laws with monotone losses apart, and they
    do so better the higher a and the lower b are. If 0 < b < a or 0 < a < b, advanced joint convexity (Theorem 2 of
    Balle et al.) shows that the pair is no easier to tell apart than P and Q in place of P and (1-beta)Q + beta P'.

    Source: Balle et al. (2018), Theorems 2 and 8 to 11 [BBG18]; Zhu et al. (2022) [ZDW22].

    - `noise`: a noise with a density that says it is log-concave (sinh-normal noise: knee >= scale). Then losses are
      monotone, and the largest shift is the worst.
    - `shift`: the query's sensitivity in counts, > 0. It is meant under add/remove for "poisson" and
      "poisson_substitution", and under substitution for the other schemes.
    - `sampling_probability`: the sampling probability s, in (0, 1].
    - `records`: the number of records of the larger data set, at least 1, for "with_replacement" and "hybrid".
    """
    need_density(Mixture(noise).noise)
    noise.need_log_concave(f"find dominating pairs of {noise!r}")
    return tuple(DominatingPair(*pair) for pair in labelled_pairs(noise, shift, sampling_probability, scheme, records))


class LabelledPair(NamedTuple):
    """The fields of a `DominatingPair`, of any noise that is log-concave on its outputs."""

    parts: tuple[tuple[float, Mixture, Mixture], ...]
    symmetric: bool = False
    rest: float | None = None


def labelled_pairs(
    noise: Noise, shift: float, sampling_probability: float, scheme: str, records: int | None = None
) -> tuple[LabelledPair, ...]:
    """Return what `dominating_pairs` returns, for continuous and discrete noise.

    The reasons given there hold on a lattice too if its log masses are concave and shifts are whole steps.
    """
    choice("scheme", scheme, SCHEMES)
    s, shift = scalar("sampling_probability", sampling_probability, 0, 1, finite=False), scalar("shift", shift, 0)
    inclusion_probability(s, scheme, records)
    if scheme == "poisson_substitution":
        up, down = (subsampled(noise, moved, s)[0] for moved in (shift, -shift))
        return (LabelledPair(((1.0, up, down),)),)
    if scheme in ("poisson", "without_replacement"):
        p, q = subsampled(noise, shift, s)
        if scheme == "poisson":
            return LabelledPair(((1.0, p, q),)), LabelledPair(((1.0, q, p),))
        return (LabelledPair(((1.0, p, q),), True),)
    probabilities, eta = draw_count_probabilities(s, records), inclusion_probability(s, scheme, records)
    shares = [min(each / eta, 1.0) for each in probabilities]  # one draw: 1, whatever the quotient is rounded to
    forward = tuple((share, *subsampled(noise, k * shift, eta)) for k, share in enumerate(shares, start=1))
    rest = draw_count_tail(s, records, len(probabilities)) / eta
    if scheme == "with_replacement":
        return (LabelledPair(forward, True, rest),)
    return LabelledPair(forward, rest=rest), LabelledPair(tuple((w, q, p) for w, p, q in forward), rest=rest)


def of_draws(
    noise: Noise, shift: float, sampling_probability: float, scheme: str, records: int | None = None
) -> tuple[LabelledPair, LabelledPair]:
    """Return both orders of the pair of a sample in which all other records add the same, which is attained.

    Each draw of the record moves the answer by `shift`. Draws beyond those of `labelled_pairs` are left out: their
    probability is below 1e-299.
    """
    if scheme == "without_replacement":
        p, q = subsampled(noise, shift, scalar("sampling_probability", sampling_probability, 0, 1, finite=False))
    else:
        drawn = draw_count_probabilities(sampling_probability, records)
        weights = (max(1 - fsum(drawn), 0.0), *drawn)
        total, shifts = fsum(weights), tuple((shift * np.arange(len(weights))).tolist())
        p, q = Mixture(noise, shifts, tuple(weight / total for weight in weights)), Mixture(noise)
    return LabelledPair(((1.0, p, q),)), LabelledPair(((1.0, q, p),))


def of_group(noise: Noise, shift: float, sampling_probability: float, records: int) -> tuple[LabelledPair, ...]:
    """Return both directions of the pair of a user with several records in a Poisson sample.

    The number of records that are sampled is binomial, and all of them move the answer alike, which is attained.
    """
    s, shift = scalar("sampling_probability", sampling_probability, 0, 1, finite=False), scalar("shift", shift, 0)
    each = [comb(records, k) * s**k * (1 - s) ** (records - k) for k in range(records + 1)]
    total, shifts = fsum(each), tuple((shift * np.arange(records + 1)).tolist())
    p, q = Mixture(noise, shifts, tuple(weight / total for weight in each)), Mixture(noise)
    return LabelledPair(((1.0, p, q),)), LabelledPair(((1.0, q, p),))
