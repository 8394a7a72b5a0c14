"""A table that is read some rows at a time says what it says as a whole."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from tcdp_sim import results
from tcdp_sim.core import registry
from tcdp_sim.results import published
from tcdp_sim.results.cells import cell_histogram, cell_mechanism
from tcdp_sim.results.open import cell_blocks
from tcdp_sim.store.columns import histogram, observables
from tcdp_sim.store.exact_values import known_exactly

CELLS = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run whose cells differ in their data, their noise and what is known of them."""
    from tcdp_sim.engine.run import execute, prepare
    from tcdp_sim.study.compose import composed
    from tcdp_sim.study.settings import settings

    sweep = {"rho": 0.1, "omega_sqrt_rho": None, "data": ["one_bin", "zipf"], "k": [30, 1000, 1e6]}
    sweep |= {"noise": ["laplace", "gaussian"]}
    keys = {"sweep": sweep, "trials": 400, "chunk": 200, "also": None, "cluster": "serial", "data": "zipf"}
    place = {"results_dir": str(tmp_path_factory.mktemp("runs")), "name": "histogram"}
    checked = settings(composed({"experiment": "histogram", **keys, **place}))
    execute(prepare(checked), lambda line: None, known_exactly("histogram"))
    return checked.folder


def same(found, expected):
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


@pytest.fixture(params=[1, 5, 12])
def rows(request, monkeypatch):
    monkeypatch.setattr("tcdp_sim.results.open.ROWS", request.param)
    return request.param


def test_blocks_hold_what_the_table_holds(folder, rows):
    whole = results.open_cells(folder).load()
    blocks = list(cell_blocks(results.open_cells(folder, compute_later=False)))
    assert [block.sizes["cell"] for block in blocks] == [rows] * (CELLS // rows) + [CELLS % rows] * (CELLS % rows > 0)
    places = [(block, i) for block in blocks for i in range(block.sizes["cell"])]
    for place, (block, i) in enumerate(places):
        assert block["id"].values[i] == whole["id"].values[place]
        own, there = (cell_mechanism(flat, at) for flat, at in ((block, i), (whole, place)))
        np.testing.assert_array_equal(own.counts, there.counts)
        assert (own.noise, own.bins) == (there.noise, there.bins)
        for name in observables(map(str, whole.data_vars)):
            pairs = zip(cell_histogram(block, i, name), cell_histogram(whole, place, name))
            assert all(np.array_equal(a, b) for a, b in pairs)
    sizes = {name: sum(block.sizes[whole[histogram(name)[0]].dims[0]] for block in blocks) for name in ("linf_error",)}
    assert sizes["linf_error"] == whole.sizes["linf_error_entry"]


def test_what_is_made_of_blocks_is_made_of_the_table(folder, rows):
    whole = results.open_cells(folder).load()
    module = registry.experiment("histogram")
    found = published.read(folder).table
    same(found, published.table(module, whole)[list(found)])  # columns that a later block brings come last
    same(results.tidy(folder, True), results.tidy(whole, True))
    by_blocks = results.export(folder, folder / "blocks.csv").read_text()
    assert by_blocks == results.tidy(whole).to_csv(index=False)


def test_a_large_run_is_compared_without_its_histograms_in_memory(folder, monkeypatch):
    monkeypatch.setattr("tcdp_sim.results.open.ROWS", 5)
    read = published.read(folder)
    said = []
    assert published.contradicted(read, said.append) == 0
    assert "simulated numbers have an exact one beside them" in said[0]
    held = {str(name) for name, variable in read.cells.variables.items() if variable._in_memory}
    held -= {name for name in held if name in read.cells.coords and read.cells[name].isnull().all()}  # unused axes
    assert all("cell" not in read.cells[name].dims or name.endswith("_bins") for name in held)


def test_a_contradiction_in_a_large_run_names_its_cell(folder, monkeypatch):
    """The columns that tell cells apart are read when there is something to tell."""
    monkeypatch.setattr("tcdp_sim.results.open.ROWS", 5)
    read = published.read(folder)
    read.table.loc[7, "linf_q95_p_value"] = 1e-30
    said = []
    assert published.contradicted(read, said.append) == 1
    assert results.open_cells(folder)["id"].values[7][:16] in said[0]
    pd.testing.assert_series_equal(
        pd.read_csv(folder / "contradictions.csv")["alarm_cell"],
        pd.Series(results.open_cells(folder)["id"].values[[7]], name="alarm_cell", dtype="str"),
    )


def test_the_names_of_data_sets_are_those_of_all_rows(folder, monkeypatch):
    monkeypatch.setattr("tcdp_sim.results.published.ROWS", 5)
    cells = results.open_cells(folder, compute_later=False)
    named = cells.assign_coords(data=("cell", np.array([f"set {i // 4}" for i in range(CELLS)], dtype=object)))
    assert published.chosen_names(named) == {f"set {i // 4}" for i in range(CELLS)}
    assert published.chosen_names(cells) == set(cells["data"].values)
    assert published.chosen_names(cells.drop_vars("data")) == set()


def own(cell):
    """What a row may be made of: the cell's place in the run, its mechanism, its trials."""
    row = cell.only("noise", "k") | {"place": cell.place, "total": cell.total, "bins": cell.mechanism.bins}
    return row | {"records": int(cell.counts.sum()), "relation": cell.neighbours} | cell.noise


def test_the_rows_of_a_cell_are_the_same_by_blocks(folder, rows):
    whole = results.open_cells(folder).load()
    table = published.table(SimpleNamespace(rows=own), whole)
    assert table["place"].tolist() == list(range(CELLS))
    assert set(table["total"]) == {CELLS}
    assert table["k"].tolist() == table["bins"].tolist() == whole["k"].values.tolist()
    assert dict(zip(table["noise"], table["noise_family"])) == {"laplace": "laplace", "gaussian": "gaussian"}
    assert table["records"].tolist() == [cell_mechanism(whole, i).counts.sum() for i in range(CELLS)]
    assert list(table)[-1] == "neighbours"
    assert (table["neighbours"] == whole.attrs["neighbouring_relation"]).all()
    blocks = cell_blocks(results.open_cells(folder, compute_later=False))
    same(published._joined_table(published._tables(SimpleNamespace(rows=own), blocks, CELLS), CELLS), table)


def test_numbers_of_a_cell_are_those_of_the_published_table(folder):
    flat = results.open_cells(folder).load()
    at = flat.sel(quantile=0.95)
    numbers = lambda cell: cell.numbers("linf_error_quantile", "q", 0.95) | cell.numbers("top_stays", "p")  # noqa: E731
    table = published.table(SimpleNamespace(rows=numbers), flat)
    for short, name in (("q", "linf_error_quantile"), ("p", "top_stays")):
        for end in ("", "_mcse", "_lower", "_upper", "_exact"):
            np.testing.assert_array_equal(table[short + end], at[name + end].values)
    absent = published.table(SimpleNamespace(rows=lambda cell: cell.numbers("no_quantile", "x", 0.5)), flat)
    assert absent[["x", "x_exact"]].isna().all(axis=None)


def test_what_is_known_comes_behind_the_rows_and_sees_all_cells(folder):
    flat = results.open_cells(folder).load()
    seen = []

    def known(rows, cells):
        seen.append((len(rows), [cell.place for cell in cells]))
        yield {"k": 0.0, "more": 1}

    module = SimpleNamespace(rows=lambda cell: [{"k": cell["k"]}] * 2, known=known, RELATION="one record")
    table = published.table(module, flat)
    assert seen == [(2 * CELLS, list(range(CELLS)))]
    assert list(table) == ["k", "more", "neighbours"]
    assert table["k"].tolist() == [*np.repeat(flat["k"].values, 2), 0]
    assert set(table["neighbours"]) == {"one record"}
    module.RELATION = None
    assert "neighbours" not in published.table(module, flat)


def test_an_experiment_that_needs_all_cells_is_not_given_some(folder, monkeypatch):
    monkeypatch.setattr("tcdp_sim.results.open.ROWS", 5)
    module = SimpleNamespace(rows=own, known=lambda rows, cells: [{"place": -len(cells)}])
    monkeypatch.setattr(registry, "experiment", lambda name: module)
    assert published.read(folder).table["place"].tolist() == [*range(CELLS), -CELLS]


def test_a_table_of_many_blocks_is_in_memory_once():
    parts = (pd.DataFrame(np.full((4096, 30), float(i))).assign(text=f"block {i}") for i in range(20))
    tracemalloc.start()
    try:
        table = published._joined_table(parts, 20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.2 * table.memory_usage(deep=False).sum()
    assert table.loc[[4095, 4096], 0].tolist() == [0.0, 1.0]
    assert list(table.index[-1:]) == [20 * 4096 - 1]
    assert table["text"].nunique() == 20
