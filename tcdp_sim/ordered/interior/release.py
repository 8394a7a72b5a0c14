"""An interior point of a data set by one level of the recursion of Bun-Dwork-Rothblum-Steinke 2018, Section 5.3."""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.arrays import Bools, Ints, Weights
from tcdp_sim.core.errors import choice, real
from tcdp_sim.noise import Noise
from tcdp_sim.ordered.interior.choose_leaf import choose, empty_nodes, occupied_depths
from tcdp_sim.ordered.interior.choose_level import level_cells, sample_levels
from tcdp_sim.ordered.interior.choose_node import NOBODY, SELECTIONS
from tcdp_sim.ordered.interior.level_profile import LevelProfile

CANDIDATES = {3: (0, 1, 2), 2: (0, 2)}  # places in (j1, m, j2)


@dataclass(frozen=True)
class ReleaseParameters:
    """The public parameters of a release: functions of the domain, n and the budget, never of the data.

    - `epsilon_level`: the epsilon of the exponential mechanism that chooses the level, positive.
    - `epsilon_end`: the epsilon of the exponential mechanism that chooses the candidate, positive.
    - `lower`, `upper`: the thresholds of the level's quality, lower < upper, in units of weight.
    - `candidates`: the number of candidates in a node: 3, or the paper's 2.
    - `floor`: the weight that the surrogate subtracts from each node (by default half of the total), or the noisy
      weight that the stability histogram must exceed.
    """

    epsilon_level: float
    noise: Noise
    epsilon_end: float
    lower: float
    upper: float
    selection: str = "histogram"
    candidates: int = 3
    floor: float | None = None

    def __post_init__(self) -> None:
        for name in ("epsilon_level", "epsilon_end"):
            real(name, getattr(self, name), 0)
        real("lower", self.lower, -np.inf)
        choice("selection", self.selection, SELECTIONS)
        choice("candidates", self.candidates, CANDIDATES)
        if self.floor is not None or self.selection == "stability":
            real("floor", self.floor, -np.inf)

    def floor_of(self, total: float) -> float:
        """Return the floor for data of this total weight."""
        return total / 2 if self.floor is None else self.floor


@dataclass(frozen=True, eq=False)
class Draws:
    """The outcome of each trial of a release, in arrays of shape (trials,).

    - `level`, `quality`: the chosen level and its quality.
    - `segment`: the chosen node: its index among the occupied nodes of its level, -1 for an empty node, -2 for none
      at all.
    - `position`: the index of an empty node at level max(level, cut), with the cut of the profile's points.
    - `candidate`: 0, 1 or 2 for j1, m or j2.
    - `depth`: the depth of the output, positive iff the output is an interior point.
    - `best`: the largest depth among the candidates.
    """

    level: Ints
    quality: Weights
    segment: Ints
    position: Ints
    candidate: Ints
    depth: Weights
    best: Weights

    @property
    def success(self) -> Bools:
        """True for each trial whose output is an interior point."""
        return self.depth > 0


def sample(profile: LevelProfile, parameters: ReleaseParameters, trials: int, *, rng: np.random.Generator) -> Draws:
    """Return independent trials of the release. The cost does not depend on the size of the domain.

    Source: Bun et al. (2018), Section 5.3 [BDRS18].

    Parameters
    ----------
    profile : LevelProfile
        The tree of the data.
    parameters : ReleaseParameters
        The public parameters.
    trials : int
        Number of trials.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    Draws
        The outcome of each trial.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> parameters = ReleaseParameters(0.63, Gaussian(2.6), 0.55, lower=640.0, upper=1370.0)
    >>> profile = LevelProfile.of([100] * 1000 + [700] * 1000, k=1024)
    >>> sample(profile, parameters, trials=3, rng=np.random.default_rng(1)).success.tolist()
    [True, True, True]
    """
    cells = level_cells(profile, parameters.lower, parameters.upper)
    return finish(profile, parameters, *sample_levels(cells, parameters.epsilon_level, trials, rng=rng), rng=rng)


def finish(
    profile: LevelProfile, parameters: ReleaseParameters, levels: Ints, quality: Weights, *, rng: np.random.Generator
) -> Draws:
    """Return the trials after the second and third step, given the level of each trial and its quality."""
    trials = len(levels)
    out = Draws(
        levels,
        quality,
        np.full(trials, -1),
        np.zeros(trials, dtype=np.int64),
        np.zeros(trials, dtype=np.int64),
        *(np.zeros(trials, dtype=profile.weight.dtype) for _ in range(2)),
    )
    runs = np.searchsorted(profile.starts, levels, side="right") - 1
    order = np.argsort(runs, kind="stable")
    visited, start = np.unique(runs[order], return_index=True)
    for run, trials_of_run in zip(visited.tolist(), np.split(order, start[1:])):
        _finish_run(profile, parameters, run, trials_of_run, out, rng)
    return out


def _finish_run(
    profile: LevelProfile, parameters: ReleaseParameters, run: int, trials: Ints, out: Draws, rng: np.random.Generator
) -> None:
    segments, levels = profile.segments(run), out.level[trials]
    log_empty = profile.log_empty(levels, len(segments.first))
    chosen = SELECTIONS[parameters.selection](
        segments, log_empty, parameters.floor_of(profile.total), parameters.noise, rng
    )
    full, empty = np.flatnonzero(chosen >= 0), np.flatnonzero(chosen == -1)
    depths = np.zeros((len(trials), 3), dtype=profile.weight.dtype)
    depths[full] = occupied_depths(profile, segments, chosen[full], levels[full])
    if len(empty):
        position, left = empty_nodes(profile, segments, levels[empty], rng)
        depths[empty] = np.minimum(left, profile.total - left)[:, None]
        out.position[trials[empty]] = position
    allowed = np.array(CANDIDATES[parameters.candidates])
    column = choose(depths[:, allowed], parameters.epsilon_end, rng)
    out.segment[trials] = chosen
    out.candidate[trials] = allowed[column]
    out.depth[trials] = depths[np.arange(len(trials)), allowed[column]]
    out.best[trials] = depths[:, allowed].max(axis=1)


def released_points(profile: LevelProfile, draws: Draws, *, rng: np.random.Generator) -> list[int | None]:
    """Return the released elements of the domain, as integers of any size; None for a trial without a release."""
    values, cut = profile.points.known_values, profile.points.cut
    k = values[-1] + 1
    elements: list[int | None] = []
    for level, segment, position, candidate in zip(
        draws.level.tolist(), draws.segment.tolist(), draws.position.tolist(), draws.candidate.tolist()
    ):
        if segment == NOBODY:
            elements.append(None)
            continue
        if segment >= 0:
            run = int(np.searchsorted(profile.starts, level, side="right")) - 1
            node = values[profile.segments(run).first[segment]] >> level
        else:
            node = position if level >= cut else (position << cut - level) + _random_bits(rng, cut - level)
        elements.append(candidate_leaf(node, level, candidate, k))
    return elements


def candidate_leaf(node: int, level: int, candidate: int, k: int) -> int:
    """Return j1, m or j2 (candidate 0, 1, 2) of a node of a level in the tree over {0, ..., k - 1}."""
    j1 = node << level
    if candidate == 0 or level == 0:
        return j1
    return min(j1 + (1 << level - (candidate == 1)) - 1, k - 1)


def _random_bits(rng: np.random.Generator, count: int) -> int:
    return int.from_bytes(rng.bytes((count + 7) // 8), "little") >> (-count % 8)
