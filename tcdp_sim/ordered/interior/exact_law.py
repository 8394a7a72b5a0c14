"""The exact law of a release by quadrature, at a cost of one integral per level. Simulations are compared with it.

It shares the profile of the data and the parameters with the simulation, and no code that draws or weighs.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats, Ints, Weights
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.numerics import gauss_panels
from tcdp_sim.noise import Noise
from tcdp_sim.ordered.interior.level_profile import LevelProfile, Segments
from tcdp_sim.ordered.interior.release import CANDIDATES, ReleaseParameters
from tcdp_sim.samplers.log_extremes import isf_log

NEGLIGIBLE = 1e-14  # the total probability of the levels that are left out
MOST_DEPTH = 2**20
MOST_LEVELS = 5000
MOST_LEAVES = 2**16
NODES = 16
# The values of -log cdf of a maximum at the edges of panels. Its law is smooth between them.
_DEPTHS = np.concatenate([np.geomspace(1e-18, 1, 24)[:-1], np.geomspace(1, 40, 12)])


@dataclass(frozen=True, eq=False)
class LevelLaw:
    """A level of the exact law: its probability, its occupied nodes, and the probabilities that each node wins.

    `occupied` has the probability of each occupied node, and `empty` has the probability of all empty ones. They sum to
    less than one if there may be no winner, as in the stability histogram.
    """

    level: int
    log_probability: float
    segments: Segments
    occupied: Floats
    empty: float


def level_laws(profile: LevelProfile, parameters: ReleaseParameters) -> Iterator[LevelLaw]:
    """Yield the law of every level, except for levels whose total probability is below 1e-14.

    Raises UserError if there are more than 5,000 levels.
    """
    log_pmf = _level_log_pmf(profile, parameters)
    likely = np.flatnonzero(log_pmf > np.log(NEGLIGIBLE / len(log_pmf)))
    if len(likely) > MOST_LEVELS:
        raise UserError(f"{len(likely)} levels are too many for the exact law; valid: {MOST_LEVELS}, or simulate")
    for level in likely.tolist():
        segments = profile.segments(int(np.searchsorted(profile.starts, level, side="right")) - 1)
        log_empty = float(profile.log_empty(np.array([level]), len(segments.first))[0])
        occupied, empty = _winner(segments, log_empty, profile.total, parameters)
        yield LevelLaw(level, float(log_pmf[level]), segments, occupied, empty)


def _level_log_pmf(profile: LevelProfile, parameters: ReleaseParameters) -> Floats:
    """Return the log-probability of each level from the qualities of all levels."""
    weight = 0.5 * parameters.epsilon_level * _qualities(profile, parameters)
    return weight - logsumexp(weight)


def _qualities(profile: LevelProfile, parameters: ReleaseParameters) -> Floats:
    """Return the quality of each level: how far the heaviest nodes of it and of the next are from the thresholds."""
    if profile.depth > MOST_DEPTH:
        raise UserError(f"2^{profile.depth} elements are too many for the exact law; valid: 2^{MOST_DEPTH}")
    heaviest = profile.heaviest_at(np.arange(-1, profile.depth + 1)).astype(np.float64)
    return np.minimum(heaviest[1:] - parameters.lower, parameters.upper - heaviest[:-1])


class Outcomes(NamedTuple):
    """The probabilities of an interior point, and of a failure by the step at fault, which sum to 1.

    A release fails at the level if the chosen level has no positive quality, else at the node if no candidate of the
    node is an interior point, else at the end.
    """

    success: float
    at_level: float
    at_node: float
    at_end: float


def success_probability(profile: LevelProfile, parameters: ReleaseParameters) -> float:
    """Return the probability of an interior point, within about 1e-9. The profile must know its values."""
    return outcomes(profile, parameters).success


def outcomes(profile: LevelProfile, parameters: ReleaseParameters) -> Outcomes:
    """Return how a release ends, within about 1e-9. The profile must know its values."""
    found, qualities = np.zeros(4), _qualities(profile, parameters)
    for law in level_laws(profile, parameters):
        depths = _depths(profile, law)
        chosen = _candidate_law(depths, parameters)
        inner = law.empty * _inner_share(profile, law)
        hits = law.occupied @ (chosen * (depths > 0)).sum(axis=1) + inner
        able = law.occupied @ ((chosen > 0) & (depths > 0)).any(axis=1) + inner
        failed = [1 - hits, 0.0, 0.0] if qualities[law.level] <= 0 else [0.0, 1 - able, able - hits]
        found += np.exp(law.log_probability) * np.array([hits, *failed])
    return Outcomes(*np.clip(found, 0.0, 1.0).tolist())


def level_law(profile: LevelProfile, parameters: ReleaseParameters) -> Floats:
    """Return the probability of every level of the tree, from the leaves on; shape (levels,)."""
    return np.exp(_level_log_pmf(profile, parameters))


def output_log_pmf(profile: LevelProfile, parameters: ReleaseParameters) -> Floats:
    """Return the log-probability of every element of a domain of at most 65,536 elements."""
    values = profile.points.values
    if values is None or values[-1] >= MOST_LEAVES:
        raise UserError(f"the domain is too large for the law of every element; valid: k <= {MOST_LEAVES}")
    k = values[-1] + 1
    leaf, log_p = [], []
    for law in level_laws(profile, parameters):
        for node, weight, depths in _nodes(profile, law, k):
            with np.errstate(divide="ignore"):
                log_p += list(law.log_probability + np.log(weight) + np.log(_candidate_law(depths, parameters)[0]))
            leaf += _candidates(node, law.level, k - 1)
    out = np.full(k, -np.inf)
    np.logaddexp.at(out, np.array(leaf), np.array(log_p))
    return out


def _nodes(profile: LevelProfile, law: LevelLaw, k: int) -> Iterator[tuple[int, float, Weights]]:
    """Yield (node, probability, depths of shape (1, 3)) for every node of a level, including empty ones."""
    depths = _depths(profile, law)
    heads = [profile.points.known_values[first] >> law.level for first in law.segments.first]
    for i, node in enumerate(heads):
        yield node, law.occupied[i], depths[i : i + 1]
    free = [node for node in range(((k - 1) >> law.level) + 1) if node not in set(heads)]
    for node in free:
        left = profile.before[law.segments.last[np.searchsorted(heads, node) - 1] + 1] if node > heads[0] else 0
        yield node, law.empty / len(free), np.full((1, 3), min(left, profile.total - left))


def _depths(profile: LevelProfile, law: LevelLaw) -> Weights:
    """Return the depths min(F(j), total - F(j - 1)) of the candidates of every occupied node, shape (nodes, 3)."""
    if profile.points.values is None:
        raise ValueError("the data are known by bit lengths alone; valid: a profile of values")
    *places, last = profile.points.values
    heads = (places[first] >> law.level for first in law.segments.first)
    return np.array([[_depth(profile, places, j) for j in _candidates(node, law.level, last)] for node in heads])


def _depth(profile: LevelProfile, places: list[int], j: int) -> float:
    upto, under = profile.before[bisect_right(places, j)], profile.before[bisect_left(places, j)]
    return min(upto, profile.total - under)


def _candidates(node: int, level: int, last: int) -> list[int]:
    """Return (j1, m, j2): a node's first leaf, the last leaf of its left child, its last leaf; each at most `last`."""
    first, size = node << level, 1 << level
    return [first, min(first + max(size // 2, 1) - 1, last), min(first + size - 1, last)]


def _candidate_law(depths: Weights, parameters: ReleaseParameters) -> Floats:
    weight = np.full(depths.shape, -np.inf)
    allowed = list(CANDIDATES[parameters.candidates])
    weight[:, allowed] = 0.5 * parameters.epsilon_end * depths[:, allowed]
    return np.exp(weight - logsumexp(weight, axis=1, keepdims=True))


def _inner_share(profile: LevelProfile, law: LevelLaw) -> float:
    """Return the share of the empty nodes that lie between occupied ones."""
    shift = max(law.level - profile.points.cut, 0)
    head = profile.points.head >> shift
    first, last, end = int(head[0]), int(head[-2]), int(head[-1])
    taken = len(law.segments.first) if law.level >= profile.points.cut else 0
    free = end + 1 - taken
    return max(last - first + 1 - taken, 0) / free if free else 0.0


def _winner(segments: Segments, log_empty: float, total: float, parameters: ReleaseParameters) -> tuple[Floats, float]:
    """Return the probability that each occupied node wins, and that any empty node wins."""
    if parameters.selection in COUNTED:
        weights, log_empty, least = COUNTED[parameters.selection](
            segments.counts, log_empty, parameters.floor_of(total)
        )
        groups, empty = histogram_law(weights, segments.multiplicity, log_empty, parameters.noise, least)
        each = np.repeat(groups / segments.multiplicity, segments.multiplicity)
        return each[np.argsort(segments.order)], empty
    log_others = np.logaddexp(log_empty, np.log(len(segments.order) - 1)) if len(segments.order) > 1 else log_empty
    top = _top(segments, log_others, parameters) if log_others > -np.inf else 1.0
    each = np.zeros(len(segments.order))
    if log_others > -np.inf:
        each += (1 - top) * np.exp(-log_others)
    each[segments.order[-1]] = top
    return each, (1 - top) * float(np.exp(log_empty - log_others)) if log_empty > -np.inf else 0.0


# Selections by a noisy maximum. Each maps (counts, log of the number of empty nodes, floor) to the numbers that get
# noise, the log of the number of empty nodes that compete, and the least winning value.
COUNTED = {
    "histogram": lambda counts, log_empty, floor: (counts, log_empty, -np.inf),
    "surrogate": lambda counts, log_empty, floor: (np.maximum(counts - floor, 0.0), log_empty, -np.inf),
    "stability": lambda counts, log_empty, floor: (counts, -np.inf, floor),
}


def _top(segments: Segments, log_others: float, parameters: ReleaseParameters) -> float:
    """Return the probability that the heaviest node wins in Algorithms 21 and 22, which treat all other nodes alike."""
    heaviest, tied = segments.counts[-1], segments.multiplicity[-1] > 1
    second = heaviest if tied else segments.counts[-2] if len(segments.counts) > 1 else 0
    if parameters.selection == "algorithm_22":
        lead = max(0.5 * (heaviest - second) - 1, 0)
        log_nodes = np.logaddexp(log_others, 0)
        return float(parameters.noise.sf(isf_log(parameters.noise, -max(log_nodes, np.log(2))) - lead))
    wins, _ = histogram_law(np.array([float(heaviest - second)]), np.array([1]), log_others, parameters.noise)
    return float(wins[0])


def histogram_law(
    counts: Floats, multiplicity: Ints, log_empty: float, noise: Noise, least: float = -np.inf
) -> tuple[Floats, float]:
    """Return the probability that a node of each count has the largest noisy count, and that an empty node has it.

    `log_empty`: logarithm of the number of empty nodes; -inf for none. `least`: the value that the largest noisy count
    must exceed to win.
    """
    centres = np.append(np.asarray(counts, dtype=np.float64), 0.0)
    log_many = np.append(np.log(multiplicity), log_empty)
    kept = log_many > -np.inf
    centres, log_many = centres[kept], log_many[kept]
    edges = _edges(centres, log_many, noise)
    if not least < edges[-1]:
        return np.zeros(len(counts)), 0.0
    y, weight = gauss_panels(np.unique(np.maximum(edges, least)), NODES)
    z = y - centres[:, None]
    log_sf, log_pdf = noise.logsf(z), noise.logpdf(z)
    log_cdf = np.where(log_sf < -1, np.log1p(-np.exp(np.minimum(log_sf, -1))), noise.logcdf(z))
    with np.errstate(divide="ignore", over="ignore"):
        terms = -np.exp(log_many[:, None] + np.where(log_sf < -30, log_sf, np.log(-log_cdf)))  # log of cdf^many
        density = np.exp(log_many[:, None] + log_pdf - log_cdf + terms.sum(axis=0))
    wins = np.nan_to_num(density) @ weight
    empty = wins[-1] if log_empty > -np.inf else 0.0
    return wins[: len(counts)], float(empty)


def _edges(centres: Floats, log_many: Floats, noise: Noise) -> Floats:
    """Return the edges of panels for the integral.

    They are quantiles of every group's maximum, from the point on where the largest of these maxima begins to matter.
    """
    edges = []
    for centre, log_count in zip(centres, log_many):
        log_tail = np.log(_DEPTHS) - log_count
        upper = log_tail < -1
        x = np.where(upper, isf_log(noise, np.minimum(log_tail, 0)), noise.ppf(np.exp(-_DEPTHS * np.exp(-log_count))))
        edges.append(centre + np.append(x, 0.0))  # a Laplace density has a kink at zero
    lowest = max(e.min() for e in edges)
    return np.unique(np.concatenate([[lowest], *(e[e > lowest] for e in edges)]))
