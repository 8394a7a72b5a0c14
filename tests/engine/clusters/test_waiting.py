"""A line once somebody has to wait, and none before."""

import threading

from tcdp_sim.engine.clusters import waiting


def test_who_waits_is_told_and_who_does_not_is_not(monkeypatch):
    said, heard = [], threading.Event()
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    with waiting.announced(lambda text: (said.append(text), heard.set()), "wait"):
        assert heard.wait(60)
    assert said == ["wait"]
    monkeypatch.setattr(waiting, "PATIENCE", 3600.0)
    before = threading.active_count()
    with waiting.announced(said.append, "no"):
        assert threading.active_count() == before + 1
    assert said == ["wait"]
