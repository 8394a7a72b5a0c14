"""Neighbours in words: data sets of every kind keep their kind, and the report's first line names the relation."""

import numpy as np
import pandas as pd
import pytest

import tcdp_sim
from tcdp_sim.audits import answers, records
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
    report = tcdp_sim.audit(count, neighbours=records([1, 2, 3, 4, 5]), claim=PureDP(1.0), trials=50_000)
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

    tcdp_sim.audit(noted, neighbours=records(FRAME), trials=500, learn=False)
    assert kinds == {pd.DataFrame}
    kinds.clear()
    tcdp_sim.audit(noted, neighbours=[({"a": 1}, {"a": 1, "b": 2})], trials=500, learn=False)
    assert kinds == {dict}


def test_an_audit_of_frames_is_resumed(tmp_path):
    given = {"neighbours": records(FRAME), "trials": 2000, "name": "frames", "results_dir": tmp_path, "learn": False}
    first, again = (tcdp_sim.audit(count, **given) for _ in range(2))
    assert first.resumed == 0
    assert again.resumed == again.drawn
    other = {**given, "neighbours": records(FRAME.assign(age=[30, 41]))}
    assert tcdp_sim.audit(count, **other).resumed == 0
