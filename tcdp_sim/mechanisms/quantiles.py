"""Many quantiles of records on a line, by one of several methods at equal privacy."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import UserError, choice, scalar, whole
from tcdp_sim.data.line_shapes import SHAPES, line_shape
from tcdp_sim.data.ordered import ordered_records
from tcdp_sim.mechanisms import losses_of_quantiles, noise_axes
from tcdp_sim.mechanisms.axes import DELTA, OMEGA_FORMS, POSITIVE, TCDP_TARGET, scaled_omega
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.losses import LOSSES, of_moves
from tcdp_sim.ordered.prefix_sums.factorisation import MOST_BINS
from tcdp_sim.ordered.quantiles import (
    AboveThreshold,
    FromPrefixSums,
    Independent,
    InteriorPoints,
    Joint,
    Line,
    Method,
    Recursive,
    Slices,
    TreeSearch,
)
from tcdp_sim.ordered.quantiles.from_prefix_sums import FACTORISATIONS
from tcdp_sim.ordered.quantiles.line import KINDS
from tcdp_sim.ordered.quantiles.method import MOST_QUANTILES, even_levels
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP
from tcdp_sim.privacy.relation import OF_COUNTS, from_axis, written

SELECTIONS: dict[str, type[Any]] = {  # methods with one epsilon
    "independent": Independent,
    "recursive": Recursive,
    "joint": Joint,
    "above_threshold": AboveThreshold,
}
METHODS = (*SELECTIONS, "slices", "tree_search", *FACTORISATIONS, "interior_points")
USES_OMEGA = ("tree_search", "tree_2", "least_squares_2", "least_squares_16", "interior_points")
ON_INTEGERS = "method=recursive or joint, on integers"  # a case without a privacy loss
LEAST_LOG2_K, MOST_LOG2_K = 8, 64
MOST_RECORDS = 10**7
MOST_KEPT = 10**6  # records of a data set that is kept in memory
TILE = 2**22  # outputs kept at a time


@dataclass(frozen=True, eq=False)
class Quantiles(Mechanism):
    """The m quantiles of levels 1/(m + 1), ..., m/(m + 1) of records on [0, k).

    They are released by a method of `tcdp_sim.ordered.quantiles`.

    `alpha`: a trial is a success if all rank errors are at most alpha n, in (0, 1). `draws_losses`: True if a run also
    draws privacy losses, as `loss_pair` says. The losses are computed from the densities of selections (of independent
    ones before outputs are sorted), and from the noisy counts of a tree or of prefix sums.
    """

    method: Method
    line: Line
    alpha: float
    draws_losses: bool = False

    name = "quantiles"
    loss_pair = (
        "A record is added at 0 (add-remove), or the least record goes to the upper end (substitute), so that all "
        "ranks in between move by one; noisy counts move by their sensitivity. That this is the worst pair is proved "
        "for Gaussian noise and for counts that all move by one, and not for selections."
    )
    unknown_losses = MappingProxyType(
        {
            ON_INTEGERS: "The density is a mean over the random places of records within their units.",
            "method=above_threshold": "The probability of an answer is an integral over the noise of the level.",
            "method=slices": "The records of a slice depend on noise that is not released.",
            "method=interior_points": "The law of the interior points on a neighbour is not written down.",
        }
    )
    version = 1
    axes = declared(
        Axis("method", "method that releases the quantiles", "", ", ".join(METHODS), "text"),
        Axis("m", "number of quantiles", "1", f"a whole number from 1 to {MOST_QUANTILES}", "whole"),
        Axis("n", "number of records, for made-up ones", "1", f"a whole number from 1 to {MOST_RECORDS:,}", "whole"),
        Axis("log2_k", "log2 of the length of the domain", "1", f"{LEAST_LOG2_K} to {MOST_LOG2_K}", "whole"),
        Axis("domain", "elements of the domain", "", ", ".join(KINDS), "text"),
        Axis("records", "records", "", f"{', '.join(SHAPES)}, or a name in mechanism.records", "text"),
        Axis("neighbours", "neighbouring relation", "", ", ".join(map(written, OF_COUNTS)), "text"),
        *TCDP_TARGET,
        Axis("epsilon", "parameter of pure DP, or with delta of (epsilon, delta)-DP; replaces rho", "nats", POSITIVE),
        DELTA,
    )
    required = ("method", "m", "records", "neighbours")
    options = ("alpha", "bins", "records")
    observables = MappingProxyType(
        {
            "mean_rank_error": Observable("records", "rank error, mean over all quantiles", 0),
            "largest_rank_error": Observable("records", "rank error, largest over all quantiles", 0),
            "mean_value_error": Observable("units", "distance from the true quantile, mean over all quantiles", 0),
            **LOSSES,
        }
    )
    events = MappingProxyType({"success": "all rank errors are at most alpha n"})
    neighbours = f"of the axis neighbours: {' or '.join(map(written, OF_COUNTS))}"

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        made_up = point["records"] in SHAPES
        if point.get("epsilon") is not None:
            privacy: tuple[str, ...] = ("epsilon", *(("delta",) if point.get("delta") is not None else ()))
        else:
            privacy = ("rho", *(OMEGA_FORMS if point["method"] in USES_OMEGA else ()))
        line = ("records", *(("n", "log2_k", "domain") if made_up else ()))
        return ("method", "m", *line, "neighbours", *privacy)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        method, m = choice("method", point["method"], METHODS), whole("m", point["m"], 1, MOST_QUANTILES)
        relation = from_axis(point["neighbours"])
        records = _records_law(point, options["records"])
        law: dict[str, Any] = {"mechanism": cls.name, "version": cls.version, "method": method, "m": m}
        law |= {"neighbours": written(relation), "target": _target(point)} | records
        law |= {"alpha": scalar("mechanism.alpha", options["alpha"], 0, 1)}
        if method in SELECTIONS:
            found = SELECTIONS[method].of(even_levels(m), relation, _guarantee(law))
            return law | {"epsilon": found.epsilon}
        if method == "interior_points":
            return law
        line = _line(law)
        if method == "slices":
            return law | {"half": Slices.of(even_levels(m), relation, _guarantee(law), line).half}
        if method == "tree_search":
            tree = TreeSearch.of(even_levels(m), relation, _guarantee(law), line)
            return law | {"depth": tree.depth} | _noise(tree.noise)
        bins = min(whole("mechanism.bins", options["bins"], 2, MOST_BINS), line.k)
        if bins & (bins - 1):
            raise ValueError(f"mechanism.bins = {bins} is not valid; valid: a power of 2")
        sums = FromPrefixSums.of(even_levels(m), relation, _guarantee(law), method, bins)
        return law | {"bins": bins} | _noise(sums.noise)

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        method, line = law["method"], _line(law)
        given = even_levels(int(law["m"])), from_axis(law["neighbours"]), _guarantee(law)
        made: Method
        if method in SELECTIONS:
            made = SELECTIONS[method](*given, law["epsilon"])
        elif method == "slices":
            made = Slices(*given, int(law["half"]))
        elif method == "interior_points":
            made = InteriorPoints(*given, line.n, line.k)
            made.check(line)
        else:
            noise = noise_axes.built(law["noise"]["family"], law["noise"]["parameters"])
            made = (
                TreeSearch(*given, int(law["depth"]), noise)
                if method == "tree_search"
                else FromPrefixSums(*given, method, int(law["bins"]), noise)
            )
        return cls(made, line, float(law["alpha"]), law.get("draws_losses", False))

    @property
    def guarantee(self) -> Guarantee:
        return self.method.guarantee

    @property
    def work(self) -> float:
        return self.method.work(self.line) + 20 * self.method.m

    @cached_property
    def levels(self) -> Any:
        """The levels of the quantiles, shape (m,)."""
        return np.array(self.method.levels)

    @property
    def unknown_loss(self) -> str:
        if isinstance(self.method, Independent | FromPrefixSums | TreeSearch):
            return ""
        if isinstance(self.method, Joint | Recursive):
            return ON_INTEGERS if self.line.kind == "integers" else ""
        names = {AboveThreshold: "above_threshold", Slices: "slices"}
        return f"method={names.get(type(self.method), 'interior_points')}"

    def draw_losses(self, rng: np.random.Generator, trials: int) -> Draws:
        if not isinstance(self.method, FromPrefixSums | TreeSearch):
            return losses_of_quantiles.losses(self.method, self.line, trials, rng=rng)
        return of_moves(self.method.noise, self.moves or 0, trials, rng=rng, step=self.step)

    @property
    def moves(self) -> int | None:
        """The number of noisy counts that neighbours move, None for a method without such counts.

        The loss of isotropic noise is the loss of one count, which moves by `step`.
        """
        if not isinstance(self.method, FromPrefixSums | TreeSearch):
            return None
        if self.method.noise.isotropic:
            return 1
        return self.method.shifts if isinstance(self.method, TreeSearch) else self.method.matrix.unit_shifts

    @property
    def step(self) -> float:
        """The distance by which each of these counts moves."""
        if isinstance(self.method, TreeSearch) and self.method.noise.isotropic:
            return float(np.sqrt(self.method.shifts))
        return 1.0

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        size = max(TILE // self.method.m, 1)
        parts = [self._draw(rng, min(size, trials - done)) for done in range(0, trials, size)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _draw(self, rng: np.random.Generator, trials: int) -> Draws:
        outputs = self.method.sample(self.line, trials, rng=rng)
        errors = self.line.rank_errors(outputs, self.levels)
        largest = errors.max(axis=1)
        return {
            "mean_rank_error": errors.mean(axis=1),
            "largest_rank_error": largest,
            "mean_value_error": self.line.value_errors(outputs, self.levels).mean(axis=1),
            "success": largest <= self.alpha * self.line.n,
        }


def _target(point: Point) -> dict[str, float]:
    """Return the privacy parameters of a point: epsilon, epsilon and delta, rho, or rho and omega."""
    epsilon, rho, delta = (point.get(name) for name in ("epsilon", "rho", "delta"))
    if epsilon is None and rho is None:
        raise ValueError("the sweep gives neither rho nor epsilon; valid: one of them")
    if epsilon is not None:
        target = {"epsilon": scalar("epsilon", epsilon, 0)}
        return target | ({"delta": scalar("delta", delta, 0, 1)} if delta is not None else {})
    omega = point.get("omega") if point.get("omega") is not None else scaled_omega(point)
    if omega is None or point["method"] not in USES_OMEGA:
        return {"rho": scalar("rho", rho, 0)}
    return {"rho": scalar("rho", rho, 0), "omega": scalar("omega", omega, 1)}


def _guarantee(law: Law) -> Guarantee:
    target = law["target"]
    if "epsilon" in target:
        return ApproxDP(**target) if "delta" in target else PureDP(**target)
    return TCDP(**target) if "omega" in target else ZCDP(**target)


def _noise(noise: Any) -> dict[str, Any]:
    return {"noise": {"family": noise.family, "parameters": noise_axes.parameters(noise)}}


def _records_law(point: Point, tables: Any) -> dict[str, Any]:
    """Return the description of the records: a shape and its size, or the values of a table and their numbers."""
    name = point["records"]
    if name not in SHAPES:
        if not isinstance(tables, Mapping):
            raise UserError(f"mechanism.records = {tables!r} is not valid; valid: a mapping from names to data sources")
        known = choice("records", name, (*SHAPES, *tables))
        if not isinstance(tables[known], Mapping):
            raise UserError(f"mechanism.records.{known} = {tables[known]!r} is not valid; valid: file or path, column")
        values, times, log2_k, done = ordered_records(known, tables[known])
        texts = {"values": " ".join(map(str, values)), "counts": " ".join(map(str, times))}  # ids need every digit
        return {"records": known, "domain": "integers", "log2_k": log2_k} | ({"unfit": done} if done else {}) | texts
    for axis in ("n", "log2_k", "domain"):
        if point.get(axis) is None:
            raise ValueError(f"records = {name} needs {axis}, which the sweep does not give")
    log2_k = whole("log2_k", point["log2_k"], LEAST_LOG2_K, MOST_LOG2_K)
    n = whole("n", point["n"], 1, MOST_RECORDS)
    return {"records": name, "domain": choice("domain", point["domain"], KINDS), "log2_k": log2_k, "n": n}


def _line(law: Law) -> Line:
    k, kind = 2 ** int(law["log2_k"]), law["domain"]
    if "values" in law:
        values, times = ([int(text) for text in law[name].split()] for name in ("values", "counts"))
        return Line(np.repeat(np.array(values, dtype=np.uint64), times), k, kind)
    n = int(law["n"])
    return (_kept_line if n <= MOST_KEPT else _made_up)(law["records"], n, k, kind)


def _made_up(shape: str, n: int, k: int, kind: str) -> Line:
    return Line(line_shape(shape, n, k), k, kind)


_kept_line = lru_cache(maxsize=8)(_made_up)  # several methods are compared on the same records
