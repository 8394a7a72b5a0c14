"""A check that a bracket and a ball of the same number agree."""

from math import inf
from typing import TYPE_CHECKING

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.balls.arithmetic import ball

if TYPE_CHECKING:
    from flint import arb


def assert_agrees(bracket: Bounds, number: "arb", most: float = inf) -> None:
    """Check that a bracket and a ball can hold the same number, which is at most `most`.

    A ball that is narrower than the bracket has to lie inside of it."""
    low, high = ball(float(bracket.lower)), ball(float(bracket.upper))
    assert number.is_finite(), "the ball says nothing"
    upper = number.upper().min(ball(most))
    assert low <= upper, f"{bracket} lies above {number}"
    assert number.lower() <= high, f"{bracket} lies below {number}"
    if upper - number.lower() < high - low:
        assert low <= number.lower(), f"{bracket} does not hold {number}"
        assert upper <= high, f"{bracket} does not hold {number}"
