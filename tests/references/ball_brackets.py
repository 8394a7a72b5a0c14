"""Whether certified bounds and a ball can both be right."""

from typing import TYPE_CHECKING

from tcdp_sim.experiments.papers.balls import ball

from tcdp_sim.numerics import Bounds

if TYPE_CHECKING:
    from flint import arb


def assert_agrees(bracket: Bounds, number: "arb") -> None:
    """Both hold one number; where the ball is the narrower one it lies inside of the bracket."""
    low, high = ball(float(bracket.lower)), ball(float(bracket.upper))
    assert number.is_finite(), "the ball says nothing"
    assert low <= number.upper(), f"{bracket} lies above {number}"
    assert number.lower() <= high, f"{bracket} lies below {number}"
    if number.upper() - number.lower() < high - low:
        assert low <= number.lower(), f"{bracket} does not hold {number}"
        assert number.upper() <= high, f"{bracket} does not hold {number}"
