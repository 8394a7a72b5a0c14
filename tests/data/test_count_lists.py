"""Lists of released counts: the packaged tables against the published settings, users' files, and their mistakes."""

from fractions import Fraction

import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.data.count_lists import count_list
from tcdp_sim.data.readers import chosen_rows

US = {"file": "census_2020_us_persons.csv", "rho": "rho", "relation": "substitute"}
LEVELS = {"US": 104, "State": 1440, "County": 447, "Tract": 687, "Block_Group": 1256, "Block": 165}  # of 4099
COLUMNS = ("level", "query", "level_share", "query_share", "rho")
TOTAL = Fraction(542, 339) ** 2  # 1 / global_scale^2, which the certificate prints as 293764/114921


def table():
    return [(level, query, *map(Fraction, more)) for level, query, *more in chosen_rows("t", US, COLUMNS)]


def test_the_settings_of_2020_add_up_without_rounding():
    rows = table()
    assert len(rows) == 65
    assert Fraction(293764, 114921) == TOTAL
    assert sum(rho for *_, rho in rows) == TOTAL
    for level, share in LEVELS.items():
        mine = [row for row in rows if row[0] == level]
        assert len(mine) == 11 - (level == "US")
        assert {row[2] for row in mine} == {Fraction(share, 4099)}
        assert sum(row[3] for row in mine) == 1
    assert all(rho == TOTAL * level * query for _, _, level, query, rho in rows)


def test_some_shares_as_the_certificate_prints_them():
    shares = {(level, query): share for level, query, _, share, _ in table()}
    assert ("US", "total") not in shares
    assert shares["State", "total"] == Fraction(3773, 4097)
    assert shares["Tract", "hispanic * cenrace"] == Fraction(1933, 4102)
    assert shares["Block_Group", "detailed"] == Fraction(1288, 4099)
    assert shares["Block", "detailed"] == Fraction(3945, 4097)
    assert shares["US", "votingage * hispanic * cenrace"] == Fraction(26, 241)


def test_rho_becomes_the_variance_of_two_cells():
    found = count_list("us", US)
    by_hand = 1 / (TOTAL * Fraction(1440, 4099) * Fraction(3773, 4097))  # rho = 2 cells / (2 sigma^2)
    (place,) = found.places("State", "total")
    assert found.sigma_squared[place] == pytest.approx(float(by_hand), rel=1e-15)
    assert found.sigma_squared[place] == pytest.approx(1.2091924, rel=1e-7)
    one = count_list("us", US | {"relation": "add_remove"})
    assert one.sigma_squared[place] == pytest.approx(float(by_hand) / 2, rel=1e-15)
    assert count_list("state", US | {"only": {"level": "State"}}).levels == ("State",) * 11


def test_the_synthetic_lists_are_those_of_the_specification():
    a = count_list("a", {"file": "census_synthetic_a.csv", "rho": "rho", "relation": "add_remove"})
    assert len(a.levels) == 24
    assert sum(1 / (2 * variance) for variance in a.sigma_squared) == pytest.approx(1.0, rel=1e-14)
    spec = {"file": "census_synthetic_b.csv", "sigma_squared": "sigma_squared", "relation": "add_remove"}
    b = count_list("b", spec | {"times": "times"})
    assert (b.sigma_squared, b.times) == ((0.25, 0.4, 0.75, 1.5, 6.0), (1, 2, 3, 5, 10))


def written(folder, text):
    path = folder / "mine.csv"
    path.write_text(text, "utf-8")
    return {"path": str(path), "sigma_squared": "s", "relation": "substitute"}


def test_a_list_of_ones_own(tmp_path):
    spec = written(tmp_path, "place,what,s,n,t\nx,a,5/2,1,3\nx,b,1e2,2,1\n")
    found = count_list("mine", spec | {"level": "place", "query": "what", "shift": "n", "times": "t"})
    assert found.sigma_squared == (2.5, 100.0)
    assert (found.shift, found.times) == ((1, 2), (3, 1))
    assert found.places("x", "all") == [0, 1]
    assert found.places("all", "b") == [1]
    assert found.places("y", "all") == []


HEAD = "level,query,s,t\n"


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        (HEAD + "x,a,0,1\n", {}, "'0' is not valid"),
        (HEAD + "x,a,-1,1\n", {}, "'-1' is not valid"),
        (HEAD + "x,a,1/0,1\n", {}, "'1/0' is not valid"),
        (HEAD + "x,a,1e999999999,1\n", {}, "numbers above 0"),
        (HEAD + "x,a,1e-999999999,1\n", {}, "numbers above 0"),
        (HEAD + "x,a,nan,1\n", {}, "'nan' is not valid"),
        (HEAD + "x,a,1e300,1\n", {}, "0.001 to 1e10"),
        (HEAD + "x,a,2,1.5\n", {"times": "t"}, "whole numbers"),
        (HEAD + "x,a,2,0\n", {"times": "t"}, "above 0"),
        (HEAD + "x,a,2,1\nx,a,3,1\n", {}, "more than one row"),
        (HEAD + "all,a,2,1\n", {}, "other than all"),
        (HEAD + ",a,2,1\n", {}, "None is not valid"),
        (HEAD, {}, "0 rows"),
        (HEAD + "x,a,2,1\n", {"relation": "bounded"}, "add_remove, substitute"),
        (HEAD + "x,a,2,1\n", {"rho": "s"}, "one of sigma_squared and rho"),
        (HEAD + "x,a,2,1\n", {"sigma_squared": None}, "one of sigma_squared and rho"),
        (HEAD + "x,a,2,1\n", {"shifts": "t"}, "unknown key 'shifts'"),
        (HEAD + "x,a,2,1\n", {"level": "place"}, "column 'place' is not there"),
    ],
)
def test_mistakes_are_one_line(tmp_path, text, more, said):
    with pytest.raises(UserError, match=said.replace("(", r"\(")) as mistake:
        count_list("mine", written(tmp_path, text) | more)
    assert "\n" not in str(mistake.value)
