"""An audited release on two neighbours: one sample to choose an event, and another to test it."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import UserError, scalar
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.axes import POSITIVE
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.gap_max import ALGORITHM
from tcdp_sim.mechanisms.noise import NOISE_AXES, built_noise, noise_law, noise_uses
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import Guarantee
from tcdp_sim.selection.algorithms import Selection
from tcdp_sim.selection.calibration import (
    ALGORITHMS,
    WITH_NOISE,
    depends_on,
    noise_family,
    selection_algorithm,
    selection_guarantee,
    selection_parameters,
)
from tcdp_sim.selection.scores import Scores

CANDIDATES = 3
LARGEST = 1e6  # losses are cut off here, so that infinite ones can be counted
SAMPLES = ("choose_first", "choose_second", "bound_first", "bound_second")


@dataclass(frozen=True, eq=False)
class Audit(Mechanism):
    """A calibrated release on two neighbours: one answer with noise, or a selection among three candidates.

    A trial yields four numbers: one output on each neighbour to choose an event, and one on each to bound its
    probability. For an answer the number is its privacy loss in nats, of the first neighbour over the second, cut off
    at +-1e6. For a selection it is the selected candidate. The scores are (1, 1, 1) on the first neighbour and
    (1 + shift, 1 - shift, 1 - shift) on the second.

    Parameters
    ----------
    release : Noise or Selection
        The noise that is added to the answer, or the algorithm that selects.
    promise : Guarantee
        The claimed guarantee. It holds for `shift` = 1.
    shift : float
        The change of the answer or of every score between the neighbours, in counts, above 0. A value above 1 plants a
        bug: an underestimated sensitivity.

    Examples
    --------
    >>> import numpy as np
    >>> from tcdp_sim.noise import Laplace
    >>> from tcdp_sim.privacy import PureDP
    >>> draws = Audit(Laplace(1.0), PureDP(1.0)).simulate(np.random.default_rng(0), 100)
    >>> sorted(draws)
    ['bound_first', 'bound_second', 'choose_first', 'choose_second']
    >>> bool((abs(draws["bound_first"]) <= 1).all())
    True
    """

    release: Noise | Selection
    promise: Guarantee
    shift: float = 1.0

    name = "audit"
    version = 1
    axes = declared(
        ALGORITHM,
        *NOISE_AXES,
        Axis("shift", "change of the answer, or of every score, between two neighbours", "counts", POSITIVE),
    )
    required = ("shift",)
    options = ()
    observables = MappingProxyType(
        {name: Observable("1", f"loss in nats, or selected candidate: sample {name}") for name in SAMPLES}
    )
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        algorithm = point.get("algorithm")
        if algorithm is None:
            return (*noise_uses(point), "shift")
        target = noise_axes.target_axes(depends_on(algorithm, _family(point)))
        return ("algorithm", *(("noise",) if algorithm in WITH_NOISE else ()), *target, "shift")

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        law = {"mechanism": cls.name, "version": cls.version, "shift": scalar("shift", point["shift"], 0)}
        algorithm = point.get("algorithm")
        if algorithm is None:
            return law | _of_query(point)
        target = noise_axes.target(algorithm, depends_on(algorithm, _family(point)), point)
        spec = point.get("noise")
        law |= {"algorithm": algorithm, "target": target}
        law["parameters"] = selection_parameters(algorithm, spec, "tight", target, CANDIDATES, 1)
        if algorithm in WITH_NOISE and spec is not None:
            law["noise"] = noise_axes.named({**spec, "family": noise_family(spec)})
        return law

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        if "algorithm" not in law:
            noise, promise = built_noise(law)
            if promise is None:
                raise ValueError("noise with given parameters has no claim to audit; give a target such as rho instead")
            return cls(noise, promise, law["shift"])
        family = law["noise"]["family"] if "noise" in law else None
        promise = selection_guarantee(law["algorithm"], family, "tight", law["target"])
        return cls(selection_algorithm(law["algorithm"], family, law["parameters"]), promise, law["shift"])

    @property
    def selects(self) -> bool:
        """True if a trial yields a candidate's number, False if it yields a privacy loss."""
        return isinstance(self.release, Selection)

    @property
    def noise(self) -> Any:
        """The audited release, to be printed."""
        return self.release

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    @property
    def work(self) -> float:
        return 12.0 if isinstance(self.release, Noise) else 60.0

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        return {name: self._sample(name.endswith("first"), rng, trials) for name in SAMPLES}

    def _sample(self, first: bool, rng: np.random.Generator, trials: int) -> NDArray[np.float64]:
        if isinstance(self.release, Noise):
            noise = self.release.sample(size=trials, rng=rng)
            loss = self.release.privacy_loss(noise if first else noise + self.shift, self.shift)
            return np.clip(loss, -LARGEST, LARGEST)
        moved = 1 + self.shift * np.array([1.0, -1.0, -1.0])
        scores = Scores(np.ones(CANDIDATES) if first else moved, sensitivity=1.0)
        return self.release.select(scores, trials, rng=rng)[:, 0].astype(np.float64)


def _of_query(point: Point) -> dict[str, Any]:
    if point.get("noise") is None:
        raise UserError("sweep.noise is missing; an audit of one answer needs it, such as gaussian")
    return noise_law(point)


def _family(point: Point) -> str | None:
    if point["algorithm"] not in ALGORITHMS:
        raise UserError(f"sweep.algorithm = {point['algorithm']} is not known; valid: {', '.join(ALGORITHMS)}")
    if point["algorithm"] in WITH_NOISE and point.get("noise") is None:
        raise UserError(f"sweep.noise is missing; {point['algorithm']} needs one, such as gaussian")
    return point["noise"]["family"] if point.get("noise") else None
