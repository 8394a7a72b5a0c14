"""The contract of guarantees: what holds for every notion of privacy, at the examples of release_examples.py."""

import copy
import pickle
from dataclasses import fields
from math import inf

import pytest
from release_examples import GUARANTEES

from tcdp_sim import privacy
from tcdp_sim.accounting import Claimed, Ledger, tight_rho
from tcdp_sim.privacy import (
    RDP,
    TCDP,
    ApproxTCDP,
    ApproxZCDP,
    Guarantee,
    PureDP,
    compose,
    delta_at,
    group_privacy,
    renyi_bound,
    to_approx_dp,
)
from tcdp_sim.privacy.definitions import RenyiLine

every = pytest.mark.parametrize(("guarantee", "weaker"), GUARANTEES.values(), ids=lambda value: type(value).__name__)


def answer(call):
    """The answer, or None if it is refused in one line."""
    said = ""
    try:
        return call()
    except ValueError as mistake:
        said = str(mistake)
    assert said
    assert "\n" not in said
    return None


def epsilon(guarantee, delta=1e-4):
    found = answer(lambda: to_approx_dp(guarantee, delta))
    return None if found is None else found.epsilon


def test_every_notion_has_examples():
    kinds = {kind for kind in Guarantee.__subclasses__() if kind.__module__.startswith("tcdp_sim.")}
    assert kinds == set(GUARANTEES), "add examples of the new notion to references/release_examples.py"
    assert all(getattr(privacy, kind.__name__) is kind for kind in kinds)
    assert all(epsilon(guarantee) is not None for guarantee, _ in GUARANTEES.values())


@every
def test_a_guarantee_is_a_value(guarantee, weaker):
    for other in (
        copy.deepcopy(guarantee),
        pickle.loads(pickle.dumps(guarantee)),
        eval(repr(guarantee), vars(privacy)),
    ):
        assert other == guarantee
        assert hash(other) == hash(guarantee)
    assert guarantee != weaker
    with pytest.raises((AttributeError, TypeError)):
        setattr(guarantee, fields(guarantee)[0].name, 1.0)


@every
def test_numbers_beyond_their_range_are_refused_with_their_name(guarantee, weaker):
    given = {field.name: getattr(guarantee, field.name) for field in fields(guarantee) if field.init}
    for name, value in given.items():
        if isinstance(value, float):
            for bad in (float("nan"), -1.0, "much"):
                with pytest.raises(ValueError, match=name) as caught:
                    type(guarantee)(**{**given, name: bad})
                assert "\n" not in str(caught.value)


@every
def test_a_weaker_guarantee_allows_more(guarantee, weaker):
    assert epsilon(weaker) >= epsilon(guarantee)
    assert epsilon(guarantee, 1e-6) >= epsilon(guarantee, 1e-4)


@every
def test_a_guarantee_says_what_it_is(guarantee, weaker):
    assert guarantee.is_pure + guarantee.is_approx + guarantee.is_concentrated <= 1
    pair, slope, line = guarantee.epsilon_delta, guarantee.rho_omega, guarantee.renyi_line
    if pair is not None:
        assert delta_at(guarantee, pair[0]) == pair[1]
    if slope is not None:
        assert line == RenyiLine(slope[0], omega=slope[1])
    if line is not None and not line.delta:
        order = min(3.0, line.omega)
        assert renyi_bound(guarantee)(order) == line.xi + line.rho * order >= line.growth * order
    if guarantee.sufficient_epsilon is not None:
        assert epsilon(PureDP(guarantee.sufficient_epsilon)) <= epsilon(guarantee) * (1 + 1e-9)
    simple = guarantee.simplest()
    assert simple.simplest() == simple
    assert epsilon(simple) == epsilon(guarantee)


@every
def test_composition_and_groups_weaken(guarantee, weaker):
    together = answer(lambda: compose(guarantee, guarantee))
    if together is not None:
        assert epsilon(together, 1e-3) >= epsilon(guarantee, 1e-3)
    alone = answer(lambda: group_privacy(guarantee, 1))
    assert alone is None or alone == guarantee
    of_two = answer(lambda: group_privacy(guarantee, 2))
    if of_two is not None and epsilon(of_two, 1e-3) is not None:
        assert epsilon(of_two, 1e-3) >= epsilon(guarantee, 1e-3)


@every
def test_a_ledger_takes_the_claim_or_refuses_and_is_no_looser_than_the_conversion(guarantee, weaker):
    ledger = answer(lambda: Ledger([Claimed(guarantee)], "add_remove"))
    found = answer(lambda: ledger.epsilon(1e-4)) if ledger else None
    if found is not None:
        assert found.lower <= epsilon(guarantee) * (1 + 1e-9)


@every
def test_the_rho_of_a_claim_is_that_of_its_simplest_notion(guarantee, weaker):
    found = [answer(lambda each=each: tight_rho(Claimed(each))) for each in (guarantee, guarantee.simplest())]
    assert found[0] == found[1]


def test_an_equivalent_claim_in_another_notion_has_the_same_rho():
    pure, truncated = tight_rho(Claimed(PureDP(0.2))), tight_rho(Claimed(TCDP(0.1, 20.0)), 5.0)
    assert pure == tight_rho(Claimed(RDP(inf, 0.2))) == tight_rho(Claimed(ApproxZCDP(0.0, 0.0, 0.2)))
    assert truncated == tight_rho(Claimed(ApproxTCDP(0.0, 0.1, 20.0)), 5.0) == 0.1
