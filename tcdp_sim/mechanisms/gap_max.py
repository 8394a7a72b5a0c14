"""Private selection under a gap assumption, by every algorithm."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import UserError, real, scalar, whole
from tcdp_sim.mechanisms import losses_of_selections, noise_axes
from tcdp_sim.mechanisms.axes import DELTA, NOISE, TCDP_TARGET, K
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point, check_beta
from tcdp_sim.mechanisms.losses import LOSSES, of_outputs
from tcdp_sim.privacy import Guarantee
from tcdp_sim.selection.algorithms import GeneralizedHistogram, ObviousAnswer, Selection
from tcdp_sim.selection.baselines import SparseVector, Stability
from tcdp_sim.selection.calibration import (
    ACCOUNTINGS,
    ALGORITHMS,
    WITH_NOISE,
    depends_on,
    has_accounting,
    noise_family,
    selection_algorithm,
    selection_guarantee,
    selection_parameters,
)
from tcdp_sim.selection.scores import MOST

SEVERAL = "m above 1"  # the case without a privacy loss
SHARE = 0.01  # Theorem 20 asks for P[|Z| >= gap / 2] << 1/k; we take 1% of 1/k
ALGORITHM = Axis("algorithm", "algorithm of private selection", valid=", ".join(ALGORITHMS), kind="text")
ACCOUNTING = Axis(
    "accounting", "how an algorithm's guarantee is derived", valid=", ".join(ACCOUNTINGS), kind="text", default="tight"
)
CANDIDATES = replace(K, meaning="number of candidates", valid="a whole number from 2 to 1e300")
GAP = Axis("gap", "by how much the best candidates lead the others", "counts", "at least 0")
M = Axis("m", "how many candidates tie at the top, and are selected", "1", "a whole number from 1 to 1e6", default=1)


@dataclass(frozen=True, eq=False)
class GapMax(Mechanism):
    """A private selection of the m best of k candidates that lead the others by `gap`.

    The m best candidates tie, and so do the k - m others. Neighbours substitute one record, which may change every
    score by up to one. A trial draws all noise of a run. The noise does not depend on the gap, so the trial yields the
    smallest gap at which the run succeeds. The cost does not depend on k. Lattice noise would cause ties, which a fair
    coin breaks.

    Algorithms without free noise ignore the axis `noise`. Algorithm 22 with noise for zCDP or tCDP has one derivation
    of its guarantee and ignores the axis `accounting`.

    Source: Bun et al. (2018), Section 5 [BDRS18].

    - `gap`: the lead of the best candidates, in counts, at least 0.
    - `k`: the number of candidates, whole, from 2 to 1e300.
    - `m`: the number of candidates that tie at the top and are selected, 1 <= m < k.
    - `beta`: the failure probability of the tested sufficient conditions, in (0, 1).
    - `sufficient`: gaps that are claimed to suffice, in counts, by label.
    - `draws_losses`: True if a run also draws privacy losses, for m = 1. On the neighbour the lead is smaller by two,
      or larger by two if it is below two: the leader moves by one and all others by one the other way. No pair with the
      same leader differs more in its lead; that none at all reveals more is not proved. The probabilities of the
      outputs have a closed form, or are integrals over the noise of the leader or of the threshold.
    """

    algorithm: str
    calibrated: Selection
    promise: Guarantee
    gap: float
    k: float
    m: int = 1
    beta: float = 0.05
    sufficient: Mapping[str, float] = field(default_factory=dict)
    draws_losses: bool = False

    name = "gap_max"
    loss_pair = (
        "The lead is smaller by two on the neighbour, or larger by two if it is below two; no other pair with the same "
        "leader changes it more, and that no pair at all reveals more is not proved."
    )
    unknown_losses = MappingProxyType(
        {
            SEVERAL: "The probabilities of sets of candidates are not written down.",
        }
    )
    version = 2
    axes = declared(ALGORITHM, NOISE, ACCOUNTING, CANDIDATES, GAP, M, *TCDP_TARGET, DELTA)
    required = ("algorithm", "k", "gap", "rho")
    options = ("beta",)
    observables = MappingProxyType(
        {"needed_gap": Observable("counts", "smallest gap at which the run succeeds"), **LOSSES}
    )
    events = MappingProxyType({"top_selected": "the true top m are selected"})

    @classmethod
    def check_options(cls, options: Options) -> None:
        check_beta(options)

    @classmethod
    def blurs_counts(cls, point: Point) -> bool:
        return True

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        target = noise_axes.target_axes(depends_on(point["algorithm"], _family(point)))
        noise = ("noise",) if point["algorithm"] in WITH_NOISE else ()
        accounting = ("accounting",) if has_accounting(point["algorithm"], _family(point)) else ()
        return ("algorithm", *noise, *accounting, "k", "gap", "m", *target)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        algorithm, noise, accounting = (
            point["algorithm"],
            point.get("noise"),
            point.get("accounting") or ACCOUNTING.default,
        )
        target = noise_axes.target(algorithm, depends_on(algorithm, _family(point)), point)
        k = float(whole("k", point["k"], 2, MOST))
        m = whole("m", M.default if point.get("m") is None else point["m"], 1, 1e6)
        if m >= k:
            raise ValueError(f"m = {m:g} is not valid; valid: 1 <= m < k = {k:g}")
        law = {
            "mechanism": cls.name,
            "version": cls.version,
            "algorithm": algorithm,
            "parameters": selection_parameters(algorithm, noise, accounting, target, k, m),
            "target": target,
            "k": k,
            "m": m,
            "gap": scalar("gap", point["gap"], 0, closed=True),
            "beta": scalar("beta", options["beta"], 0, 1),
        }
        if algorithm in WITH_NOISE:
            law["noise"] = noise_axes.named({**point["noise"], "family": noise_family(point["noise"])})
        return law | ({"accounting": accounting} if has_accounting(algorithm, _family(point)) else {})

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        algorithm, k, m, beta = law["algorithm"], law["k"], law["m"], real("beta", law["beta"], 0, 1)
        family = law["noise"]["family"] if "noise" in law else None
        calibrated = selection_algorithm(algorithm, family, law["parameters"])
        guarantee = selection_guarantee(algorithm, family, law.get("accounting", "tight"), law["target"])
        sufficient = _sufficient(algorithm, calibrated, k, m, beta)
        return cls(algorithm, calibrated, guarantee, law["gap"], k, m, beta, sufficient, law.get("draws_losses", False))

    @property
    def noise(self) -> Any:
        """The noise of a score, to be printed."""
        name = "score_noise" if isinstance(self.calibrated, SparseVector) else "noise"
        return getattr(self.calibrated, name)

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    @property
    def thresholds(self) -> Mapping[str, Mapping[str, float]]:
        return {"needed_gap": self.sufficient}

    @property
    def work(self) -> float:
        return 8.0 + 2.0 * self.m

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        needed = self.calibrated.needed_gap(self.k, trials, self.m, rng=rng)
        return {"needed_gap": needed, "top_selected": _selected(needed, self.gap)}

    @property
    def neighbour_gap(self) -> float:
        """The lead on the neighbour of a privacy loss, in counts."""
        return self.gap - 2 if self.gap >= 2 else self.gap + 2

    @property
    def unknown_loss(self) -> str:
        return SEVERAL if self.m > 1 else ""

    def draw_losses(self, rng: np.random.Generator, trials: int) -> Draws:
        gaps = self.gap, self.neighbour_gap
        if isinstance(self.calibrated, SparseVector):
            return losses_of_selections.sparse_vector(self.calibrated, *gaps, self.k, trials, rng)
        p, q = (outputs(self.algorithm, self.calibrated, gap, self.k) for gap in gaps)
        needed = (self.calibrated.needed_gap(self.k, trials, rng=rng) for _ in gaps)
        drawn = (np.where(_selected(each, gap), 0, 1) for each, gap in zip(needed, gaps))
        return of_outputs(p, q, *drawn)


def _selected(needed: np.ndarray, gap: float) -> np.ndarray:
    """Return True for the trials that select the best candidates at this gap, by the gaps that they need."""
    return (needed < gap) | (needed == 0)


@lru_cache(maxsize=64)
def outputs(algorithm: str, calibrated: Any, gap: float, k: float) -> np.ndarray:
    """Return the probabilities of the leader and of one other output, each (or none, for stability).

    By symmetry all others are equally likely.
    """
    if isinstance(calibrated, ObviousAnswer):  # stability among them
        missing = calibrated.threshold(k) - calibrated.lead(gap)
        best, rest = float(calibrated.noise.sf(missing)), float(calibrated.noise.cdf(missing))
        return np.array([best, rest if isinstance(calibrated, Stability) else rest / (k - 1)])
    if algorithm not in ("exponential_mechanism", "permute_and_flip"):
        best, fails = losses_of_selections.leader_of_noisy_max(calibrated.noise, gap, k)
        return np.array([best, fails / (k - 1)])
    other = np.exp(-gap / calibrated.noise.scale)
    if algorithm == "exponential_mechanism":
        best = 1 / (1 + (k - 1) * other)
        return np.array([best, best * other])
    best, fails = _permute_and_flip(other, k)
    return np.array([best, fails / (k - 1)])


def _permute_and_flip(other: float, k: float) -> tuple[float, float]:
    """Return the probability that the leader is selected, and that one of the k - 1 others is.

    The leader is accepted whenever it is visited, each of the others with probability `other`. Before the leader come 0
    to k - 1 others, each number with the same probability.
    """
    if k * other < 1e-4:  # four terms of the series: the difference below would cancel
        terms = np.cumprod([(k - 1) * other / 2, -(k - 2) * other / 3, -(k - 3) * other / 4, -(k - 4) * other / 5])
        return float(1 - terms.sum()), float(terms.sum())
    best = float(-np.expm1(k * np.log1p(-other)) / (k * other)) if other < 1 else 1 / k
    return best, 1 - best


def _sufficient(algorithm: str, calibrated: Any, k: float, m: int, beta: float) -> dict[str, float]:
    """Return the gaps that are claimed to suffice, in counts, by label.

    The gap `proved` gives a failure probability of at most beta; for Algorithm 22 it is at most 1/k, whatever beta is.
    The gap `theorem_20` comes from Theorem 20: noise exceeds half of it with probability SHARE / k. It suffices for
    Algorithm 21. The paper claims it for Algorithm 22 too, for which it does not suffice (erratum E6).
    """
    if isinstance(calibrated, Stability):
        return {"proved": max(2 * (calibrated.threshold(k) + calibrated.noise.isf(beta)) + 2, 0.0)}
    if isinstance(calibrated, ObviousAnswer):
        gaps = {"proved": 4 * calibrated.threshold(k) + 2}
    elif isinstance(calibrated, GeneralizedHistogram):
        gaps = {"proved": 2 * float(calibrated.noise.isf(beta / (2 * k)))}
    elif algorithm in ("exponential_mechanism", "permute_and_flip"):
        # Lemma 34 of Bun-Steinke 2016: a candidate that trails by more is selected with probability at most beta.
        # The m selections, each among the remaining candidates, share beta.
        return {"proved": calibrated.noise.scale * np.log(m * k / beta)}
    else:
        return {}
    return gaps | {"theorem_20": 2 * float(calibrated.noise.isf(SHARE / (2 * k)))}


def _family(point: Point) -> str | None:
    """Return the family of the point's noise, or None if the point gives no noise.

    Raises UserError for an unknown algorithm, and for one that lacks its noise.
    """
    algorithm = point["algorithm"]
    if algorithm not in ALGORITHMS:
        raise UserError(f"sweep.algorithm = {algorithm} is not known; valid: {', '.join(ALGORITHMS)}")
    if algorithm in WITH_NOISE and point.get("noise") is None:
        raise UserError(f"sweep.noise is missing; {algorithm} needs one, such as gaussian")
    return point["noise"]["family"] if point.get("noise") else None
