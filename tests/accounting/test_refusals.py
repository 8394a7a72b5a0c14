"""Refused ledgers and questions: each message names the value and what is valid."""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tcdp_sim import accounting
from tcdp_sim.accounting import (
    Additive,
    BoundedRange,
    BoundedRangePair,
    Claimed,
    Distributions,
    Ledger,
    PermuteAndFlip,
    RandomisedResponse,
    Sampled,
    Thresholded,
)
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.privacy import MeanConcentratedDP

ONE = Additive(Gaussian(1.0))
LATTICE = LatticeNoise(0.0, (0.0, -1.0), 1.0)
REFUSED = [
    *[(lambda value=value: RandomisedResponse(value), "epsilon") for value in (0.0, -1.0, np.nan, np.inf, "1")],
    *[(lambda value=value: RandomisedResponse(1.0, value), "k = ") for value in (1, 2.5, np.inf)],
    *[(lambda value=value: BoundedRange(value), "epsilon") for value in (0.0, np.nan, np.inf, 301.0)],
    *[(lambda value=value: BoundedRangePair(1.0, value), "t = ") for value in (0.0, 1.0, np.nan)],
    (lambda: PermuteAndFlip(-1.0), "epsilon"),
    *[
        (lambda value=value: Additive(Gaussian(1.0), value), "sensitivity")
        for value in (0.0, -1.0, 1e101, np.nan, np.inf)
    ],
    (lambda: Additive(SinhNormal(2.0, 1.0)), "log-concave"),
    (lambda: Additive(Gaussian(np.array([1.0, 2.0]))), "array-valued"),
    (lambda: Additive("gaussian"), "valid: a noise"),
    (lambda: Additive(LATTICE, 0.5), "multiples of its step"),
    *[(lambda value=value: Sampled(ONE, value), "sampling_probability") for value in (-0.1, 1.5, np.nan)],
    (lambda: Sampled(ONE, 0.1, "bernoulli"), "scheme"),
    (lambda: Sampled(RandomisedResponse(1.0), 0.1), "valid: Additive"),
    (lambda: Distributions([0.5, 0.6], [0.5, 0.5]), "p sums to 1.1"),
    (lambda: Distributions([0.5, 0.5], [0.5, 0.5 + 1e-11]), "q sums to"),
    (lambda: Distributions([1.5, -0.5], [0.5, 0.5]), "p = "),
    (lambda: Distributions([1.0], [0.5, 0.5]), "as many as p"),
    (lambda: Thresholded(Laplace(1.0), 1.0), "threshold"),
    (lambda: Thresholded(Laplace(1.0), 9.0, "=>"), "comparison"),
    (lambda: Thresholded(Laplace(1.0), 9.0, least_records=9), "threshold"),
    (lambda: Thresholded(Laplace(1.0), 9.0, least_records=0), "least_records"),
    *[(lambda value=value: Thresholded(Laplace(1.0), 9.0, keys=value), "keys") for value in (0, 1.5, 256)],
    (lambda: Claimed(MeanConcentratedDP(1.0, 1.0)), "valid: PureDP"),
    (lambda: Claimed(0.1), "valid: PureDP"),
    (lambda: Ledger([ONE], "bounded"), "relation"),
    (lambda: Ledger([0.3]), "no entry of a ledger"),
    (lambda: Ledger(ONE), "valid: a list"),
    *[(lambda value=value: Ledger([(ONE, value)]), "times = ") for value in (0, 1.5, -3, 10**8, np.nan, True)],
    (lambda: Ledger([(ONE, 9 * 10**6), (RandomisedResponse(1.0), 2 * 10**6)]), "at most 10000000"),
    (lambda: Ledger([Sampled(ONE, 0.1)]), "relation = None"),
    (lambda: Ledger([Sampled(ONE, 0.1)], "substitute"), "valid: relation = 'add_remove'"),
    (lambda: Ledger([Sampled(ONE, 0.1, "without_replacement")], "add_remove"), "valid: relation = 'substitute'"),
    (lambda: Ledger([Distributions([0.5, 0.5], [0.4, 0.6])]), "relation = None"),
    (lambda: Ledger([Thresholded(Laplace(1.0), 9.0)]), "relation = None"),
    (lambda: Ledger([ONE], "add_remove") + Ledger([ONE], "substitute"), "one relation"),
    (lambda: Ledger([ONE]).times(0), "times = 0"),
    (lambda: Ledger([ONE]).times(10**7).times(2), "at most 10000000"),
    *[(lambda value=value: Ledger([ONE]).epsilon(value), "delta") for value in (-1e-9, 1.1, np.nan, "x", [0.1, 0.2])],
    *[(lambda value=value: Ledger([ONE]).delta(value), "epsilon") for value in (-0.1, np.inf, np.nan)],
    *[(lambda value=value: Ledger([ONE]).epsilon(0.1, value), "tolerance") for value in (0.0, -1.0, np.nan)],
    *[(lambda value=value: Ledger([ONE]).tradeoff(value), "alpha") for value in (-0.1, 1.1, np.nan)],
    *[(lambda value=value: Ledger([ONE]).attack(value), "prior") for value in (0.0, 1.0, np.nan)],
    *[(lambda value=value: Ledger([ONE]).posterior(0.5, value), "failure") for value in (0.0, 1.0, np.nan)],
    *[(lambda value=value: Ledger([ONE]).reconstruction(value), "candidates") for value in (0.5, np.inf, np.nan)],
    *[(lambda value=value: Ledger([ONE]).renyi(value), "order") for value in (0.5, np.nan)],
]


@pytest.mark.parametrize(("refused", "words"), REFUSED)
def test_a_mistake_is_one_line_with_what_is_valid(refused, words):
    with pytest.raises(ValueError, match=re.escape(words).replace(r"10000000", "10[,0]*")) as error:
        refused()
    assert "\n" not in str(error.value)


def test_a_ledger_is_frozen_and_hashable():
    ledger = Ledger([ONE])
    with pytest.raises(AttributeError):
        ledger.relation = "substitute"
    assert hash(ledger) == hash(Ledger([ONE]))


def test_a_ledger_prints_as_a_table():
    ledger = Ledger([(ONE, 3), RandomisedResponse(0.5)], "add_remove")
    lines = repr(ledger).splitlines()
    assert lines[0].split()[:2] == ["release", "times"]
    assert lines[1].startswith("Additive(Gaussian(1))")
    assert float(lines[1].split()[-1].rstrip("%")) == pytest.approx(93.75, abs=0.11)  # 3.75 of 4 in squares
    assert lines[-1].startswith("4 releases: (")
    page = ledger._repr_html_()
    assert page.count("<tr>") == 3
    assert "RandomisedResponse" in page
    assert repr(Ledger()) == "Ledger([], relation=None)"
    printed = float(lines[2].split()[-2])
    assert printed >= Ledger([RandomisedResponse(0.5)]).epsilon(1e-6).upper * (1 - 1e-15)


def imported_by(statement):
    """Return the modules that a statement imports beyond numpy and scipy.special, in a fresh interpreter."""
    code = (
        f"import sys, numpy, scipy.special; before = {{*sys.modules}}; {statement}; print(*{{*sys.modules}} - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {*done.stdout.split()}


def test_importing_accounting_loads_none_of_its_modules():
    new = imported_by("import tcdp_sim.accounting")
    assert new == {"tcdp_sim", "tcdp_sim.accounting", "tcdp_sim.core", "tcdp_sim.core.version"}


def test_a_ledger_loads_no_library_for_runs_and_figures_and_nothing_more_of_scipy():
    names = "from tcdp_sim.accounting import Additive, Ledger; from tcdp_sim.noise import Gaussian"
    new = imported_by(f"{names}; Ledger([Additive(Gaussian(1.0))])")
    assert not {"dask", "zarr", "matplotlib", "pandas", "distributed", "xarray", "html", "importlib.metadata"} & new
    assert not [name for name in new if name.startswith("scipy.")]  # numpy and scipy.special suffice
    assert not {"tcdp_sim.noise.sinh_squared", "tcdp_sim.accounting.filters", "tcdp_sim.accounting.planning"} & new
    assert len([name for name in new if name.startswith("tcdp_sim.")]) < 100


@pytest.mark.parametrize("name", accounting.__all__)
def test_a_public_name_is_no_module_even_after_its_home_is_imported(name):
    """A module of the same name would take its place in the package once it is imported."""
    assert not isinstance(getattr(accounting, name), ModuleType)
    assert not (Path(accounting.__file__).parent / f"{name}.py").exists()
