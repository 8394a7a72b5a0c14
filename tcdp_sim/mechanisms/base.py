"""The interface of a mechanism: its law as plain data, its simulation and its guarantee."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.axes import Axis
from tcdp_sim.core.errors import UserError
from tcdp_sim.privacy import Guarantee

Point = Mapping[str, Any]  # the value of each axis; a noise is given by its spec
Options = Mapping[str, Any]  # the mechanism's own settings
Law = Mapping[str, Any]  # plain data that can be written as JSON
Draws = dict[str, NDArray[Any]]  # the trials of each observable or event
EVERY = "every cell"  # the case of a mechanism that draws no privacy loss


@dataclass(frozen=True)
class Observable:
    """A number that every trial yields.

    Parameters
    ----------
    unit : str
        The unit, such as "counts"; "1" for a pure number.
    meaning : str
        The meaning in a few words, for tables and figures.
    least, most : float
        The range of its values, in its unit.

    Examples
    --------
    >>> Observable("counts", "largest absolute error over all bins").unit
    'counts'
    """

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

    `law` and `build` are inverse to each other. `law` turns a sweep point into a plain description that can be written
    as JSON. It holds everything the distribution of the outputs depends on and nothing else, so it identifies the cell.
    A worker turns it back into the mechanism with `build`.

    Attributes
    ----------
    name : str
        The name in configurations and in every law.
    version : int
        The version of the law and of the use of the random stream.
    axes : mapping of str to Axis
        The axes of a sweep that the mechanism understands, by name.
    required : tuple of str
        The axes that every sweep point must give.
    options : tuple of str
        The mechanism's own settings, in conf/mechanism/<name>.yaml.
    observables : mapping of str to Observable
        The numbers that a trial yields, by name.
    events : mapping of str to str
        The meaning of each yes or no that a trial yields, by name.
    neighbours : str
        The neighbouring relation of the guarantee.
    draws_losses : bool
        True if a run also draws the privacy loss of each trial (`draw_losses`), because its law says so.
    loss_pair : str
        The neighbours of the drawn privacy loss, and whether they are proved to be the worst; "" if none is drawn.
    missing : str
        The event of trials that count in nothing else, "" if failed trials are not counted.
    of_trials : tuple of str
        The events of trials as such, which missing trials have too.
    unknown_losses : mapping of str to str
        The cases whose privacy loss is not drawn, and the reason of each, which is a sentence. A mechanism that draws
        none at all has one case.

    Examples
    --------
    >>> import numpy as np
    >>> from tcdp_sim.mechanisms import Histogram
    >>> from tcdp_sim.noise import Gaussian
    >>> from tcdp_sim.privacy import ZCDP
    >>> isinstance(Histogram(Gaussian(10.0), ZCDP(0.01), np.array([5, 3]), 100.0), Mechanism)
    True
    """

    name: ClassVar[str]
    version: ClassVar[int]  # raise it whenever the law or the use of the random stream changes
    axes: ClassVar[Mapping[str, Axis]]
    required: ClassVar[tuple[str, ...]]
    options: ClassVar[tuple[str, ...]]
    observables: ClassVar[Mapping[str, Observable]]
    events: ClassVar[Mapping[str, str]]
    neighbours: ClassVar[str] = "substitute"
    draws_losses = False
    loss_pair: ClassVar[str] = ""
    missing: ClassVar[str] = ""
    of_trials: ClassVar[tuple[str, ...]] = ()
    unknown_losses: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if not isinstance(vars(cls).get("axes", {}), Mapping):
            advice = "axes = declared(NOISE, Axis('mean', 'mean of the records', '1', '0 to 1'))"
            raise TypeError(f"the axes of {cls.__name__} are not declared; write {advice}")

    @classmethod  # noqa: B027 (a mechanism may have nothing to check)
    def check_options(cls, options: Options) -> None:
        """Raise UserError for a value of an option that no cell could use, before any cell is made."""

    @classmethod
    def blurs_counts(cls, point: Point) -> bool:
        """Return True if lattice noise is allowed at this point.

        Lattice noise fits numbers that change by whole steps, in a mechanism that handles ties.
        """
        return False

    @classmethod
    @abstractmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        """Return the axes of the point that the law depends on."""

    @classmethod
    @abstractmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        """Return the plain description of the law at a sweep point.

        Parameters
        ----------
        point : mapping
            The value of each axis; a noise is given by its spec.
        options : mapping
            The mechanism's own settings.
        counts : Counts or None
            The data set of the point; None for a mechanism without the axis "data".

        Returns
        -------
        dict
            Plain data that can be written as JSON. The study adds `mechanism` and `version`.
        """

    @classmethod
    @abstractmethod
    def build(cls, law: Law, counts: Any) -> Self:
        """Return the mechanism of a description made by `law`.

        Parameters
        ----------
        law : mapping
            The description.
        counts : array_like of int
            The records in each occupied bin; empty for a mechanism without the axis "data".

        Returns
        -------
        Mechanism
            The mechanism, ready to be simulated.
        """

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee | None:
        """The privacy guarantee of the release; None if the noise has none."""

    @property
    def thresholds(self) -> Mapping[str, Mapping[str, float]]:
        """The values above which a run counts trials exactly, as observable -> label -> value.

        A mechanism without such thresholds has an empty mapping.
        """
        return {}

    @classmethod
    def knows_losses(cls) -> bool:
        """Return True if `draw_losses` draws any for some of the mechanism's cells."""
        return cls.draw_losses is not Mechanism.draw_losses

    @classmethod
    def reasons_without_losses(cls) -> Mapping[str, str]:
        """Return the cases whose privacy loss is not drawn, and the reason of each."""
        undeclared = {} if cls.knows_losses() else {EVERY: "The mechanism does not define draw_losses."}
        return cls.unknown_losses or undeclared

    @property
    def unknown_loss(self) -> str:
        """The case among `reasons_without_losses` that holds here; "" if `draw_losses` draws the privacy loss."""
        return next(iter(self.reasons_without_losses()), "") if not self.knows_losses() else ""

    def draw_losses(self, rng: np.random.Generator, trials: int) -> Draws:
        """Return the privacy losses of independent outputs on two neighbours, in nats.

        Parameters
        ----------
        rng : numpy.random.Generator
            The source of randomness: a stream of its own, so that `simulate` draws the same numbers with and without.
        trials : int
            The number of trials.

        Returns
        -------
        dict of str to ndarray
            `privacy_loss` of outputs on the data, and `privacy_loss_neighbour` of outputs on the neighbour, each of
            shape (trials,). Both are log P(y)/Q(y), with P the law on the data. It is called only if `unknown_loss` is
            empty.
        """
        return {}

    @property
    @abstractmethod
    def work(self) -> float:
        """The approximate number of random numbers per trial, for scheduling and time estimates only."""

    @abstractmethod
    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        """Return independent trials.

        Parameters
        ----------
        rng : numpy.random.Generator
            The source of randomness.
        trials : int
            The number of trials.

        Returns
        -------
        dict of str to ndarray
            The values of each observable (float64) and event (bool), shape (trials,).
        """
