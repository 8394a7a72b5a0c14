"""Neighbours in words: data sets of every kind keep their kind, and the report's first line names the relation."""

import itertools

import numpy as np
import pandas as pd
import pytest

import tcdp_sim
from tcdp_sim.audits import WeakAudit, answers, extremes, neighbours, records
from tcdp_sim.audits.data_sets import SOME
from tcdp_sim.core.errors import UserError
from tcdp_sim.privacy import PureDP

FRAME = pd.DataFrame({"age": [30, 40], "city": ["A", "B"]})


def others(*given, **settings):
    return [other for _, other in records(*given, **settings).pairs]


def test_one_record_is_removed_or_added():
    assert others([1, 2], domain=[9]) == [[2], [1], [1, 2, 9]]
    assert others((1, 2), domain=[9]) == [(2,), (1,), (1, 2, 9)]
    assert others("ab", domain=["c"]) == ["b", "a", "abc"]
    assert others({"a", "b"}, domain=["a", "c"]) == [{"b"}, {"a"}, {"a", "b", "c"}]
    assert others(frozenset({1})) == [frozenset()]  # a set has nothing twice
    assert others(["a"]) == [[], ["a", "a"]]  # without a domain, its own records are added


def test_one_record_is_replaced():
    assert others([1, 2], "substitute", [0, 2]) == [[0, 2], [2, 2], [1, 0]]
    assert others("ab", "substitute") == ["bb", "aa"]
    assert others({1, 2}, "substitute", [3]) == [{2, 3}, {1, 3}]


def test_arrays_and_frames_stay_what_they_are():
    table = np.array([[1, 2], [3, 4]], np.int32)
    removed, _, added = others(table, domain=[[5, 6]])
    assert removed.tolist() == [[3, 4]]
    assert added.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert removed.dtype == added.dtype == np.int32
    removed, _, added = others(FRAME, domain=[{"age": 50, "city": "C"}])
    pd.testing.assert_frame_equal(removed, pd.DataFrame({"age": [40], "city": ["B"]}))
    pd.testing.assert_frame_equal(added, pd.DataFrame({"age": [30, 40, 50], "city": ["A", "B", "C"]}))
    first, _ = others(FRAME, "substitute", [(50, "C")])
    pd.testing.assert_frame_equal(first, pd.DataFrame({"age": [50, 40], "city": ["C", "B"]}))
    removed, _, added = others(pd.Series([1.5, 2.5], name="x"), domain=[7.0])
    assert removed.tolist() == [2.5]
    assert added.tolist() == [1.5, 2.5, 7.0]
    assert added.name == "x"


CITIES = pd.DataFrame({"age": [31, 44, 58], "city": ["Rome", "Oslo", "Rome"]})
DOMAIN = {"age": [0, 58, 120], "city": ["Oslo", "Rome", "Kyiv", "Lima"]}


@pytest.mark.parametrize("data", [CITIES, CITIES.to_dict("records")], ids=["frame", "dicts"])
def test_a_domain_of_columns_gives_extremes_and_a_new_key(data):
    found = records(data, domain=DOMAIN)
    assert [words for words in found.tried if words.startswith("with {")] == [
        "with {'age': 0, 'city': 'Kyiv'}",
        "with {'age': 120, 'city': 'Rome'}",
        "with {'age': 120, 'city': 'Kyiv'}",
        "with {'age': 0, 'city': 'Rome'}",
    ]
    added = [other for (_, other), words in zip(found.pairs, found.tried) if words.startswith("with {")]
    last = [(other.to_dict("records") if isinstance(other, pd.DataFrame) else other)[-1] for other in added]
    assert [(one["age"], one["city"]) for one in last] == [(0, "Kyiv"), (120, "Rome"), (120, "Kyiv"), (0, "Rome")]


def test_the_extremes_of_columns_are_those_of_all_records_that_a_domain_has():
    """Of each column, and of all columns together, by brute force over all combinations; one column moves at a time."""
    domain = {"a": [3, 1, 2], "b": [-1.5, 8.0], "c": ["x", "y", "z"]}
    every = [dict(zip(domain, values)) for values in itertools.product(*domain.values())]
    found = extremes.of_columns(domain, ["a", "b", "c"], [{"a": 2, "b": 8.0, "c": "x"}])
    assert len(found) == len({tuple(record.values()) for record in found}) <= extremes.MOST
    assert all(record in every for record in found)
    for end in (min, max):
        assert {name: end(values) for name, values in domain.items()} in found
        for name in domain:
            other = min if end is max else max
            assert {key: (other if key == name else end)(own) for key, own in domain.items()} in found
    assert {"a": 1, "b": -1.5, "c": "y"} in found  # y is the first key that no record has
    assert {"a": 3, "b": 8.0, "c": "y"} in found


def test_a_bug_that_extremes_alone_show():
    """The fourth city is not in the data, and the sum of ages is not clipped where it is new."""

    def cities(frame, rng, trials):
        sums = {"Oslo": 0.0, "Rome": 0.0, "Kyiv": 0.0, "Lima": 0.0}
        for age, city in zip(frame["age"], frame["city"]):
            sums[city] += age if city == "Kyiv" else min(age, 60)  # bug: clipped for the others alone
        noise = rng.laplace(0, 60, (trials, 4))
        return np.array(list(sums.values())) + noise

    asked = {"claim": PureDP(1.0), "trials": 6000, "learn": False}
    with pytest.warns(WeakAudit, match="no records were added or put in but copies of the data's own"):
        plain = tcdp_sim.audit(cities, neighbours=records(CITIES), **asked)
    assert not plain.refuted
    assert plain.to_dict()["ordinary"]
    assert "but copies of the data's own: give records() a domain=" in str(plain)
    found = tcdp_sim.audit(cities, neighbours=records(CITIES, domain=DOMAIN), **asked)
    assert found.refuted
    assert found.tried[found.pair_index] == "with {'age': 120, 'city': 'Kyiv'}"
    assert "pairs tried: without (31, 'Rome'); " in str(found)
    assert found.to_dict()["tried"] == list(found.tried)
    assert not found.ordinary
    assert "copies" not in str(found)


@pytest.mark.parametrize(
    ("data", "domain", "message"),
    [
        (CITIES, {"age": [0, 1]}, "domain has the columns age, and the data age, city; valid: the same"),
        (CITIES, {"age": [0, 1], "city": "Rome"}, r"domain\['city'\] is not valid; valid: a list of values"),
        (CITIES, {"age": [], "city": ["Rome"]}, r"domain\['age'\] is not valid"),
        ([1, 2], {"age": [0, 1]}, "domain is a mapping of columns, and the data have none"),
    ],
)
def test_domains_of_columns_that_do_not_fit(data, domain, message):
    with pytest.raises(UserError, match=message):
        records(data, domain=domain)


def test_pairs_of_ones_own_have_no_words():
    assert neighbours.given([([1], [2])]).tried == ()
    assert not neighbours.given([([1], [2])]).ordinary
    assert records([1, 2], "substitute", domain=[9]).tried == ("9 for 1", "9 for 2")


def test_large_data_sets_give_a_few_telling_pairs():
    data = [*range(100), 7, 7, 7]
    found = others(data, domain=range(1000))
    assert len(found) == 2 * SOME
    removed = [next(iter(set(data) - set(other)), 7) for other in found[:SOME]]
    assert {0, 99, 7} <= set(removed)  # the least, the largest, the most frequent
    assert {found[SOME][-1], found[SOME + 1][-1]} == {0, 999}


def test_answers_move_by_the_sensitivity():
    found = answers(3, 5.0)
    assert found.relation == "all 3 answers move by up to 5"
    assert max(np.abs(data - other).max() for data, other in found.pairs) == 5
    assert answers(3, one=True).relation == "one answer moves by up to 1"
    assert all(np.count_nonzero(data != other) == 1 for data, other in answers(3, one=True).pairs)


WRONG = {
    "kind": (lambda: records(5), r"cannot use data of type int; valid: a list, tuple, array, set, string, pandas"),
    "relation": (lambda: records([1], "swap"), "relation = 'swap' is not valid; valid: 'add_remove', 'substitute'"),
    "domain": (lambda: records([1], domain=3), "domain is not valid; valid: a list of possible records"),
    "no record": (lambda: records([1], domain=[]), "domain is empty"),
    "nothing": (lambda: records([]), "finds no neighbour of these data; give a domain"),
    "same": (lambda: records([1], "substitute"), "finds no neighbour of these data; give a domain"),
    "shape": (lambda: records(np.zeros((2, 3)), domain=[[1.0]]), r"has shape \(1,\); the data have records of \(3,\)"),
    "columns": (lambda: records(FRAME, domain=[{"age": 1}]), "does not fit the columns age, city"),
    "letters": (lambda: records("ab", domain=[1]), "a record of a string is a letter or a text"),
    "sensitivity": (lambda: answers(1, 0.0), "sensitivity = 0 is not valid"),
    "count": (lambda: answers(0), "d = 0 is not valid"),
}


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_are_one_line(name):
    call, message = WRONG[name]
    with pytest.raises(UserError, match=message) as told:
        call()
    assert "\n" not in str(told.value)


def count(data, rng, trials):
    return len(data) + rng.laplace(0, 1, trials)


def test_a_correct_count_of_five_records_is_not_refuted():
    """Five answers that all move would refute this count."""
    report = tcdp_sim.audit(count, neighbours=records([1, 2, 3, 4, 5], domain=[9]), claim=PureDP(1.0), trials=50_000)
    assert not report.refuted
    assert report.bound > 0.9
    first, second = str(report).splitlines()[:2]
    assert "(neighbours: one record added or removed)" in first
    assert "[1, 2, 3, 4, 5] and [" in second


def test_a_mechanism_gets_what_was_given():
    kinds = set()

    def noted(data, rng, trials):
        kinds.add(type(data))
        return rng.random(trials) < len(data) / 10

    tcdp_sim.audit(noted, neighbours=records(FRAME, domain=FRAME), trials=500, learn=False)
    assert kinds == {pd.DataFrame}
    kinds.clear()
    tcdp_sim.audit(noted, neighbours=[({"a": 1}, {"a": 1, "b": 2})], trials=500, learn=False)
    assert kinds == {dict}


def test_an_audit_of_frames_is_resumed(tmp_path):
    given = {
        "neighbours": records(FRAME, domain=FRAME),
        "trials": 2000,
        "name": "frames",
        "results_dir": tmp_path,
        "learn": False,
    }
    first, again = (tcdp_sim.audit(count, **given) for _ in range(2))
    assert first.resumed == 0
    assert again.resumed == again.drawn
    other = {**given, "neighbours": records(FRAME.assign(age=[30, 41]), domain=FRAME)}
    assert tcdp_sim.audit(count, **other).resumed == 0
