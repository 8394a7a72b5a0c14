"""A private set of keys: which of the keys of a data set are released, by noisy thresholds and by the best curves."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.axes import DATA, DELTA, NOISE, OMEGA_FORMS, POSITIVE, TCDP_TARGET, K, scaled_omega
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.losses import LOSS, LOSSES, NEIGHBOUR
from tcdp_sim.privacy import ApproxDP, ApproxTCDP, ApproxZCDP, Guarantee
from tcdp_sim.selection.keys import (
    OptimalApproxDP,
    OptimalRDP,
    OptimalTCDP,
    ReleaseCurve,
    ThresholdCurve,
    optimal_curve,
    threshold_curve,
)
from tcdp_sim.selection.keys.curve import MOST_PER_KEY
from tcdp_sim.selection.keys.targets import MOST_KEYS, OPTIMA

TILE = 2**18  # numbers drawn at a time
METHODS = ("threshold", *OPTIMA)
CALIBRATION = "tight"  # whatever the spec says, so that all methods spend the same guarantee
SIGNS = {"above": ">", "at_least": ">="}
KINDS: Mapping[str, Any] = MappingProxyType(
    {"optimal_dp": OptimalApproxDP, "optimal_rdp": OptimalRDP, "optimal_tcdp": OptimalTCDP}
)


@dataclass(frozen=True, eq=False)
class PartitionSelection(Mechanism):
    """The release of those keys of a data set that pass a private test.

    Neighbours add or remove a person, who has a limited number of keys and of records at each of them. The data are
    the counts of all keys after this limit. Keys without records are never released, so the declared domain plays no
    role. A noisy threshold draws the noise of each key, which is calibrated tightly whatever its spec says. The best
    curves draw, for each number of records, how many of the keys with this number are released.

    Source: Desfontaines et al. (2022) [DVGM22].

    `curve`: the probability of release by the number of records. `promise`: the guarantee for all keys of a person
    together; with a threshold, for keys and noisy counts. `counts`: the records of each key, shape (m,), positive.
    `keys_per_person`: the largest number of keys of a person.
    """

    curve: ReleaseCurve
    promise: Guarantee
    counts: NDArray[np.int64]
    keys_per_person: int = 1
    draws_losses: bool = False

    name = "partition_selection"
    loss_pair = (
        "A person is removed who has the keys with the fewest records, as many as allowed, and as many records there "
        "as allowed; that this is the worst pair is not proved. Noisy counts, which a threshold may release too, have "
        "no part in it."
    )
    version = 1
    axes = declared(
        Axis("method", "test that a key has to pass", "", ", ".join(METHODS), "text"),
        NOISE,
        DATA,
        K,
        Axis("epsilon", "epsilon of (epsilon, delta)-DP; rho asks for approximate tCDP instead", "nats", POSITIVE),
        *TCDP_TARGET,
        DELTA,
        Axis("keys_per_person", "largest number of keys of a person", "1", f"1 to {MOST_KEYS}", "whole", 1),
        Axis(
            "records_per_key",
            "largest number of records of a person at a key",
            "1",
            f"1 to {MOST_PER_KEY:g}",
            "whole",
            1,
        ),
        Axis("comparison", "comparison of a noisy count with the threshold", "", ", ".join(SIGNS), "text", "above"),
    )
    required = ("method", "data", "delta")
    options = ()
    neighbours = "add_remove"
    observables = MappingProxyType(
        {
            "keys": Observable("keys", "number of keys that are released", 0),
            "records": Observable("records", "number of records whose key is released", 0),
            **LOSSES,
        }
    )
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        target = ("epsilon",) if point.get("epsilon") is not None else ("rho", *OMEGA_FORMS)
        own = ("noise", "comparison") if point.get("method") == "threshold" else ()
        return ("method", "data", "k", *target, "delta", "keys_per_person", "records_per_key", *own)

    @classmethod
    def blurs_counts(cls, point: Point) -> bool:
        return True

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        method = choice("method", point["method"], METHODS)
        target = _target(point)
        keys = whole("keys_per_person", _given(point, "keys_per_person"), 1, MOST_KEYS)
        per_key = whole("records_per_key", _given(point, "records_per_key"), 1, MOST_PER_KEY)
        law = {"mechanism": cls.name, "version": cls.version, "data": counts.digest}
        law |= {"method": method, "target": target, "keys": keys}
        guarantee = _guarantee(target)
        if method != "threshold":
            curve: Any = optimal_curve(method, guarantee, keys, per_key)
            return law | {"parameters": _parameters(curve)}
        spec = point.get("noise")
        if spec is None:
            raise ValueError("method = threshold needs noise, which the sweep does not give")
        sign = SIGNS[choice("comparison", _given(point, "comparison"), SIGNS)]
        step = noise_axes.step(spec)
        curve = threshold_curve(
            spec["family"], guarantee, keys, per_key, comparison=sign, method=CALIBRATION, step=step
        )
        noise = {"noise": noise_axes.named(spec, CALIBRATION), "parameters": noise_axes.parameters(curve.noise)}
        return law | noise | {"threshold": curve.threshold, "comparison": sign, "per_key": per_key}

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        if law["method"] == "threshold":
            noise = noise_axes.built(law["noise"]["family"], law["parameters"])
            curve: ReleaseCurve = ThresholdCurve(noise, law["threshold"], law["comparison"], int(law["per_key"]))
        else:
            own = {name: inf if value == "inf" else value for name, value in law["parameters"].items()}
            curve = KINDS[law["method"]](**own)
        records = np.asarray(counts, dtype=np.int64)
        return cls(curve, _guarantee(law["target"]), records, int(law["keys"]), law.get("draws_losses", False))

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    @property
    def work(self) -> float:
        return float(len(self.counts))

    @cached_property
    def classes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of records that occur, and the number of keys with each of them."""
        values, times = np.unique(self.counts, return_counts=True)
        return values.astype(np.int64), times.astype(np.int64)

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        rows = max(TILE // max(len(self.counts), 1), 1)
        parts = [self._draw(rng, min(rows, trials - start)) for start in range(0, trials, rows)]
        keys, records = (np.concatenate(found) for found in zip(*parts))
        return {"keys": keys, "records": records}

    @cached_property
    def moved(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The records at the keys of the removed person, with and without this person."""
        own = np.sort(self.counts)[: self.keys_per_person]
        return own, own - np.minimum(own, self.curve.per_key)

    def draw_losses(self, rng: np.random.Generator, trials: int) -> Draws:
        with np.errstate(divide="ignore", invalid="ignore"):  # of outputs that never come
            p, q = ([np.log(self.curve.released(n)), np.log(self.curve.withheld(n))] for n in self.moved)
            shown, hidden = (one - other for one, other in zip(p, q))
        out, rows = {}, max(TILE // max(len(shown), 1), 1)
        for name, records in zip((LOSS, NEIGHBOUR), self.moved):
            sizes = [min(rows, trials - start) for start in range(0, trials, rows)]
            released = (self._released(records, size, rng) for size in sizes)
            out[name] = np.concatenate([np.where(each, shown, hidden).sum(axis=1) for each in released])
        return out

    def _released(self, records: NDArray[np.int64], trials: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return whether keys with these numbers of records are released, shape (trials, keys)."""
        if isinstance(self.curve, ThresholdCurve):
            noisy = np.empty((trials, len(records)))
            self.curve.noise.fill(out=noisy, rng=rng)
            return np.asarray(self._passes(noisy + records) & (records > 0))
        return np.asarray(rng.random((trials, len(records))) < self.curve.released(records))

    def _passes(self, noisy: Floats) -> NDArray[np.bool_]:
        """Return whether noisy counts pass the threshold."""
        assert isinstance(self.curve, ThresholdCurve)
        threshold = self.curve.threshold
        return np.asarray(noisy > threshold if self.curve.comparison == ">" else noisy >= threshold)

    def _draw(self, rng: np.random.Generator, trials: int) -> tuple[Floats, Floats]:
        """Return the number of released keys and of their records, shape (trials,)."""
        if isinstance(self.curve, ThresholdCurve):
            noisy = np.empty((trials, len(self.counts)))
            self.curve.noise.fill(out=noisy, rng=rng)
            noisy += self.counts
            passed = self._passes(noisy)
            return np.asarray(passed @ np.ones(len(self.counts))), np.asarray(passed @ self.counts.astype(np.float64))
        values, times = self.classes
        released = rng.binomial(times, self.curve.released(values), size=(trials, len(values)))
        return np.asarray(released @ np.ones(len(values))), np.asarray(released @ values.astype(np.float64))


def _given(point: Point, name: str) -> Any:
    value = point.get(name)
    return PartitionSelection.axes[name].default if value is None else value


def _target(point: Point) -> dict[str, Any]:
    """Return the parameters of the guarantee of a point as plain data. Raises ValueError if they are not clear."""
    delta = scalar("delta", point["delta"], 0, 1)
    if point.get("epsilon") is not None:
        return {"epsilon": scalar("epsilon", point["epsilon"], 0), "delta": delta}
    if point.get("rho") is None:
        raise ValueError("epsilon and rho are missing; valid: one of them")
    omega = scaled_omega(point) if point.get("omega") is None else point["omega"]
    omega = inf if omega is None else scalar("omega", omega, 1, finite=False)
    target = {"rho": scalar("rho", point["rho"], 0), "delta": delta}
    return target if omega == inf else target | {"omega": omega}


def _guarantee(target: Mapping[str, Any]) -> Guarantee:
    if "epsilon" in target:
        return ApproxDP(target["epsilon"], target["delta"])
    if "omega" in target:
        return ApproxTCDP(target["delta"], target["rho"], target["omega"])
    return ApproxZCDP(target["delta"], target["rho"])


def _parameters(curve: Any) -> dict[str, Any]:
    """Return the parameters of a curve as plain data that can be written as JSON."""
    return {name: "inf" if value == inf else value for name, value in vars(curve).items()}
