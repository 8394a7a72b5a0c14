"""Threshold queries on ordered records: a CDF, quantiles or a median, by interior points or by zCDP baselines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import sqrt
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.arrays import Ints, Objects
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import choice, real
from tcdp_sim.data.ordered import ordered_records
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.axes import NOISE, TCDP_TARGET
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.losses import LOSS, LOSSES, NEIGHBOUR, of_moves
from tcdp_sim.noise import Gaussian
from tcdp_sim.ordered.thresholds.medians import plan_medians
from tcdp_sim.ordered.thresholds.noisy_tree import NoisyTree, search_log_law, search_rank, search_work
from tcdp_sim.ordered.thresholds.quantiles import plan_quantiles
from tcdp_sim.ordered.thresholds.records import Records
from tcdp_sim.ordered.thresholds.square_root import SquareRootCdf
from tcdp_sim.ordered.thresholds.step_cdf import StepCdf
from tcdp_sim.ordered.thresholds.windows import plan_windows
from tcdp_sim.privacy import TCDP, ZCDP, Guarantee

DECILES = tuple(i / 10 for i in range(1, 10))
LEVELS = tuple(i / 20 for i in range(1, 20))  # the private CDF is recorded at these quantiles
METHODS = {  # name -> True if the method uses interior points
    "windows": True,
    **{f"medians_{i}": True for i in range(1, 7)},
    "deciles": True,
    "median": True,
    "tree_2": False,
    "tree_16": False,
    "square_root": False,
    "binary_search": False,
}
POINTED = "methods with interior points"  # the case without a privacy loss
LINEAR = ("tree_2", "tree_16", "square_root")  # those whose errors do not depend on the records
MOST_LOG2_K = 500  # of the domain; trees and the binary search go to 2^62
BASELINE_VERSION = 3  # of the methods without interior points, whose exponential mechanisms version 4 accounts exactly


@dataclass(frozen=True, eq=False)
class Thresholds(Mechanism):
    """A private CDF, quantiles or median of ordered records, by one of METHODS.

    Neighbours substitute one record. The number of records n and the domain are public.

    Source: Bun et al. (2018), Section 5.3 [BDRS18].

    `method`: "windows" (algorithm T1), "medians_h" (T2 with h rounds), "deciles" or "median" (T3), "tree_b" (a noisy
    b-ary tree), "square_root" (the square-root factorisation of prefix sums) or "binary_search" (for the median).
    `beta`: the failure probability of the proved error bound, in (0, 1). `family`, `calibration`: the noise on the
    nodes of a tree of interior points, for methods that use them. `most_windows`: the largest number of windows, from 1
    to 10,000.
    """

    method: str
    promise: TCDP | ZCDP
    records: Records
    beta: float = 0.05
    family: str = "sinh_normal"
    calibration: str = "tight"
    most_windows: int = 100
    draws_losses: bool = False

    name = "thresholds"
    loss_pair = (
        "Trees and prefix sums: a record moves all counts that it can, which is the worst pair. Binary search: the "
        "least record goes to the upper end, which lowers the count of every comparison and is not proved the worst."
    )
    unknown_losses = MappingProxyType(
        {POINTED: "The joint law of the interior points and the noisy counts on a neighbour is not written down."}
    )
    version = 4
    axes = declared(
        Axis("method", "algorithm for threshold queries", "", ", ".join(METHODS), "text"),
        NOISE,
        Axis("records", "ordered records", "", "a name in mechanism.records", "text"),
        *TCDP_TARGET,
    )
    required = ("method", "records", "rho")
    options = ("records", "beta", "most_windows")
    observables = MappingProxyType(
        {
            "sup_error": Observable("records", "largest error of the CDF, over all j (zCDP: over the records)"),
            "sup_error_share": Observable("1", "the same as a share of n"),
            "median_rank_error": Observable("records", "by how many records the private median misses the middle rank"),
            "median_value_error": Observable(
                "1", "distance of the private median from the true one, as a share of k", 0, 1
            ),
            **{
                f"cdf_at_q{round(100 * p):02d}": Observable("1", f"private CDF at the true {p:g}-quantile, share of n")
                for p in LEVELS
            },
            **LOSSES,
        }
    )
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        pointed = METHODS.get(point["method"], True)
        omega = pointed and ("omega" in noise_axes.depends_on(point.get("noise")) or point["method"] == "windows")
        return (
            *("method", "records", "rho"),
            *(("noise",) if pointed else ()),
            *(noise_axes.target_axes(("omega",)) if omega else ()),
        )

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        method, noise = choice("method", point["method"], METHODS), point.get("noise")
        target = {"rho": real("rho", point["rho"], 0)}
        version = cls.version if METHODS[method] else BASELINE_VERSION
        law: dict[str, Any] = {"mechanism": cls.name, "version": version, "method": method, "target": target}
        if METHODS[method]:
            if noise is None:
                raise ValueError(f"method {method} needs noise, which the sweep does not give")
            law["noise"] = noise_axes.named(noise)
            if "omega" in cls.uses(point):
                given = noise_axes.target(f"method {method} with this noise", ("omega",), point)
                target["omega"] = real("omega", given["omega"], 1)
        known = options["records"]
        if not isinstance(known, Mapping):
            raise ValueError(f"mechanism.records = {known!r} is not valid; valid: a mapping from names to data sources")
        name = choice("records", point["records"], known)
        if not isinstance(known[name], Mapping):
            raise ValueError(
                f"mechanism.records.{name} = {known[name]!r} is not valid; valid: file or path, column, ..."
            )
        values, times, log2_k, done = ordered_records(name, known[name], MOST_LOG2_K)
        law |= {"unfit": done} if done else {}
        texts = {"values": " ".join(map(str, values)), "counts": " ".join(map(str, times))}  # ids need every digit
        if method == "windows":
            law["most_windows"] = int(
                real("most_windows", options["most_windows"], 1, 10**4, closed=True, finite=False)
            )
        return law | {"log2_k": log2_k, "beta": real("beta", options["beta"], 0, 1)} | texts

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        target = law["target"]
        guarantee = TCDP(**target) if "omega" in target else ZCDP(**target)
        values, times = ([int(text) for text in law[name].split()] for name in ("values", "counts"))
        records = Records(values, times, 2 ** law["log2_k"])
        more = {name: law[name] for name in ("most_windows",) if name in law}
        more |= {name: law[name] for name in ("draws_losses",) if name in law}
        built = cls(law["method"], guarantee, records, law["beta"], **law.get("noise", {}), **more)
        _ = built.plan  # the driver refuses an impossible budget here, before a worker does
        return built

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    @property
    def thresholds(self) -> Mapping[str, Mapping[str, float]]:
        """The proved error bound, if there is one; it needs enough records in every window."""
        bound = getattr(self.plan, "error_bound", None)
        return {"sup_error": {"bound": bound}} if bound and self.plan.finder.m >= self.plan.finder.needed else {}

    @property
    def work(self) -> float:
        if self.method == "binary_search":
            return search_work(self.records.k)
        if self.method in LINEAR:
            return float(self.plan.work(len(self._places)))
        return float(self.plan.work(self.records))

    @cached_property
    def plan(self) -> Any:
        """The plan of the method: its public parameters and its ledger; None for the binary search."""
        n, k = self.records.n, self.records.k
        rest: dict[str, Any] = {"failure": self.beta, "family": self.family, "calibration": self.calibration}
        if self.method == "windows":
            return plan_windows(n, k, self.promise, **rest, most=self.most_windows)
        if self.method.startswith("medians_"):
            return plan_medians(int(self.method.removeprefix("medians_")), n, k, self.promise, **rest)
        if self.method in ("deciles", "median"):
            return plan_quantiles(DECILES if self.method == "deciles" else (0.5,), n, k, self.promise, **rest)
        if self.method.startswith("tree_"):
            return NoisyTree(k, self.promise.rho, int(self.method.removeprefix("tree_")))
        if self.method == "square_root":
            return SquareRootCdf(k, self.promise.rho)
        return None

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        rank = (self.records.n + 1) // 2
        if self.method == "binary_search":
            medians = search_rank(self.records.sorted, rank, self.records.k, self.promise.rho, trials, rng=rng)
            return self._median_errors(medians, rank)
        if self.method in LINEAR:
            return self._linear(rng, trials, rank)
        runs = [self.plan.run(self.records, rng=rng) for _ in range(trials)]
        out = self._median_errors([run.quantile(0.5) for run in runs], rank)
        return out if self.method == "median" else out | self._cdf_errors(runs)

    @property
    def unknown_loss(self) -> str:
        return POINTED if METHODS[self.method] else ""

    @property
    def moves(self) -> int | None:
        """One for a method with Gaussian noise in all counts, which loses as much as one count; None for the others."""
        return 1 if self.method in LINEAR else None

    @property
    def count_noise(self) -> Gaussian:
        """Noise on one count that has the privacy loss of all counts."""
        return Gaussian(sqrt(1 / (2 * self.promise.rho)))

    def draw_losses(self, rng: np.random.Generator, trials: int) -> Draws:
        if self.moves:
            return of_moves(self.count_noise, self.moves, trials, rng=rng)
        own = self.records.sorted
        worlds, rank = (own, np.append(own[1:], self.records.k - 1)), (self.records.n + 1) // 2
        search = self.records.k, self.promise.rho
        laws = [partial(search_log_law, each, rank, *search) for each in worlds]
        drawn = (search_rank(each, rank, *search, trials, rng=rng) for each in worlds)
        return {name: laws[0](each) - laws[1](each) for name, each in zip((LOSS, NEIGHBOUR), drawn)}

    def _median_errors(self, medians: Sequence[int] | NDArray[Any], rank: int) -> Draws:
        true = self.records.quantile(0.5)
        off = [abs(int(j) - true) / self.records.k for j in medians]
        return {"median_rank_error": self.records.rank_error(medians, rank), "median_value_error": np.array(off, float)}

    def _cdf_errors(self, runs: list[StepCdf]) -> Draws:
        watched = [self.records.quantile(p) for p in LEVELS]
        return self._named(
            np.array([self.records.sup_error(run) for run in runs]),
            np.array([[run(j) for j in watched] for run in runs]),
        )

    @cached_property
    def _places(self) -> Ints | Objects:
        """The elements at which the CDF of a tree or a factorisation is evaluated.

        F changes at no other element, so the largest error is at one of these.
        """
        return np.unique(np.concatenate([self.records.values, np.maximum(self.records.values - 1, 0)]))

    def _linear(self, rng: np.random.Generator, trials: int, rank: int) -> Draws:
        places = self._places
        truth = self.records.ranks(places)
        watched = np.searchsorted(places, [self.records.quantile(p) for p in LEVELS])
        sup, at = np.empty(trials), np.empty((trials, len(LEVELS)))
        medians: list[int] = []
        for i in range(trials):
            error = self.plan.errors(places, rng=rng)
            noisy_ranks = truth + error
            sup[i], at[i] = np.abs(error).max(), noisy_ranks[watched]
            first = int(np.searchsorted(np.maximum.accumulate(noisy_ranks), rank - 0.5))
            medians.append(places[min(first, len(places) - 1)])
        return self._median_errors(medians, rank) | self._named(sup, at)

    def _named(self, sup: NDArray[np.float64], at: NDArray[np.float64]) -> Draws:
        n = self.records.n
        out = {"sup_error": sup, "sup_error_share": sup / n}
        return out | {f"cdf_at_q{round(100 * p):02d}": at[:, i] / n for i, p in enumerate(LEVELS)}
