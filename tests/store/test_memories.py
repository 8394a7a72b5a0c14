"""Every memory of a run is stale once one of its inputs is another one, and only then."""

import json
import platform
from pathlib import Path

import pytest

from tcdp_sim.cli import run_argument
from tcdp_sim.core import libraries
from tcdp_sim.engine import run as engine
from tcdp_sim.store import (
    calibrations,
    digests,
    figure_record,
    finished,
    kept_plan,
    kept_status,
    memories,
    source,
)
from tcdp_sim.store.exact_records import ExactRecords
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.store.memories import MEMORIES
from tcdp_sim.store.run_folder import Run
from tcdp_sim.study import study as studies

ONE = ("sweep.k=10", "sweep.omega_sqrt_rho=1", "sweep.noise=sinh_normal_tight")
pytestmark = pytest.mark.usefixtures("figures")


def settings_in(folder):
    return run_argument.by_folder(folder).settings


def has_calibrations(folder):
    return bool(calibrations.read(folder))


def has_plan(folder):
    config = settings_in(folder).config
    return kept_plan.read(settings_in(folder), kept_plan.key(config)) is not None


def has_status(folder):
    return kept_status.read(folder, kept_plan.key(settings_in(folder).config)) is not None


def is_published(folder):
    """Run the study again without the memory of its end, and see whether it publishes."""
    published = []
    (folder / finished.NAME).rename(folder.parent / finished.NAME)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "publish", lambda self, blocks: published.append(1))
        patch.setattr(engine.certificate, "write", lambda *_: None)
        patch.setattr(engine.publication, "write", lambda *_: None)
        for keeps in ("keep", "keep_end"):
            patch.setattr(engine.state, keeps, lambda *_: None)
        patch.setattr(engine.kept_plan, "keep", lambda _: None)
        patch.setattr(engine.calibrations, "keep", lambda *_: "")
        patch.setattr(engine.exact, "complete", lambda study, values, *_: ExactRecords(folder, values))
        engine.execute(studies.prepare(settings_in(folder)), lambda _: None, known_exactly("histogram"))
    (folder.parent / finished.NAME).rename(folder / finished.NAME)
    return not published


def is_finished(folder):
    return finished.read(settings_in(folder)) is not None


def is_drawn(folder):
    of = figure_record.inputs(folder)
    return of is not None and figure_record.read(folder, of)[0] is not None


def has_exact_values(folder):
    kept = ExactRecords(folder, known_exactly("histogram"))
    return all(kept.has(cell) for cell in studies.prepare(settings_in(folder)).plan.laws.ids())


CURRENT = {  # how to see whether a memory would be believed
    "calibrations.json": has_calibrations,
    "plan.json": has_plan,
    "status.json": has_status,
    "published.json": is_published,
    "finished.json": is_finished,
    "drawn.json": is_drawn,
    "exact": has_exact_values,
}


def code(patch, folder):
    patch.setattr(source, "own", lambda: "0" * 32)


def shipped_data(patch, folder):
    patch.setattr(source, "data", lambda: "other data")


def processor(patch, folder):
    patch.setattr(memories, "fingerprint", lambda: "other functions")
    patch.setattr("tcdp_sim.store.certificate.fingerprint", lambda: "other functions")


def version(package):
    def change(patch, folder):
        real = libraries.version_of
        patch.setattr(libraries, "version_of", lambda name: "0" if name == package else real(name))

    return change


def python(patch, folder):
    patch.setattr(platform, "python_version", lambda: "0")


def settings_of_figures(patch, folder):
    (folder / "mine").write_text("lines.linewidth: 9\n")
    patch.setenv("MATPLOTLIBRC", str(folder / "mine"))


def locale(patch, folder):
    for name in ("LC_ALL", "LANG"):
        patch.setenv(name, "de_DE.UTF-8")


def users_file(patch, folder):
    """Make a file whose name is a text of the config, as if an option named it."""
    Path("histogram").write_text("x")


def used_plug_in(patch, folder):
    """Change what the provenance of the run says of its plug-ins."""
    about = json.loads((folder / "provenance.json").read_text("utf-8"))
    about.pop("digest")
    digests.write_sealed(folder / "provenance.json", {**about, "plug_ins": {"x": "1"}})


NUMBERS = {"calibrations.json", "plan.json", "status.json", "published.json", "finished.json", "drawn.json"}
NUMBERS |= {"exact"}
PLAN = {"plan.json", "status.json", "finished.json"}
STALE = {  # what a change makes stale
    code: NUMBERS,
    processor: NUMBERS,
    python: NUMBERS,
    version("numpy"): NUMBERS,
    version("scipy"): NUMBERS,
    version("zarr"): {"published.json", "finished.json", "drawn.json"},
    version("matplotlib"): {"drawn.json"},
    settings_of_figures: {"drawn.json"},
    used_plug_in: {"drawn.json", "finished.json"},  # the provenance is one of the folder's files
    shipped_data: PLAN,
    users_file: PLAN,
    locale: set(),
}


def test_every_memory_has_its_question():
    assert set(CURRENT) == {memory.file for memory in MEMORIES}
    used = {name for memory in MEMORIES for name in memory.here}
    assert used == set(memories.HERE)


@pytest.mark.parametrize("change", STALE, ids=lambda change: change.__qualname__.partition(".")[0])
def test_a_change_of_an_input_makes_exactly_its_memories_stale(tiny_once, folder, change):
    tiny_once(*ONE)
    assert [name for name, current in CURRENT.items() if not current(folder)] == []
    with pytest.MonkeyPatch.context() as patch:
        change(patch, folder)
        assert {name for name, current in CURRENT.items() if not current(folder)} == STALE[change]


@pytest.mark.parametrize("memory", MEMORIES, ids=lambda memory: memory.file)
def test_every_given_input_changes_the_key_and_none_may_be_missing(memory):
    inputs = {name: f"{name} now" for name in memory.given}
    key = memory.key(**inputs)
    assert memory.key(**inputs) == key
    for name in memory.given:
        assert memory.key(**{**inputs, name: "other"}) != key
        with pytest.raises(TypeError, match=name):
            memory.key(**{other: value for other, value in inputs.items() if other != name})
    with pytest.raises(TypeError, match="further"):
        memory.key(**inputs, further=1)


def test_two_configs_with_other_orders_of_keys_are_two_inputs():
    """The order of the axes orders the cells."""
    assert memories.text({"a": 1, "b": 2}) != memories.text({"b": 2, "a": 1})


def test_a_memory_is_read_with_its_key_alone_until_it_is_damaged(tmp_path):
    memory = memories.FINISHED
    memory.write(tmp_path, "one", {"lines": ["a"]})
    assert memory.read(tmp_path, "one")["lines"] == ["a"]
    assert memory.read(tmp_path, "two") == memory.read(tmp_path, None) == {}
    assert not memory.damage(tmp_path)
    path = tmp_path / memory.file
    before = path.stat().st_mtime_ns
    memory.write(tmp_path, "one", {"lines": ["a"]})
    assert path.stat().st_mtime_ns == before
    path.write_text(path.read_text().replace("a", "b", 1))
    assert memory.read(tmp_path, "one") == {}
    assert memory.damage(tmp_path)
    path.unlink()
    assert memory.read(tmp_path, "one") == {}
    assert not memory.damage(tmp_path)
