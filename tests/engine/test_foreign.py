"""What is said of others who computed for a run: elementary functions, code, and trials that show other data."""

from types import SimpleNamespace

import numpy as np
import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.streams import fingerprint
from tcdp_sim.engine.numerics_mismatch import Foreign, check_heads, lines
from tcdp_sim.engine.shown import Shown
from tcdp_sim.store import source


def of(numerics="warn", code="same", **function):
    return SimpleNamespace(numerics=numerics, code=code, folder="results/x", mechanism=function)


OWN = {"numerics_fingerprint": fingerprint(), "code": dict(source.loaded()), "time": "2026-01-01T00:00:00Z"}


def test_each_foreign_kind_is_told_once():
    told = []
    foreign = Foreign(of(), told.append)
    assert [foreign.meets(one) for one in (fingerprint(), "a", "a", fingerprint(), "b", "a")] == [
        *(False, True, True),
        *(False, True, True),
    ]
    assert foreign.met == {"a", "b"}
    assert len(told) == 2


def test_strict_numerics_refuse_the_first():
    foreign = Foreign(of("strict"), pytest.fail)
    assert not foreign.meets(fingerprint())
    with pytest.raises(UserError, match="numerics=warn accepts that"):
        foreign.meets("a")


def test_a_journal_tells_of_others_by_any_of_its_heads():
    check_heads(of("strict"), [OWN, {**OWN, "foreign_fingerprints": []}], pytest.fail)
    for other in (OWN | {"numerics_fingerprint": "a"}, {**OWN, "foreign_fingerprints": ["a"]}):
        told = []
        check_heads(of(), [OWN, other], told.append, "the other run")
        assert len(told) == 1
        assert "chunks of the other run come from a machine" in told[0]
        with pytest.raises(UserError, match="finish it on that kind of machine"):
            check_heads(of("strict"), [OWN, other], pytest.fail)


@pytest.mark.parametrize("name", [*source.loaded(), "the plug-in another"])
def test_chunks_of_other_code_are_refused_or_told(name):
    other = OWN | {"code": OWN["code"] | {name: "other"}, "time": "2025-12-31T00:00:00Z"}
    with pytest.raises(UserError, match=rf"results/x has chunks of another state of {name} \(computed 2025-12-31"):
        check_heads(of(), [OWN, other], pytest.fail)
    told = []
    check_heads(of(code="any"), [other, OWN], told.append)
    assert [line.startswith("warning: results/x has chunks of another state") for line in told] == [True]
    assert lines(of(), [OWN, other]) == [told[0].removeprefix("warning: ")]


def test_a_head_that_says_nothing_of_its_code_is_of_other_code():
    with pytest.raises(UserError, match="another state of numpy, scipy, the files of tcdp_sim"):
        check_heads(of(), [OWN, {}], pytest.fail)


def test_heads_of_another_function_do_not_count():
    other = {"config": {"mechanism": {"function": {"source": "b"}}}}
    check_heads(of(function={"source": "a"}), [other], pytest.fail)
    with pytest.raises(UserError, match="another state"):
        check_heads(of(function={"source": "b"}), [other], pytest.fail)


def showing(values, numerics="here", point=3, **more):
    return {**OWN, "shown": [Shown({"n": point}, 1, "s", {"x": np.array(values)}).plain], **more} | {
        "numerics_fingerprint": numerics
    }


def test_writers_that_drew_other_numbers_are_named():
    one, two = showing([1.0, 2.0], part="1/2"), showing([1.0, 2.0 + 1e-15], part="2/2")
    with pytest.raises(UserError, match=r"part 1/2 of 2026.* and part 2/2 of 2026.* drew other numbers at n=3 from"):
        check_heads(of(), [one, two], pytest.fail)
    assert len(lines(of(), [one, two])) == 1
    assert lines(of(), [one, one, showing([5.0], point=4)]) == []


@pytest.mark.parametrize(("distance", "differs"), [(1e-12, False), (1e-7, True)])
def test_on_another_kind_of_machine_the_last_bits_do_not_count(distance, differs):
    heads = [showing([1.0, np.nan]), showing([1.0 + distance, np.nan], "there")]
    assert bool(lines(of(), heads)) is differs


@pytest.mark.parametrize(
    "other", [{"x": np.array([1.0])}, {"y": np.array([1.0, 2.0])}, {"x": np.array([1.0, np.nan])}, {}]
)
def test_other_shapes_and_names_are_other_numbers(other):
    first = Shown({}, 1, "s", {"x": np.array([1.0, 2.0])})
    assert first.equals(Shown({}, 1, "s", {"x": np.array([1.0, 2.0])}))
    assert not first.equals(Shown({}, 1, "s", other))


def test_with_other_threads_of_linear_algebra_the_last_bits_do_not_count():
    """Sums of products have other last bits then."""
    one, two = ({"num_threads": threads} for threads in (1, 2))
    for libraries, differs in (([one], True), ([two], False)):
        heads = [showing([1.0], blas=[one]), showing([1.0 + 1e-12], blas=libraries)]
        assert bool(lines(of(), heads)) is differs
