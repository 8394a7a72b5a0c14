"""Public functions call the same thing by the same name (the table "Words" of docs/project/design.md)."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from public_names import PACKAGES, members

from tcdp_sim.mechanisms import Mechanism
from tcdp_sim.per_record import Release, Transform

NEW = {
    "beta": "failure",
    "chance": "failure or probability",
    "doubt": "failure",
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
    "ApproxTCDP": "it is the guarantee",
    "OptimalTCDP": "it names the guarantee, and takes its numbers like OptimalApproxDP and OptimalRDP",
    "equal_privacy": "its answer is the guarantee at which families are compared with (rho, omega)-tCDP",
}


def old_words(name: str, owner: Any, names: set[str]) -> list[str]:
    """Return the complaints about the parameters `names` of a function `name` of a class or module."""
    old = names & NEW.keys()
    if "p" in names or (isinstance(owner, type) and issubclass(owner, Release | Transform)):
        old -= {"q"}  # the second of two distributions; the true answer of a release
    if name in ("distribution", "Allocated", "SameBin"):
        old -= {"bins"}  # those in which it counts, and those of balls in bins: not those of a histogram
    if name == "TradeoffPoint":
        old -= {"beta"}  # the type II error
    told = [f"{name}({each}) should be {NEW[each]}" for each in sorted(old)]
    alone = names >= PAIR and name.rpartition(".")[2] not in MAKES_A_GUARANTEE
    return told + [f"{name}(rho, omega) should be guarantee"] * alone


def written(thing: Any) -> bool:
    """Return True for a function or method that is written in Python."""
    return inspect.isfunction(thing) or inspect.ismethod(thing)


def callables(package: str) -> Iterator[tuple[str, Any, Callable[..., Any]]]:
    """Yield the public functions, constructors and methods of a package, with their names and classes."""
    for name, thing in members(package):
        if written(thing):
            yield name, None, thing
        elif inspect.isclass(thing) and thing.__module__.startswith("tcdp_sim"):
            for method, function in inspect.getmembers(thing, written):
                if not method.startswith("_"):
                    yield f"{name}.{method}", thing, function
                elif method == "__init__":
                    yield name, thing, function


@pytest.mark.parametrize("package", PACKAGES)
def test_each_thing_has_one_name(package):
    told = []
    for name, owner, function in callables(package):
        names = set(inspect.signature(function).parameters)
        if isinstance(owner, type) and issubclass(owner, Mechanism) and is_dataclass(owner) and name == owner.__name__:
            names -= {field.name for field in fields(owner)}  # they are options of the mechanism's config
        told += old_words(name, owner, names)
    assert told == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_generator_is_the_last_argument_and_given_by_name(package):
    seen = {name: [*inspect.signature(function).parameters.values()] for name, _, function in callables(package)}
    with_rng = {name: given for name, given in seen.items() if "rng" in {each.name for each in given}}
    for name, given in with_rng.items():
        if name.rpartition(".")[2] in ("simulate", "draw_losses"):  # (rng, trials) is the form of every simulation
            continue
        assert (given[-1].name, given[-1].kind) == ("rng", inspect.Parameter.KEYWORD_ONLY), name
    assert with_rng or package not in ("noise", "samplers", "ordered.thresholds")


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
