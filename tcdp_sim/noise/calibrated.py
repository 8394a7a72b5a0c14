"""The result of every search for a noise that meets a guarantee."""

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
    """A noise that meets a guarantee, with the value of the objective that the search minimised.

    Attributes
    ----------
    noise : Noise or LatticeMixture
        The noise to add. It is None where a release is more than a number plus noise.
    guarantee : Guarantee or tuple of pairs
        The guarantee of the noise. For a release calibrated to records, its anchors (influence, value in nats).
    bounds : Bounds
        Bounds on the objective. The `estimate` is the value for this noise, at most `upper`. No noise that meets the
        guarantee has a value below `lower`, which is -inf where the search proves nothing about other noises. For a
        release calibrated to records, the objective is the privacy loss of the record at the last anchor, in nats.
    method : str
        The way in which the guarantee was met, in words.
    release : Release or None
        The release, from `calibrate_records`.

    Examples
    --------
    >>> from tcdp_sim.calibration import calibrate
    >>> from tcdp_sim.privacy import ZCDP
    >>> calibrate("gaussian", ZCDP(0.5)).noise
    Gaussian(scale=1.0)
    """

    noise: SomeNoise
    guarantee: Guarantee | Anchors
    bounds: Bounds
    method: str
    release: SomeRelease = None  # type: ignore[assignment]
