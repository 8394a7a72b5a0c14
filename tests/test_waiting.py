"""A line once somebody has to wait, and none before."""

import threading

from tcdp_sim.core.waiting import announced


def test_who_waits_is_told_and_who_does_not_is_not():
    said, heard = [], threading.Event()
    with announced(lambda text: (said.append(text), heard.set()), "wait", 0.0):
        assert heard.wait(60)
    assert said == ["wait"]
    before = threading.active_count()
    with announced(said.append, "no", 3600.0):
        assert threading.active_count() == before + 1
    assert said == ["wait"]
