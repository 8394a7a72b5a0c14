"""Bugs of diffprivlib (IBM). Its own version 0.6.6 runs."""

import inspect
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from museum.exhibit import Exhibit, pair
from tcdp_sim.privacy import PureDP


@cache
def _module(name: str) -> ModuleType:
    """Return a module of diffprivlib, without its forests if these need an older scikit-learn."""
    try:
        import_module("diffprivlib")
    except ImportError:
        models = ModuleType("diffprivlib.models")
        models.__path__ = [str(Path(find_spec("diffprivlib").origin).parent / "models")]
        sys.modules["diffprivlib.models"] = models
    return import_module(f"diffprivlib.{name}")


def _fresh() -> Any:
    return _module("accountant").BudgetAccountant()  # the default one would sum up all outputs of an audit


# Linear regression: the sensitivity of a squared feature uses the lower bound twice.

LIMIT = 100.0
POINTS = pair([(1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (100.0, 0.0)], "one record replaced")
BUG, FIX = "[bounds_X[0][i], bounds_X[0][i]]", "[bounds_X[0][i], bounds_X[1][i]]"


@cache
def _repaired_objective() -> Callable[..., Any]:
    """Return the library's own function with the one index changed that the pull request changes."""
    module = _module("models.linear_regression")
    source = inspect.getsource(module._construct_regression_obj)
    if BUG not in source:
        raise RuntimeError("this version of diffprivlib is repaired already")
    names = dict(vars(module))
    exec(source.replace(BUG, FIX), names)
    return names["_construct_regression_obj"]


def slope(points: list[tuple[float, float]], rng: np.random.Generator) -> float:
    """Return the slope of a line through the origin, by diffprivlib."""
    module = _module("models.linear_regression")
    model = module.LinearRegression(
        epsilon=1.0, bounds_X=(0.0, LIMIT), bounds_y=(0.0, LIMIT), fit_intercept=False, accountant=_fresh(),
        random_state=int(rng.integers(2**32)),
    )  # fmt: skip
    x, y = np.array(points).T
    return float(model.fit(x[:, None], y).coef_[0])


def repaired_slope(points: list[tuple[float, float]], rng: np.random.Generator) -> float:
    """Return the slope by diffprivlib with the repaired objective."""
    module = _module("models.linear_regression")
    original = module._construct_regression_obj
    module._construct_regression_obj = _repaired_objective()
    try:
        return slope(points, rng)
    finally:
        module._construct_regression_obj = original


# Quantiles: all weights of the exponential mechanism underflow for some data sets, and an exception tells of it.

MANY = 2983  # without the one, all weights are below the least double
FIVES = pair([5.0] * MANY, [5.0] * (MANY - 1) + [1.0], "one record replaced")


def quantile(values: list[float], rng: np.random.Generator) -> float:
    """Return the median by diffprivlib."""
    tools = _module("tools.quantiles")
    state = int(rng.integers(2**32))
    return float(tools.quantile(values, 0.5, epsilon=1.0, bounds=(0.0, 10.0), random_state=state, accountant=_fresh()))


def log_quantile(values: list[float], rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return medians by the same exponential mechanism, with its weights as logarithms."""
    edges = np.sort([0.0, *values, 10.0])
    with np.errstate(divide="ignore"):
        logs = np.log(np.diff(edges)) - abs(np.arange(len(edges) - 1) - len(values) / 2) / 2
    weights = np.exp(logs - logs.max())
    chosen = rng.choice(len(weights), trials, p=weights / weights.sum())
    return edges[chosen] + rng.random(trials) * (edges[chosen + 1] - edges[chosen])


EXHIBITS = [
    Exhibit(
        "diffprivlib_regression",
        ("IBM/differential-privacy-library/issues/105", "IBM/differential-privacy-library/pull/110"),
        "0.6.6", False,
        "LinearRegression takes the sensitivity of a squared feature from its lower bound alone. With bounds "
        "from 0 it is 0, so the sum of squares gets no noise.",
        "the library's code with the index that the pull request changes", slope, repaired_slope, PureDP(1.0), POINTS,
        trials=1000, needs="diffprivlib",
    ),
    Exhibit(
        "diffprivlib_quantile", ("IBM/differential-privacy-library/issues/107",), "0.6.6", False,
        "tools.quantile raises an exception for many equal values, because all weights underflow. A record "
        "decides whether.",
        "the same weights as logarithms, in numpy", quantile, log_quantile, PureDP(1.0), FIVES, trials=1000,
        needs="diffprivlib",
    ),
]  # fmt: skip
