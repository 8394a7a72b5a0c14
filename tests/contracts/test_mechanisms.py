"""The contract of mechanisms: every entry of the registry, at its examples in references/mechanism_examples.py.

What trials have to agree with is in mechanisms/ and in experiments/test_exact_or_reason.py.
"""

import json
import math
import re

import mechanism_examples as examples
import numpy as np
import pytest
from stated_ranges import Range, stated

from tcdp_sim.core.streams import generator
from tcdp_sim.mechanisms import MECHANISMS, contract, mechanism_class
from tcdp_sim.mechanisms.losses import LOSSES

STREAM = "a1" * 32
OTHER_NAME = {"sigma": "scale", "group_by": "column", "smooth_noise": "family", "noise": "family"}  # in a refusal


def cases(of_name):
    """The examples of all mechanisms; they always run, but for the long ones."""
    for name in MECHANISMS:
        for i, example in enumerate(of_name.get(name, ())):
            mark = pytest.mark.slow if examples.LONG in example else pytest.mark.kept
            yield pytest.param(name, example, id=f"{name}-{i}", marks=mark)


every = pytest.mark.parametrize(("name", "example"), list(cases(examples.EXAMPLES)))


def refusal(call):
    """The line of a refusal; None if the call is answered. Other errors than ValueError are raised."""
    said = None
    try:
        call()
    except ValueError as error:
        said = str(error)
    assert said is None or (said and "\n" not in said)
    return said


def law_or_none(name, point):
    """The law of a point as text, None if it is refused."""
    found = []
    refusal(lambda: uses(name, point) and found.append(json.dumps(examples.law_of(name, point), sort_keys=True)))
    return found[0] if found else None


def uses(name, point):
    return MECHANISMS[name].uses({"data": examples.COUNTS.name} | examples.point_of(point))


def axes_of(name, point):
    """The axes that a point gives, but for data sets and their domains, which a study reads."""
    own = MECHANISMS[name].axes
    return [own[axis] for axis in point if axis != "data" and not (axis == "k" and "data" in own)]


def test_every_mechanism_has_an_example():
    for name, mechanism in MECHANISMS.items():
        assert mechanism is mechanism_class(name), name
        assert examples.EXAMPLES.get(name), f"add points of {name} to EXAMPLES in references/mechanism_examples.py"


def test_an_unknown_name_is_refused_with_the_known_ones():
    said = refusal(lambda: mechanism_class("historgam"))
    assert "'historgam'" in said
    assert all(name in said for name in MECHANISMS)


@every
def test_a_law_is_plain_data_from_which_the_mechanism_is_built_again(name, example):
    """Trials have the declared names, shapes, types and ranges, and follow from the stream alone."""
    point, promise, *_ = example
    law = examples.law_of(name, point)
    text = json.dumps(law, allow_nan=False)
    assert json.loads(text) == law
    assert law["mechanism"] == name
    one, again = examples.built(name, law), examples.built(name, json.loads(text))
    assert list(contract.broken(one)) == []
    assert contract.same_trials(one, again)
    if promise is not ...:
        assert one.guarantee == promise
    first, other = (one.simulate(generator(seed, STREAM, 0), 20) for seed in (1, 2))
    random = [key for key in first if len(np.unique(first[key])) > 3]
    assert not any(np.array_equal(first[key], other[key]) for key in random)
    assert not any(np.isnan(values).any() for values in first.values())


@pytest.mark.parametrize("name", MECHANISMS)
def test_everything_declared_is_drawn_at_some_example(name):
    declared, drawn = {*MECHANISMS[name].observables, *MECHANISMS[name].events} - {*LOSSES}, set()
    for point, *_ in examples.EXAMPLES[name]:
        if not declared <= drawn:
            drawn |= {*examples.built(name, examples.law_of(name, point)).simulate(generator(1, STREAM, 0), 1)}
    assert declared <= drawn, f"add a point that draws {declared - drawn} to references/mechanism_examples.py"


def others(name, axis, value):
    """Other values of an axis, some of which may not be valid at this point."""
    told = [point[axis.name] for point, *_ in examples.EXAMPLES[name] if point.get(axis.name, value) != value]
    told += {"text": axis.choices, "flag": ("true", "false")}.get(axis.kind, ())
    if isinstance(value, int | float):
        told += [value + 1, value * 1.25]
    return [other for other in dict.fromkeys(told) if other != value]


def differs(name, point, axis):
    """True if some other value changes the law, False if none does, None if every other value is refused."""
    law, answered = law_or_none(name, point), None
    for value in others(name, axis, point[axis.name]):
        found = law_or_none(name, point | {axis.name: value})
        if found is not None:
            answered = found != law
        if answered:
            break
    return answered


@every
def test_a_law_depends_on_the_axes_that_it_uses_and_on_no_others(name, example):
    point, *_ = example
    used = uses(name, point)
    assert set(used) <= {*MECHANISMS[name].axes}
    for axis in axes_of(name, point):
        found = differs(name, point, axis)
        assert found is None or found == (axis.name in used), f"{axis.name} changes the law: {found}, uses(): {used}"
        if axis.name not in used:
            assert law_or_none(name, point | {axis.name: None}) == law_or_none(name, point)


@every
def test_a_missing_value_is_refused_in_one_line_or_has_a_default(name, example):
    """A study asks for the required axes and the noise before it makes a law."""
    for axis in axes_of(name, example[0]):
        if axis.name not in (*MECHANISMS[name].required, "noise"):
            law_or_none(name, example[0] | {axis.name: None})


def beyond(axis):
    """Values that an axis does not take, by the range that it states."""
    if axis.kind in ("number", "whole"):
        said = re.sub(r"(?<=\d),(?=\d{3})|(?<=e)[+]", "", axis.valid)
        said = f"from {said}" if said[:1].isdigit() else said
        found = [math.nan, -math.inf, "nonsense", *(stated(said) or Range()).outside()]
        return found + [2.5, math.inf] * ("whole" in (axis.kind, axis.valid[2:7]))
    return {"text": ["nonsense"], "flag": ["maybe"], "option": [{"family": "cauchy", "calibration": "paper"}]}[
        axis.kind
    ]


@every
def test_a_value_beyond_its_range_is_refused_in_one_line_that_names_it(name, example):
    point, *_ = example
    used = uses(name, point)
    for axis in axes_of(name, point):
        for value in beyond(axis) if axis.name in used else ():
            said = refusal(lambda: examples.law_of(name, point | {axis.name: value}))  # noqa: B023 (called at once)
            assert said is not None, f"{axis.name} = {value} is not refused"
            assert axis.name in said or OTHER_NAME.get(axis.name, axis.name) in said, said


@pytest.mark.parametrize(("name", "example"), list(cases(examples.REFUSED)))
def test_what_no_range_says_is_refused_in_one_line(name, example):
    point, *words = example
    said = refusal(lambda: uses(name, point) and examples.built(name, examples.law_of(name, point)))
    assert said is not None
    assert all(word in said for word in words), said


OPTIONS = [(name, option) for name, mechanism in MECHANISMS.items() for option in mechanism.options]


@pytest.mark.kept
@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_a_bad_option_is_refused_in_one_line_that_names_it(name, option):
    """By the first example that uses it."""
    options = examples.options_of(name) | {option: object()}

    def used(point):
        MECHANISMS[name].check_options(options)
        examples.built(name, examples.law_of(name, point, options))

    said = (refusal(lambda: used(point)) for point, *_ in examples.EXAMPLES[name])  # noqa: B023 (called at once)
    assert option in next(filter(None, said))
