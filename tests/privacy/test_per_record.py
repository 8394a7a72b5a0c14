"""Per-record guarantees: their values, sums, groups; the tight group against Gaussian shifts and Renyi divergences."""

from math import inf, sqrt, tanh

import numpy as np
import pytest

from tcdp_sim.privacy import (
    TCDP,
    ZCDP,
    PerRecordDP,
    PerRecordTCDP,
    PerRecordZCDP,
    PureDP,
    compose,
    compose_per_record,
    group_of_records,
    parallel,
)

SQUARE = PerRecordZCDP(lambda t: t**2 / 2)  # Gaussian noise of scale 1
LINEAR = PerRecordDP(lambda t: t / 3)
TRUNCATED = PerRecordTCDP(lambda t: t / 10, 20.0)


def test_values_at_a_record():
    assert SQUARE.at(3.0) == ZCDP(4.5)
    assert LINEAR.at(3.0) == PureDP(1.0)
    assert TRUNCATED.at(2.0) == TCDP(0.2, 20.0)
    assert PerRecordTCDP(lambda t: t, lambda t: 1 + 1 / t).at(0.25) == TCDP(0.25, 5.0)
    assert PerRecordTCDP(lambda t: t, inf).at(1.0) == ZCDP(1.0)
    assert SQUARE.at(0.0) == LINEAR.at(0.0) == TRUNCATED.at(0.0) == PureDP(0.0)


def test_policies_add():
    assert compose_per_record(SQUARE, SQUARE).at(2.0) == ZCDP(4.0)
    assert compose_per_record(LINEAR, LINEAR).at(3.0) == PureDP(2.0)
    assert compose_per_record(SQUARE, LINEAR).at(3.0) == ZCDP(4.5 + tanh(0.5))
    assert compose_per_record(SQUARE, TRUNCATED).at(1.0) == TCDP(0.6, 20.0)
    assert compose_per_record(TRUNCATED, PerRecordTCDP(lambda t: t, 7.0)).at(1.0) == TCDP(1.1, 7.0)


def test_compose_takes_guarantees_that_are_per_record():
    assert compose(SQUARE, LINEAR).at(3.0) == ZCDP(4.5 + tanh(0.5))
    assert compose(TRUNCATED).at(2.0) == TCDP(0.2, 20.0)
    with pytest.raises(ValueError, match=r"per-record guarantees and 0.1-zCDP; valid: all per record, or none"):
        compose(SQUARE, ZCDP(0.1))


def test_parts_of_a_partition_cost_the_largest():
    assert parallel(SQUARE, PerRecordZCDP(lambda t: t)).at(1.0) == ZCDP(1.0)
    assert parallel(SQUARE, PerRecordZCDP(lambda t: t)).at(4.0) == ZCDP(8.0)
    assert parallel(TRUNCATED, PerRecordTCDP(lambda t: t, 7.0)).at(1.0) == TCDP(1.0, 7.0)
    with pytest.raises(ValueError, match=r"substitute.*both parts"):
        parallel(SQUARE, SQUARE, relation="substitute")


def test_groups_of_the_specification():
    shifts = [sqrt(0.2), sqrt(0.8), sqrt(5.0)]  # policies .1, .4, 2.5
    assert group_of_records(SQUARE, shifts, "printed").rho == pytest.approx(9.0)
    assert group_of_records(SQUARE, shifts, "tight").rho == pytest.approx(6.4)  # (1 + 2 + 5)^2 / 10


def test_the_tight_group_is_attained_by_a_gaussian():
    shifts = [0.3, 1.1, 2.0]
    assert group_of_records(SQUARE, shifts).rho == pytest.approx(sum(shifts) ** 2 / 2)
    assert group_of_records(SQUARE, shifts, "sum_query").rho == pytest.approx(sum(shifts) ** 2 / 2)


def test_tight_is_never_above_printed():
    rng = np.random.default_rng(4)
    for count in (1, 2, 5):
        t = rng.exponential(size=count)
        tight, printed = group_of_records(SQUARE, t).rho, group_of_records(SQUARE, t, "printed").rho
        assert tight <= printed * (1 + 1e-12)
        equal = np.full(count, t[0])
        assert group_of_records(SQUARE, equal).rho == pytest.approx(group_of_records(SQUARE, equal, "printed").rho)
    assert group_of_records(LINEAR, [1.0, 2.0]) == group_of_records(LINEAR, [1.0, 2.0], "printed") == PureDP(1.0)


def sinh_divergence(shift, order, knee):
    """D_order of sinh-normal noise of scale 1 at 0 and at `shift`, by the trapezoid rule on its definition."""
    x = np.linspace(-80, 80, 400_001)
    log_density = lambda y: -0.5 * (knee * np.sinh(y / knee)) ** 2 + np.log(np.cosh(y / knee))  # noqa: E731
    p, q = log_density(x), log_density(x - shift)
    mass = np.trapezoid(np.exp(p), x)
    with np.errstate(over="ignore", invalid="ignore"):
        terms = np.exp(order * p + (1 - order) * q)
    return np.log(np.trapezoid(terms, x) / mass) / (order - 1)


def test_a_group_of_truncated_records_holds_for_a_real_noise():
    """The joint rho and omega against the divergences of a noise that is truly truncated."""
    knee, orders = 6.0, np.linspace(1.01, 40, 300)

    def omega(t):
        return 0.8 / (1 - np.exp(-2 * t / knee))

    def policy(t):
        return max(sinh_divergence(t, order, knee) / order for order in np.linspace(1.01, omega(t), 12))

    group = group_of_records(PerRecordTCDP(policy, omega), [0.5, 0.8])
    assert group.omega > 1.5
    for order in orders[orders < group.omega][::8]:
        assert sinh_divergence(1.3, order, knee) <= group.rho * order


def test_a_groups_omega():
    """Two equal records halve the room above: D_a takes orders 2a - 1 and 2a."""
    two = group_of_records(PerRecordTCDP(lambda t: t, 20.0), [1.0, 1.0])
    assert (two.rho, two.omega) == (pytest.approx(4.0), 10.0)
    unequal = group_of_records(PerRecordTCDP(lambda t: t, 20.0), [9.0, 1.0])  # orders a + 3 (a-1) and a + a / 3
    assert (unequal.rho, unequal.omega) == (pytest.approx(16.0), pytest.approx(23 / 4))
    with pytest.raises(ValueError, match="not above 1"):
        group_of_records(PerRecordTCDP(lambda t: t, 1.5), [1.0, 1.0])
    assert group_of_records(PerRecordTCDP(lambda t: t, 20.0), [0.0, 1.0]) == TCDP(1.0, 20.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PerRecordZCDP(0.5), "policy = 0.5"),
        (lambda: PerRecordTCDP(lambda t: t, 1.0), "omega = 1"),
        (lambda: SQUARE.at(-1.0), "influence = -1"),
        (lambda: SQUARE.at(True), "influence = True"),
        (lambda: PerRecordDP(lambda t: -t).at(1.0), "policy = -1"),
        (lambda: compose_per_record(), "0 guarantees"),
        (lambda: compose_per_record(ZCDP(1.0)), "PerRecordDP"),
        (lambda: parallel(SQUARE, relation="both"), "relation = 'both'"),
        (lambda: group_of_records(SQUARE, []), "0 records"),
        (lambda: group_of_records(SQUARE, [1.0], "loose"), "method = 'loose'"),
        (lambda: group_of_records(TRUNCATED, [1.0], "printed"), "the paper has no such result"),
    ],
)
def test_refusals_are_one_line(make, words):
    with pytest.raises(ValueError, match=words) as refusal:
        make()
    assert "\n" not in str(refusal.value)
