"""Old names of things warn, and give the thing itself."""

import math

import pytest

from tcdp_sim.core.renamed import renamed

OLD = renamed("a.module", {"square_root": "math.sqrt"})


def test_an_old_name_gives_the_new_thing_and_warns():
    with pytest.warns(DeprecationWarning, match=r"^a\.module\.square_root is now math\.sqrt$"):
        assert OLD("square_root") is math.sqrt


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'a\.module' has no attribute 'cube_root'"):
        OLD("cube_root")
