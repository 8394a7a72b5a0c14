"""The certificate of a finished run: the same bytes on every way there, and other ones for every other run."""

import hashlib
import json
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import pytest

import tcdp_sim
from tcdp_sim.store import certificate, run_folder, source

ROOT = Path(tcdp_sim.__file__).parent.parent
DIGEST = "0" * 32
LINES = ("1", "null", '"1"', f'"-1 {DIGEST}"', f'"9999999999999999 {DIGEST}"', f'"1 {DIGEST}0"')
SMALL = ("sweep.k=10", "sweep.noise=[gaussian,laplace]", "sweep.omega_sqrt_rho=1")


@pytest.fixture
def undrawn(tiny, monkeypatch):
    """The command without its figures: undrawn(*words) -> exit code."""
    monkeypatch.setattr("tcdp_sim.cli.draw.main", lambda raw, console: None)
    return lambda *words: tiny(*SMALL, *words)[0]


def opened(folder):
    return run_folder.Run(folder, json.loads((folder / "run.json").read_text("utf-8")))


def text(folder):
    return (folder / certificate.NAME).read_text("utf-8")


def test_what_it_says(undrawn, folder):
    assert undrawn() == 0
    found = json.loads(text(folder))
    identity = {"experiment": "histogram", "seed": "2018", "chunk": 500, "format": 1}
    assert {key: found[key] for key in identity} == identity == json.loads((folder / "run.json").read_text("utf-8"))
    assert (found["trials"], found["version"]) == (1000, tcdp_sim.__version__)
    assert found["snapshot"] == (folder / "results.zarr").resolve().name
    assert found["code"] == source.own()
    run = opened(folder)
    for cell, line in found["cells"].items():  # written out
        whole = next(name for name, _ in run.done if name.startswith(cell))
        records = [run.record(whole, chunk) for chunk in (0, 1)]
        joined = b"".join(len(record).to_bytes(8, "little") + record for record in records)
        assert line == f"2 {hashlib.blake2b(joined, digest_size=16).hexdigest()}"
    assert len(found["cells"]) == 2
    lines = "".join(f"{cell} {line}\n" for cell, line in sorted(found["cells"].items()))
    assert found["records"] == hashlib.blake2b(lines.encode(), digest_size=16).hexdigest()
    assert not list(folder.glob(".certificate*"))
    for told in ("host", "time", str(folder)):
        assert told not in text(folder)


@pytest.mark.slow
def test_the_same_bytes_on_every_way_there(undrawn, folder):
    """At once, again, with a torn journal in between, after a shorter run, among cells of another study."""
    assert undrawn() == 0
    first = text(folder)
    assert undrawn() == 0
    assert text(folder) == first
    segment = next((folder / "journal").glob("*.seg"))
    segment.write_bytes(segment.read_bytes()[:-9])
    (folder / certificate.NAME).unlink()
    assert undrawn() == 0
    assert text(folder) == first
    for words in (("trials=500",), ("trials=2500", "sweep.k=[10,77]")):
        shutil.rmtree(folder)
        assert undrawn(*words) == 0
        assert text(folder) != first
        assert undrawn() == 0
        assert text(folder) == first


def test_another_run_has_another_one(undrawn, folder):
    """And two certificates say cell by cell where."""
    assert undrawn() == 0
    first = certificate.read(folder)
    assert undrawn("name=seed", "seed=1") == 0
    other = certificate.read(folder.parent / "seed")
    assert {key for key in first if first[key] != other[key]} == {"seed", "config", "snapshot", "records", "cells"}
    assert undrawn("trials=1500", "sweep.noise=gaussian") == 0
    more = certificate.read(folder)
    assert {key for key in first if first[key] != more[key]} == {"trials", "config", "snapshot", "records", "cells"}
    assert len(more["cells"]) == 1


def test_a_cell_without_all_its_chunks_is_not_certified(undrawn, folder, monkeypatch):
    assert undrawn() == 0
    real = run_folder.Run.has
    cell = max(certificate.read(folder)["cells"])
    monkeypatch.setattr(
        run_folder.Run, "has", lambda run, name, chunk: real(run, name, chunk) and not name.startswith(cell)
    )
    wanted = sorted({name: 2 for name, _ in opened(folder).done}.items())
    assert len(wanted) == 2
    assert cell not in dict(certificate._cells(opened(folder), wanted))


def test_the_hash_of_the_code(tmp_path, monkeypatch):
    """Names and bytes of the .py and .yaml files of the three folders, side by side or inside, and of nothing else."""
    package, real = tmp_path / "tcdp_sim", resources.files
    folders = {f"tcdp_sim.{name}": package / name for name in ("conf", "experiments")} | {"tcdp_sim": package}
    shutil.copytree(real("tcdp_sim.conf"), package / "conf")
    (package / "experiments").mkdir()
    (package / "__init__.py").write_text("x = 1\n")
    monkeypatch.setattr(source.resources, "files", lambda name: folders[name])
    before = source.own.__wrapped__()
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "x.pyc").write_bytes(b"1")
    (package / "notes.md").write_text("no code")
    assert source.own.__wrapped__() == before
    found = {before}
    for path, content in (("__init__.py", "x = 2\n"), ("conf/config.yaml", "{}"), ("conf/cluster/new.yaml", "{}")):
        (package / path).write_text(content)
        found.add(source.own.__wrapped__())
    (package / "conf/cluster/new.yaml").rename(package / "conf/data/new.yaml")
    found.add(source.own.__wrapped__())
    assert len(found) == 5
    (package / "conf").rename(tmp_path / "conf")  # as in a checkout
    folders["tcdp_sim.conf"] = tmp_path / "conf"
    assert source.own.__wrapped__() in found


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *((content, "it is not JSON") for content in ("", "{", "[" * 100_000, "\ud800")),
        *((content, "it has no cells") for content in ("[]", "null", "{}", '{"cells": []}')),
        *((f'{{"cells": {{"a": {line}}}}}', "cell a has no number of chunks") for line in LINES),
    ],
)
def test_damaged_ones_are_refused(tmp_path, content, said):
    (tmp_path / certificate.NAME).write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(ValueError, match=said):
        certificate.read(tmp_path)


def test_none_is_none(tmp_path):
    assert certificate.read(tmp_path) is None


def test_the_code_is_every_file_of_the_three_folders():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "tcdp_sim", "conf", "experiments"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    ours = [name if name.startswith("tcdp_sim/") else f"tcdp_sim/{name}" for name in listed]
    assert sorted(source._own_files()) == sorted(n for n in ours if n.endswith((".py", ".yaml")))
