"""The answer of every search for a noise that meets a guarantee."""

from dataclasses import dataclass
from typing import Generic

from typing_extensions import TypeVar

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.noise.base import Noise
from tcdp_sim.privacy.definitions import Guarantee

SomeNoise = TypeVar("SomeNoise", default=Noise)
SomeRelease = TypeVar("SomeRelease", default=None)
Anchors = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Calibrated(Generic[SomeNoise, SomeRelease]):
    """A noise that meets a guarantee, and how small it makes the objective.

    Attributes
    ----------
    noise : Noise or LatticeMixture
        The noise to add. It is None where a release is more than a number plus noise.
    guarantee : Guarantee or tuple of pairs
        What the noise promises; for a release calibrated to records, its anchors (influence, value in nats).
    bounds : Bounds
        The objective. `estimate` is its value for this noise, and no larger than `upper`; no noise that meets the
        guarantee has a value below `lower`, which is -inf where the search proves nothing about other noises. For a
        release calibrated to records: the value that the record of the last anchor gives away, in nats.
    method : str
        How the guarantee was met, in words.
    release : Release or None
        The release, from `calibrate_records`.
    """

    noise: SomeNoise
    guarantee: Guarantee | Anchors
    bounds: Bounds
    method: str
    release: SomeRelease = None  # type: ignore[assignment]
