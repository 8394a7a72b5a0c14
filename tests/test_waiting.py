"""A line once somebody has to wait, and none before."""

import re
import threading

from tcdp_sim.core.waiting import announced, repeated


def test_who_waits_is_told_and_who_does_not_is_not():
    said, heard = [], threading.Event()
    with announced(lambda text: (said.append(text), heard.set()), "wait", 0.0):
        assert heard.wait(60)
    assert said == ["wait"]
    before = threading.active_count()
    with announced(said.append, "no", 3600.0):
        assert threading.active_count() == before + 1
    assert said == ["wait"]


def test_a_long_step_is_named_again_and_again():
    said, heard = [], threading.Event()

    def tell(line):
        said.append(line)
        if len(said) == 3:
            heard.set()

    with repeated(tell, "run: drawing", 0.01, 0.01):
        assert heard.wait(60)
    assert said[0] == "run: drawing ..."
    assert all(re.fullmatch(r"run: drawing \.\.\. \d+ s so far", line) for line in said[1:])
    count = len(said)
    with repeated(tell, "run: drawing", 600):
        pass
    assert len(said) == count
