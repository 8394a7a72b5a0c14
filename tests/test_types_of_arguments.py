"""Every public function with every type that its docstring names: it answers, or refuses in one line.

The calls are those of the examples in the docstrings, in which one argument is replaced by examples of its type, with
guarantees at the ends of their ranges and every family of noise.
"""

import inspect
import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from noise_examples import TABLE
from public_names import members
from stated_ranges import typed_parameters
from test_guarantees_in_arguments import ast_call
from test_ranges_of_numbers import LISTS, ROOMS, call, faults

from tcdp_sim.accounting import CountReleases
from tcdp_sim.calibration import calibrate, calibrate_smooth
from tcdp_sim.candidates import NegativeBinomialTries, PoissonTries
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, StudentT
from tcdp_sim.per_record import AdditiveRelease
from tcdp_sim.privacy import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxTCDP,
    ApproxZCDP,
    MeanConcentratedDP,
    PerRecordDP,
    PerRecordTCDP,
    PerRecordZCDP,
    PureDP,
    RenyiBound,
)

LEAST, LARGE, JUST_ABOVE_1 = 5e-324, 1e300, math.nextafter(1.0, 2.0)
GUARANTEES = (
    *(PureDP(epsilon) for epsilon in (0.0, LEAST, 0.5, LARGE)),
    *(ApproxDP(epsilon, delta) for epsilon in (0.0, 0.5, LARGE) for delta in (LEAST, 1e-6, 1.0)),
    *(ZCDP(rho) for rho in (LEAST, 0.1, LARGE)),
    ZCDP(0.1, 0.0),
    ZCDP(0.1, 2.0),
    *(ApproxZCDP(delta, rho) for delta in (0.0, 1e-7, 1.0) for rho in (0.0, 0.1, LARGE)),
    *(TCDP(rho, omega) for rho in (LEAST, 0.1, LARGE) for omega in (JUST_ABOVE_1, 5.0, LARGE, math.inf)),
    *(ApproxTCDP(delta, 0.1, omega) for delta in (0.0, 1e-7, 1.0) for omega in (JUST_ABOVE_1, 5.0, math.inf)),
    *(RDP(order, epsilon) for order in (JUST_ABOVE_1, 5.0, LARGE, math.inf) for epsilon in (0.0, 0.1, LARGE)),
    *(MeanConcentratedDP(mu, tau) for mu in (0.0, 0.1, LARGE) for tau in (LEAST, 0.1, LARGE)),
)
BOUNDS = (
    RenyiBound(lambda order: 0.1 * order),
    RenyiBound(lambda order: 0.1 * order, JUST_ABOVE_1),
    RenyiBound(lambda order: 0.0),
    RenyiBound(lambda order: math.inf if order > 2 else 0.1),
)
VALUES: dict[str, tuple[Any, ...]] = {  # a word of a type -> examples
    "Additive": tuple(item for (item, *_) in LISTS[2:6]),
    "CountReleases": (CountReleases([4.0]), CountReleases([1e-9, 1e9], "add_remove")),
    "Gaussian": (Gaussian(1e-3), Gaussian(1e3)),
    "Guarantee": GUARANTEES,
    "Noise": tuple(entry.noises[0] for entry in TABLE.values()),
    "RenyiBound": BOUNDS,
    "Tries": (PoissonTries(1.0), NegativeBinomialTries(1.0, 0.1), NegativeBinomialTries(0.0, 0.5)),
    "PerRecordDP": (PerRecordDP(lambda t: 0.1 * t), PerRecordZCDP(lambda t: t), PerRecordTCDP(lambda t: 0.0, 3.0)),
}
OF_RECORDS = tuple(map(AdditiveRelease, (Gaussian(1.0), Laplace(1.0), SinhNormal(2.0, 5.0), StudentT(1.0, 3.0))))
OF_LEDGERS = tuple(item[0] if isinstance(item, tuple) else item for releases in LISTS for item in releases)
RELEASES = {"exact": OF_RECORDS, "accounting": OF_LEDGERS}


def cases() -> Iterator[Any]:
    for room in ROOMS:
        for name, thing in members(room):
            if inspect.isclass(thing) and not ast_call(thing, name):
                continue
            for argument, kind in typed_parameters(thing):
                words = kind.replace(",", " ").split()
                values = [value for word in words for value in VALUES.get(word, ())]
                values += RELEASES[room] if "Release" in words else []
                if values:
                    marks = [pytest.mark.slow] * (name == "amplify")  # half a minute, the others less than a second
                    yield pytest.param(thing, name, argument, values, id=f"{room}.{name}-{argument}", marks=marks)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("thing", "name", "argument", "values"), list(cases()))
def test_each_type_is_answered_or_refused_in_one_line(thing, name, argument, values):
    assert faults(partial(call, thing, name, argument), values) == []


@pytest.mark.parametrize("family", TABLE)
def test_every_family_is_calibrated_to_every_guarantee_or_refuses_in_one_line(family):
    assert faults(partial(calibrate, family, method="paper"), GUARANTEES) == []
    assert faults(partial(calibrate_smooth, family, smoothing=0.5, method="paper"), GUARANTEES) == []


@pytest.mark.slow
@pytest.mark.parametrize("family", TABLE)
def test_every_family_is_calibrated_tightly_or_refuses_in_one_line(family):
    assert faults(partial(calibrate, family), GUARANTEES) == []
    assert faults(partial(calibrate_smooth, family, smoothing=0.5), GUARANTEES) == []


def test_there_are_many_of_them():
    assert len(list(cases())) > 60
