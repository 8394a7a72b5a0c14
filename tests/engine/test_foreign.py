"""What is said of workers whose elementary functions differ: once for each kind, or a refusal."""

from types import SimpleNamespace

import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.streams import fingerprint
from tcdp_sim.engine.foreign import Foreign, check_heads

WARN, STRICT = (SimpleNamespace(numerics=numerics) for numerics in ("warn", "strict"))


def test_each_foreign_kind_is_told_once():
    told = []
    foreign = Foreign(WARN, told.append)
    assert [foreign.meets(one) for one in (fingerprint(), "a", "a", fingerprint(), "b", "a")] == [
        *(False, True, True),
        *(False, True, True),
    ]
    assert foreign.met == {"a", "b"}
    assert len(told) == 2


def test_strict_numerics_refuse_the_first():
    foreign = Foreign(STRICT, pytest.fail)
    assert not foreign.meets(fingerprint())
    with pytest.raises(UserError, match="numerics=warn accepts that"):
        foreign.meets("a")


def test_a_journal_tells_of_others_by_any_of_its_heads():
    own = {"numerics_fingerprint": fingerprint()}
    check_heads(STRICT, [own, {}, {**own, "foreign_fingerprints": []}], pytest.fail)
    for other in ({"numerics_fingerprint": "a"}, {**own, "foreign_fingerprints": ["a"]}):
        told = []
        check_heads(WARN, [own, other], told.append, "the other run")
        assert len(told) == 1
        assert "chunks of the other run come from a machine" in told[0]
        with pytest.raises(UserError, match="finish it on that kind of machine"):
            check_heads(STRICT, [own, other], pytest.fail)
