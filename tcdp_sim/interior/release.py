"""An interior point of a data set, from one level of the recursion of Bun-Dwork-Rothblum-Steinke 2018, Section 5.3."""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.arrays import Bools, Ints, Weights
from tcdp_sim.core.errors import choice, real
from tcdp_sim.interior.choose_leaf import choose, empty_nodes, occupied_depths
from tcdp_sim.interior.choose_level import level_cells, sample_levels
from tcdp_sim.interior.choose_node import NOBODY, SELECTIONS
from tcdp_sim.interior.level_profile import LevelProfile
from tcdp_sim.noise import Noise

CANDIDATES = {3: (0, 1, 2), 2: (0, 2)}  # of (j1, m, j2)


@dataclass(frozen=True)
class Recipe:
    """The public parameters of a release: functions of the domain, n and the budget, never of the data.

    epsilon_level, epsilon_end: of the exponential mechanisms that choose the level and the candidate; noise: on the
    nodes of the level; lower < upper: thresholds of the level's quality, in units of weight; selection: of the node
    ("histogram", "algorithm_21", "algorithm_22", "surrogate", "stability"); candidates: 3, or the paper's 2;
    floor: of the surrogate, what of a weight counts (None: half of the total), and of the stability histogram.
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
        """The floor for data of this weight."""
        return total / 2 if self.floor is None else self.floor


@dataclass(frozen=True, eq=False)
class Draws:
    """What happened in each trial; arrays of shape (trials,).

    level, quality: the level chosen and its quality; segment: the node, by its index among the occupied ones of its
    level, -1 for an empty one, whose index at level max(level, cut) is `position`, -2 (NOBODY) for none at all;
    candidate: 0, 1, 2 for j1, m, j2; depth: of the output, positive iff it is an interior point; best: the largest
    depth among the candidates.
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
        """Whether the output is an interior point."""
        return self.depth > 0


def sample(profile: LevelProfile, recipe: Recipe, rng: np.random.Generator, trials: int) -> Draws:
    """Independent trials of the release, at a cost that does not depend on the size of the domain."""
    cells = level_cells(profile, recipe.lower, recipe.upper)
    return finish(profile, recipe, *sample_levels(cells, recipe.epsilon_level, rng, trials), rng)


def finish(profile: LevelProfile, recipe: Recipe, levels: Ints, quality: Weights, rng: np.random.Generator) -> Draws:
    """The second and third step, given the level of each trial."""
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
        _finish_run(profile, recipe, run, trials_of_run, out, rng)
    return out


def _finish_run(
    profile: LevelProfile, recipe: Recipe, run: int, trials: Ints, out: Draws, rng: np.random.Generator
) -> None:
    segments, levels = profile.segments(run), out.level[trials]
    log_empty = profile.log_empty(levels, len(segments.first))
    chosen = SELECTIONS[recipe.selection](segments, log_empty, recipe.floor_of(profile.total), recipe.noise, rng)
    full, empty = np.flatnonzero(chosen >= 0), np.flatnonzero(chosen == -1)
    depths = np.zeros((len(trials), 3), dtype=profile.weight.dtype)
    depths[full] = occupied_depths(profile, segments, chosen[full], levels[full])
    if len(empty):
        position, left = empty_nodes(profile, segments, levels[empty], rng)
        depths[empty] = np.minimum(left, profile.total - left)[:, None]
        out.position[trials[empty]] = position
    allowed = np.array(CANDIDATES[recipe.candidates])
    column = choose(depths[:, allowed], recipe.epsilon_end, rng)
    out.segment[trials] = chosen
    out.candidate[trials] = allowed[column]
    out.depth[trials] = depths[np.arange(len(trials)), allowed[column]]
    out.best[trials] = depths[:, allowed].max(axis=1)


def outputs(profile: LevelProfile, draws: Draws, rng: np.random.Generator) -> list[int | None]:
    """The released domain elements, as integers of any size, None where none was; the profile must know its values."""
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
    """j1, m or j2 (candidate 0, 1, 2) of a node of a level in the tree over {0, ..., k - 1}."""
    j1 = node << level
    if candidate == 0 or level == 0:
        return j1
    return min(j1 + (1 << level - (candidate == 1)) - 1, k - 1)


def _random_bits(rng: np.random.Generator, count: int) -> int:
    return int.from_bytes(rng.bytes((count + 7) // 8), "little") >> (-count % 8)
