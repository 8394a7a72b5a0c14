"""A private centre of ordered records, with noise scaled by a smooth sensitivity or by the global sensitivity."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.calibration import calibrate
from tcdp_sim.calibration.smooth import calibrate_smooth
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import choice, real, whole
from tcdp_sim.data.ordered import ordered_records
from tcdp_sim.data.smooth_sensitivity import robust_statistic, smooth_sensitivity
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.axes import TCDP_TARGET
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.losses import LOSS, LOSSES, NEIGHBOUR, of_moves
from tcdp_sim.noise import Noise
from tcdp_sim.ordered.thresholds.quantiles import plan_quantiles
from tcdp_sim.ordered.thresholds.records import Records
from tcdp_sim.privacy import TCDP, ZCDP, Guarantee

METHODS = {  # name -> (statistic, where its noise comes from)
    "median": ("median", "smooth"),
    "trimmed_mean": ("trimmed_mean", "smooth"),
    "mean_global": ("mean", "global"),
    "median_global": ("median", "global"),
    "median_interior_point": ("median", "interior point"),
}
MOST_RECORDS = 10**7
NO_NOISE = "method=median_interior_point"  # the case without a privacy loss
INTERIOR_POINT = ("sinh_normal", "tight")  # noise and calibration of interior points


@dataclass(frozen=True, eq=False)
class SmoothSensitivity(Mechanism):
    """A private median or mean of n records in {0, ..., 2^log2_k - 1}, a share of which is contaminated.

    The n records are taken from a named data set at evenly spaced ranks. The share `contamination` of them is moved to
    the upper bound of the domain. The error is the distance between the release, clamped to the domain, and the same
    statistic of the n clean records. Neighbours substitute one record.

    Source: Nissim et al. (2007) [NRS07]; Bun and Steinke (2019) [BS19].

    - `method`: one of METHODS: the statistic and the source of its noise.
    - `clean`: the n records before their contamination.
    - `contamination`: the share of the records that is moved to the upper bound, from 0 to below 0.5.
    - `trim`: the share of the records that a trimmed mean leaves out at each end.
    - `noise`: the noise that is added, times `sensitivity`; None for an interior point.
    - `smoothing`: the largest change of the log of the smooth sensitivity per substituted record, in nats.
    """

    method: str
    promise: TCDP | ZCDP
    clean: Records
    contamination: float
    trim: float
    noise: Noise | None
    smoothing: float = 0.0
    draws_losses: bool = False

    name = "smooth_sensitivity"
    loss_pair = (
        "The least record goes to the upper bound, or the greatest one to 0, whichever changes answer and noise more; "
        "the loss is that of the release before it is clamped. That this is the worst pair is not proved."
    )
    unknown_losses = MappingProxyType(
        {NO_NOISE: "The law of the released interior point on a neighbour is not written down."}
    )
    version = 1
    axes = declared(
        Axis("method", "the centre that is released, and where its noise comes from", "", ", ".join(METHODS), "text"),
        Axis("smooth_noise", "noise whose scale is a smooth sensitivity", "", "a name, such as student_t", "text"),
        Axis("records", "ordered records", "", "a name in mechanism.records", "text"),
        Axis("n", "number of records that are taken", "records", f"a whole number from 1 to {MOST_RECORDS}"),
        Axis("smoothing", "how fast the smooth sensitivity may change, a record", "nats", "above 0, at most 2"),
        Axis(
            "contamination", "share of the records that is moved to the upper bound", "1", "0 to below 0.5", default=0
        ),
        *TCDP_TARGET,
    )
    required = ("method", "records", "n", "rho")
    options = ("records", "trim")
    observables = MappingProxyType(
        {"abs_error": Observable("1", "distance from the clean statistic, in units"), **LOSSES}
    )
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        source = METHODS.get(point["method"], ("", "smooth"))[1]
        omega = noise_axes.target_axes(("omega",)) if source != "global" else ()
        smooth = ("smooth_noise", "smoothing") if source == "smooth" else ()
        moved = ("contamination",) if point.get("contamination") is not None else ()
        return ("method", "records", "n", "rho", *moved, *smooth, *omega)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        method = choice("method", point["method"], METHODS)
        statistic, source = METHODS[method]
        target = {"rho": real("rho", point["rho"], 0)}
        if source != "global" and point.get("omega") is not None:
            target["omega"] = real("omega", point["omega"], 1)
        law: dict[str, Any] = {"mechanism": cls.name, "version": cls.version, "method": method, "target": target}
        law["contamination"] = real("contamination", point.get("contamination") or 0.0, 0, 0.5, closed=True)
        law |= {"trim": real("trim", options["trim"], 0, 0.5)} if statistic == "trimmed_mean" else {}
        law |= _records(point, options)
        if source == "smooth":
            law["smoothing"] = real("smoothing", point.get("smoothing"), 0)
            noise = calibrate_smooth(point.get("smooth_noise"), _guarantee(target), law["smoothing"]).noise  # type: ignore[arg-type]
        elif source == "global":
            noise = calibrate("gaussian", ZCDP(target["rho"])).noise
        else:
            noise_axes.target(f"method {method}", ("omega",), point)
            return law
        return law | {"noise": noise.family, "parameters": noise_axes.parameters(noise)}

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        values, times = ([int(text) for text in law[name].split()] for name in ("values", "counts"))
        records = Records(values, times, 2 ** law["log2_k"])
        noise = noise_axes.built(law["noise"], law["parameters"]) if "noise" in law else None
        rest = (law["contamination"], law.get("trim", 0.0), noise, law.get("smoothing", 0.0))
        built = cls(law["method"], _guarantee(law["target"]), records, *rest, law.get("draws_losses", False))
        _ = built.plan  # the driver refuses an impossible budget here, before a worker does
        return built

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    @property
    def work(self) -> float:
        return 3e4 if self.noise is None else 2.0

    @property
    def largest(self) -> int:
        """The public upper bound of the records. The lower bound is 0."""
        return self.clean.k - 1

    @cached_property
    def records(self) -> Records:
        """The records after their contamination."""
        moved = round(self.contamination * self.clean.n)
        every = self.clean.sorted
        kept = every[np.arange(len(every) - moved) * len(every) // max(len(every) - moved, 1)]
        return Records.of([*kept.tolist(), *[self.largest] * moved], self.clean.k)

    @cached_property
    def plan(self) -> Any:
        """The plan of the released interior point; None for the other methods."""
        if self.noise is not None:
            return None
        family, calibration = INTERIOR_POINT
        size = (self.clean.n, self.clean.k)
        return plan_quantiles((0.5,), *size, self.promise, family=family, calibration=calibration)

    @cached_property
    def target(self) -> float:
        """The estimated number: the statistic of the clean records."""
        return robust_statistic(self.clean.sorted, self._statistic)

    @cached_property
    def answer(self) -> float:
        """The statistic of the contaminated records."""
        return robust_statistic(self.records.sorted, self._statistic)

    @cached_property
    def neighbour(self) -> tuple[float, float]:
        """The statistic and the factor of the noise on the neighbour of a privacy loss."""
        own = self.records.sorted
        both = (np.append(own[1:], self.largest), np.append(0, own[:-1]))
        return max(((robust_statistic(each, self._statistic), self._factor(each)) for each in both), key=self._changes)

    def _changes(self, neighbour: tuple[float, float]) -> float:
        """Return how much a neighbour changes the answer, in units of the noise, and the log of these units."""
        answer, factor = neighbour
        return abs(answer - self.answer) / self.sensitivity + abs(np.log(factor / self.sensitivity))

    @cached_property
    def sensitivity(self) -> float:
        """The factor of the noise, in units of the values: the smooth or the global sensitivity."""
        return self._factor(self.records.sorted)

    def _factor(self, records: Any) -> float:
        statistic, source = METHODS[self.method]
        if source == "smooth":
            return smooth_sensitivity(records, (0, self.largest), self.smoothing, self._statistic)
        return self.largest / (self.clean.n if statistic == "mean" else 1)

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        if self.noise is None:
            releases = np.array([self.plan.run(self.records, rng=rng).quantile(0.5) for _ in range(trials)], float)
        else:
            releases = self.answer + self.sensitivity * self.noise.sample(size=trials, rng=rng)
        return {"abs_error": np.abs(np.clip(releases, 0, self.largest) - self.target)}

    @property
    def unknown_loss(self) -> str:
        return NO_NOISE if self.noise is None else ""

    def draw_losses(self, rng: np.random.Generator, trials: int) -> Draws:
        assert self.noise is not None
        answer, scale = self.neighbour
        move, ratio = (self.answer - answer) / scale, self.sensitivity / scale
        if ratio == 1 and self.noise.gives_loss:  # which keeps the digits that a difference of log densities loses
            return of_moves(self.noise, int(move != 0), trials, rng=rng, step=move)
        z, other = (np.asarray(self.noise.sample(size=trials, rng=rng)) for _ in range(2))
        return {
            LOSS: self._log_density(z) - self._log_density(ratio * z + move) - np.log(ratio),
            NEIGHBOUR: self._log_density((other - move) / ratio) - self._log_density(other) - np.log(ratio),
        }

    def _log_density(self, z: Floats) -> Floats:
        assert self.noise is not None
        return np.asarray(self.noise.logpdf(z))

    @property
    def _statistic(self) -> Any:
        statistic = METHODS[self.method][0]
        if statistic == "median":
            return "median"
        return "trimmed_mean", int(self.trim * self.clean.n) if statistic == "trimmed_mean" else 0


def _guarantee(target: Mapping[str, float]) -> TCDP | ZCDP:
    return TCDP(**target) if "omega" in target else ZCDP(**target)


def _records(point: Point, options: Options) -> dict[str, Any]:
    """Return n of the named records, at evenly spaced ranks.

    They are kept as text, because every digit is part of the cell's identity.
    """
    known = options["records"]
    if not isinstance(known, Mapping):
        raise ValueError(f"mechanism.records = {known!r} is not valid; valid: a mapping from names to data sources")
    name = choice("records", point["records"], known)
    if not isinstance(known[name], Mapping):
        raise ValueError(f"mechanism.records.{name} = {known[name]!r} is not valid; valid: file or path, column, ...")
    values, times, log2_k, done = ordered_records(name, known[name])
    n = whole("n", point["n"], 1, min(MOST_RECORDS, sum(times)))
    ends = np.cumsum(times)
    ranks = ((2 * np.arange(n) + 1) * int(ends[-1])) // (2 * n)
    taken, counts = np.unique(np.searchsorted(ends, ranks, side="right"), return_counts=True)
    texts = {"values": " ".join(str(values[i]) for i in taken), "counts": " ".join(map(str, counts.tolist()))}
    return ({"unfit": done} if done else {}) | {"log2_k": log2_k} | texts
