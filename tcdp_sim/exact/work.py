"""Budgets of work: how many points of a density or a loss one call of a public function may evaluate.

Points are counted, and time is not measured: a call gives the same answer, or is refused in the same words, on every
machine and under every load. The loops that evaluate points say so by `spend`. Work whose result a cache may hold is
not counted, since the count would depend on earlier calls.
"""

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

MOST_POINTS = 20_000_000  # of one answer: some eight seconds, with what is computed beside a density
CALL = 3000  # points whose evaluation takes as long as the overhead of one call of a vectorised function
P = ParamSpec("P")
R = TypeVar("R")
_points: ContextVar[list[float] | None] = ContextVar("points", default=None)  # evaluated so far, and at most


def within(most: int, advice: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function evaluate at most `most` points in one call. The functions that it calls share this budget.

    Beyond the budget the function raises a ValueError. Its message ends with `advice`, an easier computation.
    """

    def limited(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if _points.get() is not None:
                return function(*args, **kwargs)
            token = _points.set([0, most])
            try:
                return function(*args, **kwargs)
            except Exceeded as error:
                wanted = ", ".join([*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())])
                needs = f"needs more work than {most:,} evaluations of a density"
                raise ValueError(f"{function.__name__}({wanted}) {needs}; {advice}") from error
            finally:
                _points.reset(token)

        return call

    return limited


def spend(points: int) -> None:
    """Count one call that evaluates a number of points. Without a budget nothing is counted."""
    if (counts := _points.get()) is not None:
        counts[0] += points + CALL
        if counts[0] > counts[1]:
            raise Exceeded


class Exceeded(Exception):
    """The end of a budget. A loop that has bounds already may catch it and return them."""
