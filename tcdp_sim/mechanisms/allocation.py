"""Random allocation: a record takes part in a few of many steps with Gaussian noise, chosen at random."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from math import log
from types import MappingProxyType
from typing import Any, Self

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.core.streams import generator
from tcdp_sim.mechanisms.axes import DELTA
from tcdp_sim.mechanisms.base import EVERY, Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.privacy import Guarantee
from tcdp_sim.samplers.allocations import (
    DIRECTIONS,
    LEAST_SIGMA,
    MOST_EPSILON,
    MOST_PARTICIPATIONS,
    MOST_SIGMA,
    MOST_STEPS,
    AllocationDraws,
)

PILOT, PILOT_STEPS = 500, 30  # draws of a step of the search, and the largest number of steps
LAST_PILOT = (300, 20_000, 2_000_000)  # draws of the last step: at least, at most, and at most times t
PILOT_STREAM = hashlib.sha256(b"pilot of an allocation").hexdigest()[:32]
CLOSE = 0.3  # of log delta, where the search of an epsilon ends


@dataclass(frozen=True, eq=False)
class Allocation(Mechanism):
    """The privacy loss of a record that takes part in k random steps of t.

    Each step releases a sum of vectors of length 1 at most with Gaussian noise. Neighbours differ by one record. With
    k = 1 this is one epoch of shuffled batches, also called balls and bins.

    Source: Chua et al. (2024) [Chu24]; Feldman and Shenfeld (2025) [FS25].

    `sigma`: the standard deviation of the noise, over the largest length of a record's vector. `direction`: "adding"
    for the delta of the outputs with the record against the outputs without it. `epsilon`: epsilon in nats, at which
    delta is simulated. `delta`: the delta whose epsilon is asked for; `epsilon` is then close to the answer.
    """

    sigma: float
    steps: int
    participations: int
    direction: str
    epsilon: float
    delta: float | None

    name = "allocation"
    unknown_losses = MappingProxyType(
        {EVERY: "The trials are functions of the record's privacy loss already, by importance sampling."}
    )
    version = 2
    axes = declared(
        Axis(
            "sigma",
            "standard deviation of the noise over the largest length of a record's vector",
            "1",
            "0.05 to 1e+06",
        ),
        Axis("steps", "number of steps t", "1", f"a whole number from 2 to {MOST_STEPS}", "whole"),
        Axis("participations", "number k of steps in which the record takes part", "1", "1 to 100", "whole"),
        Axis("epsilon", "argument of the privacy profile", "nats", "at least 0, below 500"),
        DELTA,
        Axis(
            "direction",
            "with against without the record, or without against with",
            valid="adding, removing",
            kind="text",
        ),
    )
    required = ("sigma", "steps")
    options = ()
    neighbours = "add_remove"
    observables = MappingProxyType(
        {
            "hockey_stick": Observable("1", "its mean is delta(epsilon)"),
            "slope": Observable("1", "its mean is -d delta / d epsilon"),
        }
    )
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        at = "epsilon" if point.get("epsilon") is not None else "delta"
        return ("sigma", "steps", "participations", "direction", at)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        sigma, steps = (
            scalar("sigma", point["sigma"], LEAST_SIGMA, MOST_SIGMA, closed=True),
            whole("steps", point["steps"], 2, MOST_STEPS),
        )
        most = min(steps, MOST_PARTICIPATIONS)
        k = 1 if point.get("participations") is None else whole("participations", point["participations"], 1, most)
        direction = choice("direction", point.get("direction") or DIRECTIONS[0], DIRECTIONS)
        law = {"mechanism": cls.name, "version": cls.version, "sigma": sigma, "steps": steps}
        law |= {"participations": k, "direction": direction}
        if point.get("epsilon") is not None:
            epsilon = scalar("epsilon", point["epsilon"], 0, MOST_EPSILON, closed=True)
            AllocationDraws(sigma, steps, k, epsilon, direction).sample(
                1, rng=generator(0, PILOT_STREAM, 0)
            )  # or refuse
            return law | {"epsilon": epsilon}
        if point.get("delta") is None:
            raise ValueError("epsilon and delta are missing; valid: one of them")
        delta = scalar("delta", point["delta"], 0, 1)
        return law | {"delta": delta, "epsilon": _epsilon_near(sigma, steps, k, direction, delta)}

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        names = ("sigma", "steps", "participations", "direction", "epsilon")
        return cls(**{name: law[name] for name in names}, delta=law.get("delta"))

    @property
    def guarantee(self) -> Guarantee | None:
        return None

    @property
    def work(self) -> float:
        return 10.0 * self.steps * max(1.0, 0.2 * self.participations)

    @cached_property
    def _draws(self) -> AllocationDraws:
        return AllocationDraws(self.sigma, self.steps, self.participations, self.epsilon, self.direction)

    def simulate(self, rng: Any, trials: int) -> Draws:
        deltas, slopes = self._draws.sample(trials, rng=rng)
        return {"hockey_stick": deltas, "slope": slopes}


def _epsilon_near(sigma: float, steps: int, k: int, direction: str, delta: float) -> float:
    """Return an epsilon whose delta is about the given one, by small simulations with a fixed seed.

    The search halves an interval until log delta is close, or Newton's step stays in it. A last, larger simulation
    gives one more step of Newton's. The answer is rounded, so that every processor finds the same one.
    """

    def pilot(epsilon: float, size: int, step: int) -> tuple[float, float]:
        """Return log(simulated delta / delta), and epsilon after a step of Newton's for log delta."""
        rng = generator(0, PILOT_STREAM, step)
        draws = AllocationDraws(sigma, steps, k, epsilon, direction).sample(size, rng=rng)
        found, slope = (float(numbers.mean()) for numbers in draws)
        if not (found > 0 and slope > 0):
            return -1e9, -1.0
        return log(found / delta), epsilon + found / slope * log(found / delta)

    low, high = 0.0, k * (0.5 / sigma**2 + 6.5 / sigma)
    epsilon = min(high, k / sigma * (log(1 / delta) / steps) ** 0.5)
    for step in range(PILOT_STEPS):
        gap, newton = pilot(epsilon, PILOT, step)
        if abs(gap) < CLOSE:
            least, most, work = LAST_PILOT
            newton = pilot(max(newton, 0.0), max(least, min(most, work // steps)), PILOT_STEPS)[1]
            return float(f"{max(newton, 0.0):.6g}")
        low, high = (epsilon, high) if gap > 0 else (low, epsilon)
        epsilon = newton if low < newton < high else 0.5 * (low + high)
        if high - low < 1e-9 * high:
            break
    return float(f"{max(epsilon, 0.0):.6g}")
