"""The contract of releases: what holds for the answers of every ledger, at the examples of release_examples.py.

Each property compares answers to different questions, or to one question that is asked in two ways. What the answers
are is tested in accounting/.
"""

import copy
import math
import pickle
from itertools import pairwise

import pytest
from release_examples import ADD, EXAMPLES, SUBSTITUTE

import tcdp_sim.accounting  # noqa: F401  (the registry below has what is imported)
from tcdp_sim.accounting import Additive, Claimed, Ledger, Release
from tcdp_sim.noise import Laplace
from tcdp_sim.privacy import PureDP

ALL = [example for examples in EXAMPLES.values() for example in examples]
every = pytest.mark.parametrize(("release", "relation"), ALL, ids=lambda value: type(value).__name__)
EPSILONS, DELTAS = (0.0, 0.2, 1.0), (1e-3, 1e-6)


def kinds(kind=Release):
    """All kinds of releases that are imported, those of other tests too."""
    for each in kind.__subclasses__():
        yield each
        yield from kinds(each)


def overlap(one, other):
    """Whether two brackets can hold one number."""
    return max(one.lower, other.lower) <= min(one.upper, other.upper) * (1 + 1e-12) + 1e-300


def refusal(call):
    """The line of a refusal, None for an answer."""
    said = None
    try:
        call()
    except ValueError as mistake:
        said = str(mistake)
    assert said is None or (said and "\n" not in said)
    return said


def test_every_kind_of_release_has_an_example():
    ours = {kind for kind in kinds() if kind.__module__.startswith("tcdp_sim.accounting.")}
    assert ours == set(EXAMPLES), "add examples of the new release to references/release_examples.py"


@every
def test_brackets_are_ordered_and_monotone(release, relation):
    ledger = Ledger([release], relation)
    deltas = [ledger.delta(epsilon) for epsilon in EPSILONS]
    epsilons = [ledger.epsilon(delta) for delta in DELTAS]
    for low, middle, high in (*deltas, *epsilons):
        assert 0 <= low <= middle <= high
    assert all(one.upper >= other.lower for one, other in pairwise(deltas))
    assert all(one.lower <= other.upper for one, other in pairwise(epsilons))


@every
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_and_delta_are_each_others_inverse(release, relation, delta):
    ledger = Ledger([release], relation)
    low, _, high = ledger.epsilon(delta)
    if math.isfinite(high):
        assert ledger.delta(high).lower <= delta
    if 0 < low < math.inf:
        assert ledger.delta(low * (1 - 1e-9)).upper >= delta * (1 - 1e-9)


@every
def test_a_list_may_be_written_in_any_way(release, relation):
    """Twice the release, two of it, in any order with another one: brackets of one number."""
    other = Additive(Laplace(3.0))
    twice = [
        Ledger([(release, 2)], relation),
        Ledger([release, release], relation),
        Ledger([release], relation).times(2),
    ]
    mixed = [Ledger([release, other], relation), Ledger([other, release], relation)]
    for ledgers in (twice, mixed):
        for first, *rest in zip(*([ledger.delta(0.3), ledger.epsilon(1e-4)] for ledger in ledgers)):
            assert all(overlap(first, each) for each in rest)


@every
def test_more_releases_reveal_no_less(release, relation):
    one, more = Ledger([release], relation), Ledger([release, Claimed(PureDP(0.2))], relation)
    for epsilon in EPSILONS:
        assert more.delta(epsilon).upper >= one.delta(epsilon).lower
    low, _, high = more.epsilon(1e-5)
    assert high >= one.epsilon(1e-5).lower
    assert low <= one.epsilon(1e-5).upper + 0.2 + 1e-9  # what the claim can add at most


@every
def test_renyi_divergences_allow_no_less_than_epsilon(release, relation):
    """D_a <= x at one order implies (x + log(1/delta)/(a - 1), delta)-DP, by Markov's inequality."""
    ledger = Ledger([release], relation)
    for order in (2.0, 8.0):
        if refusal(lambda order=order: ledger.renyi(order)) is None:
            divergence = ledger.renyi(order)
            assert 0 <= divergence.lower <= divergence.upper
            for delta in DELTAS:
                bound = divergence.upper + math.log(1 / delta) / (order - 1)
                assert ledger.epsilon(delta).lower <= bound * (1 + 1e-12)


@every
def test_risks_follow_from_delta(release, relation):
    """The advantage is delta at epsilon 0. A guess at even odds is right with probability (1 + delta(0)) / 2."""
    ledger = Ledger([release], relation)
    at_0 = ledger.delta(0.0)
    if refusal(ledger.advantage) is None:
        assert overlap(ledger.advantage(), at_0)
        low, _, high = ledger.attack(0.5)
        assert low <= (1 + at_0.upper) / 2 * (1 + 1e-12)
        assert high >= (1 + at_0.lower) / 2 * (1 - 1e-12)


@every
def test_a_release_is_a_value(release, relation):
    """It can be copied, stored and compared; a copy gives the same bits, and nothing can be set."""
    for other in (copy.deepcopy(release), pickle.loads(pickle.dumps(release))):
        assert other == release
        assert repr(other) == repr(release)
        assert Ledger([other], relation).delta(0.3) == Ledger([release], relation).delta(0.3)
    with pytest.raises((AttributeError, TypeError)):
        release.sigma = 3.0


@every
@pytest.mark.parametrize("other", [ADD, SUBSTITUTE, None, "sideways"])
def test_a_relation_is_answered_or_refused_in_one_line(release, relation, other):
    said = refusal(lambda: Ledger([release], other).delta(0.3))
    if other == relation:
        assert said is None
    elif said is not None:
        assert "relation" in said or "valid" in said
