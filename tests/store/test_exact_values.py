"""Exact values in the published table: each beside its estimate, refused ones as NaN, and the code that made them."""

import importlib
import importlib.util
import json
import sys

import numpy as np
import pytest
from scipy import stats

from tcdp_sim import results
from tcdp_sim.core import registry
from tcdp_sim.engine.run import execute, prepare
from tcdp_sim.store import columns, exact_records, exact_values, source
from tcdp_sim.store.exact_values import ExactValues, at_each_level


class Fair:
    """A mechanism that is a number."""

    def __init__(self, value):
        self.value = value


def half(mechanism):
    """Half of it."""
    if mechanism.value < 0:
        raise ValueError("no half of that")
    return mechanism.value / 2


@at_each_level
def power(mechanism, level):
    """A power of it."""
    if level > 0.99:
        raise ValueError("not so far out")
    return abs(mechanism.value) ** level


BESIDE = {"half": {"units": "counts", "long_name": "a half"}}
CELLS = [Fair(4.0), Fair(-1.0), Fair(4.0)]


def tabulated(values, mechanisms):
    return values.tabulate([values.values(one) for one in mechanisms], BESIDE)


def test_a_column_for_each_function_and_nan_where_it_refuses():
    values = ExactValues(
        {"half": half, "x_quantile": power}, {"half": lambda one: one.value + 1}, {"x_quantile": "nats"}
    )
    found = tabulated(values, CELLS)
    assert set(found) == {"half_exact", "x_quantile_exact", "half_bound"}
    np.testing.assert_array_equal(found["half_exact"][1], [2, np.nan, 2])
    np.testing.assert_array_equal(found["half_bound"][1], [5, 0, 5])
    dims, table, about = found["x_quantile_exact"]
    assert (dims, table.shape) == (("cell", "quantile"), (3, len(columns.QUANTILES)))
    np.testing.assert_allclose(table[0], [*4.0 ** columns.QUANTILES[:-1], np.nan])
    assert about == {"units": "nats", "long_name": "A power of it: exact value"}
    assert found["half_exact"][2] == {"units": "counts", "long_name": "a half: exact value"}


def test_what_is_nowhere_known_has_no_column():
    assert not tabulated(ExactValues({"half": half}), CELLS[1:2])


def test_other_errors_than_refusals_are_not_hidden():
    with pytest.raises(ZeroDivisionError):
        ExactValues({"half": lambda one: 1 / 0}).values(CELLS[0])


def module(path, source):
    """A module read from a file, as an experiment is."""
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    sys.modules[path.stem] = found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_digest_is_of_the_source_that_defines_the_functions(tmp_path):
    source = "def f(m):\n    return {}\nEXACT = {{'x': f}}\n"
    first = exact_values.of_experiment(module(tmp_path / "one_experiment.py", source.format(1)))
    same = exact_values.of_experiment(module(tmp_path / "one_experiment.py", source.format(1))).code
    digest = first.code
    assert digest == same
    importlib.invalidate_caches()
    other = tmp_path / "other"
    other.mkdir()
    assert exact_values.of_experiment(module(other / "one_experiment.py", source.format(2))).code != digest
    assert ExactValues().code == ""


SMALL = ("experiment=histogram", "trials=1000", "chunk=1000", "sweep.k=[10,100]", "sweep.rho=0.1", "also=null")
SMALL += ("sweep.noise=[gaussian,laplace]", "sweep.omega_sqrt_rho=null", "cluster=serial")


def test_what_is_published_is_what_closed_forms_say(command, tmp_path):
    """The largest of k Gaussian or Laplace errors, by scipy: quantiles, and how often they are above the bounds."""
    assert command(*SMALL)[0] == 0
    flat = results.open_cells(tmp_path / "results" / "histogram").load()
    laws = {"gaussian": stats.norm(scale=np.sqrt(10)), "laplace": stats.laplace(scale=2 / np.sqrt(0.2))}
    for i in range(flat.sizes["cell"]):
        cell = flat.isel(cell=i)
        law, k = laws[str(cell["noise"].values)], float(cell["k"])
        below = -np.expm1(np.log(columns.QUANTILES) / k)
        np.testing.assert_allclose(cell["linf_error_quantile_exact"], law.isf(below / 2), rtol=1e-9)
        assert (cell["linf_error_quantile_exact"] <= cell["linf_error_quantile_bound"]).all()
        missed = -np.expm1(k * np.log1p(-2 * law.sf(float(cell["linf_error_bound"]))))
        assert float(cell["linf_error_exceeds_bound_exact"]) == pytest.approx(missed, rel=1e-9)
        assert float(cell["linf_error_exceeds_bound_bound"]) == 0.05
    printed = flat["linf_error_exceeds_printed_exact"].values
    np.testing.assert_array_equal(np.isnan(printed), flat["noise"].values == "laplace")
    assert flat["linf_error_quantile_exact"].attrs["units"] == "counts"


def test_the_snapshot_says_which_code_made_its_exact_values_and_what_noises_are_called(command, tmp_path):
    from tcdp_sim.experiments import histogram

    assert command(*SMALL)[0] == 0
    attributes = results.open_cells(tmp_path / "results" / "histogram").attrs
    assert attributes["exact_code"] == exact_values.of_experiment(histogram).code != ""
    assert json.loads(attributes["noises"])["laplace"]["label"] == "Laplace (pure DP)"


def test_a_changed_exact_function_publishes_anew(command, tmp_path, monkeypatch):
    """The journal stays as it is; the snapshot is another, with the new value."""
    from tcdp_sim.experiments import histogram

    assert command(*SMALL)[0] == 0
    folder = tmp_path / "results" / "histogram"
    before, records = (folder / "results.zarr").resolve(), sorted((folder / "journal").iterdir())
    monkeypatch.setitem(histogram.EXACT, "top_stays", half_of_top)
    (folder / "finished.json").unlink()  # the code on the disk is still that of the run
    code, out, _ = command(*SMALL)
    assert (folder / "results.zarr").resolve() != before
    assert sorted((folder / "journal").iterdir()) == records
    assert (results.open_cells(folder)["top_stays_exact"] == 0.125).all()
    assert code == 3  # which is a contradiction, and is said
    assert "CONTRADICTION" in out


def half_of_top(mechanism):
    """A value that is wrong."""
    return 0.125


def test_the_engine_publishes_without_any(tmp_path, monkeypatch):
    from tcdp_sim.cli import overrides
    from tcdp_sim.study.more_trials import with_trials
    from tcdp_sim.study.settings import settings

    monkeypatch.chdir(tmp_path)
    (raw,) = overrides.configs(SMALL)
    study = prepare(settings(with_trials(raw)))
    assert execute(study, lambda line: None) == 0
    flat = results.open_cells(study.folder)
    assert flat.attrs["exact_code"] == ""
    assert not [name for name in flat if name.endswith(columns.EXACT)]


def test_values_of_another_machine_are_not_taken_for_this_one_s(tmp_path, monkeypatch):
    """Elementary functions may differ in the last bits: what a folder brought along is kept beside, and not read."""
    cell, values = "ab" * 32, ExactValues({"half": half})

    def kept():
        return exact_records.ExactRecords(tmp_path, values)

    with kept().writer() as append:
        append(cell, np.array([0.5], "<f8").tobytes())
    assert kept().has(cell)
    monkeypatch.setattr("tcdp_sim.store.memories.fingerprint", lambda: "of another machine")
    assert not kept().has(cell)


def test_kept_values_are_of_all_files_of_the_package_that_defines_them(tmp_path, monkeypatch):
    """A helper that is edited while the version stays makes other values."""
    package = tmp_path / "helped"
    package.mkdir()
    (package / "helper.py").write_text("def g(m):\n    return 1\n")
    (package / "value.py").write_text("from helped.helper import g\n\n\ndef f(m):\n    return g(m)\n")
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    values = ExactValues({"x": importlib.import_module("helped.value").f})
    before = exact_records.digest(values)
    assert exact_records.digest(values) == before
    (package / "helper.py").write_text("def g(m):\n    return 2\n")
    assert exact_records.digest(values) != before


def test_kept_values_are_of_the_plug_ins_in_use_and_of_no_other(tmp_path, monkeypatch):
    """Another plug-in that is installed, edited or removed changes nothing."""
    for name in ("used", "unused"):
        (tmp_path / f"{name}_package.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "packages_of", lambda name: [f"{name}_package"])
    monkeypatch.setattr(source, "plug_ins", source.plug_ins.__wrapped__)
    values = ExactValues({"half": half})
    before = exact_records.digest(values, ("used",))
    (tmp_path / "unused_package.py").write_text("x = 2\n")
    assert exact_records.digest(values, ("used",)) == before
    (tmp_path / "used_package.py").write_text("x = 2\n")
    assert exact_records.digest(values, ("used",)) != before
    assert exact_records.digest(values) != before
