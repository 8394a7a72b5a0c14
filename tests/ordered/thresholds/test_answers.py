"""One call, one answer: what it is, what it cost, and when it warns."""

from fractions import Fraction

import numpy as np
import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.ordered.interior import LevelProfile
from tcdp_sim.ordered.thresholds import Records, private_cdf, private_interior_point, private_quantiles
from tcdp_sim.privacy import TCDP

BUDGET = TCDP(0.5, 2.83)


def near(found, rho=0.5):
    return isinstance(found, TCDP) and found.omega == 2.83 and 0.99 * rho < found.rho <= rho * (1 + 1e-12)


def test_an_interior_point_of_a_huge_domain():
    k = 2**65536
    values = [k // 3 + i for i in range(110)]
    answer = private_interior_point(values, k, BUDGET, rng=np.random.default_rng(1))
    assert values[0] <= answer.value <= values[-1]
    assert near(answer.guarantee)
    assert [step.name for step in answer.ledger] == ["level", "node", "end"]


def test_quantiles_and_cdf():
    rng, values = np.random.default_rng(1), [7 * i for i in range(3000)]
    quartiles = private_quantiles(values, 2**20, BUDGET, (0.25, 0.5, 0.75), rng=rng)
    assert near(quartiles.guarantee)
    assert all(abs(x - 7 * 3000 * p) < 7 * 150 for x, p in zip(quartiles.value, (0.25, 0.5, 0.75)))
    for method in ("windows", "medians"):
        answer = private_cdf(values, 2**20, BUDGET, method, rng=rng)
        assert near(answer.guarantee)
        assert abs(answer.value(10000) - 10000 / 7) < 400


@pytest.mark.parametrize("call", [private_interior_point, private_quantiles])
def test_too_few_records_draw_a_warning_that_names_how_many(call):
    with pytest.warns(UserWarning, match=r"n = 5 records: success is proved from n = \d+") as told:
        answer = call([3] * 5, 16, BUDGET, rng=np.random.default_rng(1))
    assert [each.filename for each in told] == [__file__]
    assert near(answer.guarantee)


def test_a_domain_of_one_element():
    assert private_interior_point([0] * 100, 1, BUDGET, rng=np.random.default_rng(1)).value == 0


@pytest.mark.parametrize(
    ("values", "k", "said"), [([], 4, "empty"), ([5], 4, "valid: 0 to 3"), ([1], 0, "k = 0"), ([1], 2.5, "k = 2.5")]
)
def test_mistakes_are_one_line(values, k, said):
    with pytest.raises(UserError, match=said):
        private_interior_point(values, k, BUDGET, rng=np.random.default_rng(1))


@pytest.mark.parametrize("call", [private_interior_point, private_quantiles, private_cdf])
@pytest.mark.parametrize("wrong", [1.5, np.float32(0.25), float("nan"), float("inf"), "2", None, Fraction(1, 2)])
def test_nothing_is_rounded(call, wrong):
    """What is no whole number is refused in one line that says what to do; 1.5 was taken for 1."""
    with pytest.raises(UserError, match=r"is not a whole number; valid: whole numbers, so scale decimals") as mistake:
        call([wrong, 2] * 2000, 16, BUDGET, rng=np.random.default_rng(1))
    assert "\n" not in str(mistake.value)
    with pytest.raises(UserError, match="is not a whole number"):
        LevelProfile.of([2, wrong], 16)
    for values, counts in (([1, wrong], [1, 1]), ([1, 2], [1, wrong])):
        with pytest.raises(UserError, match="is not a whole number"):
            Records(values, counts, 16)


def test_whole_numbers_of_every_kind_are_taken():
    told = [3, 3.0, np.int64(3), np.uint8(3), np.float64(3.0), Fraction(6, 2)] * 50
    assert private_interior_point(told, 16, BUDGET, rng=np.random.default_rng(1)).value == 3
    assert Records.of(np.array([1.0, 4.0, 4.0]), 16).sorted.tolist() == [1, 4, 4]
    assert Records.of([2**70, 1.0], 2**80).sorted.tolist() == [1, 2**70]


def test_an_unknown_method():
    with pytest.raises(ValueError, match="windows, medians"):
        private_cdf([1] * 500, 16, BUDGET, "guess", rng=np.random.default_rng(1))
