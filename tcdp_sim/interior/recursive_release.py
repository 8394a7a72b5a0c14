"""The recursion of Bun-Dwork-Rothblum-Steinke 2018, Section 5.3, to any depth: releases inside choose the levels.

The heaviest weight of a level, clipped to the interval between two thresholds, is a nondecreasing function of the
level: an instance of the same problem (Problem 24) on depth + 1 elements. Inner trees are weighed in units of the
sensitivity of their nodes. It is twice the sensitivity of the function whose increments they hold, because
substituting a record may move F(j2) and F(j1 - 1) by one each. For counts at the top the unit is one record, since
F - F' is plus or minus one on an interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log, log2

import numpy as np

from tcdp_sim.calibration import calibrate
from tcdp_sim.core import registry
from tcdp_sim.core.arrays import Ints
from tcdp_sim.core.errors import UserError, choice, real
from tcdp_sim.interior.domain_points import from_values
from tcdp_sim.interior.exponential_mechanism import sample_elements
from tcdp_sim.interior.ledger import Step, exponential_epsilon, exponential_step, noise_step
from tcdp_sim.interior.level_profile import LevelProfile
from tcdp_sim.interior.records_needed import BETA, Parts, needs, smallest
from tcdp_sim.interior.release import Draws, Recipe, finish, outputs
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import TCDP
from tcdp_sim.samplers.log_extremes import isf_log

NODE_PER_STEP = 2.0  # sensitivity of a node over the sensitivity of the function whose increments it holds
MOST_DEPTH = 6
# Many nodes of an inner tree may change at once, each by at most one unit. Only nodes above floor - 1 count for the
# surrogate.
# - "default": the floor is half of the weight H. At most one node is above it, and all changes are at most one unit
#   together (as in `budget.CHARGES`): one shift.
# - "paper", with the thresholds H/5 and 2H/5: the floor is H/10 + 1. Every node that counts has more than H/10, so
#   there are at most 9: nine shifts.
PAPER_SHARE = 10
INNER_SHIFTS = {"default": 1, "paper": PAPER_SHARE - 1}


def sample_recursive(profile: LevelProfile, recipes: Sequence[Recipe], rng: np.random.Generator, trials: int) -> Draws:
    """Return independent trials of the release whose level is found by releases inside.

    The outermost recipe comes first; there is at least one. The innermost tree's level comes from the exponential
    mechanism over its levels with its recipe's `epsilon_level`. The other recipes' `epsilon_level` is not used.
    """
    first = recipes[0]
    levels = _elements(inner_profile(profile, first, len(recipes) == 1), recipes, rng, trials)
    quality = np.minimum(profile.fhat(levels) - first.lower, first.upper - profile.fhat(levels - 1))
    return finish(profile, first, levels, quality, rng)


def _elements(inner: LevelProfile, recipes: Sequence[Recipe], rng: np.random.Generator, trials: int) -> Ints:
    if len(recipes) == 1:
        return sample_elements(inner, recipes[0].epsilon_level, rng, trials)
    draws = sample_recursive(inner, recipes[1:], rng, trials)
    return np.array(outputs(inner, draws, rng), dtype=np.int64)


def inner_profile(profile: LevelProfile, recipe: Recipe, innermost: bool) -> LevelProfile:
    """Return the profile of an inner tree, whose points are the levels of the outer tree.

    The cumulated weight of level l is G(l) = clip(heaviest(l) - lower, 0, upper - lower). The innermost profile is in
    the outer unit, because only the exponential mechanism reads it. Others are in their nodes' unit.
    """
    held = np.clip(profile.heaviest - recipe.lower, 0, recipe.upper - recipe.lower)
    steps = np.diff(held, prepend=0.0) / (1 if innermost else NODE_PER_STEP)
    kept = steps > 0
    if not kept.any():
        raise UserError(f"the thresholds {recipe.lower:g} and {recipe.upper:g} leave nothing to find; valid: lower < n")
    return LevelProfile(from_values(profile.starts[kept].tolist(), profile.depth + 1), steps[kept])


@dataclass(frozen=True)
class Stage:
    """A tree of the recursion: the log2 of the size of its domain, and its share of the budget."""

    log2_k: float
    parts: Parts
    node_rho: float


@dataclass(frozen=True)
class RecursivePlan:
    """The public parameters of a recursive release, outermost tree first."""

    stages: tuple[Stage, ...]
    rho: float
    omega: float
    accounting: str
    beta: float = BETA
    variant: str = "default"

    @property
    def each(self) -> float:
        """The failure probability of each of the 2 depth + 1 steps."""
        return self.beta / (2 * len(self.stages) + 1)

    def size(self, i: int, n: float) -> tuple[float, float, float]:
        """Return the margins (gap, node, ends) of tree i between, below and above its thresholds, in its own unit."""
        stage = self.stages[i]
        node, ends = _margins(stage, self.each, n, outermost=i == 0)
        if i + 1 < len(self.stages):
            return NODE_PER_STEP * self.least(i + 1, n), node, ends
        levels = ceil(stage.log2_k) + 1 if stage.log2_k < 1e15 else stage.log2_k
        return 4 / stage.parts.epsilon_level * log(levels / self.each), node, ends

    def least(self, i: int, n: float) -> float:
        """Return the total weight H that tree i needs. Inner trees look for a node with more than half of it.

        In the variant "paper" the gap is H/5. The noise may take as much in the outermost tree, and H/10 - 1 in inner
        trees. One of the two candidates has depth H/10, so half of `ends` is needed.
        """
        gap, node, ends = self.size(i, n)
        if self.variant == "paper":
            return max(5 * gap, 5 * node if i == 0 else PAPER_SHARE * (node + 1), 5 * ends)
        return (gap + node + ends) * (1 if i == 0 else 2)

    def required_n(self) -> int:
        """Return the least n at which success with probability 1 - beta is proved for every data set."""
        return smallest(lambda n: self.least(0, n))

    def recipes(self, n: float) -> tuple[Recipe, ...]:
        """Return the trees' recipes for n records, with thresholds in proportion to those of the proof."""
        made, total = [], float(n)
        for i, stage in enumerate(self.stages):
            bought, how = stage.parts, "histogram" if i == 0 else "surrogate"
            lower, upper = self._thresholds(i, n, total)
            paper = self.variant == "paper"
            floor = total / PAPER_SHARE + 1 if paper and i else None
            numbers = (bought.epsilon_level, bought.noise, bought.epsilon_end, lower, upper)
            made.append(Recipe(*numbers, how, 2 if paper else 3, floor))
            total = (upper - lower) / NODE_PER_STEP
        return tuple(made)

    def _thresholds(self, i: int, n: float, total: float) -> tuple[float, float]:
        if self.variant == "paper":
            return total / 5, 2 * total / 5
        _, node, ends = self.size(i, n)
        scale = total / self.least(i, n)
        return (node * scale if i == 0 else total / 2 + node * scale), total - ends * scale

    def ledger(self) -> tuple[Step, ...]:
        """Return the lines of the release."""
        steps = []
        for i, stage in enumerate(self.stages):
            name, bought = f"tree {i}", stage.parts
            shifts = _shifts(i, self.variant)
            spent = stage.node_rho, self.omega, "calibration"
            steps.append(noise_step(f"{name} node", bought.noise, 1.0, shifts, *spent))
            end = bought.epsilon_end / (1 if i == 0 else NODE_PER_STEP)
            steps.append(exponential_step(f"{name} end", end, self.accounting))
        return (exponential_step("level", self.stages[-1].parts.epsilon_level, self.accounting), *steps)


def plan_recursion(
    rho: float,
    omega: float,
    log2_k: float,
    depth: int,
    *,
    family: str = "sinh_normal",
    accounting: str = "tight",
    calibration: str | None = None,
    beta: float = BETA,
    variant: str = "default",
) -> RecursivePlan:
    """Return a recursion with `depth` trees (1 to 6) on a domain of 2^log2_k elements.

    The budget is split so that the sum of the margins is least if each is proportional to 1 / sqrt(its share): a share
    is proportional to the margin at equal shares, to the power 2/3. The variant "paper" has thresholds of a fifth and
    two fifths in every tree, and two candidates. A recursion with one tree has the exponential mechanism inside. Raises
    UserError for another depth.
    """
    choice("variant", variant, INNER_SHIFTS)
    if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= MOST_DEPTH:
        raise UserError(f"depth = {depth!r} is not valid; valid: 1 to {MOST_DEPTH} trees")
    count = 2 * depth + 1
    how = calibration or ("paper" if registry.noise(family).theorem_is_nearly_sharp else accounting)

    def bought(shares: list[float]) -> RecursivePlan:
        return _bought(shares, rho, omega, log2_k, depth, family, how, accounting, beta, variant)

    shares = [weight ** (2 / 3) for weight in _margin_weights(bought([1 / count] * count))]
    return bought([share / sum(shares) for share in shares])


def _margin_weights(plan: RecursivePlan) -> list[float]:
    """Return the number of records that each step's margin takes: level, then node and ends of each tree."""
    weights, factor = [0.0], 1.0
    for i in range(len(plan.stages)):
        gap, node, ends = plan.size(i, 100)
        factor *= 1 if i == 0 else 2 * NODE_PER_STEP
        weights += [factor * node, factor * ends]
    return [factor * gap, *weights[1:]]


def _shifts(i: int, variant: str) -> int:
    """Return how many numbers of tree i move by one unit when a record is substituted: two in the outermost."""
    return 2 if i == 0 else INNER_SHIFTS[variant]


def _bought(
    shares: list[float],
    rho: float,
    omega: float,
    log2_k: float,
    depth: int,
    family: str,
    how: str,
    accounting: str,
    beta: float,
    variant: str,
) -> RecursivePlan:
    rho, omega = real("rho", rho, 0), real("omega", omega, 1, finite=False)
    stages, size = [], real("log2_k", log2_k, 0)
    each = beta / (2 * depth + 1)
    for i in range(depth):
        node, end = (share * rho for share in shares[1 + 2 * i : 3 + 2 * i])
        objective = _DeepQuantile(each / 2, float(size))
        target, moved = TCDP(node, omega), _shifts(i, variant)
        noise = calibrate(family, target, 1.0, how, coordinates=moved, objective=objective).noise
        unit = 1 if i == 0 else NODE_PER_STEP
        bought = Parts(
            exponential_epsilon(shares[0] * rho, accounting), noise, unit * exponential_epsilon(end, accounting)
        )
        stages.append(Stage(size, bought, node))
        size = log2((ceil(size) if size < 1e15 else size) + 1)
    return RecursivePlan(tuple(stages), rho, omega, accounting, beta, variant)


@dataclass(frozen=True)
class _DeepQuantile:
    """An objective of calibration: a low quantile of the heaviest node's noise plus a high one of all others' noise."""

    beta: float
    log2_k: float

    def __call__(self, noise: Noise) -> float:
        return float(isf_log(noise, log(self.beta)) + isf_log(noise, log(self.beta) - self.log2_k * log(2)))


def _margins(stage: Stage, each: float, n: float, outermost: bool) -> tuple[float, float]:
    if outermost:
        needed = needs(stage.parts, stage.log2_k, n, min(3 * each, 0.999))
        return needed.node, needed.ends
    noise = stage.parts.noise
    node = float(isf_log(noise, log(each / 2)) + isf_log(noise, log(each / 2) - stage.log2_k * log(2)))
    return node, 4 / stage.parts.epsilon_end * log(2 / each)
