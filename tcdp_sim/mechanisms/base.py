"""What a mechanism is to the rest of the package."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms.axes import COMMON
from tcdp_sim.privacy import Guarantee

Point = Mapping[str, Any]  # axis -> value, of a sweep; a noise by its spec
Options = Mapping[str, Any]  # of a mechanism
Law = Mapping[str, Any]  # plain data
Draws = dict[str, NDArray[Any]]  # name -> one number, or one yes or no, a trial


@dataclass(frozen=True)
class Observable:
    """A number that a trial yields: its unit, its meaning in a few words, and the range of its values."""

    unit: str
    meaning: str
    least: float = -inf
    most: float = inf


def check_beta(options: Options) -> None:
    """Raise UserError unless the option beta, a probability of failure, is one number between 0 and 1."""
    beta = options["beta"]
    if isinstance(beta, bool) or not isinstance(beta, int | float) or not 0 < beta < 1:
        raise UserError(f"mechanism.beta = {beta!r} is not valid; valid: one number, 0 < beta < 1")


class Mechanism(ABC):
    """A mechanism on fixed data, ready to be simulated.

    `law` and `build` are each other's inverse: a point of a sweep becomes the plain, JSON-able description of
    everything the distribution of the outputs depends on, and nothing else (the cell's identity); on a worker
    that description becomes the mechanism again.
    """

    name: ClassVar[str]
    version: ClassVar[int]  # raise it whenever the law or the use of the random stream changes
    axes: ClassVar[Mapping[str, Axis]]  # of a sweep, by name: all that it understands
    required: ClassVar[tuple[str, ...]]  # those that every point must give
    options: ClassVar[tuple[str, ...]]  # its own settings, in conf/mechanism/<name>.yaml
    observables: ClassVar[Mapping[str, Observable]]
    events: ClassVar[Mapping[str, str]]  # name -> meaning
    neighbours: ClassVar[str] = "substitute"  # the relation under which its guarantee holds

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        names = vars(cls).get("axes", {})
        if not isinstance(names, Mapping):
            cls.axes = _of_names(cls.__name__, names) if names else declared()

    @classmethod  # noqa: B027 (a mechanism may have nothing to check)
    def check_options(cls, options: Options) -> None:
        """UserError for a value of the mechanism's own options that no cell could use: before any cell is made."""

    @classmethod
    def blurs_counts(cls, point: Point) -> bool:
        """Whether noise on a lattice will do: what it is added to moves by whole numbers, and ties are provided for."""
        return False

    @classmethod
    @abstractmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        """The axes of the point that the law depends on."""

    @classmethod
    @abstractmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        """The plain description of the law at a sweep point; ValueError if something that it needs is missing.

        counts: the Counts of the point's data set; None for a mechanism without the axis "data".
        """

    @classmethod
    @abstractmethod
    def build(cls, law: Law, counts: Any) -> Self:
        """The mechanism that a description stands for; ValueError if it is not valid.

        counts: of the occupied bins; empty for a mechanism without the axis "data".
        """

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee | None:
        """The privacy guarantee of its noise; None for noise that promises nothing."""

    @property
    def thresholds(self) -> Mapping[str, Mapping[str, float]]:
        """Observable -> label -> value at which exceedances are counted exactly; none unless a mechanism says so."""
        return {}

    @property
    @abstractmethod
    def work(self) -> float:
        """Roughly how many random numbers a trial costs; only for scheduling and time estimates."""

    @abstractmethod
    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        """Independent trials: observable or event name -> array of shape (trials,), float64 or bool."""


def _of_names(mechanism: str, names: Iterable[str]) -> Mapping[str, Axis]:
    """Return the axes of a plug-in's mechanism that gives their names alone, as all mechanisms once did."""
    advice = "declare them: axes = declared(NOISE, Axis('mean', 'mean of the records', '1', '0 to 1'))"
    warnings.warn(f"the axes of {mechanism} are names; {advice}", DeprecationWarning, stacklevel=4)
    return declared(*(COMMON.get(name, Axis(name, "")) for name in names))
