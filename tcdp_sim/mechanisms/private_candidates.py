"""The best of k candidate models, chosen from private runs of random candidates or from all scores at once."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from scipy.special import ndtr, softmax

from tcdp_sim.candidates import Tries, largest_shift, tries_of
from tcdp_sim.candidates.calibration import ACCOUNTINGS
from tcdp_sim.candidates.tries import LAWS
from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.data.candidate_problems import MOST_CANDIDATES, PROBLEMS, accuracy_losses
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.axes import NOISE, POSITIVE, TCDP_TARGET, K
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.gap_max import outputs
from tcdp_sim.mechanisms.losses import LOSS, LOSSES, NEIGHBOUR, of_moves, of_outputs
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import TCDP, ZCDP, Guarantee
from tcdp_sim.selection.calibration import (
    WITH_NOISE,
    depends_on,
    noise_family,
    selection_algorithm,
    selection_guarantee,
    selection_parameters,
)
from tcdp_sim.selection.scores import Scores

ALL_RUNS = "all_runs"
FLIPS = "method=permute_and_flip"  # the case without a privacy loss
EXPONENTIAL = ("exponential_mechanism", "permute_and_flip")
METHODS = (*LAWS, ALL_RUNS, *EXPONENTIAL, *WITH_NOISE)
TILE = 2**20  # runs drawn at a time


@dataclass(frozen=True, eq=False)
class PrivateCandidates(Mechanism):
    """A private choice among k candidate models by their numbers of correct predictions on n private records.

    Neighbours substitute one record, so that every score may change by one.

    - poisson, geometric, logarithmic: a random number of runs. A run takes a random candidate, and adds Gaussian noise
      to its score. The candidate of the best run is released, with its noisy score; a random one if there is no run.
    - all_runs: every candidate has one run, and all of them are paid for.
    - exponential_mechanism, permute_and_flip, generalized_histogram (Algorithm 21), obvious_answer (Algorithm 22): a
      selection that sees all scores, and releases the candidate alone.

    Source: Liu and Talwar (2019) [LT19]; Papernot and Steinke (2022) [PS22].

    - `losses`: the losses in accuracy of the candidates against the best one, shape (k,), rising from 0.
    - `records`: n, the number of private records.
    - `parameters`: `scale` of the noise of a run in counts, or the parameters of the selection.
    - `tries`: the law of the number of runs, for methods with a random one.
    - `family`: the family of the noise of Algorithms 21 and 22.
    """

    method: str
    losses: Floats
    records: float
    promise: Guarantee
    parameters: dict[str, float]
    tries: Tries | None = None
    family: str | None = None
    draws_losses: bool = False

    name = "private_candidates"
    loss_pair = (
        "The score of the best candidate falls by one and all others rise by one, or the other way round if it leads "
        "by less than two. Random runs release a candidate with its noisy score, and all_runs every noisy score, for "
        "which the pair is the worst; elsewhere that is not proved."
    )
    unknown_losses = MappingProxyType(
        {FLIPS: "The probability of a candidate is an integral over all others, which is not written down."}
    )
    version = 1
    axes = declared(
        Axis("method", "how a candidate is chosen", valid=", ".join(METHODS), kind="text"),
        NOISE,
        Axis(
            "accounting",
            "how the runs' guarantee is derived",
            valid=", ".join(ACCOUNTINGS),
            kind="text",
            default="tight",
        ),
        Axis("tries", "mean number of runs", "1", "above 1, at most 1e6"),
        Axis("problem", "accuracies of the candidates", valid=", ".join(PROBLEMS), kind="text"),
        replace(K, meaning="number of candidates", valid=f"a whole number from 2 to {MOST_CANDIDATES}"),
        Axis("records", "number n of private records", "1", POSITIVE),
        *TCDP_TARGET,
    )
    required = ("method", "problem", "k", "records", "rho")
    options = ()
    observables = MappingProxyType(
        {
            "accuracy_loss": Observable("1", "accuracy of the best candidate, less that of the chosen one", 0, 1),
            "runs": Observable("1", "number of scores that are computed", 0),
            **LOSSES,
        }
    )
    events = MappingProxyType({"best_selected": "no candidate is more accurate than the chosen one"})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        method = choice("method", str(point["method"]), METHODS)
        problem = ("problem", "k", "records")
        if method in LAWS:
            return ("method", "accounting", "tries", *problem, *noise_axes.target_axes(("rho", "omega")))
        if method in WITH_NOISE:
            family = None if point.get("noise") is None else point["noise"]["family"]
            own = depends_on(method, family) if family else ("rho",)
            return ("method", "noise", *problem, *noise_axes.target_axes(own))
        return ("method", *problem, "rho")

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        method = choice("method", str(point["method"]), METHODS)
        k = whole("k", point["k"], 2, MOST_CANDIDATES)
        problem = str(point["problem"])
        accuracy_losses(problem, k)  # raises ValueError if it is not known
        law = {"mechanism": cls.name, "version": cls.version, "method": method, "problem": problem, "k": k}
        law["records"] = scalar("records", point["records"], 0)
        if method in LAWS:
            return law | _of_runs(method, point)
        if method in WITH_NOISE:
            return law | _of_gap_max(method, point, k)
        target = noise_axes.target(method, ("rho",), point)
        rho = scalar("rho", target["rho"], 0)
        if method == ALL_RUNS:
            return law | {"target": target, "parameters": {"scale": sqrt(k / (2 * rho))}}
        return law | {"target": target, "parameters": selection_parameters(method, None, "tight", target, float(k), 1)}

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        method, target = law["method"], law["target"]
        family = law["noise"]["family"] if "noise" in law else None
        tries = tries_of(method, law["tries"]) if method in LAWS else None
        if tries is not None:
            guarantee: Guarantee = TCDP(target["rho"], target["omega"])
        elif method == ALL_RUNS:
            guarantee = ZCDP(target["rho"])
        else:
            guarantee = selection_guarantee(method, family, "tight", target)
        losses = accuracy_losses(law["problem"], law["k"])
        return cls(
            method,
            losses,
            law["records"],
            guarantee,
            dict(law["parameters"]),
            tries,
            family,
            law.get("draws_losses", False),
        )

    @property
    def noise(self) -> Any:
        """The noise of a score, to be printed; None for a run's, whose scale is a parameter."""
        return None if self._selection is None else getattr(self._selection, "noise", None)

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    @property
    def scores(self) -> Floats:
        """The numbers of correct predictions minus the number of the best candidate, in counts."""
        return -self.records * self.losses

    @property
    def work(self) -> float:
        return 2.0 * (self.tries.mean if self.tries else len(self.losses))

    @cached_property
    def _selection(self) -> Any:
        if self.tries is not None or self.method == ALL_RUNS:
            return None
        return selection_algorithm(self.method, self.family, self.parameters)

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        k = len(self.losses)
        runs = np.full(trials, float(k))
        if self.tries is not None:
            chosen, _, runs = self._best_of_runs(self.tries, self.scores, rng, trials)
        elif self.method == ALL_RUNS:
            chosen = self._noisy_best(rng, trials)
        else:
            chosen = self._selection.select(Scores(self.scores, sensitivity=1), trials, rng=rng)[:, 0]
        losses = self.losses[chosen]
        return {"accuracy_loss": losses, "runs": runs, "best_selected": losses == 0}

    @property
    def lead(self) -> float:
        """The lead of the best candidate in counts."""
        return float(self.scores[0] - self.scores[1])

    @property
    def neighbour_scores(self) -> Floats:
        """The scores on the neighbour of a privacy loss."""
        change = np.ones(len(self.losses))
        change[0] = -1.0
        return self.scores + (change if self.lead >= 2 else -change)

    @property
    def unknown_loss(self) -> str:
        return FLIPS if self.method == "permute_and_flip" else ""

    def draw_losses(self, rng: np.random.Generator, trials: int) -> Draws:
        worlds, k = (self.scores, self.neighbour_scores), len(self.losses)
        if self.method == ALL_RUNS:
            return of_moves(Gaussian(self.parameters["scale"]), 1, trials, rng=rng, step=sqrt(k))
        if self.tries is not None:
            drawn = [self._best_of_runs(self.tries, each, rng, trials)[:2] for each in worlds]
            laws = (np.array([self.log_density(world, *each) for each in drawn]) for world in worlds)
            return dict(zip((LOSS, NEIGHBOUR), next(laws) - next(laws)))
        p, q = (self._law(each) for each in worlds)
        chosen = [self._selection.select(Scores(each, sensitivity=1), trials, rng=rng)[:, 0] for each in worlds]
        return of_outputs(p, q, *chosen)

    def _law(self, scores: Floats) -> Floats:
        """Return the probability of each candidate by a selection that sees all scores."""
        k = len(scores)
        if self.method == "exponential_mechanism":
            return np.asarray(softmax(scores / self._selection.noise.scale))
        best, other = outputs(self.method, self._selection, float(scores[0] - scores[1:].max()), float(k))
        return np.append(best, np.full(k - 1, other))

    def log_density(self, scores: Floats, candidates: Ints, noisy: Floats) -> Floats:
        """Return the log density of candidates of the best run with their noisy scores; 0 where there is no run.

        It is up to a constant that is the same for all scores.
        """
        assert self.tries is not None  # of a random number of runs alone
        scale, log, rows = self.parameters["scale"], np.zeros(len(noisy)), max(1, TILE // len(scores))
        some = np.flatnonzero(~np.isnan(noisy))
        for part in np.split(some, np.arange(rows, len(some), rows)):
            y = noisy[part]
            better = ndtr((scores - y[:, None]) / scale).mean(axis=1)
            log[part] = np.log(self.tries.slope(better)) - 0.5 * ((y - scores[candidates[part]]) / scale) ** 2
        return log

    def _noisy_best(self, rng: np.random.Generator, trials: int) -> Ints:
        """Return the candidate with the largest noisy score in each trial."""
        k, scale = len(self.losses), self.parameters["scale"]
        rows = max(1, TILE // k)
        parts = []
        for start in range(0, trials, rows):
            noisy = rng.standard_normal((min(rows, trials - start), k))
            parts.append(np.argmax(self.scores + scale * noisy, axis=1))
        return np.concatenate(parts)

    def _best_of_runs(
        self, tries: Tries, scores: Floats, rng: np.random.Generator, trials: int
    ) -> tuple[Ints, Floats, Floats]:
        """Return the candidate of the best run in each trial, its noisy score (NaN without a run), and all runs."""
        runs = tries.sample(trials, rng=rng)
        chosen = rng.integers(len(self.losses), size=trials)  # for trials without a run
        noisy = np.full(trials, np.nan)
        ends = np.cumsum(runs)
        bounds = np.searchsorted(ends, np.arange(0, ends[-1], TILE) + TILE, side="left") + 1
        for first, last in zip([0, *bounds[:-1]], bounds):
            part = slice(int(first), min(int(last), trials))
            some = np.flatnonzero(runs[part]) + part.start
            if len(some):
                chosen[some], noisy[some] = self._best_of(runs[some], scores, rng)
        return chosen, noisy, runs.astype(float)

    def _best_of(self, runs: Ints, scores: Floats, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Return the candidate and the noisy score of the best run in each trial, all of which have a run."""
        candidates = rng.integers(len(self.losses), size=int(runs.sum()))
        noisy = scores[candidates] + self.parameters["scale"] * rng.standard_normal(len(candidates))
        starts = np.cumsum(runs) - runs
        most = np.maximum.reduceat(noisy, starts)
        best = np.repeat(most, runs) == noisy
        first = np.minimum.reduceat(np.where(best, np.arange(len(noisy)), len(noisy)), starts)
        return np.asarray(candidates[first]), most


def _of_runs(method: str, point: Point) -> dict[str, Any]:
    """Return the part of the law of a random number of runs."""
    if point.get("tries") is None:
        raise ValueError(f"tries is missing; {method} needs the mean number of runs")
    mean = scalar("tries", point["tries"], 1, 1e6)
    accounting = choice("accounting", str(point.get("accounting") or ACCOUNTINGS[-1]), ACCOUNTINGS)
    target = noise_axes.target(method, ("rho", "omega"), point)
    omega = scalar("omega", target["omega"], 1)
    shift = largest_shift(scalar("rho", target["rho"], 0), omega, tries_of(method, mean), accounting)
    return {"tries": mean, "accounting": accounting, "target": target, "parameters": {"scale": 1 / shift}}


def _of_gap_max(method: str, point: Point, k: int) -> dict[str, Any]:
    """Return the part of the law of an algorithm with free noise."""
    if point.get("noise") is None:
        raise ValueError(f"noise is missing; {method} needs one, such as gaussian")
    noise = point["noise"]
    target = noise_axes.target(method, depends_on(method, noise["family"]), point)
    parameters = selection_parameters(method, noise, "tight", target, float(k), 1)
    named = noise_axes.named({**noise, "family": noise_family(noise)})
    return {"noise": named, "target": target, "parameters": parameters}
