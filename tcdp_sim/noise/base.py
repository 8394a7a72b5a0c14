"""What every noise distribution of the package, or of a plug-in, is to the rest: one class in one file."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tcdp_sim.core.numerics import ArrayBounds
from tcdp_sim.noise.moments import kurtosis_by_quadrature
from tcdp_sim.privacy.definitions import TCDP, ZCDP, ApproxDP, Guarantee, PureDP

Reals = Any  # a float where all arguments are scalars, else an array of floats, which numpy's types cannot say
Objective = Callable[["Noise"], float]
OF_OUTPUTS = (  # methods of a noise whose arguments may be so extreme that floats overflow on the way
    *("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf", "isf_log", "privacy_loss", "affine_loss"),
    *("closed_renyi", "closed_hockey_stick", "closed_affine_renyi"),
)
LEAST_LOG = -690.0  # below, a probability is no longer a float


class Noise(ABC):
    """A continuous distribution on the reals, symmetric about zero: additive noise in counts.

    Methods are vectorised over their argument and over array-valued parameters, which broadcast as in
    scipy.stats; scalars in, scalars out. Everything is accurate to about 1e-12 relative from the centre to
    tail probabilities of 1e-300; use the log forms and `sf`/`isf` in the upper tail.
    Probabilities outside [0, 1] and NaN give NaN.

    A subclass is a frozen dataclass of its parameters. It gives `family` and `logpdf`, `sf`, `logsf`, `isf`, `var` and
    `sample`; all else has a fallback that is right for any noise, or refuses. What more it should say: `log_concave`,
    without which most guarantees are refused, and `privacy_loss` without cancellation, without which losses are known
    to some 1e-13 only, bounds are as much wider, and what has no bounds is refused.
    """

    family: ClassVar[str]  # its name, in configs and in laws of cells
    depends_on: ClassVar[tuple[str, ...]] = ("rho",)  # what `equal_privacy` reads, of rho, omega and delta
    guarantees: ClassVar[str] = "PureDP, ApproxDP, ZCDP with xi = 0, TCDP"  # what `can_meet` admits, for people
    log_concave_if: ClassVar[str] = "a noise that says it is log_concave"  # when it is, for people
    tail_cost: ClassVar[int] = 20  # of a tail probability, roughly, in evaluations of a density
    isotropic: ClassVar[bool] = False  # the law of several coordinates depends on their Euclidean length only
    linear_in_order: ClassVar[bool] = False  # D_a is a D_1: a guarantee at some orders holds at all of them
    theorem_is_nearly_sharp: ClassVar[bool] = False  # a search is not worth its time, unless one asks for it
    is_optimized: ClassVar[bool] = False  # its table is found by convex optimisation (`tcdp_sim.optimal`), not a scale
    is_discrete: ClassVar[bool] = False  # it has no density: it hides whole numbers alone, and makes ties
    without_ties: ClassVar[str | None] = None  # the family that breaks the ties of a discrete one

    def __init_subclass__(cls, **options: Any) -> None:
        """Let no warning of numpy escape where an output or a probability is so extreme that floats overflow."""
        super().__init_subclass__(**options)
        for name in OF_OUTPUTS:
            if name in vars(cls):
                setattr(cls, name, np.errstate(all="ignore")(vars(cls)[name]))

    # The distribution

    @abstractmethod
    def logpdf(self, x: ArrayLike) -> Reals:
        """Natural log of the density at x."""

    @abstractmethod
    def sf(self, x: ArrayLike) -> Reals:
        """P[Z > x]."""

    @abstractmethod
    def logsf(self, x: ArrayLike) -> Reals:
        """log P[Z > x]."""

    @abstractmethod
    def isf(self, p: ArrayLike) -> Reals:
        """The x with P[Z > x] = p."""

    @abstractmethod
    def var(self) -> Reals:
        """Variance, in counts squared."""

    @abstractmethod
    def sample(self, rng: np.random.Generator, size: Any = None) -> Reals:
        """Independent draws of shape `size` (default: the shape of the parameters)."""

    def pdf(self, x: ArrayLike) -> Reals:
        """Density at x."""
        return np.exp(self.logpdf(x))

    def cdf(self, x: ArrayLike) -> Reals:
        """P[Z <= x]."""
        return self.sf(np.negative(x, dtype=np.float64))  # in floats: -uint wraps round

    def logcdf(self, x: ArrayLike) -> Reals:
        """log P[Z <= x]."""
        return self.logsf(np.negative(x, dtype=np.float64))

    def ppf(self, p: ArrayLike) -> Reals:
        """The x with P[Z <= x] = p."""
        return -self.isf(p)

    def isf_log(self, log_p: ArrayLike) -> Reals:
        """The x with log P[Z > x] = log_p, log_p <= 0.

        The fallback knows probabilities that are floats: it raises ValueError below e^-690.
        """
        if np.min(log_p, initial=0) < LEAST_LOG:
            raise ValueError(f"{self!r} has no quantiles beyond e^{LEAST_LOG:g}; valid: log2_k <= 980 with this noise")
        return self.isf(np.exp(log_p))

    @property
    def step_length(self) -> float | None:
        """In counts, of a noise of steps: its loss has a law in closed form at whole multiples of it; else None."""
        return None

    @property
    def steps(self) -> NDArray[np.float64]:
        """Where its density jumps at known places, ascending, in counts; none unless a noise says so."""
        return np.empty(0)

    @property
    def kinks(self) -> NDArray[np.float64]:
        """Where its density or a derivative of it jumps, ascending, in counts.

        The fallback names the centre, where its support ends, and its `steps`.
        """
        end = float(self.isf(0.0))
        return np.unique([0.0, *self.steps, *([-end, end] if np.isfinite(end) else [])])

    def with_density(self) -> "Noise":
        """Itself; of a discrete noise the one that breaks its ties, whose losses at whole shifts have the same law."""
        return self

    def mean(self) -> Reals:
        """Zero, of the shape of the parameters."""
        return np.zeros(self.shape)[()]

    def kurtosis(self) -> float:
        """E Z^4 / var^2 of a noise with plain numbers as parameters: inf where the fourth moment is infinite.

        The fallback integrates the tail to about 1e-9; it takes a fourth moment whose tail has not died out within the
        floats for infinite.
        """
        return kurtosis_by_quadrature(self.logsf, float(self.isf(0.25)))

    def fill(self, rng: np.random.Generator, out: NDArray[np.float64]) -> None:
        """Fill `out` with independent draws, in C order; the same stream as `sample` of its shape."""
        out[...] = self.sample(rng, out.shape)

    # What it says of privacy. P is the law of the noise, Q that of the noise moved by `shift` counts.

    @property
    def log_concave(self) -> bool:
        """Whether the log density is known to be concave: then the loss falls, and a larger shift tells more."""
        return False

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        """log of the ratio of the densities at output y of the noise centred at 0 and at `shift`, in nats.

        +inf where only the first can produce y, -inf where only the second can, NaN where neither can.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            return self.logpdf(y) - self.logpdf(np.subtract(y, shift, dtype=np.float64))

    @property
    def bounded_slope(self) -> bool:
        """Whether the log density is known to have no infinite slope where it is finite, as no log-concave one has.

        At a cusp (exp(-|x|^p), p < 1, at 0) a grid made for the tails sees too little, and bounds would be false.
        """
        return self.log_concave

    @property
    def gives_loss(self) -> bool:
        """Whether `privacy_loss` is its own, good to its last digits, and not the difference of log densities."""
        return type(self).privacy_loss is not Noise.privacy_loss

    def need_loss(self) -> None:
        """Raise ValueError unless `gives_loss`."""
        if not self.gives_loss:
            raise ValueError(
                f"noise = {self!r} has no privacy_loss of its own, and the difference of its log densities loses "
                "digits; valid: a noise that gives privacy_loss in closed form"
            )

    def max_order(self, shift: float) -> float:
        """The order from which on the Renyi divergence D(P || Q) is infinite (inf: none known).

        The fallback: 1 for noise of bounded support, since its shifted self misses some of it.
        """
        return 1.0 if shift and np.isfinite(self.isf(0.0)) else np.inf

    def largest_loss(self, shift: float) -> float:
        """The supremum of |privacy loss| in nats, shift > 0; NaN where it is not known in closed form.

        A noise that knows it, gives its loss, has a `bounded_slope` and states `max_order` exactly has its divergences
        by quadrature from these; that of others goes through `exact.mixture_divergences`, which assumes less.
        """
        return np.nan

    def closed_renyi(self, shift: float, orders: NDArray[np.float64]) -> ArrayBounds | None:
        """D_order(P || Q) in nats for shift > 0 and finite orders >= 1, shape (n,); None without a closed form."""
        return None

    def closed_hockey_stick(self, shift: float, epsilons: NDArray[np.float64]) -> ArrayBounds | None:
        """delta(epsilon) of (P, Q) for shift > 0 and epsilons >= 0, shape (n,); None without a closed form."""
        return None

    # What it says of itself stretched: P is its law, Q that of e^log_scale Z + shift (for smooth sensitivity).

    log_concave_size: ClassVar[bool] = False  # known: its density falls from 0, and log|Z| has a log-concave density

    def affine_loss(self, x: ArrayLike, log_scale: float, shift: float) -> Reals:
        """log(P / Q) at x, in nats."""
        there = np.subtract(x, shift, dtype=np.float64) * np.exp(-log_scale)
        with np.errstate(invalid="ignore"):
            return self.logpdf(x) - self.logpdf(there) + log_scale

    def affine_max_order(self, log_scale: float, shift: float) -> float:
        """The order from which on D(P || Q) is infinite (inf: none); NaN where it is not known."""
        return np.nan

    def closed_affine_renyi(self, log_scale: float, shift: float, orders: NDArray[np.float64]) -> ArrayBounds | None:
        """D_order(P || Q) in nats for finite orders >= 1 below the largest, shape (n,); None without a closed form."""
        return None

    def affine_tail(self, smoothing: float, shift: float) -> tuple[float, float] | None:
        """(b, c) with D_a(P || Q) <= b a + c for all orders a >= 2, |log_scale| <= smoothing and |shift| <= shift.

        None where there is no such bound: then zCDP is out of reach.
        """
        return None

    tail_range: ClassVar[tuple[float, float] | None] = None  # where calibration looks for its second parameter

    @classmethod
    def smooth_refusal(cls, guarantee: Guarantee, smoothing: float) -> str:
        """Why no noise of the family keeps the guarantee when its scale is a smooth sensitivity; "" if one may."""
        return "" if cls.log_concave_size else "nothing is known of its divergences when it is stretched"

    def smooth_shift(self, guarantee: Guarantee, smoothing: float) -> float:
        """The largest shift at which a published formula gives the guarantee; <= 0 if there is none.

        ValueError where no formula is known.
        """
        raise ValueError(f"{self.family} has no published formula for {guarantee} here; valid: method 'tight', 'box'")

    # Its accuracy

    def accuracy_radius(self, bins: ArrayLike, beta: ArrayLike) -> Reals:
        """The radius, in counts, that with probability >= 1 - beta none of `bins` draws exceeds in absolute value.

        bins >= 1, up to 1e300; 0 < beta < 1. The fallback is the union bound by the noise's own quantile.
        """
        return self.isf(0.5 * np.exp(-self._log_ratio(bins, beta)))

    def printed_radius(self, rho: float, bins: ArrayLike, beta: ArrayLike) -> Reals | None:
        """A radius that a paper prints for the noise at `rho` and that is WRONG, kept to show so; None without one."""
        return None

    @staticmethod
    def _log_ratio(bins: ArrayLike, beta: ArrayLike) -> Reals:
        return np.log(bins) - np.log(beta)

    # The guarantees that it can be calibrated to

    @classmethod
    def equal_privacy(cls, rho: float, omega: float | None = None, delta: float | None = None) -> Guarantee:
        """The guarantee of the family's own kind that stands for the common target (rho, omega).

        The fallback is rho-zCDP, which implies (rho, omega)-tCDP for every omega. ValueError outside the ranges.
        """
        return ZCDP(rho)

    @classmethod
    def can_meet(cls, guarantee: Guarantee) -> bool:
        """Whether some noise of the family may meet a guarantee of this kind; `guarantees` says it in words."""
        return isinstance(guarantee, PureDP | ApproxDP) or concentrated(guarantee)

    @classmethod
    def by_theorem(cls, guarantee: Guarantee, sensitivity: float, coordinates: int) -> Self:
        """The noise that a theorem's constants give (method "paper"); arguments as in `calibration.calibrate`.

        ValueError where no theorem does, and outside of its preconditions. The fallback knows none.
        """
        raise ValueError(f"{cls.family} has no theorem for {guarantee}; valid: method 'tight' (calibration: tight)")

    @classmethod
    def theorem_is_sharp(cls, guarantee: Guarantee) -> bool:
        """Whether no smaller noise of the family than that of `by_theorem` meets the guarantee."""
        return False

    @classmethod
    def cannot_meet(cls, guarantee: Guarantee) -> ValueError:
        """The one line for a guarantee that the family cannot meet."""
        return ValueError(f"{cls.family} cannot be calibrated to {guarantee}; valid: {cls.guarantees}")

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """The names of its parameters: what a tight calibration searches over, ("scale",) for most."""
        return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else ()

    def scaled(self, factor: float) -> Self:
        """The law of factor Z, factor > 0. The fallback takes every parameter to be in counts."""
        return type(self)(*(factor * value for value in self._values()))

    def widened(self, factor: float) -> Self:
        """The noise with its `scale` times factor, factor > 1, log-concave if it was."""
        return replace(self, scale=self.scale * factor)  # type: ignore[type-var, attr-defined]

    # Values: equal if their parameters are, bit by bit

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape to which the parameters broadcast; () for scalars."""
        return np.broadcast_shapes(*(np.shape(value) for value in self._values()))

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.parameters())

    def _freeze(self, **checked: Any) -> None:
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _identity(self) -> tuple[Any, ...]:
        if not is_dataclass(self):
            return type(self), id(self)  # its parameters are not known
        return type(self), *(np.asarray(value).tobytes() + str(np.shape(value)).encode() for value in self._values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Noise) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())


def concentrated(guarantee: Guarantee) -> bool:
    """Whether a guarantee bounds D_a by rho a: TCDP, or ZCDP with xi = 0."""
    return isinstance(guarantee, TCDP) or (isinstance(guarantee, ZCDP) and guarantee.xi == 0)


def too_many_orders(guarantee: Guarantee, largest: float) -> str:
    """Why a stretched noise with finite divergences below an order keeps no promise on all those of a guarantee."""
    omega = guarantee.omega if isinstance(guarantee, TCDP) else np.inf
    if not concentrated(guarantee) or omega < largest:
        return ""
    return f"its divergences are infinite from order {largest:.6g} on"


def published_shift(guarantee: Guarantee, loss_of_scale: float, loss_of_shift: float) -> float:
    """The shift up to which loss_of_scale + loss_of_shift * shift <= epsilon, epsilon^2 / 2 = rho."""
    epsilon = guarantee.epsilon if isinstance(guarantee, PureDP) else np.sqrt(2 * guarantee.rho)  # type: ignore[attr-defined]
    return float((epsilon - loss_of_scale) / loss_of_shift)
