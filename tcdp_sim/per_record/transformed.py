"""Slowly scaling releases: noise on a concave function of the answer, and an estimator of the answer."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.axes import Axis
from tcdp_sim.core.errors import choice, real, scalar
from tcdp_sim.noise import Gaussian, Noise
from tcdp_sim.per_record import policies
from tcdp_sim.per_record.base import Release, crossing, elementwise, one_influence
from tcdp_sim.per_record.estimators import REACH, Estimator, estimator_of
from tcdp_sim.per_record.families import LEAST_OFFSET, OFFSET, Parameters, ReleaseFamily, Shapes
from tcdp_sim.per_record.fourth_moment import fourth_moment
from tcdp_sim.per_record.transforms import Log, Root, Transform

ESTIMATORS = ("mean_unbiased", "median_unbiased", "plain", "least_mse")
FURTHEST_OFFSET = 1e12  # a transformation is a line beyond this many influences
DEGREE = Axis("degree", "degree of a root", "1", "at least 1")
ESTIMATION = (
    Axis(
        "estimator", "how the answer is read off its noisy transform", "", ", ".join(ESTIMATORS), "text", ESTIMATORS[0]
    ),
    Axis("nonnegative", "true if negative releases become 0", "", "true, false", "flag", default=False),
)
TRANSFORMS: dict[str, type[Transform]] = {"root": Root, "log": Log}


@dataclass(frozen=True)
class TransformedRelease(Release):
    """An estimator g(V) of an answer q >= 0 from its noisy transform V = N(f(q + a), scale^2).

    Source: Finley et al. (2024), Algorithm 1, Theorems 4.4 and 4.9 [Fin24].

    Parameters
    ----------
    transform : Transform
        The transformation f and its offset a.
    scale : float
        The standard deviation of the noise, in the units of f, above 0.
    estimator : str
        "mean_unbiased" (mean q; Hermite polynomials for roots of whole degree), "median_unbiased" (median q; any
        degree), "plain" (the inverse of f) or "least_mse" (for the logarithm only).
    nonnegative : bool
        True if negative releases become 0.

    Raises
    ------
    ValueError
        If a parameter is not valid, or if the transform has no such estimator.

    Examples
    --------
    >>> release = TransformedRelease(Root(2), 1.0)
    >>> float(release.policy(4.0)), float(release.bias(100.0)), float(release.var(100.0))
    (2.0, 0.0, 402.0)
    """

    transform: Transform
    scale: float
    estimator: str = "mean_unbiased"
    nonnegative: bool = False
    law: Estimator = field(init=False, repr=False, compare=False)

    form = "transformed"

    def as_data(self) -> dict[str, Any]:
        name = next(name for name, kind in TRANSFORMS.items() if type(self.transform) is kind)
        rest = {name: getattr(self, name) for name in ("scale", "estimator", "nonnegative")}
        return {"form": self.form, "transform": name, "of": asdict(self.transform)} | rest  # type: ignore[call-overload]

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Self:
        rest = dict(data)
        return cls(TRANSFORMS[rest.pop("transform")](**rest.pop("of")), **rest)

    def __post_init__(self) -> None:
        if not isinstance(self.transform, Transform):
            raise ValueError(f"transform = {self.transform!r} is not valid; valid: Identity(), Root(...) or Log(...)")
        object.__setattr__(self, "scale", scalar("scale", self.scale, 0))
        choice("estimator", self.estimator, ESTIMATORS)
        if not isinstance(self.nonnegative, bool):
            raise ValueError(f"nonnegative = {self.nonnegative!r} is not valid; valid: True, False")
        object.__setattr__(self, "law", estimator_of(self.transform, self.scale, self.estimator))

    def cdf(self, q: Any, x: Any) -> Reals:
        below = self.law.cdf(self._centre(q), x)
        return np.where(np.less(x, 0), 0.0, below)[()] if self.nonnegative else below

    def sf(self, q: Any, x: Any) -> Reals:
        above = self.law.sf(self._centre(q), x)
        return np.where(np.less(x, 0), 1.0, above)[()] if self.nonnegative else above

    def ppf(self, q: Any, u: Any) -> Reals:
        self._centre(q)
        return elementwise(self._ppf, q, real("u", u, 0, 1, closed=True, finite=False))

    def bias(self, q: Any) -> Reals:
        return elementwise(self._bias, self._checked(q))

    def var(self, q: Any) -> Reals:
        return elementwise(self._var, self._checked(q))

    def mse(self, q: Any) -> Reals:
        return elementwise(self._mse, self._checked(q))

    def kurtosis(self, q: Any) -> Reals:
        return elementwise(self._kurtosis, self._checked(q))

    def median_abs_error(self, q: Any) -> Reals:
        return super().median_abs_error(self._checked(q))

    def prob_negative(self, q: Any) -> Reals:
        """Return P[release < 0], which is 0 if negative releases become 0."""
        return np.zeros(np.shape(q))[()] if self.nonnegative else self.cdf(q, 0.0)

    def sample(self, q: Any, size: Any = None, *, rng: np.random.Generator) -> Reals:
        centre = self._centre(q)
        noisy = centre + self.scale * rng.standard_normal(np.shape(q) if size is None else size)
        released = self.law.value(noisy)
        return np.maximum(released, 0.0) if self.nonnegative else released

    def policy(self, influence: Any) -> Reals:
        """Return the printed zCDP policy (f(t+a) - f(a))^2 / (2 scale^2) at an influence t >= 0, in nats.

        It is attained at q = 0 as the order grows (Theorem 4.4).
        """
        return policies.transformation(self.transform, influence, self.scale)

    def worst_shift(self, influence: float) -> tuple[Noise, float]:
        return Gaussian(self.scale), float(self.transform.rise(one_influence(influence)))

    def _checked(self, q: Any) -> Reals:
        return real("q", q, 0, closed=True)

    def _centre(self, q: Any) -> Reals:
        return self.transform.forward(self._checked(q))

    def _ppf(self, q: float, u: float) -> float:
        v = float(self._centre(q))
        if u in (0.0, 1.0):
            x = np.inf if u else self.law.lowest()
        else:
            closed = self.law.quantile(v, u)
            x = self._search(v, u) if closed is None else closed
        return max(x, 0.0) if self.nonnegative else x

    def _search(self, v: float, u: float) -> float:
        """Return the quantile by search between the extremes of g where V has mass.

        The extremes lie at the ends of the reach of V or at the lowest turn of g.
        """
        ends = self.law.value(v + self.scale * np.array([-REACH, REACH]))
        low = self.law.lowest() if np.isfinite(self.law.lowest()) else float(min(ends))
        return crossing(lambda x: self._above(v, x, u), low, float(max(ends)))

    def _above(self, v: float, x: float, u: float) -> float:
        """Return cdf - u, computed from the smaller of the two tails."""
        return float(self.law.cdf(v, x)) - u if u <= 0.5 else (1 - u) - float(self.law.sf(v, x))

    def _bias(self, q: float) -> float:
        v = float(self._centre(q))
        bias = self.law.bias(v)
        return bias + self.law.negative_moments(v)[0] if self.nonnegative else bias

    def _mse(self, q: float) -> float:
        v = float(self._centre(q))
        mse = self.law.var(v) + self.law.bias(v) ** 2
        if self.nonnegative and mse < np.inf:
            first, second = self.law.negative_moments(v)
            mse -= second + 2 * q * first
        return mse

    def _var(self, q: float) -> float:
        if not self.nonnegative:
            return self.law.var(float(self._centre(q)))
        mse = self._mse(q)
        return mse - self._bias(q) ** 2 if mse < np.inf else np.inf

    def _kurtosis(self, q: float) -> float:
        v, mse = float(self._centre(q)), self._mse(q)
        fourth = fourth_moment(self.law, v, q, self.nonnegative)
        return fourth / mse**2 if fourth < np.inf and mse**2 < np.inf else np.inf

    def _below(self, q: float, x: float) -> float:
        return 0.0 if self.nonnegative and x <= 0 else float(self.law.cdf(self._centre(q), x))


class RootRelease(ReleaseFamily):
    """Gaussian noise on a root of the answer plus an offset."""

    name = "root"
    parameters: ClassVar[tuple[Axis, ...]] = (DEGREE, OFFSET, *ESTIMATION)
    required: ClassVar[tuple[str, ...]] = (DEGREE.name,)
    shape = OFFSET.name
    shape_of_one_anchor = 0.0

    @classmethod
    def release(cls, scale: float, **parameters: Any) -> Release:
        root = Root(parameters.pop("degree"), parameters.pop("offset"))
        return TransformedRelease(root, scale, **parameters)

    @classmethod
    def shapes(cls, parameters: Parameters, influence: float, loss: float) -> Shapes:
        return Shapes(0.0, FURTHEST_OFFSET * influence, influence)


class SquareRootRelease(RootRelease):
    """Gaussian noise on the square root of the answer plus an offset."""

    name = "square_root"
    parameters = (OFFSET, *ESTIMATION)
    required = ()
    degree: ClassVar[float] = 2

    @classmethod
    def release(cls, scale: float, **parameters: Any) -> Release:
        return super().release(scale, degree=cls.degree, **parameters)


class FourthRootRelease(SquareRootRelease):
    """Gaussian noise on the fourth root of the answer plus an offset."""

    name = "fourth_root"
    degree = 4


class LogarithmRelease(ReleaseFamily):
    """Gaussian noise on the logarithm of the answer plus an offset."""

    name = "log"
    parameters = (OFFSET, *ESTIMATION)
    shape = OFFSET.name

    @classmethod
    def release(cls, scale: float, **parameters: Any) -> Release:
        return TransformedRelease(Log(parameters.pop("offset")), scale, **parameters)

    @classmethod
    def shapes(cls, parameters: Parameters, influence: float, loss: float) -> Shapes:
        return Shapes(LEAST_OFFSET, FURTHEST_OFFSET * influence, influence)
