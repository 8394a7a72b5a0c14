"""Private selection on a random subsample, judged by the most frequent values of all records."""

from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.axes import declared
from tcdp_sim.core.errors import UserError, choice, real
from tcdp_sim.mechanisms.axes import SAMPLING_FRACTION, SCHEME
from tcdp_sim.mechanisms.base import EVERY, Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.gap_max_data import GapMaxData
from tcdp_sim.mechanisms.subsampled.histogram import FINAL_EPSILON
from tcdp_sim.privacy import Guarantee, PureDP
from tcdp_sim.privacy.amplification.schemes import SCHEMES, log_unmixed
from tcdp_sim.privacy.least_rho import pure_rho
from tcdp_sim.samplers.subsamples import Sampling, realised_fraction
from tcdp_sim.selection.algorithms import Selection
from tcdp_sim.selection.calibration import selection_algorithm, selection_guarantee
from tcdp_sim.selection.scores import Scores

CALIBRATED = ("poisson", "without_replacement")
_OF_BASE = ("algorithm", "accounting", "parameters", "target", "noise", "k", "m")  # entries of the base's law


@dataclass(frozen=True, eq=False)
class SubsampledSelection(Mechanism):
    """A private selection of the m fullest of `bins` bins from the counts of a subsample.

    It is judged by the counts of all records. Every count changes by at most one between neighbours, whether a record
    is substituted or added or removed. So the guarantees of the algorithms hold under either relation. A trial draws a
    subsample and selects once. Equal subsamples share one call of the algorithm, and each different one costs its
    set-up.

    `promise`: the guarantee of the base, or of the subsampled selection if the point gives epsilon. `bins`: the number
    of bins, whole, up to 1e300.
    """

    calibrated: Selection
    promise: Guarantee
    sampling: Sampling
    bins: float
    m: int = 1

    name = "subsampled"
    unknown_losses = MappingProxyType(
        {EVERY: "The probability of an output is a sum over all subsamples, which is not written down."}
    )
    version = 1
    axes = declared(*GapMaxData.axes.values(), FINAL_EPSILON, SCHEME, SAMPLING_FRACTION)
    required = ("algorithm", "data", "k", "scheme", "sampling_fraction")
    options = ("path",)
    observables = MappingProxyType(
        {
            "missed": Observable("records", "how many records fewer the selected bins hold than the fullest ones"),
            "missed_by_sampling": Observable("records", "the same of the subsample's own fullest bins, without noise"),
        }
    )
    events = MappingProxyType({"top_selected": "the fullest bins are selected"})

    @classmethod
    def blurs_counts(cls, point: Point) -> bool:
        return True

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        if point.get("algorithm") is None:
            raise UserError("sweep.algorithm is missing; base = gap_max_data needs one, such as permute_and_flip")
        final = point.get("epsilon") is not None
        names = (name for name in GapMaxData.uses(point) if not (final and name == "rho"))
        return ("base", "scheme", "sampling_fraction", *names, *(("epsilon",) if final else ()))

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        scheme, n = choice("scheme", point["scheme"], SCHEMES), int(counts.counts.sum())
        s = real("sampling_fraction", point["sampling_fraction"], 0, 1, finite=False)
        s = realised_fraction(s, scheme, n)
        if point["algorithm"] == "sparse_vector":
            raise ValueError("algorithm = sparse_vector needs a public threshold, which a subsample does not have")
        final = {}
        if point.get("epsilon") is not None:
            final = {"final": {"epsilon": real("epsilon", point["epsilon"], 0)}}
            point = {**point, "rho": _base_rho(point, scheme, s)}
        if point.get("rho") is None:
            raise ValueError("base = gap_max_data needs rho or epsilon, which the sweep does not give")
        whole = GapMaxData.law(point, {"beta": 0.05}, counts)
        law = {"mechanism": cls.name, "version": cls.version, "base": "gap_max_data", "counts": counts.digest}
        law |= {"base_version": GapMaxData.version, "scheme": scheme, "sampling_fraction": s, "path": options["path"]}
        return law | {name: whole[name] for name in _OF_BASE if name in whole} | final

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        family = law["noise"]["family"] if "noise" in law else None
        guarantee = selection_guarantee(law["algorithm"], family, law.get("accounting", "tight"), law["target"])
        if "final" in law:
            guarantee = PureDP(law["final"]["epsilon"])
        calibrated = selection_algorithm(law["algorithm"], family, law["parameters"])
        counts = np.asarray(counts, dtype=np.int64)
        sampling = Sampling(counts, law["scheme"], law["sampling_fraction"], law["path"])
        return cls(calibrated, guarantee, sampling, law["k"], law["m"])

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    @property
    def noise(self) -> Any:
        """The noise of a score, to be printed."""
        return getattr(self.calibrated, "noise")  # noqa: B009 (every algorithm that accepts subsamples has it)

    @property
    def counts(self) -> np.ndarray:
        """The records in each occupied bin."""
        return self.sampling.counts

    @property
    def work(self) -> float:
        return 3000.0 + self.sampling.work  # the set-up for one subsample, in random numbers

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        drawn = self.sampling.draw(trials, rng=rng)
        kinds, which = np.unique(drawn, axis=0, return_inverse=True)
        order, selected = np.argsort(which.ravel(), kind="stable"), np.empty((trials, self.m), dtype=np.int64)
        ends = np.cumsum(np.bincount(which.ravel(), minlength=len(kinds)))
        for kind, start, end in zip(kinds, np.concatenate([[0], ends]), ends):
            scores = Scores(kind.astype(float), others=self.bins - len(kind), sensitivity=1)
            selected[order[start:end]] = self.calibrated.select(scores, end - start, self.m, rng=rng)
        missed = self._missed(selected)
        own = np.argsort(-drawn, axis=1, kind="stable")[:, : self.m]  # counts descend, so ties favour the truth
        return {"missed": missed, "missed_by_sampling": self._missed(own), "top_selected": missed == 0}

    def _missed(self, selected: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the number of records that the selected bins lack, for indices of bins of shape (trials, m).

        The index -1 is no answer, and indices beyond the occupied bins stand for empty ones.
        """
        held = np.append(self.counts, 0)[np.minimum(selected, len(self.counts))]
        return np.asarray(self._most - np.where(selected < 0, 0, held).sum(axis=1).astype(float))

    @cached_property
    def _most(self) -> float:
        return float(np.sort(self.counts)[::-1][: self.m].sum())


def _base_rho(point: Point, scheme: str, s: float) -> float:
    """Return rho of the pure-DP base that is epsilon-DP on subsamples: its epsilon is log(1 + (e^epsilon - 1) / s).

    Source: Balle, Barthe, Gaboardi (2018) [BBG18], Theorems 8 and 9, at delta = 0.
    """
    if scheme not in CALIBRATED:
        raise ValueError(f"scheme = {scheme!r} cannot be calibrated to epsilon; valid: {', '.join(CALIBRATED)}, or rho")
    family, accounting = (point.get("noise") or {}).get("family"), point.get("accounting") or "tight"
    target = {"rho": 1.0, "omega": 2.0, "delta": 0.5}
    if not isinstance(selection_guarantee(point["algorithm"], family, accounting, target), PureDP):
        message = f"algorithm = {point['algorithm']} is not pure DP here"
        raise ValueError(f"{message} and cannot be calibrated to epsilon; valid: rho, or permute_and_flip")
    base = log_unmixed(s, real("epsilon", point["epsilon"], 0))
    return pure_rho(base) if accounting == "tight" else base**2 / 2
