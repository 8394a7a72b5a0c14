"""Training runs: the privacy loss of all outputs of a run, by the sampler of its batches."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from math import inf, log, sqrt
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import UserError, choice, scalar, whole
from tcdp_sim.core.streams import generator
from tcdp_sim.mechanisms.axes import DELTA
from tcdp_sim.mechanisms.base import EVERY, Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.privacy import Guarantee
from tcdp_sim.samplers.training_runs import DIRECTIONS, PlacedRun, Run, cut_run, fixed_size_run, poisson_run

SAMPLED = ("poisson", "poisson_cut", "fixed_size")  # steps that sample alike
PLACED = {  # the means of the record's output with and without the record
    "shuffle_each_epoch": (2.0, 1.0),
    "shuffle_once": (2.0, 1.0),
    "no_shuffle": (1.0, 0.0),
    "balls_in_bins": (1.0, 0.0),
    "same_bins": (1.0, 0.0),
}
ONE_EPOCH = ("shuffle_once", "no_shuffle", "same_bins")  # whose epochs add up to one with the noise sigma / sqrt(E)
SAMPLERS = (*SAMPLED, *PLACED)
MOST_STEPS, MOST_EPOCHS, MOST_TIMES = 10**5, 1000, 20_000
PILOT, PILOT_STEPS, CLOSE = (500, 4000), 40, 0.25  # draws (of steps alike, of others), steps and end of the search
PILOT_STREAM = hashlib.sha256(b"pilot of a training run").hexdigest()[:32]
MOST_EPSILON = 500.0


@dataclass(frozen=True, eq=False)
class Training(Mechanism):
    """The privacy loss of a record in a whole training run of DP-SGD.

    A step adds Gaussian noise to the sum of a batch of vectors of length 1 at most. Neighbours replace one record by an
    empty one (zero_out), or by its opposite for "fixed_size". The data are the worst that are known: the other records
    are -1 for shuffled batches and for batches of fixed size. Where a sample is cut, the adversary is told in each step
    whether the sample without the record fills the batch, as in the proof of the upper end, and others are -1 then.

    `sigma`: the standard deviation of the noise over the clipping length. `steps`, `epochs`: steps of an epoch, and
    epochs. `batch`, `most`: the mean of a sample and the most records that are used of it. `group`: the records of one
    user. `direction`: "forward" for the outputs with the record against those without it. `epsilon`: epsilon in nats,
    at which delta is simulated. `delta`: the delta whose epsilon is asked for; `epsilon` is then close to the answer.
    """

    sampler: str
    sigma: float
    steps: int
    epochs: int
    batch: int
    most: int | None
    group: int
    direction: str
    epsilon: float
    tilt: float
    delta: float | None

    name = "training"
    unknown_losses = MappingProxyType(
        {EVERY: "The trials are functions of the run's privacy loss already, which the mechanism simulates."}
    )
    version = 1
    axes = declared(
        Axis("sampler", "choice of the batches", "", ", ".join(SAMPLERS), "text"),
        Axis("sigma", "standard deviation of the noise over the clipping length", "1", "0.1 to 100"),
        Axis("steps", "steps of an epoch", "1", f"a whole number from 2 to {MOST_STEPS}", "whole"),
        Axis("epochs", "epochs", "1", f"a whole number from 1 to {MOST_EPOCHS}", "whole"),
        Axis("batch", "records in a batch, or their mean", "records", "a whole number, at least 1", "whole"),
        Axis("most", "largest number of records that are used of a sample", "records", "at least 1", "whole"),
        Axis("group", "records of one user", "records", "a whole number from 1 to 100", "whole"),
        Axis("epsilon", "epsilon at which delta is simulated", "nats", "at least 0"),
        DELTA,
        Axis("direction", "with against without the record, or the reverse", "", ", ".join(DIRECTIONS), "text"),
    )
    required = ("sampler", "sigma", "steps")
    options = ()
    neighbours = "zero_out; substitute for fixed_size"
    observables = MappingProxyType(
        {
            "hockey_stick": Observable("1", "its mean is delta(epsilon), by importance sampling", 0.0),
            "slope": Observable("1", "its mean is -d delta / d epsilon, by importance sampling", 0.0),
            "plain": Observable("1", "its mean is delta(epsilon), by runs as they are", 0.0, 1.0),
        }
    )
    events = MappingProxyType(
        {
            "above_with": "the loss of a run with the record exceeds epsilon (forward)",
            "above_without": "the loss of a run without the record exceeds epsilon (forward)",
        }
    )

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        more = {"poisson_cut": ("batch", "most"), "poisson": ("group",)}.get(str(point.get("sampler")), ())
        at = "epsilon" if point.get("epsilon") is not None else "delta"
        return ("sampler", "sigma", "steps", "epochs", *more, at, "direction")

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        law = {"mechanism": cls.name, "version": cls.version} | _checked(point)
        run, forward = _run(law), law["direction"] == "forward"
        if point.get("epsilon") is not None:
            epsilon = scalar("epsilon", point["epsilon"], 0, MOST_EPSILON, closed=True)
            return law | {"epsilon": epsilon, "tilt": _short(run.tilt_at(forward, epsilon), 3)}
        if point.get("delta") is None:
            raise ValueError("epsilon and delta are missing; valid: one of them")
        delta = scalar("delta", point["delta"], 0, 1)
        epsilon = _epsilon_near(run, forward, delta)
        return law | {"delta": delta, "epsilon": epsilon, "tilt": _short(run.tilt_at(forward, epsilon), 3)}

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        names = ("sampler", "sigma", "steps", "epochs", "direction", "epsilon", "tilt")
        more = {"batch": law.get("batch", 1), "most": law.get("most"), "group": law.get("group", 1)}
        return cls(**{name: law[name] for name in names}, **more, delta=law.get("delta"))

    @property
    def guarantee(self) -> Guarantee | None:
        return None

    @property
    def work(self) -> float:
        times = self.epochs * (50 if self.sampler in SAMPLED else 1)
        return 30.0 * self.steps * times

    @cached_property
    def run(self) -> Run:
        """The run whose losses are drawn."""
        return _run(vars(self))

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        forward = self.direction == "forward"
        values, slopes = _values(*self.run.rare(forward, self.tilt, trials, rng), self.epsilon)
        here, there = (self.run.losses(forward, first, trials, rng) for first in (True, False))
        plain = _values(here, np.zeros(trials), self.epsilon)[0]
        above = {"above_with": here > self.epsilon, "above_without": there > self.epsilon}
        return {"hockey_stick": values, "slope": slopes, "plain": plain} | above


def _checked(point: Point) -> dict[str, Any]:
    """Return the checked numbers of a run that its law depends on."""

    def given(name: str, low: int, most: int) -> int:
        return low if point.get(name) is None else whole(name, point[name], low, most)

    sampler = choice("sampler", point["sampler"], SAMPLERS)
    steps, epochs = whole("steps", point["steps"], 2, MOST_STEPS), given("epochs", 1, MOST_EPOCHS)
    found: dict[str, Any] = {"sampler": sampler, "sigma": scalar("sigma", point["sigma"], 0.1, 100, closed=True)}
    found |= {"steps": steps, "epochs": epochs}
    if sampler in SAMPLED and steps * epochs > MOST_TIMES:
        raise UserError(f"steps * epochs = {steps * epochs:,} is not valid for {sampler}; valid: to {MOST_TIMES:,}")
    if sampler == "poisson_cut":
        if point.get("batch") is None or point.get("most") is None:
            raise UserError("batch or most is missing; valid: both for sampler = poisson_cut")
        batch = whole("batch", point["batch"], 1, 10**9)
        found |= {"batch": batch, "most": whole("most", point["most"], 1, batch * steps)}
    if sampler == "poisson":
        found["group"] = given("group", 1, 100)
    direction = choice("direction", point.get("direction") or DIRECTIONS[0], DIRECTIONS)
    return found | {"direction": "forward" if sampler == "no_shuffle" else direction}  # its loss is symmetric


def _run(law: Law) -> Run:
    """Return the run of a law."""
    sampler, sigma, steps, epochs = (law[name] for name in ("sampler", "sigma", "steps", "epochs"))
    times, rate = steps * epochs, 1 / steps
    if sampler == "poisson":
        return poisson_run(sigma, times, rate, law["group"])
    if sampler == "fixed_size":
        return fixed_size_run(sigma, times, rate)
    if sampler == "poisson_cut":
        return cut_run(sigma, times, rate, law["batch"] * steps, law["most"])
    if sampler in ONE_EPOCH:
        sigma, epochs = sigma / sqrt(epochs), 1
    return PlacedRun(sigma, 1 if sampler == "no_shuffle" else steps, epochs, *PLACED[sampler])


def _values(loss: Any, log_weight: Any, epsilon: float) -> tuple[Any, Any]:
    """Return numbers with the means delta(epsilon) and -d delta / d epsilon, from weighted losses."""
    gap = np.maximum(loss - epsilon, 0.0)
    weight = np.where(gap > 0, np.exp(np.where(gap > 0, log_weight, 0.0)), 0.0)
    return weight * -np.expm1(-gap), weight * np.exp(-gap)


def _epsilon_near(run: Run, forward: bool, delta: float) -> float:
    """Return an epsilon whose delta is about the given one, by small simulations with a fixed seed.

    Steps of Newton's method for log delta stay in an interval that each of them makes smaller. The answer is rounded,
    so that every processor finds the same one.
    """
    low, high, epsilon, size = 0.0, inf, 1.0, PILOT[isinstance(run, PlacedRun)]
    for step in range(PILOT_STEPS):
        tilt = run.tilt_at(forward, epsilon)
        rng = generator(0, PILOT_STREAM, step)
        found, slope = (float(each.mean()) for each in _values(*run.rare(forward, tilt, size, rng), epsilon))
        gap = log(found / delta) if found > 0 else -inf
        low, high = (epsilon, high) if gap > 0 else (low, epsilon)
        newton = epsilon + found / slope * gap if found > 0 and slope > 0 else -1.0
        middle = 0.5 * (low + high) if high < inf else 2 * epsilon
        epsilon = newton if low < newton < min(high, 4 * max(epsilon, 1.0)) else min(middle, MOST_EPSILON)
        if abs(gap) < CLOSE:
            return _short(epsilon, 5)
        if high - low < 1e-6 * high or low >= MOST_EPSILON:
            break
    raise UserError(f"delta = {delta:g} was not found by simulation; valid: a larger delta, or epsilon in its place")


def _short(value: float, digits: int) -> float:
    """Return a number with a few digits, so that every processor finds the same one."""
    return float(f"{value:.{digits}g}")
