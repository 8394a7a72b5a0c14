"""Calibrated noises are kept in a run's folder; stale and damaged ones are searched for again."""

import json

import pytest

from tcdp_sim.core import registry
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.kept_noises import keeping
from tcdp_sim.store import calibrations, digests
from tcdp_sim.study.groups import named

ONE = ("sweep.k=10", "sweep.noise=[gaussian,sinh_normal_tight]", "sweep.omega_sqrt_rho=1")
SPEC = named("noise", "sinh_normal_tight")
POINT = {"rho": 0.1, "omega": 4.0}


@pytest.fixture
def searched(monkeypatch):
    """The calls of the search for a noise, which has no memory of its own here."""
    calls = []
    search = noise_axes._noise_for.__wrapped__
    monkeypatch.setattr(noise_axes, "_noise_for", lambda *given: calls.append(given) or search(*given))
    return calls


def tight(calls):
    return [given for given in calls if given[2] == "tight"]


def test_the_same_command_searches_once(tiny, folder, searched):
    assert tiny(*ONE)[0] == 0
    assert len(tight(searched)) == 1
    before, certified = (folder / calibrations.NAME).read_bytes(), (folder / "certificate.json").read_bytes()
    published = (folder / "published.json").read_bytes()
    del searched[:]
    code, out, err = tiny(*ONE)
    assert (code, err, tight(searched)) == (0, "", [])
    assert (folder / "published.json").read_bytes() == published
    assert "nothing to simulate" in out
    assert (folder / calibrations.NAME).read_bytes() == before
    assert (folder / "certificate.json").read_bytes() == certified
    path = folder / calibrations.NAME
    path.write_bytes(before.replace(b"sinh", b"sinj", 1))
    code, out, _ = tiny(*ONE)
    assert (code, len(tight(searched))) == (0, 1)
    assert f"{calibrations.NAME} is damaged: its noises are calibrated again" in out
    assert path.read_bytes() == before


def law(known, **point):
    with keeping(known) as used:
        return noise_axes.noise_law(SPEC, POINT | point, coordinates=2, k=10), used


def test_a_kept_noise_is_the_noise_that_was_found(searched):
    first, used = law({})
    again, same = law(json.loads(json.dumps(used, sort_keys=True)))
    assert (again, same, len(searched)) == (first, used, 1)
    assert json.dumps(again) == json.dumps(first)  # in the same order too, which digests of cells depend on


@pytest.mark.parametrize("change", [{"rho": 0.2}, {"omega": 5.0}])
def test_another_target_is_searched_for(searched, change):
    _, used = law({})
    law(used, **change)
    assert len(searched) == 2


@pytest.mark.parametrize(
    "parameters", [{}, {"scale": 1.0}, {"scale": -1.0, "knee": 1.0}, {"scale": "x", "knee": 1.0}, {"a": 1.0}]
)
def test_parameters_that_no_noise_has_are_searched_for(searched, parameters):
    first, used = law({})
    (name,) = used
    assert law({name: parameters})[0] == first
    assert len(searched) == 2


def test_a_noise_of_a_plug_in_is_not_kept(monkeypatch):
    assert law({})[1]
    monkeypatch.setattr(registry, "plug_ins", lambda kind: {"sinh_normal": None})
    assert law({})[1] == {}


KEPT = {"a": {"scale": 2.5, "weights": [0.25, 0.75], "steps": 3}}


def test_what_is_kept_is_read_again(tmp_path):
    assert calibrations.read(tmp_path) == {}
    assert calibrations.keep(tmp_path, KEPT) == ""
    assert calibrations.read(tmp_path) == KEPT


@pytest.mark.parametrize("noises", [3, {"a": 3}, {"a": {"b": "c"}}, {"a": {"b": [[1]]}}, {"a": {"b": True}}])
def test_what_is_no_noise_is_not_read(tmp_path, noises):
    calibrations.keep(tmp_path, KEPT)
    known = json.loads((tmp_path / calibrations.NAME).read_text())
    digests.write_sealed(tmp_path / calibrations.NAME, {"of": known["of"], "noises": noises})
    assert calibrations.read(tmp_path) == {}
