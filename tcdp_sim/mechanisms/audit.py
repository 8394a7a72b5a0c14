"""An audited release on two neighbours: one sample to choose an event, and another to test it."""

from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import UserError, choice, scalar
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.audited import METHODS, AuditedRelease
from tcdp_sim.mechanisms.axes import POSITIVE
from tcdp_sim.mechanisms.base import EVERY, Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.gap_max import ALGORITHM
from tcdp_sim.mechanisms.noise import NOISE_AXES, built_noise, noise_law, noise_uses
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import TCDP, ApproxDP, Guarantee, PureDP
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
CLAIMS = {kind.__name__: kind for kind in (PureDP, ApproxDP, TCDP)}  # of the methods
LARGEST = 1e6  # losses are cut off here, so that infinite ones can be counted
SAMPLES = ("choose_first", "choose_second", "bound_first", "bound_second")


@dataclass(frozen=True, eq=False)
class Audit(Mechanism):
    """A release on two neighbours: one answer with noise, a selection among three candidates, or an audited method.

    A trial yields four numbers: one output on each neighbour to choose an event, and one on each to bound its
    probability. For an answer the number is its privacy loss in nats, of the first neighbour over the second, cut off
    at +-1e6. For a selection it is the selected candidate. The scores are (1, 1, 1) on the first neighbour and
    (1 + shift, 1 - shift, 1 - shift) on the second. A method of `METHODS` has neighbours and a planted bug of its own,
    and its number is its privacy loss or a label of its output.

    `release`: the noise that is added to the answer, the algorithm that selects, or the method. `promise`: the claimed
    guarantee. Of a noise or a selection it holds for `shift` = 1. `shift`: the change of the answer or of every score
    between the neighbours, in counts, above 0. A value above 1 plants a bug: an underestimated sensitivity. A method
    has no such change.
    """

    release: Noise | Selection | AuditedRelease
    promise: Guarantee
    shift: float = 1.0

    name = "audit"
    unknown_losses = MappingProxyType(
        {EVERY: "The trials are the privacy losses already, or labels of outputs, on both neighbours."}
    )
    version = 1
    axes = declared(
        ALGORITHM,
        *NOISE_AXES,
        Axis("method", "audited method, with neighbours and a planted bug of its own", "", ", ".join(METHODS), "text"),
        Axis("shift", "change of the answer, or of every score, between two neighbours", "counts", POSITIVE),
        Axis("planted", "true if the bug of the method is planted", "", "true, false", "flag", False),
    )
    required = ()
    options = ()
    observables = MappingProxyType(
        {name: Observable("1", f"loss in nats, or label of the output: sample {name}") for name in SAMPLES}
    )
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        if point.get("method") is not None:
            return ("method", "planted")
        algorithm = point.get("algorithm")
        if algorithm is None:
            return (*noise_uses(point), "shift")
        target = noise_axes.target_axes(depends_on(algorithm, _family(point)))
        return ("algorithm", *(("noise",) if algorithm in WITH_NOISE else ()), *target, "shift")

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        law = {"mechanism": cls.name, "version": cls.version}
        if point.get("method") is not None:
            return law | _of_method(point)
        if point.get("shift") is None:
            raise UserError("sweep.shift is missing; give a value, a list or a range")
        law["shift"] = scalar("shift", point["shift"], 0)
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
        if "method" in law:
            claim = dict(law["claim"])
            return cls(AuditedRelease(law["method"], law["planted"]), CLAIMS[claim.pop("kind")](**claim))
        if "algorithm" not in law:
            noise, guarantee = built_noise(law)
            if guarantee is None:
                raise ValueError("noise with given parameters has no claim to audit; give a target such as rho instead")
            return cls(noise, guarantee, law["shift"])
        family = law["noise"]["family"] if "noise" in law else None
        guarantee = selection_guarantee(law["algorithm"], family, "tight", law["target"])
        return cls(selection_algorithm(law["algorithm"], family, law["parameters"]), guarantee, law["shift"])

    @property
    def labels(self) -> bool:
        """True if a trial yields labels, such as a candidate's number. False if it yields privacy losses."""
        if isinstance(self.release, AuditedRelease):
            return self.release.method.labels
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
        if isinstance(self.release, AuditedRelease):
            return np.clip(self.release.sample(first, trials, rng=rng), -LARGEST, LARGEST)
        if isinstance(self.release, Noise):
            noise = self.release.sample(size=trials, rng=rng)
            loss = self.release.privacy_loss(noise if first else noise + self.shift, self.shift)
            return np.clip(loss, -LARGEST, LARGEST)
        moved = 1 + self.shift * np.array([1.0, -1.0, -1.0])
        scores = Scores(np.ones(CANDIDATES) if first else moved, sensitivity=1.0)
        return self.release.select(scores, trials, rng=rng)[:, 0].astype(np.float64)


def _of_method(point: Point) -> dict[str, Any]:
    """Return the description of a method and its claim, which the driver computes."""
    name = choice("method", point["method"], METHODS)
    planted = choice("planted", str(point.get("planted") or False).lower(), ("true", "false")) == "true"
    claim = METHODS[name].claim(planted)
    law = {"method": name, "method_version": METHODS[name].version, "planted": planted}
    return law | {"claim": {"kind": type(claim).__name__, **asdict(claim)}}  # type: ignore[call-overload]


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
