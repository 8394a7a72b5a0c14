"""A mechanism that runs on a random subsample and is judged by the true answer on all records."""

from types import MappingProxyType
from typing import Any

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms.base import Law, Mechanism, Options, Point
from tcdp_sim.mechanisms.subsampled.histogram import SubsampledHistogram
from tcdp_sim.mechanisms.subsampled.selection import SubsampledSelection
from tcdp_sim.mechanisms.subsampled.thresholds import SubsampledThresholds
from tcdp_sim.samplers.subsamples import Sampling

BASES: dict[str, type[Mechanism]] = {
    "histogram": SubsampledHistogram,
    "gap_max_data": SubsampledSelection,
    "thresholds": SubsampledThresholds,
}
BASE = Axis("base", "mechanism that sees the sample", "", ", ".join(BASES), "text", "histogram")


class Subsampled(Mechanism):
    """A base mechanism on a random subsample of the records, with its answer rescaled to all records.

    The axis `base` names the base mechanism, one of BASES. The class of a base defines the subsample of its data, the
    rescaling of its answer, and the errors against the truth of all records. Some mechanisms have no subsample: those
    without records (noise, privacy_loss, gap_max), and interior_point, whose records are constructed for each n.

    Source: Balle et al. (2018) [BBG18].
    """

    name = "subsampled"
    version = 1
    axes = declared(BASE, *(axis for base in BASES.values() for axis in base.axes.values()))
    required = ("data", "k", "scheme", "sampling_fraction")
    options = ("path", "records", "beta", "most_windows")
    observables = MappingProxyType({name: about for base in BASES.values() for name, about in base.observables.items()})
    events = MappingProxyType({name: meaning for base in BASES.values() for name, meaning in base.events.items()})
    neighbours = SubsampledHistogram.neighbours
    loss_pair = SubsampledHistogram.loss_pair
    unknown_losses = MappingProxyType(
        {
            f"base={name}, {case}": reason
            for name, base in BASES.items()
            for case, reason in base.reasons_without_losses().items()
        }
    )

    @classmethod
    def knows_losses(cls) -> bool:
        return any(base.knows_losses() for base in BASES.values())

    @classmethod
    def check_options(cls, options: Options) -> None:
        if options["path"] not in tuple(Sampling.PATHS):
            raise UserError(f"mechanism.path = {options['path']!r} is not known; valid: {', '.join(Sampling.PATHS)}")

    @classmethod
    def blurs_counts(cls, point: Point) -> bool:
        return _base(point).blurs_counts(point)

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return _base(point).uses(point)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        return _base(point).law(point, options, counts)

    @classmethod
    def build(cls, law: Law, counts: Any) -> Mechanism:  # type: ignore[override]  # the result has the base's class
        return BASES[law.get("base", "histogram")].build(law, counts)


def _base(point: Point) -> type[Mechanism]:
    """Return the base of a sweep point.

    Raises UserError for a base that has no subsamples or does not understand an axis of the point.
    """
    name = point.get("base") or BASE.default
    if name not in tuple(BASES):
        raise UserError(f"sweep.base = {name} has no records to sample; valid: {', '.join(BASES)}")
    for axis in ("epsilon", "threshold"):
        if point.get(axis) is not None and axis not in BASES[name].axes:
            fit = ", ".join(other for other, base in BASES.items() if axis in base.axes)
            raise UserError(f"sweep.{axis} does not go with base = {name}; valid with: {fit}")
    return BASES[name]
