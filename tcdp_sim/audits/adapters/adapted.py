"""A library's mechanism with its own claim."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.privacy import ApproxDP, Guarantee, PureDP


@dataclass(frozen=True, eq=False)
class Adapted:
    """A mechanism of a privacy library, as a function (data, rng, trials), with the claim that the library makes."""

    draw: Callable[[Any, Any], Any]
    claim: Guarantee

    def __call__(self, data: Any, rng: Any, trials: int) -> list[Any]:
        """Return `trials` outputs."""
        return [self.draw(data, rng) for _ in range(trials)]


def approximate(epsilon: float, delta: float) -> ApproxDP | PureDP:
    """Return (epsilon, delta)-DP, which is pure DP if delta is 0."""
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)


def library(name: str, extra: str) -> Any:
    """Return a library's module. Raises UserError with the extra to install if it is missing."""
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name.partition(".")[0]:
            raise
        raise UserError(f'{missing.name} is not installed; pip install "tcdp_sim[{extra}]"') from None
