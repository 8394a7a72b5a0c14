"""A table that is written block by block holds what xarray writes of it in one go."""

import errno
import gc
import warnings
import weakref

import numpy as np
import pytest
import xarray as xr

from tcdp_sim.store import snapshot, zarr_tree


def block(rows, start, seed=0, batches=3, late=False, odd=True, more=0):
    """Rows from `start` on of a table with numbers, whole numbers, texts, levels, batches and ragged entries."""
    rng = np.random.default_rng([seed, start])
    bins = rng.integers(0, 5, rows)
    data = {
        "x": ("cell", rng.random(rows), {"units": "counts"}),
        "n": ("cell", rng.integers(0, 9, rows)),
        "q": (("cell", "quantile"), rng.random((rows, 2))),
        "bins": ("cell", bins),
        "key": ("entry", rng.integers(-9, 9, bins.sum()).astype(np.int32)),
        "means": (("cell", "batch"), rng.random((rows, batches))),
    }
    data |= {"late": ("cell", rng.random(rows), {"units": "nats"})} if late else {}
    data |= {"odd": ("cell", rng.integers(0, 9, rows))} if odd else {}
    texts = np.array([f"cell {start + i} \u03c1" + more * "-" for i in range(rows)], dtype=object)
    coords = {"id": ("cell", texts), "k": ("cell", rng.random(rows)), "quantile": [0.5, 0.9]}
    return xr.Dataset(data, coords, {"title": "a table"})


ORDER = ("x", "n", "q", "bins", "key", "means", "late", "odd")


def whole(blocks):
    """All rows, joined by xarray: what a block lacks is NaN or zero."""
    known = {name: block[name] for block in reversed(blocks) for name in block.data_vars}
    names = {name: known[name] for name in ORDER if name in known}
    width = max(block.sizes["batch"] for block in blocks)
    joined = {}
    for name, model in names.items():
        blank = np.nan if model.dtype.kind == "f" else 0
        parts = []
        for one in blocks:
            if name in one:
                values = one[name].values
            else:
                values = np.full((one.sizes["cell"], *model.shape[1:]), blank, model.dtype)
            if name == "means":
                values = np.pad(values, ((0, 0), (0, width - values.shape[1])), constant_values=np.nan)
            parts.append(values)
        joined[name] = (model.dims, np.concatenate(parts), model.attrs)
    coords = {name: ("cell", np.concatenate([one[name].values for one in blocks])) for name in ("id", "k")}
    return xr.Dataset(joined, coords | {"quantile": [0.5, 0.9]}, blocks[0].attrs)


def opened(folder):
    """The table as plain xarray opens it, which must not warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return xr.open_zarr(folder).load()


CASES = {
    "one block": [block(5, 0)],
    "chunks that no block fills": [block(3, 0), block(3, 3), block(1, 6)],
    "blocks larger than chunks": [block(11, 0), block(9, 11)],
    "a variable that comes late": [block(4, 0), block(4, 4), block(4, 8, late=True), block(2, 12)],
    "one that comes and goes": [block(4, 0, late=True), block(5, 4), block(3, 9, late=True, odd=False)],
    "longer texts later": [block(4, 0), block(5, 4, more=20), block(4, 9), block(3, 13, more=300)],
    "more batches later": [block(4, 0), block(4, 4, batches=7), block(3, 8, batches=1)],
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("rows", "small"), [(4, 0), (100, 0), (4, zarr_tree.SMALL)])
def test_block_by_block_is_as_in_one_go(tmp_path, monkeypatch, case, rows, small):
    monkeypatch.setattr(zarr_tree, "SMALL", small)
    monkeypatch.setattr(zarr_tree, "CELLS", rows)
    monkeypatch.setattr(zarr_tree, "ENTRIES", rows)
    zarr_tree.write(tmp_path / "blocks", iter(CASES[case]))
    whole(CASES[case]).to_zarr(tmp_path / "whole", consolidated=False, zarr_format=3)
    found, expected = opened(tmp_path / "blocks"), xr.open_zarr(tmp_path / "whole", consolidated=False).load()
    expected = expected.assign_coords(id=expected["id"].astype(object))  # xarray's own texts are numpy's StringDType
    assert list(found.data_vars) == [name for name in ORDER if name in expected]
    xr.testing.assert_identical(found, expected)
    assert {name: v.dtype for name, v in found.variables.items()} == {n: v.dtype for n, v in expected.variables.items()}


def test_every_array_has_checksums(tmp_path):
    zarr_tree.write(tmp_path / "blocks", iter(CASES["a variable that comes late"]))
    files = list((tmp_path / "blocks").glob("*/zarr.json"))
    assert len(files) == 11
    assert all('"checksum": true' in path.read_text() for path in files)


@pytest.mark.slow
def test_memory_holds_one_block_of_a_large_table(tmp_path, monkeypatch):
    """No more than two of the blocks that are handed over are alive at a time."""
    monkeypatch.setattr(zarr_tree, "SMALL", 0)
    handed_over = []

    def handed():
        for i in range(6):
            made = block(4, 4 * i)
            handed_over.append(weakref.ref(made))
            yield made
            del made
            gc.collect()
            assert sum(one() is not None for one in handed_over) <= 2

    zarr_tree.write(tmp_path / "blocks", handed())
    assert opened(tmp_path / "blocks").sizes["cell"] == 24


def test_a_disk_that_fills_while_blocks_are_published_leaves_what_was_published_before(tmp_path):
    """At whichever block: the link and its tree stay as they are, nothing else is left, and the next try succeeds."""
    before = snapshot.publish(tmp_path, [block(4, 0, seed=1)]).resolve()
    for full_at in range(4):

        def filling(full_at=full_at):
            for i in range(4):
                if i == full_at:
                    raise OSError(errno.ENOSPC, "No space left on device")
                yield block(4, 4 * i)

        with pytest.raises(OSError, match="No space left"):
            snapshot.publish(tmp_path, filling())
        assert (tmp_path / snapshot.LINK).resolve() == before
        assert [path.name for path in (tmp_path / "snapshots").iterdir()] == [before.name]
    xr.testing.assert_identical(opened(before), block(4, 0, seed=1))
    assert opened(snapshot.publish(tmp_path, (block(4, 4 * i) for i in range(4)))).sizes["cell"] == 16


def test_variables_that_share_a_dimension_are_as_wide_as_the_widest(tmp_path):
    """The second comes with the second block, which is narrower; or a table with both could not be opened."""

    def block(**parts):
        return xr.Dataset({name: (("cell", "batch"), np.full((2, width), 1.0)) for name, width in parts.items()})

    zarr_tree.write(tmp_path / "t", iter([block(a=5), block(a=3, b=3), block(a=4, b=4)]))
    read = xr.open_zarr(tmp_path / "t", consolidated=False).load()
    assert read["a"].shape == read["b"].shape == (6, 5)
    assert read["a"].notnull().sum("batch").values.tolist() == [5, 5, 3, 3, 4, 4]
    assert read["b"].notnull().sum("batch").values.tolist() == [0, 0, 3, 3, 4, 4]


@pytest.mark.parametrize("case", CASES)
def test_a_tree_made_in_memory_has_the_same_bytes(case, tmp_path, monkeypatch):
    for name, small in (("memory", zarr_tree.SMALL), ("disk", 0)):
        monkeypatch.setattr(zarr_tree, "SMALL", small)
        zarr_tree.write(tmp_path / name, iter(CASES[case]))
    memory, disk = (
        {path.relative_to(tree): path.read_bytes() for path in tree.rglob("*") if path.is_file()}
        for tree in (tmp_path / "memory", tmp_path / "disk")
    )
    assert len(memory) > 10
    assert memory == disk
