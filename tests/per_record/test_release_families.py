"""Families of releases: one class is a family, from the sweep to the plain data on a worker."""

import json
from dataclasses import dataclass

import pytest

from tcdp_sim import calibration, per_record
from tcdp_sim.core.axes import Axis
from tcdp_sim.mechanisms import record_axes
from tcdp_sim.mechanisms.per_record_sum import PerRecordSum
from tcdp_sim.noise import Gaussian
from tcdp_sim.per_record import FORMS, RELEASE_FAMILIES, AdditiveRelease, BoundedLossFamily, Release, ReleaseFamily
from tcdp_sim.per_record.families import Shapes

GIVEN = {"power": 0.5, "rate": 2.0, "offset": 3.0, "degree": 5.0, "clip": 7.0, "threshold": 4.0}


def given(family):
    values = GIVEN | ({"power": 2.0} if family.name == "exponential_polylogarithmic" else {})
    return {axis.name: values[axis.name] for axis in family.parameters if axis.name in (*family.required, family.shape)}


@pytest.mark.parametrize("family", RELEASE_FAMILIES.values(), ids=lambda family: family.name)
def test_a_family_declares_what_its_releases_are_made_of(family):
    names = [axis.name for axis in family.parameters]
    assert set(family.required) <= set(names)
    assert family.shape in (*names, "")
    assert set(names) == {*family.required, *family.optional(), *([family.shape] if family.shape else [])}
    assert set(names) <= set(PerRecordSum.axes)
    release = family.release(2.0, **family.defaults() | given(family))
    data = json.loads(json.dumps(release.as_data()))
    assert FORMS[data.pop("form")].of_data(data) == release


@pytest.mark.parametrize(
    "family", [each for each in RELEASE_FAMILIES.values() if issubclass(each, BoundedLossFamily)], ids=lambda f: f.name
)
def test_the_reach_of_a_loss_is_where_the_noise_has_it(family):
    """The noise's own largest loss is the oracle: the reach is its inverse, for a scale of 1 and others."""
    for scale in (1.0, 30.0):
        parameters = family.defaults() | given(family)
        release = family.release(scale, **parameters)
        for loss in (0.01, 1.0, 12.0):
            assert release.pure_policy(scale * family.reach(loss, parameters)) == pytest.approx(loss, rel=1e-11)


def test_one_class_is_a_family_of_releases(monkeypatch):
    """A Gaussian whose scale is given in units of a public tick: with an axis and a shape of its own."""

    @dataclass(frozen=True)
    class Ticked(AdditiveRelease):
        """A plain release under a form of its own."""

        form = "ticked"

        def as_data(self):
            return {"form": "ticked", "scale": self.noise.scale}

        @classmethod
        def of_data(cls, data):
            return cls(Gaussian(data["scale"]))

    class TickedGaussian(ReleaseFamily):
        """The family of that release."""

        name = "ticked"
        parameters = (Axis("tick", "unit of the scale", "counts", "above 0"),)
        required = ("tick",)

        @classmethod
        def release(cls, scale, **parameters):
            return Ticked(Gaussian(scale * parameters["tick"]))

    monkeypatch.setitem(per_record.RELEASE_FAMILIES, "ticked", TickedGaussian)
    monkeypatch.setitem(per_record.FORMS, "ticked", Ticked)
    assert "tick" in [axis.name for axis in record_axes._parameter_axes()]
    direct = record_axes.release_law({"release": "ticked", "scale": 2.0, "tick": 3.0})
    assert direct == {"form": "ticked", "scale": 6.0}
    assert record_axes.built_release(direct) == Ticked(Gaussian(6.0))
    for accounting in ("printed", "zcdp", "approx_dp"):
        found = calibration.calibrate_records("ticked", ((100.0, 0.5),), accounting, tick=3.0).release
        plain = calibration.calibrate_records("gaussian", ((100.0, 0.5),), accounting).release
        assert isinstance(found, Release)
        assert found.noise.scale == pytest.approx(plain.noise.scale, rel=1e-12)
    with pytest.raises(ValueError, match="tick is missing for ticked"):
        calibration.calibrate_records("ticked", ((100.0, 0.5),))
    with pytest.raises(ValueError, match="release ticked with scale needs tick"):
        record_axes.release_law({"release": "ticked", "scale": 2.0})


def test_a_shape_without_a_range_is_said_to_lack_it():
    class Shapeless(ReleaseFamily):
        """A family that has forgotten its range."""

        name, shape = "shapeless", "tilt"

        @classmethod
        def release(cls, scale, **parameters):
            return AdditiveRelease(Gaussian(scale))

    with pytest.raises(ValueError, match="release shapeless has a shape but no range for it"):
        Shapeless.shapes({}, 1.0, 1.0)


def test_places_and_shapes_are_each_others_inverse():
    shapes = Shapes(1.5, 40.0, 2.0, base=1.0)
    low, high = shapes.range()
    assert (shapes.at(low), shapes.at(high), shapes.at(low - 1), shapes.at(high + 1)) == (1.5, 40.0, 1.5, 40.0)
    for shape in (1.6, 2.0, 39.0):
        assert shapes.at(shapes.place(shape)) == pytest.approx(shape, rel=1e-14)
