"""Public functions call the same thing by the same name (the table "Words" of docs/design.md)."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from public_names import PACKAGES, members

from tcdp_sim.mechanisms import Mechanism
from tcdp_sim.releases import Release, Transform

NEW = {
    "beta": "failure",
    "bins": "k",
    "confidence": "level",
    "count": "k",
    "deltas": "delta",
    "epsilons": "epsilon",
    "orders": "order",
    "q": "level",
    "sampling_fraction": "sampling_probability",
}
PAIR = {"rho", "omega"}
MAKES_A_GUARANTEE = {  # functions of rho and omega
    "TCDP": "it is the guarantee",
    "equal_privacy": "its answer is the guarantee at which families are compared with (rho, omega)-tCDP",
}


def parameters(function: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(function).parameters)


def old_words(name: str, owner: Any, names: set[str]) -> list[str]:
    """Return the complaints about the parameters `names` of a function `name` of a class or module."""
    old = names & NEW.keys()
    if "p" in names or (isinstance(owner, type) and issubclass(owner, Release | Transform)):
        old -= {"q"}  # the second of two distributions; the true answer of a release
    told = [f"{name}({each}) should be {NEW[each]}" for each in sorted(old)]
    alone = names >= PAIR and name.rpartition(".")[2] not in MAKES_A_GUARANTEE
    return told + [f"{name}(rho, omega) should be guarantee"] * alone


def written(thing: Any) -> bool:
    """Return True for a function or method that is written in Python."""
    return inspect.isfunction(thing) or inspect.ismethod(thing)


def callables(package: str) -> Iterator[tuple[str, Any, set[str]]]:
    """Yield the public functions, constructors and methods of a package, with their owners and parameters."""
    for name, thing in members(package):
        if written(thing):
            yield name, None, parameters(thing)
        elif inspect.isclass(thing) and thing.__module__.startswith("tcdp_sim"):
            options = issubclass(thing, Mechanism) and is_dataclass(thing)
            kept = {field.name for field in fields(thing)} if options else set()
            for method, function in inspect.getmembers(thing, written):
                if not method.startswith("_"):
                    yield f"{name}.{method}", thing, parameters(function)
                elif method == "__init__":  # the fields of a mechanism are options of its config
                    yield name, thing, parameters(function) - kept


@pytest.mark.parametrize("package", PACKAGES)
def test_each_thing_has_one_name(package):
    assert [told for each in callables(package) for told in old_words(*each)] == []


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ({"bins"}, ["f(bins) should be k"]),
        ({"noise", "q", "beta"}, ["f(beta) should be failure", "f(q) should be level"]),
        ({"rho", "omega", "k"}, ["f(rho, omega) should be guarantee"]),
        ({"p", "q", "order", "rho"}, []),
    ],
)
def test_an_old_name_is_noticed(names, told):
    assert old_words("f", None, names) == told


def test_methods_and_constructors_are_seen():
    seen = {name for name, _, _ in callables("noise")}
    assert {"Gaussian", "Gaussian.accuracy_radius", "Laplace.equal_privacy"} <= seen
    assert {"calibrate", "Calibrated"} <= {name for name, _, _ in callables("calibration")}
