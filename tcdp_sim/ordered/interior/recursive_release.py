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
from tcdp_sim.noise import Noise
from tcdp_sim.ordered.interior.domain_points import from_values
from tcdp_sim.ordered.interior.exponential_mechanism import sample_elements
from tcdp_sim.ordered.interior.ledger import Step, exponential_epsilon, exponential_step, noise_step, rho_and_omega
from tcdp_sim.ordered.interior.level_profile import LevelProfile
from tcdp_sim.ordered.interior.records_needed import FAILURE, BudgetSplit, needs, smallest
from tcdp_sim.ordered.interior.release import Draws, ReleaseParameters, finish, released_points
from tcdp_sim.privacy import TCDP, Guarantee
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


def sample_recursive(
    profile: LevelProfile, trees: Sequence[ReleaseParameters], trials: int, *, rng: np.random.Generator
) -> Draws:
    """Return independent trials of the release whose level is found by releases inside.

    The parameters of the outermost tree come first; there is at least one. The innermost tree's level comes from the
    exponential mechanism over its levels with its `epsilon_level`. That of the other trees is not used.
    """
    first = trees[0]
    levels = _elements(inner_profile(profile, first, len(trees) == 1), trees, trials, rng)
    quality = np.minimum(profile.heaviest_at(levels) - first.lower, first.upper - profile.heaviest_at(levels - 1))
    return finish(profile, first, levels, quality, rng=rng)


def _elements(inner: LevelProfile, trees: Sequence[ReleaseParameters], trials: int, rng: np.random.Generator) -> Ints:
    if len(trees) == 1:
        return sample_elements(inner, trees[0].epsilon_level, trials, rng=rng)
    draws = sample_recursive(inner, trees[1:], trials, rng=rng)
    return np.array(released_points(inner, draws, rng=rng), dtype=np.int64)


def inner_profile(profile: LevelProfile, parameters: ReleaseParameters, innermost: bool) -> LevelProfile:
    """Return the profile of an inner tree, whose points are the levels of the outer tree.

    The cumulated weight of level l is G(l) = clip(heaviest(l) - lower, 0, upper - lower). The innermost profile is in
    the outer unit, because only the exponential mechanism reads it. Others are in their nodes' unit.
    """
    held = np.clip(profile.heaviest - parameters.lower, 0, parameters.upper - parameters.lower)
    steps = np.diff(held, prepend=0.0) / (1 if innermost else NODE_PER_STEP)
    kept = steps > 0
    if not kept.any():
        raise UserError(
            f"the thresholds {parameters.lower:g} and {parameters.upper:g} leave nothing to find; valid: lower < n"
        )
    return LevelProfile(from_values(profile.starts[kept].tolist(), profile.depth + 1), steps[kept])


@dataclass(frozen=True)
class Stage:
    """A tree of the recursion: the log2 of the size of its domain, and its share of the budget."""

    log2_k: float
    budget_split: BudgetSplit
    node_rho: float


@dataclass(frozen=True)
class RecursivePlan:
    """The public parameters of a recursive release, outermost tree first."""

    stages: tuple[Stage, ...]
    guarantee: Guarantee
    accounting: str
    failure: float = FAILURE
    variant: str = "default"

    @property
    def each(self) -> float:
        """The failure probability of each of the 2 depth + 1 steps."""
        return self.failure / (2 * len(self.stages) + 1)

    def size(self, i: int, n: float) -> tuple[float, float, float]:
        """Return the margins (gap, node, ends) of tree i between, below and above its thresholds, in its own unit."""
        stage = self.stages[i]
        node, ends = _margins(stage, self.each, n, outermost=i == 0)
        if i + 1 < len(self.stages):
            return NODE_PER_STEP * self.least(i + 1, n), node, ends
        levels = ceil(stage.log2_k) + 1 if stage.log2_k < 1e15 else stage.log2_k
        return 4 / stage.budget_split.epsilon_level * log(levels / self.each), node, ends

    def least(self, i: int, n: float) -> float:
        """Return the total weight H that tree i needs. Inner trees look for a node with more than half of it.

        In the variant "paper" the gap is H/5. The noise may take as much in the outermost tree, and H/10 - 1 in inner
        trees. One of the two candidates has depth H/10, so half of `ends` is needed.
        """
        gap, node, ends = self.size(i, n)
        if self.variant == "paper":
            return max(5 * gap, 5 * node if i == 0 else PAPER_SHARE * (node + 1), 5 * ends)
        return (gap + node + ends) * (1 if i == 0 else 2)

    def required_records(self) -> int:
        """Return the least n at which success with probability 1 - failure is proved for every data set."""
        return smallest(lambda n: self.least(0, n))

    def parameters(self, n: float) -> tuple[ReleaseParameters, ...]:
        """Return the trees' public parameters for n records, with thresholds in proportion to the proof."""
        made, total = [], float(n)
        for i, stage in enumerate(self.stages):
            budget_split, how = stage.budget_split, "histogram" if i == 0 else "surrogate"
            lower, upper = self._thresholds(i, n, total)
            paper = self.variant == "paper"
            floor = total / PAPER_SHARE + 1 if paper and i else None
            numbers = (budget_split.epsilon_level, budget_split.noise, budget_split.epsilon_end, lower, upper)
            made.append(ReleaseParameters(*numbers, how, 2 if paper else 3, floor))
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
            name, budget_split = f"tree {i}", stage.budget_split
            shifts = _shifts(i, self.variant)
            spent = stage.node_rho, rho_and_omega(self.guarantee)[1], "calibration"
            steps.append(noise_step(f"{name} node", budget_split.noise, 1.0, shifts, *spent, together=shifts == 1))
            end = budget_split.epsilon_end / (1 if i == 0 else NODE_PER_STEP)
            steps.append(exponential_step(f"{name} end", end, self.accounting))
        return (exponential_step("level", self.stages[-1].budget_split.epsilon_level, self.accounting), *steps)


def plan_recursion(
    guarantee: Guarantee,
    log2_k: float,
    depth: int,
    *,
    family: str = "sinh_normal",
    accounting: str = "tight",
    calibration: str | None = None,
    failure: float = FAILURE,
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

    def plan(shares: list[float]) -> RecursivePlan:
        return _plan_with(shares, guarantee, log2_k, depth, family, how, accounting, failure, variant)

    shares = [weight ** (2 / 3) for weight in _margin_weights(plan([1 / count] * count))]
    return plan([share / sum(shares) for share in shares])


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


def _plan_with(
    shares: list[float],
    guarantee: Guarantee,
    log2_k: float,
    depth: int,
    family: str,
    how: str,
    accounting: str,
    failure: float,
    variant: str,
) -> RecursivePlan:
    rho, omega = rho_and_omega(guarantee)
    stages, size = [], real("log2_k", log2_k, 0)
    each = failure / (2 * depth + 1)
    for i in range(depth):
        node, end = (share * rho for share in shares[1 + 2 * i : 3 + 2 * i])
        objective = _DeepQuantile(each / 2, float(size))
        target, moved = TCDP(node, omega), _shifts(i, variant)
        noise = calibrate(family, target, 1.0, how, coordinates=moved, objective=objective).noise
        unit = 1 if i == 0 else NODE_PER_STEP
        budget_split = BudgetSplit(
            exponential_epsilon(shares[0] * rho, accounting), noise, unit * exponential_epsilon(end, accounting)
        )
        stages.append(Stage(size, budget_split, node))
        size = log2((ceil(size) if size < 1e15 else size) + 1)
    return RecursivePlan(tuple(stages), guarantee, accounting, failure, variant)


@dataclass(frozen=True)
class _DeepQuantile:
    """An objective of calibration: a low quantile of the heaviest node's noise plus a high one of all others' noise."""

    failure: float
    log2_k: float

    def __call__(self, noise: Noise) -> float:
        return float(isf_log(noise, log(self.failure)) + isf_log(noise, log(self.failure) - self.log2_k * log(2)))


def _margins(stage: Stage, each: float, n: float, outermost: bool) -> tuple[float, float]:
    if outermost:
        needed = needs(stage.budget_split, stage.log2_k, n, min(3 * each, 0.999))
        return needed.node, needed.ends
    noise = stage.budget_split.noise
    node = float(isf_log(noise, log(each / 2)) + isf_log(noise, log(each / 2) - stage.log2_k * log(2)))
    return node, 4 / stage.budget_split.epsilon_end * log(2 / each)
