"""A table that is read some rows at a time says what it says as a whole."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from tcdp_sim import results
from tcdp_sim.core import registry
from tcdp_sim.results import published
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
    blocks = list(results.cell_blocks(results.open_cells(folder, compute_later=False)))
    assert [block.sizes["cell"] for block in blocks] == [rows] * (CELLS // rows) + [CELLS % rows] * (CELLS % rows > 0)
    places = [(block, i) for block in blocks for i in range(block.sizes["cell"])]
    for place, (block, i) in enumerate(places):
        assert block["id"].values[i] == whole["id"].values[place]
        own, there = (results.cell_mechanism(flat, at) for flat, at in ((block, i), (whole, place)))
        np.testing.assert_array_equal(own.counts, there.counts)
        assert (own.noise, own.bins) == (there.noise, there.bins)
        for name in observables(map(str, whole.data_vars)):
            pairs = zip(results.cell_histogram(block, i, name), results.cell_histogram(whole, place, name))
            assert all(np.array_equal(a, b) for a, b in pairs)
    sizes = {name: sum(block.sizes[whole[histogram(name)[0]].dims[0]] for block in blocks) for name in ("linf_error",)}
    assert sizes["linf_error"] == whole.sizes["linf_error_entry"]


@pytest.mark.few(1)
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
    assert {"id", "k", "noise", "trials"} <= held
    assert not [name for name in held if "histogram_count" in name or "histogram_key" in name or name == "law"]


def test_a_table_of_many_blocks_is_in_memory_once():
    parts = (pd.DataFrame(np.full((4096, 30), float(i))).assign(text=f"block {i}") for i in range(20))
    tracemalloc.start()
    try:
        table = published._joined_table(parts)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.2 * table.memory_usage(deep=False).sum()
    assert table.loc[[4095, 4096], 0].tolist() == [0.0, 1.0]
    assert list(table.index[-1:]) == [20 * 4096 - 1]
    assert table["text"].nunique() == 20
