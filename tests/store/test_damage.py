"""A random byte of any file of a finished run is changed, or the file cut: it is noticed, named, and put right.

Noticed when the folder is opened, by its reader or by the next start of the same command, whichever reads that file.
"""

import random
import shutil
import warnings
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.engine.run import prepare
from tcdp_sim.results import open_cells
from tcdp_sim.store import digests
from tcdp_sim.store.exact_records import ExactRecords
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.store.run_folder import Run
from tcdp_sim.study.settings import settings

WORDS = ("cluster=serial", "trials=1500", "chunk=500", "sweep.k=10", "sweep.rho=0.1", "also=null")
WORDS += ("sweep.noise=[gaussian,laplace]",)
CHUNKS = 6
TRIES = 150  # of each kind of file


def composed(*words):
    from hydra import compose
    from hydra.core.global_hydra import GlobalHydra
    from omegaconf import OmegaConf

    from tcdp_sim.study.compose import our_configs

    GlobalHydra.instance().clear()
    with our_configs():
        return OmegaConf.to_container(compose("config", [*WORDS, *words]), resolve=True)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """The folder of a finished run, and its study."""
    from rich.console import Console

    from tcdp_sim.cli.run import main

    home = tmp_path_factory.mktemp("original")
    raw = composed(f"results_dir={home}")
    with redirect_stderr(StringIO()):
        main(settings(raw), Console(file=StringIO()))
    return home / "histogram", prepare(settings(raw))


@pytest.fixture
def copied(original, tmp_path):
    """copied() -> a fresh copy of the finished run, to be damaged."""
    made = []

    def copy():
        made.append(tmp_path / str(len(made)) / "histogram")
        if made[1:]:
            shutil.rmtree(made[-2])
        return Path(shutil.copytree(original[0], made[-1], symlinks=True))

    return copy


def changed(data: bytes, rng: random.Random) -> bytes:
    """One bit flipped, one byte replaced, or cut short."""
    at = rng.randrange(len(data))
    how = rng.randrange(3)
    if how == 0:
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    if how == 1:
        return data[:at] + bytes([data[at] ^ rng.randrange(1, 256)]) + data[at + 1 :]
    return data[:at]


def reading(folder, _) -> str:
    """What is said when the folder's results are opened."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            open_cells(folder)
        except UserError as problem:
            return str(problem)
    return " ".join(str(one.message) for one in caught)


def going_on(folder, prepared) -> str:
    """What is said when the folder is opened to go on with the run."""
    run = Run(folder, prepared.identity)
    return " ".join([*run.damaged, *run.mended])


def computing(folder, _) -> str:
    """What is said when the exact values are read that are there."""
    return " ".join(ExactRecords(folder, known_exactly("histogram")).damaged)


def kept(folder, prepared) -> int:
    return len(Run(folder, prepared.identity).done)


FILES = {  # which, what is said and by whom, how often it is tried
    "run.json": ("run.json", "run.json was damaged", going_on, TRIES),
    "journal": ("journal/*.seg", ".seg", going_on, TRIES),
    "zarr.json": ("snapshots/*/**/zarr.json", "results.zarr is damaged", reading, TRIES),
    "array chunks": ("snapshots/*/**/c/**/*", "results.zarr is damaged", reading, TRIES),
    "exact values": ("exact/*.seg", ".seg", computing, TRIES),
    "provenance.json": ("provenance.json", "provenance.json is damaged", reading, 20),
}
PATTERNS = {kind: pattern for kind, (pattern, *_) in FILES.items()}
PATTERNS |= {"certificate": "certificate.json", "published": "published.json"}
PATTERNS |= {"plan": "plan.json", "status": "status.json"}  # tests/cli/test_status.py: a damaged one is not believed
PATTERNS |= {"finished": "finished.json"}  # tests/cli/test_finished.py says the same of it


def whole_files(folder, pattern):
    return sorted(path for path in folder.glob(pattern) if path.is_file())


@pytest.mark.parametrize("kind", FILES)
def test_any_change_of_any_file_is_noticed_and_costs_one_record_at_most(original, copied, kind):
    pattern, name, says, tries = FILES[kind]
    folder, prepared = copied(), original[1]
    assert reading(folder, prepared) == going_on(folder, prepared) == computing(folder, prepared) == ""
    files = whole_files(folder, pattern)
    rng = random.Random(8)
    for _ in range(tries):
        path = rng.choice(files)
        whole = path.read_bytes()
        damaged = changed(whole, rng)
        path.write_bytes(damaged)
        says_nothing = kind == "run.json" and b"".join(damaged.split()) == b"".join(whole.split())  # another space
        says_nothing |= kind == "exact values" and not damaged  # nothing there is nothing damaged: it is computed again
        assert says_nothing or name in says(folder, prepared), (path, damaged)
        lost = 0 if kind != "journal" else 1 if len(damaged) == len(whole) else CHUNKS
        assert CHUNKS - lost <= kept(folder, prepared) <= CHUNKS
        path.write_bytes(whole)


def test_every_file_is_of_a_kind_that_was_tried(original):
    """A file that is added to the store must join those above, or be listed here with the reason."""
    tried = {path for pattern in PATTERNS.values() for path in whole_files(original[0], pattern)}
    rest = {path for path in original[0].rglob("*") if path.is_file() and path not in tried}
    assert {path.relative_to(original[0]).parts[0] for path in rest} <= {
        "lock",  # says who is at work; held by the kernel, not by what is in it
        "run.log",  # for people
        "figures",  # drawn again if one of them has changed
        "drawn.json",  # tests/cli/test_drawn_once.py damages it: the figures are drawn again
        "contradictions.csv",
        "problems.csv",
    }


@pytest.mark.parametrize("kind", [*PATTERNS, "everything"])
def test_the_same_command_puts_it_right_and_computes_only_what_was_damaged(original, copied, command, kind):
    """A bit of one file of each kind, or of each at once."""
    folder = copied()
    rng = random.Random(9)
    for pattern in [PATTERNS[kind]] if kind in PATTERNS else PATTERNS.values():
        path = rng.choice(whole_files(folder, pattern))
        data = bytearray(path.read_bytes())
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(6)
        path.write_bytes(data)
    lost = CHUNKS - kept(folder, original[1])
    code, out, _ = command(*WORDS, f"results_dir={folder.parent}")
    assert code == 0
    assert (f"{lost} of {CHUNKS} chunks to simulate" if lost else "nothing to simulate") in out
    assert reading(folder, original[1]) == ""
    varies = {"journal", "exact", "lock", "run.log"} | ({"provenance.json"} if lost else set())
    varies |= {"finished.json"} if kind in ("journal", "exact values", "everything") else set()  # digests of all files
    varies |= {"status.json"} if kind in ("journal", "everything") else set()  # it has the digest of the journal
    for path in original[0].rglob("*"):
        name = path.relative_to(original[0])
        if path.is_file() and name.parts[0] not in varies:
            assert (folder / name).read_bytes() == path.read_bytes(), name


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b"5", b"\xff", b'{"digest": ""}', b"[" * 100_000])
def test_what_carries_no_digest_of_its_own_is_broken(text):
    assert digests.is_broken(text)


def test_what_was_sealed_is_whole_until_it_changes(tmp_path):
    path = tmp_path / "about.json"
    digests.write_sealed(path, {"b": 1, "a": "ä", "c": None})
    text = path.read_bytes()
    assert not digests.is_broken(text)
    flips = ((i, 1 << bit) for i in range(len(text)) for bit in range(8))
    assert all(digests.is_broken(text[:i] + bytes([text[i] ^ bit]) + text[i + 1 :]) for i, bit in flips)
    assert all(digests.is_broken(text[:i]) for i in range(len(text)))
    assert [p.name for p in tmp_path.iterdir()] == ["about.json"]
