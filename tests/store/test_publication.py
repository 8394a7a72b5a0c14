"""What is published already is not published again; whatever may have changed of it or of what it is made of is."""

import json
import os
import shutil
from itertools import chain

import pytest

from tcdp_sim.engine import run as engine
from tcdp_sim.store import certificate, digests, journal, publication, snapshot
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.store.run_folder import CHUNK, PROBLEM
from tcdp_sim.study import groups
from tcdp_sim.study.packed_cells import Cell, Packer
from tcdp_sim.study.settings import settings
from tcdp_sim.study.study import Study
from tcdp_sim.summaries.encoding import from_bytes, to_bytes

WORDS = ("cluster=serial", "trials=1000", "chunk=500", "sweep.k=10", "sweep.rho=0.1", "also=null")
WORDS += ("sweep.noise=[gaussian,laplace]", "sweep.omega_sqrt_rho=1")


@pytest.fixture(scope="module")
def config():
    from hydra import compose
    from hydra.core.global_hydra import GlobalHydra
    from omegaconf import OmegaConf

    from tcdp_sim.study.compose import our_configs

    GlobalHydra.instance().clear()
    with our_configs():
        return OmegaConf.to_container(compose("config", list(WORDS)), resolve=True)


def execute(config, home, **keys):
    """Run the study, with other keys of its config or sweep, in a folder of `home`."""
    sweep = config["sweep"] | keys.pop("sweep", {})
    study = engine.prepare(settings({**config, "sweep": sweep, "results_dir": str(home), **keys}))
    assert engine.execute(study, lambda line: None, known_exactly("histogram")) == 0


@pytest.fixture(scope="module")
def original(config, tmp_path_factory):
    home = tmp_path_factory.mktemp("original")
    execute(config, home)
    return home / "histogram"


@pytest.fixture
def folder(original, tmp_path):
    """A copy of the finished run."""
    return shutil.copytree(original, tmp_path / "histogram", symlinks=True)


@pytest.fixture
def again(config, folder, monkeypatch):
    """again(**other keys): how many snapshots the same study publishes when it is run again in `folder`."""
    published = []
    real = snapshot.publish
    monkeypatch.setattr(snapshot, "publish", lambda *arguments: [published.append(1), real(*arguments)][1])

    def run(**keys):
        before = len(published)
        execute(config, folder.parent, **keys)
        return len(published) - before

    return run


def contents(folder):
    """Path -> bytes of all that is published, and of what says so."""
    about = (folder / name for name in (certificate.NAME, publication.NAME, "run.json"))
    paths = chain(about, (folder / "results.zarr").resolve().rglob("*"))
    return {path.relative_to(folder): path.read_bytes() for path in paths if path.is_file()}


def test_a_run_with_nothing_to_do_publishes_nothing_and_changes_nothing(again, folder, original, monkeypatch):
    assert again() == 0
    assert contents(folder) == contents(original)
    monkeypatch.setattr(publication, "stands", lambda *_: False)
    assert again() == 1
    assert contents(folder) == contents(original)


def test_the_journal_is_on_the_disk_even_if_nothing_is_published(again, folder, monkeypatch):
    """Who wrote it may have been killed before it was synced."""
    synced, real = set(), os.fsync

    def fsync(file):
        synced.add(os.fstat(file).st_ino)
        real(file)

    monkeypatch.setattr(os, "fsync", fsync)
    assert again() == 0
    segments = list((folder / "journal").glob("*.seg"))
    assert segments
    assert {path.stat().st_ino for path in [*segments, folder / "journal"]} <= synced


@pytest.mark.parametrize("keys", [{"trials": 500}, {"sweep": {"noise": ["laplace", "gaussian"]}}])
def test_another_study_in_the_folder_is_published_and_so_is_this_one_after_it(again, folder, original, keys):
    """One with fewer trials, and one with the same cells in another order."""
    assert again(**keys) == 1
    assert contents(folder) != contents(original)
    assert again(**keys) == 0
    assert again() == 1
    assert contents(folder) == contents(original)


def other_label(monkeypatch):
    real = groups.named
    monkeypatch.setattr(groups, "named", lambda *words: {**real(*words), "label": "other"})


def other_exact_function(monkeypatch):
    from tcdp_sim.experiments import histogram

    monkeypatch.setitem(histogram.EXACT, "another", histogram.EXACT["top_stays"])


def plug_in(monkeypatch):
    monkeypatch.setattr(Study, "uses", ("x",))


@pytest.mark.parametrize("change", [other_label, other_exact_function, plug_in])
def test_what_a_table_is_made_of_is_looked_at(again, monkeypatch, change):
    change(monkeypatch)
    assert again() == 1


def test_a_warning_in_the_journal_is_published(again, folder):
    cell = from_bytes(next(p[1:] for *_, p in journal.read(folder / "journal") if p[:1] == CHUNK)).cell
    problem = {"cell": cell, "chunk": 0, "kind": "warning", "message": "m", "where": "w"}
    with journal.Writer(folder / "journal") as writer:
        writer.append(PROBLEM + json.dumps(problem).encode())
    assert again() == 1


def test_another_record_of_a_chunk_is_published(again, folder, original):
    """With a digest that is right: as by a merge of folders, one of them from another machine."""
    (segment,) = (folder / "journal").glob("*.seg")
    records = [payload for *_, payload in journal.read(folder / "journal")]
    segment.unlink()
    with journal.Writer(folder / "journal") as writer:
        for one in records:
            writer.append(CHUNK + shifted(one[1:]) if one[:1] == CHUNK else one)
    assert again() == 1
    assert contents(folder) != contents(original)


def shifted(summary):
    """The summary with means a little larger."""
    decoded = from_bytes(summary)
    for distribution in decoded.observables.values():
        moments = distribution.moments.copy()
        moments[:, 1] *= 1 + 1e-9
        object.__setattr__(distribution, "moments", moments)
    return to_bytes(decoded)


def flipped(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def flipped_tree(folder):
    flipped(max((folder / "results.zarr").rglob("c/*"), key=lambda path: path.is_file() and path.stat().st_size))


def copied_link(folder):
    link = folder / "results.zarr"
    tree = link.resolve()
    link.unlink()
    shutil.copytree(tree, link)


def foreign_link(folder):
    link = folder / "results.zarr"
    tree = shutil.copytree(link.resolve(), folder.parent / "elsewhere" / link.resolve().name)
    link.unlink()
    link.symlink_to(tree, target_is_directory=True)


def no_snapshots(folder):
    shutil.rmtree(folder / "snapshots")


def another_certificate_that_is_sealed(folder):
    """One that says less, and a seal that knows it: as if both had been changed on purpose."""
    path, seal = folder / certificate.NAME, folder / publication.NAME
    path.write_text(path.read_text().replace('"2 ', '"1 ', 1))
    said = json.loads(seal.read_text())
    del said[digests.SEAL]
    digests.write_sealed(seal, said | {"certificate": digests.of_file(path)})


DAMAGE = {
    "snapshot": flipped_tree,
    "link copied": copied_link,
    "link elsewhere": foreign_link,
    "no link": lambda folder: (folder / "results.zarr").unlink(),
    "no snapshots": no_snapshots,
    "certificate": lambda folder: flipped(folder / certificate.NAME),
    "no certificate": lambda folder: (folder / certificate.NAME).unlink(),
    "forged certificate": another_certificate_that_is_sealed,
    "published": lambda folder: flipped(folder / publication.NAME),
    "not published": lambda folder: (folder / publication.NAME).unlink(),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_what_is_damaged_is_published_again(again, folder, original, kind):
    DAMAGE[kind](folder)
    assert again() == 1
    assert (folder / "results.zarr").is_symlink()
    assert contents(folder) == contents(original)


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["certificate", "publication"])
def test_who_is_killed_before_all_is_written_publishes_again(again, folder, original, monkeypatch, stage):
    """The table of another study was there before, and its certificate."""
    assert again(trials=500) == 1
    with monkeypatch.context() as cut:
        cut.setattr(getattr(engine, stage), "write", killed)
        with pytest.raises(SystemError):
            again()
    assert again() == 1
    assert contents(folder) == contents(original)


def killed(*_):
    raise SystemError("killed")


def test_the_digest_of_cells_is_of_all_that_they_say():
    """Of ids, laws, labels, guarantees, work, how many there are, and their order."""
    base = {"id": "ab" * 32, "law": {"k": 1}, "coords": {"data": "a"}, "counts": "c", "guarantee": "g", "noise": "n"}
    base["work"] = 1.0
    others = {"id": "cd" * 32, "law": {"k": 2}, "coords": {"data": "b"}, "counts": "d", "guarantee": "h"}
    others |= {"noise": "m", "work": 2.0}
    cells = [Cell(**base), *(Cell(**(base | {name: other})) for name, other in others.items())]
    one = [packed(cell).digest() for cell in cells]
    assert len(set(one)) == len(cells) == 8
    assert one == [packed(cell).digest() for cell in cells]
    several = packed(*cells[:2]), packed(*cells[1::-1]), packed(*cells[:3]), packed(*cells[:3]).distinct()
    assert len({some.digest() for some in several}) == 4


def packed(*cells):
    packer = Packer()
    for cell in cells:
        packer.add(cell)
    return packer.cells()
