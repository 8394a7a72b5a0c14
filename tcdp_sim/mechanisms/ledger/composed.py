"""The privacy loss of all releases of a list together, by importance sampling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, log1p
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import UserError, choice, real
from tcdp_sim.core.streams import generator
from tcdp_sim.mechanisms.axes import DELTA
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.ledger.releases import DIRECTIONS, Spec, pair_of, read_list, symmetric
from tcdp_sim.privacy import Guarantee
from tcdp_sim.samplers.composed_losses import Kinds, hockey_stick_and_slope, log_kept, place_of, tilt_at

LIST = Axis("list", "list of releases", "", "a name in mechanism.lists", "text")
EPSILON = Axis("epsilon", "epsilon at which delta is simulated", "nats", "at least 0")
DIRECTION = Axis(
    "direction",
    "the data set with the record is that of P (forward) or Q",
    "",
    ", ".join(DIRECTIONS),
    "text",
    "forward",
)
PILOT_STREAM = "0" * 64
PILOT, STEPS, CLOSE = 4000, 25, 0.05  # trials and steps of the search for an epsilon, and its end in log delta


@dataclass(frozen=True, eq=False)
class ComposedLoss(Mechanism):
    """The sum L of the privacy losses of a list of unequal releases, drawn near an epsilon.

    A trial yields two numbers with the means delta(epsilon) = E[(1 - e^(epsilon - L))_+] and
    -d delta / d epsilon = E[e^(epsilon - L); L > epsilon]. Each loss is drawn from its own tilted law, so L is near
    epsilon, and a delta of 1e-12 needs no more trials than one of 0.1.

    `direction`: "forward" if P has the record, "backward" if Q has it. `tilt`: the exponent of the tilted laws. It
    affects the spread of the numbers alone. `delta`: the delta whose epsilon is asked for; None if epsilon itself was
    given.
    """

    releases: Sequence[Spec]
    relation: str
    direction: str
    epsilon: float
    tilt: float
    delta: float | None

    name = "ledger"
    version = 1
    axes = declared(LIST, EPSILON, DELTA, DIRECTION)
    required = ("list",)
    options = ("lists",)
    neighbours = "of the list: add_remove or substitute"
    observables = MappingProxyType(
        {
            "hockey_stick": Observable("1", "its mean is delta(epsilon) of the whole list"),
            "slope": Observable("1", "its mean is -d delta / d epsilon"),
        }
    )
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return ("list", "direction", "epsilon" if point.get("epsilon") is not None else "delta")

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        lists = options["lists"]
        if not isinstance(lists, Mapping):
            raise ValueError(f"mechanism.lists = {lists!r} is not valid; valid: a mapping from names to lists")
        name = choice("list", point["list"], lists)
        relation, releases = read_list(name, lists[name])
        direction = choice("direction", point.get("direction") or "forward", DIRECTIONS)
        if symmetric(releases):
            direction = "forward"
        kinds = _kinds(releases, direction)
        law = {"mechanism": cls.name, "version": cls.version, "relation": relation, "direction": direction}
        law["releases"] = releases
        if point.get("epsilon") is not None:
            epsilon = real("epsilon", point["epsilon"], 0, closed=True)
            return law | {"epsilon": epsilon, "tilt": _short(tilt_at(kinds, epsilon), 2)}
        if point.get("delta") is None:
            raise ValueError("epsilon and delta are missing; valid: one of them")
        delta = real("delta", point["delta"], 0, 1)
        lost = -np.expm1(log_kept(kinds))
        if delta <= lost:
            raise UserError(f"list {name} shows everything with probability {lost:.3g}; valid: a larger delta")
        epsilon, tilt = _place(kinds, delta, lost)
        return law | {"delta": delta, "epsilon": epsilon, "tilt": tilt}

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        names = ("releases", "relation", "direction", "epsilon", "tilt")
        return cls(**{name: law[name] for name in names}, delta=law.get("delta"))

    @property
    def guarantee(self) -> Guarantee | None:
        return None

    @cached_property
    def kinds(self) -> Kinds:
        """The pair of each release in this direction, and the number of its copies."""
        return _kinds(self.releases, self.direction)

    @property
    def work(self) -> float:
        return 10.0 * sum(min(release["times"], 100) for release in self.releases)

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        delta, slope = hockey_stick_and_slope(self.kinds, self.epsilon, self.tilt, trials, rng=rng)
        return {"hockey_stick": delta, "slope": slope}


def _kinds(releases: Sequence[Mapping[str, Any]], direction: str) -> Kinds:
    return [(pair_of(release, direction), release["times"]) for release in releases]


def _place(kinds: Kinds, delta: float, lost: float) -> tuple[float, float]:
    """Return an epsilon whose delta is about the given one, and the tilt there, both rounded.

    The saddle point gives a first epsilon, and small simulations with a fixed seed correct it: by Newton steps for
    delta as a function of e^epsilon, which is convex, so that they do not overshoot; or for log delta from far away.
    """
    epsilon, tilt = place_of(kinds, delta - lost)
    known, far = 0.0, True  # an epsilon where delta was seen to be positive, and whether steps for log delta may help
    for step in range(STEPS):
        draws = hockey_stick_and_slope(kinds, epsilon, tilt, PILOT, rng=generator(0, PILOT_STREAM, step))
        found, slope = (float(numbers.mean()) for numbers in draws)
        if not (found > lost and slope > 0):
            epsilon, far = 0.5 * (known + epsilon), False  # beyond the largest loss
        else:
            known, gap = epsilon, log((found - lost) / (delta - lost))
            far = far and gap > 0  # a step for log delta went too far
            newton = (found - lost) * gap / slope if far and abs(gap) > 1 else log1p((found - delta) / slope)
            epsilon = max(epsilon + newton, 0.0)
            if abs(gap) < CLOSE:
                break
        tilt = tilt_at(kinds, epsilon)
    return _short(epsilon, 9), _short(tilt, 2)


def _short(value: float, digits: int) -> float:
    """Return a number with a few digits, so that every processor finds the same one."""
    return float(f"{value:.{digits}g}")
