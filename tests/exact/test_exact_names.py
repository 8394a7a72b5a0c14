"""`tcdp_sim.exact` hands out its names when they are used; each has one home."""

import tcdp_sim.exact as exact


def test_every_public_name_has_one_home_and_is_what_its_home_defines():
    homes = [name for names in exact._HOMES.values() for name in names.split()]
    assert sorted(homes) == sorted(exact.__all__)
    for module, names in exact._HOMES.items():
        for name in names.split():
            assert getattr(exact, name).__module__ == module
