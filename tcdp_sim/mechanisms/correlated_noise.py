"""Training with correlated noise: the noise that a run needs for (epsilon, delta), and the errors of prefix sums."""

import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, log, log10
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.core.search import brentq
from tcdp_sim.core.streams import generator
from tcdp_sim.mechanisms.axes import DELTA
from tcdp_sim.mechanisms.base import EVERY, Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import ApproxDP, Guarantee
from tcdp_sim.samplers.composed_losses import Kinds, hockey_stick_and_slope, tilt_at
from tcdp_sim.samplers.correlated_noise import DIRECTIONS, BinOutputs, sample_delta
from tcdp_sim.samplers.release_pairs import NoisePair

PARTICIPATIONS = ("same_bins", "cyclic", "known")
MOST_STEPS, MOST_EPOCHS, MOST_NUMBERS = 1000, 1000, 4 * 10**6
PILOT_STREAM = hashlib.sha256(b"pilot of correlated noise").hexdigest()[:32]
PILOT = 40_000  # draws of a step of the search
_STEP, _CLOSE = 0.5, 1e-3  # of the log of the noise: of the search for a bracket, and at its end


@dataclass(frozen=True, eq=False)
class CorrelatedNoise(Mechanism):
    """A run of E epochs of b steps with correlated noise, with the least noise multiplier for (epsilon, delta).

    The strategy is the first diagonals of the square root of the matrix of prefix sums. In each step the expected batch
    is 1 / b of the records. "same_bins" puts a record into a random step, the same in all epochs. "cyclic" samples the
    records of `bands` groups in turn, with probability bands / b. "known" puts a record into steps that are b apart and
    that the adversary knows.

    Source: as for `tcdp_sim.accounting.MatrixMechanism`.

    `sigma`: the noise multiplier. It is found by simulation for "same_bins", and by proved ends otherwise. `tilts`: of
    the losses that are drawn in both directions, none for "same_bins".
    """

    bands: int
    steps: int
    epochs: int
    participation: str
    epsilon: float
    delta: float
    sigma: float
    tilts: tuple[float, ...]

    name = "correlated_noise"
    unknown_losses = MappingProxyType(
        {EVERY: "The trials are functions of the record's privacy loss already, by importance sampling."}
    )
    version = 1
    axes = declared(
        Axis("bands", "diagonals of the strategy that are not 0", "1", "1 to epochs * steps", "whole"),
        Axis("steps", "number of steps of an epoch", "1", f"a whole number from 2 to {MOST_STEPS}", "whole"),
        Axis("epochs", "number of epochs", "1", f"a whole number from 1 to {MOST_EPOCHS}", "whole"),
        Axis("participation", "how a record's steps are chosen", valid=", ".join(PARTICIPATIONS), kind="text"),
        Axis("epsilon", "privacy parameter of (epsilon, delta)-DP", "nats", "above 0, below 100"),
        DELTA,
    )
    required = ("bands", "steps", "epochs", "participation", "epsilon", "delta")
    options = ()
    neighbours = "zero_out"
    observables = MappingProxyType({way: Observable("1", f"its mean is delta(epsilon), {way}") for way in DIRECTIONS})
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return cls.required

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        steps, epochs = whole("steps", point["steps"], 2, MOST_STEPS), whole("epochs", point["epochs"], 1, MOST_EPOCHS)
        participation = choice("participation", point["participation"], PARTICIPATIONS)
        if steps * steps * epochs > MOST_NUMBERS:
            raise ValueError(f"steps = {steps} with epochs = {epochs} is not valid; valid: steps^2 epochs <= 4e6")
        most = steps if participation == "cyclic" else steps * epochs
        law: dict[str, Any] = {
            "mechanism": cls.name,
            "version": cls.version,
            "bands": whole("bands", point["bands"], 1, most),
        }
        law |= {"steps": steps, "epochs": epochs, "participation": participation}
        law |= {"epsilon": scalar("epsilon", point["epsilon"], 0, 100), "delta": scalar("delta", point["delta"], 0, 1)}
        law |= {"sigma": 1.0, "tilts": []}
        law["sigma"] = _least_sigma(cls.build(law, counts))
        tilts = (tilt_at(kinds, law["epsilon"]) for kinds in cls.build(law, counts)._kinds)
        return law | {"tilts": [float(f"{tilt:.2g}") for tilt in tilts]}

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        names = ("bands", "steps", "epochs", "participation", "epsilon", "delta", "sigma")
        return cls(**{name: law[name] for name in names}, tilts=tuple(law["tilts"]))

    @property
    def guarantee(self) -> Guarantee | None:
        """(epsilon, delta)-DP where the noise has a proof; None where it was found by simulation."""
        return None if self.participation == "same_bins" else ApproxDP(self.epsilon, self.delta)

    @property
    def work(self) -> float:
        return 4.0 * self.steps**2 if self.participation == "same_bins" else 100.0 * len(self._lengths)

    @property
    def release(self) -> Any:
        """The release of a ledger with this noise."""
        from tcdp_sim.accounting import Bands, Cyclic, Fixed, MatrixMechanism, SameBin  # workers need no accounting

        participation = {
            "same_bins": lambda: SameBin(self.steps),
            "cyclic": lambda: Cyclic(self.bands, self.bands / self.steps),
            "known": lambda: Fixed(self.steps, self.epochs),
        }[self.participation]()
        return MatrixMechanism(Bands(self.bands, self.steps * self.epochs), participation, self.sigma)

    @cached_property
    def _column(self) -> Floats:
        """The first column of the strategy, shape (epochs * steps,)."""
        column = np.zeros(self.steps * self.epochs)
        odds = np.arange(1, self.bands) * 2.0
        column[: self.bands] = np.cumprod(np.append(1.0, (odds - 1) / odds))
        return column

    @cached_property
    def _moves(self) -> Floats:
        """The move of a record in each bin, shape (epochs * steps, steps)."""
        n, moves = self.steps * self.epochs, np.zeros((self.steps * self.epochs, self.steps))
        for step in range(self.steps):
            for start in range(step, n, self.steps):
                moves[start:, step] += self._column[: n - start]
        return moves

    @cached_property
    def _lengths(self) -> tuple[float, ...]:
        """The independent moves of a record: one of a known record, else one in each turn of the first group."""
        n = self.steps * self.epochs
        if self.participation == "known":
            return (float(np.linalg.norm(self._moves[:, 0])),)
        return tuple(float(np.linalg.norm(self._column[: n - start])) for start in range(0, n, self.bands))

    @cached_property
    def _kinds(self) -> tuple[Kinds, ...]:
        """The pairs of each direction with their numbers; none for records in bins."""
        if self.participation == "same_bins":
            return ()
        s = self.bands / self.steps if self.participation == "cyclic" else 1.0
        lengths = Counter(self._lengths)
        return tuple(
            [(NoisePair(Gaussian(self.sigma), length, s, first), times) for length, times in lengths.items()]
            for first in (True, False)
        )

    @cached_property
    def _outputs(self) -> BinOutputs:
        return BinOutputs(self._moves / self.sigma)

    def simulate(self, rng: Any, trials: int) -> Draws:
        if self.participation == "same_bins":
            return dict(zip(DIRECTIONS, sample_delta(self._outputs, self.epsilon, trials, rng=rng)))
        ways = zip(DIRECTIONS, self._kinds, self.tilts)
        return {way: hockey_stick_and_slope(kinds, self.epsilon, tilt, trials, rng=rng)[0] for way, kinds, tilt in ways}


def _least_sigma(run: CorrelatedNoise) -> float:
    """Return the least noise multiplier for (epsilon, delta), rounded so that every processor finds the same one."""
    if run.participation == "same_bins":
        return _simulated_sigma(run)
    from tcdp_sim.calibration import calibrate_releases  # workers calibrate nothing

    found = calibrate_releases([run.release], ApproxDP(run.epsilon, run.delta), relation="zero_out")
    digits = 10.0 ** (6 - ceil(log10(found.factor)))
    return ceil(found.factor * digits) / digits


def _simulated_sigma(run: CorrelatedNoise) -> float:
    """Return the noise at which simulated delta meets delta, by bisection with the same draws for each noise."""
    from tcdp_sim.calibration import calibrate  # workers calibrate nothing

    moves = run._moves
    longest = float(np.linalg.norm(moves, axis=0).max())

    def excess(x: float) -> float:
        rng = generator(0, PILOT_STREAM, 0)
        found = sample_delta(BinOutputs(moves / (longest * exp(x))), run.epsilon, PILOT, rng=rng).mean(axis=1).max()
        return log(max(float(found), 1e-300) / run.delta)

    known = log(
        float(calibrate("gaussian", ApproxDP(run.epsilon, run.delta)).noise.var()) ** 0.5
    )  # enough for any steps
    low = known - _STEP
    while excess(low) <= 0:
        low -= _STEP
    return float(f"{longest * exp(float(brentq(excess, low, known + _CLOSE, xtol=_CLOSE))):.4g}")
