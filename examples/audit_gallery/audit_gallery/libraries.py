"""Rows for mechanisms of installed libraries, each with the claim that its library makes.

With their numbers of outputs, the audits take two to twelve minutes on one core each.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Literal

import numpy as np

from audit_gallery.rows import EPSILON, Row
from tcdp_sim.audits import answer_pairs
from tcdp_sim.privacy import ZCDP, ApproxDP, PureDP

DELTA = 1e-3
LEVEL = 0.99  # a library is accused of more than a made mechanism is


@dataclass(frozen=True)
class Diffprivlib:
    """A mechanism of diffprivlib (IBM), which draws one output at a time.

    `kind` is a class of diffprivlib.mechanisms. If `selects` is true it chooses among several answers, otherwise it
    adds noise to one.
    """

    kind: str
    epsilon: float
    delta: float = 0.0
    selects: bool = False

    def __call__(self, data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        options = {"epsilon": self.epsilon, "sensitivity": 1, "random_state": int(rng.integers(2**32))}
        if self.delta:
            options["delta"] = self.delta
        if self.selects:
            options["utility"] = data.tolist()
        mechanism = getattr(_diffprivlib(), self.kind)(**options)
        if self.kind == "Laplace":
            return _laplace(mechanism, int(data[0]), trials)
        value = None if self.selects else int(data[0])
        return np.array([mechanism.randomise(value) for _ in range(trials)], dtype=np.float64)


def _laplace(mechanism, value: int, trials: int) -> np.ndarray:
    """Return what as many calls of diffprivlib's Laplace.randomise return, by its own sampler on arrays.

    The uniform numbers are those of the calls, in their order. A call takes 5 microseconds, an entry 0.07.
    """
    scale = mechanism.sensitivity / (mechanism.epsilon - np.log(1 - mechanism.delta))
    uniforms = mechanism._rng.random((trials, 4)).T
    return np.asarray(value - scale * mechanism._laplace_sampler(*uniforms))


@cache
def _diffprivlib() -> ModuleType:
    """Return diffprivlib.mechanisms, without the package's models if these need an older scikit-learn."""
    try:
        return import_module("diffprivlib.mechanisms")
    except ImportError:
        sys.modules["diffprivlib.models"] = ModuleType("diffprivlib.models")
        return import_module("diffprivlib.mechanisms")


@cache
def _made(mechanism: "OpendpNoise | OpendpNoisyMax") -> Callable[[list[Any]], Any]:
    """Return the mechanism's measurement, which takes longer to make than to call."""
    return mechanism.measurement()


@dataclass(frozen=True)
class OpendpNoise:
    """Noise of OpenDP on every answer.

    OpenDP takes its randomness from the system, so the same seed gives other outputs. All trials are one call, on a
    vector that repeats the answers, because the noise of its entries is independent.
    """

    kind: Literal["laplace", "geometric", "gaussian"]
    scale: float

    def measurement(self):
        """Return OpenDP's measurement on vectors. Its map(1) is the claim for neighbours at distance 1."""
        import opendp.prelude as dp

        dp.enable_features("contrib")
        number = int if self.kind == "geometric" else float
        atom = dp.atom_domain(T=number) if number is int else dp.atom_domain(T=number, nan=False)
        distance = (dp.l2_distance if self.kind == "gaussian" else dp.l1_distance)(T=number)
        return getattr(dp.m, f"make_{self.kind}")(dp.vector_domain(atom), distance, scale=self.scale)

    def __call__(self, data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        number = int if self.kind == "geometric" else float
        noisy = _made(self)([number(x) for x in np.tile(data, trials)])
        return np.array(noisy, dtype=np.float64).reshape(trials, len(data))


@dataclass(frozen=True)
class OpendpNoisyMax:
    """OpenDP's report noisy max, with randomness from the system."""

    scale: float

    def measurement(self):
        """Return OpenDP's measurement on vectors of scores, each of which may change by one."""
        import opendp.prelude as dp

        dp.enable_features("contrib")
        scores = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
        return dp.m.make_noisy_max(*scores, dp.max_divergence(), scale=self.scale)

    def __call__(self, data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        measurement, scores = _made(self), [int(x) for x in data]
        return np.array([measurement(scores) for _ in range(trials)], dtype=np.int64)


def library_rows() -> tuple[list[Row], list[str]]:
    """Return the rows of the installed libraries, and one line about each missing library."""
    rows, missing = [], []
    for library, its_rows in (("diffprivlib", _diffprivlib_rows), ("opendp", _opendp_rows)):
        if find_spec(library) is None:
            missing.append(f"{library} is not installed: its rows are left out; pip install {library}")
        else:
            rows += its_rows()
    return rows, missing


def _long(trials: float) -> dict[str, Any]:
    """Return the settings of a row of a library."""
    return {"trials": int(trials), "level": LEVEL, "library": True}


def _diffprivlib_rows() -> list[Row]:
    one, several, claim = answer_pairs(1), answer_pairs(5), PureDP(EPSILON)
    approximate = ApproxDP(0.5, DELTA)

    def row(name, kind, pairs, says, trials, guarantee=claim, **options):
        mechanism = Diffprivlib(kind, guarantee.epsilon, **options)
        says = f"diffprivlib {version('diffprivlib')}, {kind}: {says}"
        return Row(f"diffprivlib_{name}", mechanism, guarantee, pairs, True, says, **_long(trials))

    return [
        row("laplace", "Laplace", one, "one number", 1e9),
        row("geometric", "Geometric", one, "one count", 2.4e7),
        row("gaussian", "Gaussian", one, "one number, the textbook's scale", 3e7, approximate, delta=DELTA),
        row("gaussian_analytic", "GaussianAnalytic", one, "one number, the exact scale", 3e7, approximate, delta=DELTA),
        row("exponential", "Exponential", several, "one of 5", 9e6, selects=True),
        row("permute_and_flip", "PermuteAndFlip", several, "one of 5", 1.4e7, selects=True),
    ]


def _opendp_rows() -> list[Row]:
    one, three, several, claim = answer_pairs(1), answer_pairs(3, one=True), answer_pairs(5), PureDP(EPSILON)

    def row(name, mechanism, guarantee, pairs, says, trials):
        says = f"OpenDP {version('opendp')}, {says}"
        return Row(f"opendp_{name}", mechanism, guarantee, pairs, True, says, **_long(trials))

    return [
        row("laplace", OpendpNoise("laplace", 1 / EPSILON), claim, one, "Laplace: one number", 1e6),
        row("geometric", OpendpNoise("geometric", 1 / EPSILON), claim, one, "geometric: one count", 1.3e6),
        row("gaussian", OpendpNoise("gaussian", 2.0), ZCDP(1 / 8), three, "Gaussian: a vector of 3 sums", 3.5e5),
        row("noisy_max", OpendpNoisyMax(2 / EPSILON), claim, several, "noisy max: one of 5", 1.3e6),
    ]
