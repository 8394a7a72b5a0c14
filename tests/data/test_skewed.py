"""Skewed populations: the sample by group, shapes against scipy's quantiles, tables worked out by hand, mistakes."""

import numpy as np
import pytest
from scipy import stats

from tcdp_sim.core.errors import UserError
from tcdp_sim.data.skewed import skewed_records
from tcdp_sim.study import groups

SAMPLES = groups.named("mechanism", "per_record_sum")["populations"]
PAY = "who,month,pay,site\na,2020-01,1.5,x\nb,2020-01,2e2,y\na,2020-02,2.25,x\nc,2021-01,0,y\n"


@pytest.fixture
def table(tmp_path):
    """table(text, **more) -> a specification of a population."""

    def write(text=PAY, **more):
        (tmp_path / "pay.csv").write_text(text)
        return {"path": str(tmp_path / "pay.csv"), "column": "pay"} | more

    return write


@pytest.mark.parametrize(
    ("group_by", "count", "low", "high"),
    [
        (None, 1, 41181144, 41181144),
        ("state", 52, 550, 6125371),
        ("year", 7, 134773, 13125672),
        ("entity_type", 4, 17754, 22452688),
    ],
)
def test_the_sample(group_by, count, low, high):
    """Sums by awk, independent of the reader."""
    breaches = skewed_records("breaches", SAMPLES["breaches"], group_by)
    assert (len(breaches.groups), min(breaches.sums), max(breaches.sums)) == (count, low, high)
    assert sum(breaches.sums) == 41181144
    assert (len(breaches.values), breaches.values.max(), breaches.left_out) == (1151, 4.9e6, {})
    assert not breaches.persons


def test_groups_are_in_order_and_have_their_own_records():
    breaches = skewed_records("breaches", SAMPLES["breaches"], "entity_type")
    plan = breaches.values[breaches.group_of == breaches.groups.index("Health Plan")]
    assert len(plan) == 108  # by grep
    assert breaches.sums[breaches.groups.index("Health Plan")] == plan.sum()
    capped = breaches.sums_of(np.minimum(breaches.values, 1000))
    assert capped[breaches.groups.index("Health Plan")] == np.minimum(plan, 1000).sum()
    assert list(breaches.groups) == sorted(breaches.groups)


@pytest.mark.parametrize(
    ("name", "law", "skew"),
    [("pareto", stats.pareto(1.5), 464.19), ("lognormal", stats.lognorm(2), 2395.7)],
)
def test_shapes_are_quantiles_of_their_law(name, law, skew):
    """scipy's quantiles; max over median as in a published table of both."""
    values = skewed_records(name, SAMPLES[name]).values
    np.testing.assert_allclose(values, law.ppf((np.arange(10000) + 0.5) / 10000), rtol=1e-10)
    assert values[-1] / values[4999] == pytest.approx(skew, rel=1e-4)


def test_a_table_of_rows(table):
    population = skewed_records("pay", table(), "site")
    assert (population.groups, population.sums, population.persons) == (("x", "y"), (3.75, 200.0), False)
    assert list(population.values) == [1.5, 200.0, 2.25, 0.0]


def test_rows_of_a_person_are_summed_and_counted(table):
    population = skewed_records("pay", table(id="who"), "site")
    assert sorted(population.values) == [0.0, 3.75, 200.0]
    assert (population.sums, population.left_out, population.persons) == ((3.75, 200.0), {"summed": 1}, True)


def test_groups_by_the_first_characters_of_a_column(table):
    spec = table(groups={"year": {"column": "month", "characters": 4}, "place": "site"})
    assert skewed_records("pay", spec, "year").groups == ("2020", "2021")
    assert skewed_records("pay", spec, "year").sums == (203.75, 0.0)
    assert skewed_records("pay", spec, "place").sums == (3.75, 200.0)


def test_only_some_rows(table):
    assert skewed_records("pay", table(only={"site": "x"})).sums == (3.75,)


BAD = "who,pay\na,-3\nb,5\n,7\nc,\na,-1.5\nb,1\n"


@pytest.mark.parametrize(
    ("more", "values", "left_out"),
    [
        ({"outside": "drop", "nulls": "drop"}, [1, 5, 7], {"dropped": 2, "empty": 1}),
        ({"outside": "clip", "nulls": "drop"}, [0, 0, 1, 5, 7], {"clipped": 2, "empty": 1}),
        ({"outside": "drop", "nulls": "drop", "id": "who"}, [6], {"dropped": 2, "empty": 2, "summed": 1}),
        ({"outside": "clip", "nulls": "drop", "id": "who"}, [0, 6], {"clipped": 2, "empty": 2, "summed": 2}),
    ],
)
def test_what_does_not_fit_is_left_out_and_counted(table, more, values, left_out):
    population = skewed_records("pay", table(BAD, **more))
    assert (sorted(population.values), dict(population.left_out)) == (values, left_out)


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        (BAD, {"nulls": "drop"}, "2 rows have a negative value, the least -3; valid: 0 or more, or outside = drop or"),
        (BAD, {"outside": "drop"}, "1 rows have an empty cell; valid: none, or nulls = drop"),
        ("pay\n1\nn/a\n1,000\n".replace("1,000", '"1,000"'), {}, "no number in 2 rows, the first 'n/a'"),
        ("pay\nnan\n", {}, "no number in 1 rows, the first 'nan'"),
        ("pay\ninf\n", {}, "no number in 1 rows"),
        ("pay\n1e301\n", {}, "valid: up to 1e.300 in size"),
        ("pay\n1_000\n", {}, "no number"),
        ("pay\n-1\n", {"outside": "drop"}, "no record is left"),
        (PAY, {"column": "wage"}, "column 'wage' is not there"),
        (PAY, {"id": "name"}, "column 'name' is not there"),
        (PAY, {"path": None}, "one of file and path"),
        (PAY, {"pth": "x"}, "unknown key 'pth'"),
        (PAY, {"outside": "lose"}, "outside = 'lose'"),
        (PAY, {"groups": "site"}, "groups = 'site'"),
    ],
)
def test_mistakes_are_one_line(table, text, more, message):
    with pytest.raises(UserError, match=message) as mistake:
        skewed_records("pay", table(text, **more))
    assert "\n" not in str(mistake.value)


def test_a_person_in_two_groups_has_no_guarantee_of_one(table):
    with pytest.raises(UserError, match=r"1 of 3 persons are in several groups of 'month'; valid: a group_by that"):
        skewed_records("pay", table(id="who"), "month")


@pytest.mark.parametrize(
    ("spec", "group_by", "message"),
    [
        ({"shape": "cauchy", "n": 5}, None, "shape = 'cauchy'"),
        ({"shape": "pareto", "n": 5}, None, "alpha is not given"),
        ({"shape": "pareto", "alpha": 2}, None, "n is not given"),
        ({"shape": "pareto", "n": 0, "alpha": 2}, None, "n = 0"),
        ({"shape": "pareto", "n": 5, "alpha": -1}, None, "alpha = -1"),
        ({"shape": "lognormal", "n": 5, "alpha": 1}, None, "unknown key 'alpha'"),
        ({"shape": "pareto", "n": 5, "alpha": 1}, "state", "a shape has no groups"),
        ({"file": "hhs_breaches.csv", "column": "individuals"}, "town", "column 'town' is not there; its columns"),
    ],
)
def test_mistakes_of_a_specification_are_one_line(spec, group_by, message):
    with pytest.raises(UserError, match=message) as mistake:
        skewed_records("x", spec, group_by)
    assert "\n" not in str(mistake.value)
