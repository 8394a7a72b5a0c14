"""Laws in fractions, cheapest couplings and subsamples of small data sets, by other means."""

from fractions import Fraction as F
from itertools import product
from math import comb

import numpy as np
import pytest

from tcdp_sim.experiments.papers.couplings import transport
from tcdp_sim.experiments.papers.couplings.finite_laws import (
    as_side,
    canonical,
    follow,
    hockey_stick,
    hockey_stick_over_events,
    laws,
    mixed,
    renyi_moment,
    total_variation,
    whole_numbers,
)
from tcdp_sim.experiments.papers.couplings.subsamples import (
    add_remove,
    group_profile,
    membership,
    multisets,
    neighbours,
    output,
    poisson,
    sampled_profile,
    subsets,
    substitute,
    table,
    with_replacement,
    without_replacement,
)
from tcdp_sim.experiments.papers.couplings.transport import least_cost

THIRD = F(1, 3)


def test_a_side_holds_its_fraction():
    for number in (THIRD, F(1, 10), F(3, 4), F(2**60 + 1, 7)):
        lower, near, upper = (F(end) for end in as_side(number))
        assert lower <= number <= upper
        assert near in (lower, upper)
        assert upper - lower <= number * F(1, 2**51)
    assert as_side(F(1, 4)).lower == as_side(F(1, 4)).upper == 0.25


def test_the_list_of_laws_is_always_the_same_one_and_no_two_are_alike():
    assert whole_numbers(5, 9, 1) == whole_numbers(8, 9, 1)[:5] != whole_numbers(5, 9, 2)
    numbers = np.array(whole_numbers(20_000, 9, 3))
    assert set(numbers) == set(range(10))
    assert np.bincount(numbers) == pytest.approx(2000, abs=5 * 43)  # five standard errors
    assert np.corrcoef(numbers[:-1], numbers[1:])[0, 1] == pytest.approx(0, abs=5 / np.sqrt(20_000))
    some = laws(50, 4, 1)
    assert all(sum(law) == 1 and min(law) >= 0 for law in some)
    assert len(set(some)) == 50


def test_hockey_stick_by_hand():
    p, q = (F(1, 2), F(1, 2), F(0)), (F(1, 4), F(1, 2), F(1, 4))
    assert hockey_stick(p, q, F(1)) == hockey_stick_over_events(p, q, F(1)) == F(1, 4)
    assert hockey_stick(q, p, F(3, 2)) == hockey_stick_over_events(q, p, F(3, 2)) == F(1, 4)
    assert renyi_moment(p, q, 3) == F(1, 8) * 16 + F(1, 2)


def test_total_variation_by_hand():
    assert total_variation((F(1, 2), F(1, 2), F(0)), (F(1, 4), F(1, 2), F(1, 4))) == F(1, 4)


def test_the_canonical_pair_is_what_it_promises_and_no_less():
    p, q = canonical(F(3), F(1, 10))
    assert sum(p) == sum(q) == 1
    assert hockey_stick(p, q, F(3)) == hockey_stick(q, p, F(3)) == F(1, 10)
    assert hockey_stick(p, q, F(29, 10)) > F(1, 10)


def test_following_pairs_are_chosen_by_the_first_output():
    first, second = ((F(1, 2), F(1, 2)), (F(1, 4), F(3, 4))), ((F(1), F(0)), (F(0), F(1)))
    third = second[1], second[0]
    assert follow(first, [second, third]) == ((F(1, 2), 0, 0, F(1, 2)), (0, F(1, 4), F(3, 4), 0))
    assert mixed((THIRD, 2 * THIRD), first) == (THIRD, 2 * THIRD)


def on_a_line(size):
    return [[F(abs(i - j)) for j in range(size)] for i in range(size)]


@pytest.mark.parametrize("seed", range(6))
def test_the_cheapest_coupling_on_a_line_is_the_area_between_distribution_functions(seed):
    p, q = laws(2, 6, 700 + seed)
    truth = sum(abs(sum(p[:i]) - sum(q[:i])) for i in range(6))
    cost = least_cost(p, q, on_a_line(6))
    assert cost.lower <= truth <= cost.upper
    assert cost.upper - cost.lower < 1e-12


def test_a_wrong_answer_of_the_program_widens_the_ends_and_never_moves_them_past_the_truth(monkeypatch):
    solve = transport.linprog

    def spoiled(*arguments, **options):
        answer = solve(*arguments, **options)
        answer.x = np.roll(answer.x, 3) * 1.3
        answer.eqlin.marginals = answer.eqlin.marginals[::-1] * 0.9
        return answer

    monkeypatch.setattr(transport, "linprog", spoiled)
    for seed in range(6):
        p, q = laws(2, 6, 700 + seed)
        truth = sum(abs(sum(p[:i]) - sum(q[:i])) for i in range(6))
        cost = least_cost(p, q, on_a_line(6))
        assert cost.lower <= truth <= cost.upper
        assert cost.upper - cost.lower > 1e-3


def test_distances_between_multisets():
    assert add_remove((0, 0, 1), (0, 2)) == 3
    assert substitute((0, 0, 1), (0, 1, 2)) == 1
    assert substitute((0,), (0, 1)) == np.inf
    assert len(neighbours(subsets(3, range(4)), add_remove)) == 24  # both ways along the edges of a cube
    assert len(multisets(4, 3)) == comb(6, 3)


def test_subsamples_have_their_chances():
    drawn = poisson(THIRD)((0, 1, 2))
    assert drawn[(0, 2)] == F(2, 27)
    assert sum(drawn.values()) == 1
    assert without_replacement(2)((0, 1, 2, 3)) == dict.fromkeys(subsets(4, [2]), F(1, 6))
    again = with_replacement(3)((0, 1, 2))
    assert again[(0, 1, 2)] == F(6, 27)
    assert again[(1, 1, 2)] == F(3, 27)
    assert sum(again.values()) == 1


def test_profiles_of_a_mechanism_by_brute_force():
    inputs = subsets(3, range(4))
    mechanism, a = table(inputs, 9), F(5, 4)
    pairs = [(x, y) for x, y in product(inputs, repeat=2) if len({*x} ^ {*y}) in (1, 2)]
    truth = max(sum(max(s - a * t, 0) for s, t in zip(mechanism[x], mechanism[y])) for x, y in pairs)
    assert group_profile(mechanism, add_remove, 2, a) == truth
    bit = membership(inputs, 0, F(3, 4))
    assert output(bit, poisson(THIRD)((0, 1))) == (F(1, 4) + F(1, 6), F(3, 4) - F(1, 6))
    assert sampled_profile(bit, poisson(THIRD), [((0, 1), (1,))], F(1)) == F(1, 6)
