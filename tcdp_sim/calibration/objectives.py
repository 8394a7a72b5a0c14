"""What a tight calibration minimises where a family has several noises that meet a guarantee."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.core.errors import scalar
from tcdp_sim.noise import Noise, Objective


@dataclass(frozen=True)
class LargestError:
    """An objective of calibration: the `level`-quantile of the largest of `count` absolute errors, in counts."""

    count: float
    level: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", scalar("count", self.count, 1, 1e300, closed=True, finite=False))
        object.__setattr__(self, "level", scalar("level", self.level, 0, 1))

    def __call__(self, noise: Noise) -> float:
        return float(noise.isf(-0.5 * np.expm1(np.log(self.level) / self.count)))


def variance(noise: Noise) -> float:
    """An objective of calibration: the variance, in counts squared."""
    return float(noise.var())


def spec_objective(spec: Mapping[str, Any], k: float) -> Objective:
    """What a spec of conf/noise minimises: the variance, or its `objective`, whose count may be "k".

    k: how many errors there are, in place of "k". ValueError for a count or a level out of range.
    """
    if "objective" not in spec:
        return variance
    count, level = spec["objective"]["count"], spec["objective"]["level"]
    return LargestError(k if count == "k" else count, level)
