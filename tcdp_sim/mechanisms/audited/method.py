"""The interface of an audited method: its outputs on two neighbours, its claim, and its planted bug."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.privacy import Guarantee

_DIGITS = 6  # of a claimed number after the point, rounded up, so that every processor claims the same


@dataclass(frozen=True, kw_only=True)
class AuditedMethod(ABC):
    """A method of the package on two neighbours, as it is and with a planted bug.

    A method draws one number for each trial: its privacy loss in nats, of the first neighbour over the second, or a
    label of its output. Losses come from the density of the outputs, and outputs from the code of the method.

    `labels`: True if the numbers are labels of outputs, False if they are privacy losses. `neighbours`: the
    neighbouring relation of the claim. `version`: the version of the method's outputs and of its use of the random
    stream.
    """

    bug: str
    labels: ClassVar[bool] = False
    neighbours = "add_remove"
    version: ClassVar[int] = 1  # raise it whenever outputs or the use of the random stream change

    @abstractmethod
    def claim(self, planted: bool) -> Guarantee:
        """Return the guarantee that the method claims, which is false if the bug is planted."""

    @abstractmethod
    def draw(self, planted: bool, first: bool, trials: int, *, rng: np.random.Generator) -> Floats:
        """Return the losses or labels of independent trials on the first or second neighbour, shape (trials,)."""


def rounded_up(value: float) -> float:
    """Return a claimed number with a few digits, rounded up."""
    return ceil(value * 10**_DIGITS) / 10**_DIGITS
