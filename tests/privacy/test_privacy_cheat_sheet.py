"""The cheat sheet: every row's number, and that what is false or unproved in it is not offered."""

import math
from dataclasses import FrozenInstanceError

import mpmath as mp
import pytest
from privacy_references import close, gaussian_delta, response_delta

from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, PureDP, cheat_sheet, compose, compose_advanced, to_approx_dp

PROBABILITY = "sampling_probability"
SIMPLE = {
    "delta": 1e-6,
    "epsilon": 0.5,
    "sensitivity": 2.0,
    "k": 10,
    "order": 4,
    "slack": 1e-5,
}


def sheet(rho=0.05, omega=50, **changed):
    return cheat_sheet(TCDP(rho, omega), **(SIMPLE | changed))


def rows(**changed):
    return {(row.notion, row.what, row.formula): row for row in sheet(**changed)}


def find(notion, what, formula="", **changed):
    found = [row for key, row in rows(**changed).items() if notion in key[0] and what in key[1] and formula in key[2]]
    assert len(found) == 1
    return found[0]


def test_rows_offer_a_guarantee_iff_they_are_valid():
    for changed in ({}, {"epsilon": 5}, {"k": 10**7}, {"omega": 1.1}, {"rho": 30}, {"order": 2.5}, {"omega": math.inf}):
        for row in rows(**changed, sampling_probability=0.01).values():
            assert row.valid == (row.guarantee is not None)
            assert row.why
            with pytest.raises(FrozenInstanceError):
                row.valid = True


def test_the_numbers_of_the_table():
    cost = math.log(1e6)
    expected = {
        ("(epsilon, delta)-DP", "Gaussian variance"): [2 * 4 * math.log(1.25e6) / 0.25],
        ("(epsilon, delta)-DP", "sequential"): [5, 1e-5],
        ("(epsilon, delta)-DP", "as printed"): [2 * 0.5 * math.sqrt(20 * math.log(1e5)), 2e-5],
        ("moments accountant", "as printed"): [4 * 0.5 * math.sqrt(20 * cost), 1e-6],
        ("RDP", "Gaussian variance"): [4 * 4 / 1],
        ("RDP", "sequential"): [4, 5],
        ("RDP", "conversion"): [0.5 + cost / 3, 1e-6],
        ("zCDP", "Gaussian variance"): [4 / 0.1],
        ("zCDP", "sequential"): [0.5],
        ("zCDP", "conversion"): [0.05 + 2 * math.sqrt(0.05 * cost), 1e-6],
        ("tCDP", "sequential"): [0.5, 50],
        ("tCDP", "conversion"): [0.05 + 2 * math.sqrt(0.05 * cost), 1e-6],
    }
    for (notion, what), value in expected.items():
        assert find(notion, what).value == pytest.approx(value, rel=1e-13)
    assert find("tCDP", "sinh-normal", "gives (16 rho").value == pytest.approx([4 / 0.1, 800], rel=1e-13)
    assert find("tCDP", "sinh-normal", "gives (rho").value == pytest.approx([8 * 4 / 0.05, 800], rel=1e-13)
    right = find("(epsilon, delta)-DP", "corrected")
    assert right.guarantee == compose_advanced(0.5, 1e-6, 10, 1e-5)
    assert right.value == (right.guarantee.epsilon, right.guarantee.delta)


def test_the_guarantees_of_the_table():
    assert find("zCDP", "Gaussian").guarantee == ZCDP(0.05)
    assert find("RDP", "Gaussian").guarantee == RDP(4, 0.5)
    assert find("RDP", "sequential").guarantee == compose(*[RDP(4, 0.5)] * 10)
    assert find("zCDP", "sequential").guarantee == compose(*[ZCDP(0.05)] * 10)
    assert find("tCDP", "sequential").guarantee == compose(*[TCDP(0.05, 50)] * 10)
    assert find("(epsilon, delta)-DP", "sequential").guarantee == compose(*[ApproxDP(0.5, 1e-6)] * 10)
    for notion, guarantee in [("RDP", RDP(4, 0.5)), ("zCDP", ZCDP(0.05)), ("tCDP", TCDP(0.05, 50))]:
        assert find(notion, "conversion").guarantee == to_approx_dp(guarantee, 1e-6, "paper")
    assert find("tCDP", "sinh-normal", "gives (16 rho").guarantee == TCDP(0.8, 50)
    assert find("tCDP", "sinh-normal", "gives (rho").guarantee == TCDP(0.05, 50)


# What is false in it


def test_printed_advanced_composition_is_offered_only_where_it_is_proved():
    small = find("(epsilon, delta)-DP", "as printed", epsilon=0.01, k=100)
    assert small.valid
    assert small.value[0] <= 1
    assert small.guarantee.epsilon >= compose_advanced(0.01, 1e-6, 100, 1e-5).epsilon
    assert response_delta(0.01, 100, small.guarantee.epsilon, 1e-6) <= small.guarantee.delta
    for epsilon, k, slack in [(0.5, 1000, 1e-5), (0.3, 5000, 1e-6), (0.5, 10, 1e-5)]:
        row = find("(epsilon, delta)-DP", "as printed", epsilon=epsilon, k=k, slack=slack)
        assert not row.valid
        assert "false unless the total epsilon is at most 1" in row.why
        if k > 10:  # there it is not only unproved
            assert response_delta(epsilon, k, row.value[0]) > 1000 * slack


def test_printed_advanced_composition_is_false_for_a_large_slack_too():
    """slack = 0.999, total epsilon below 1: the correct form is larger than the printed one."""
    row = find("(epsilon, delta)-DP", "as printed", epsilon=0.1, k=30, slack=0.999, delta=1e-9)
    assert row.value[0] <= 1
    assert not row.valid


def test_the_moments_row_is_never_offered():
    assert not find("moments", "as printed").valid
    row = find("moments", "as printed", epsilon=0.5, k=10_000)
    assert response_delta(0.5, 10_000, row.value[0]) == pytest.approx(0.9998, abs=5e-5)
    assert "0.9998" in row.why


def test_the_classical_gaussian_is_proved_below_epsilon_one_and_computed_beyond():
    assert find("(epsilon, delta)-DP", "Gaussian", epsilon=0.999).valid
    for epsilon, holds in [(1, True), (8, True), (9, False), (30, False)]:
        row = find("(epsilon, delta)-DP", "Gaussian", epsilon=epsilon)
        exact = gaussian_delta(mp.mpf(2) ** 2 / (2 * row.value[0]), epsilon)
        assert f"the exact delta of this noise is {float(exact):.3g}" in row.why
        assert ("not 1e-06" in row.why) == (not row.valid)
        assert row.valid == (exact <= 1e-6) == holds


def test_sequential_composition_is_vacuous_beyond_delta_one():
    assert not find("(epsilon, delta)-DP", "sequential", k=10**7).valid


@pytest.mark.parametrize(
    ("rho", "omega", "loose", "target"),
    [
        (0.01, 4.9, True, False),  # 1/(2 sqrt rho) = 5; (16 rho, omega) needs 1.25
        (0.01, 5.0, True, True),
        (0.01, 1.2, False, False),
        (0.9, 2, True, True),
        (1.1, 2, False, True),  # Theorem 17 needs 1 < 1/sqrt(rho) of the Gaussian part
        (17, 2, False, False),
        (0.01, math.inf, False, False),
    ],
)
def test_the_preconditions_of_sinh_normal_noise(rho, omega, loose, target):
    first = find("tCDP", "sinh-normal", "gives (16 rho", rho=rho, omega=omega)
    second = find("tCDP", "sinh-normal", "gives (rho", rho=rho, omega=omega)
    assert (first.valid, second.valid) == (loose, target)
    for row in (first, second):
        assert row.valid or "needs " in row.why


# Subsampling


def test_subsampling_rows():
    assert not any("subsampling" in key[1] for key in rows())
    s = 0.01
    row = find("(epsilon, delta)-DP", "subsampling", sampling_probability=s)
    assert close(row.guarantee, ApproxDP(math.log(1 + s * (math.exp(0.5) - 1)), 1e-8))
    assert find("(epsilon, delta)-DP", "subsampling", sampling_probability=s, epsilon=800).value[0] == pytest.approx(
        800 + math.log(s), rel=1e-14
    )
    row = find("RDP", "subsampling", sampling_probability=s)
    total = 1 + sum(2 * s**j * math.comb(4, j) * math.exp((j - 1) * 0.5) for j in (2, 3, 4))
    assert row.value == pytest.approx([4, math.log(total) / 3], rel=1e-11)
    assert row.guarantee == RDP(*row.value)
    assert not find("RDP", "subsampling", sampling_probability=s, order=2.5).valid
    assert not find("zCDP", "subsampling", sampling_probability=s).valid


@pytest.mark.parametrize(
    ("rho", "omega", "s", "valid"),
    [(0.05, 47, 0.01, True), (0.05, 46, 0.01, False), (0.11, 1e3, 0.01, False), (0.05, 1e3, 0.11, False)],
)
def test_the_preconditions_of_subsampled_tcdp(rho, omega, s, valid):
    row = find("tCDP", "subsampling", rho=rho, omega=omega, sampling_probability=s)
    assert row.value == pytest.approx([13 * s * s * rho, math.log(1 / s) / (4 * rho)], rel=1e-13)
    assert row.valid == valid
    assert row.guarantee == (TCDP(*row.value) if valid else None)
    assert valid or "needs rho <= 0.1, s <= 0.1 and omega >=" in row.why


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rho": 0}, "rho = 0 is not valid; valid: 0 < rho < inf"),
        ({"omega": 1}, "omega = 1 is not valid; valid: 1 < omega <= inf"),
        ({"delta": 1}, "delta = 1 is not valid; valid: 0 < delta < 1"),
        ({"epsilon": 0}, "epsilon = 0 is not valid; valid: 0 < epsilon < inf"),
        ({"sensitivity": 0}, "sensitivity = 0 is not valid; valid: 0 < sensitivity < inf"),
        ({"k": 0}, "k = 0 is not valid; valid: a whole number from 1 to 1e300"),
        ({"order": 1}, "order = 1 is not valid; valid: 1 < order < inf"),
        ({"slack": 0}, "slack = 0 is not valid; valid: 0 < slack < 1"),
        ({"sampling_probability": 0}, f"{PROBABILITY} = 0 is not valid; valid: 0 < {PROBABILITY} <= 1"),
        ({"sampling_probability": 1.1}, f"{PROBABILITY} = 1.1 is not valid; valid: 0 < {PROBABILITY} <= 1"),
    ],
)
def test_parameters_out_of_range_are_refused(changed, message):
    with pytest.raises(ValueError, match="not valid") as failure:
        sheet(**changed)
    assert str(failure.value) == message


def test_defaults():
    short = cheat_sheet(TCDP(0.05, 50), 1e-6, 0.5)
    assert short == cheat_sheet(TCDP(0.05, 50), 1e-6, 0.5, 1.0, 1, order=2, slack=1e-6, sampling_probability=None)
    assert compose(PureDP(0.5)) == PureDP(0.5)


def test_parameters_at_the_ends_of_the_floats():
    for changed in ({"delta": 5e-324, "epsilon": 1e154}, {"delta": 1 - 2.0**-53, "epsilon": 1e5}, {"k": 10**290}):
        assert all(row.valid == (row.guarantee is not None) for row in rows(**changed, sampling_probability=1).values())
