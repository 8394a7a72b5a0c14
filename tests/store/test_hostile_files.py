"""Files from somebody else are data: opening a store, a config or a table runs nothing that is in it.

Each file here would make a folder `ran` in the working directory if its code ran; that it would is checked first.
"""

import json
import os
import pickle
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numcodecs
import numcodecs.pickles
import numpy as np
import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.data.readers import read_rows
from tcdp_sim.results import open_cells, open_results
from tcdp_sim.results.open import readable


class Bomb:
    """Unpickling it makes the folder."""

    def __reduce__(self):
        return os.mkdir, ("ran",)


BOMB = pickle.dumps(Bomb())
STUDY = (
    "cluster=serial",
    "trials=1000",
    "chunk=500",
    "sweep.k=10",
    "sweep.rho=0.1",
    "sweep.noise=gaussian",
    "also=null",
)


@pytest.fixture(autouse=True)
def nothing_ran(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE", True)  # older versions have no such lock
    yield
    assert not Path("ran").exists()


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    subprocess.run([sys.executable, "-m", "tcdp_sim", *STUDY], cwd=folder, check=True, capture_output=True, timeout=300)
    return folder / "results"


@pytest.fixture
def run(original, tmp_path):
    """The folder of a small run, to be tampered with."""
    shutil.copytree(original, tmp_path / "results", symlinks=True)
    return tmp_path / "results" / "histogram"


@pytest.fixture
def published(run):
    """Its zarr tree."""
    return (run / "results.zarr").resolve()


def test_the_bombs_are_live():
    pickle.loads(BOMB)
    os.rmdir("ran")
    array = np.empty(1, dtype=object)
    array[0] = Bomb()
    numcodecs.Pickle().decode(numcodecs.Pickle().encode(array))
    os.rmdir("ran")


def opened(tree):
    """Open a tampered store and read everything in it; UserError, or data without a trace of the bomb."""
    for how in (open_cells, open_results):
        with suppress(UserError), readable(tree):
            how(tree).load()


CODECS = ["pickle", "numcodecs.pickle", "json2", "msgpack2", "vlen-array", "python", "os.mkdir"]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("data_type", ["object", "O", "|O", None])
def test_an_array_with_a_pickle_codec_runs_nothing(published, codec, data_type):
    arrays = [path for path in published.glob("*/zarr.json") if any(path.parent.rglob("c/*"))]
    assert len(arrays) > 10
    for path in arrays:
        about = json.loads(path.read_text())
        about["codecs"] = [{"name": codec, "configuration": {"id": codec.rpartition(".")[2], "protocol": 4}}]
        about["data_type"] = data_type or about["data_type"]
        path.write_text(json.dumps(about))
        for chunk in path.parent.rglob("c/*"):
            if chunk.is_file():
                chunk.write_bytes(BOMB)
    opened(published)


def test_chunks_that_are_pickles_run_nothing(published):
    for chunk in published.rglob("c/*"):
        if chunk.is_file():
            chunk.write_bytes(BOMB)
    opened(published)


@pytest.mark.parametrize("keep", [True, False])
def test_a_tree_of_zarr_2_with_object_arrays_runs_nothing(published, keep):
    """Format 2 has the pickle codec; `keep`: beside the root of format 3."""
    root = published
    if not keep:
        (root / "zarr.json").unlink()
    (root / ".zgroup").write_text('{"zarr_format": 2}')
    (root / ".zattrs").write_text(json.dumps({"axes": '["k"]', "seed": "1"}))
    for path in [*root.glob("*/zarr.json")]:
        array = path.parent
        shutil.rmtree(array)
        array.mkdir()
        meta = {"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|O", "fill_value": None, "order": "C"}
        meta |= {"compressor": None, "filters": [{"id": "pickle", "protocol": 4}]}
        (array / ".zarray").write_text(json.dumps(meta))
        (array / ".zattrs").write_text(json.dumps({"_ARRAY_DIMENSIONS": ["cell"]}))
        (array / "0").write_bytes(BOMB)
    opened(published)
    opened(root)


@pytest.mark.parametrize("where", ["run.json", "provenance.json", "lock", "journal/*.seg"])
def test_a_run_folder_of_pickles_runs_nothing(command, run, where):
    for path in run.glob(where):
        path.write_bytes(BOMB)
    code, _, err = command("status", *STUDY)
    assert (code, err) == (0, "")  # the journal knows what run.json held
    opened(run)


@pytest.mark.parametrize("name", ["lock", "run.log"])
def test_a_planted_link_is_not_followed(command, run, tmp_path, name):
    mine = tmp_path / "mine.txt"
    mine.write_text("precious")
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(mine)
    code, _, err = command(*STUDY)
    assert (code, err.count("\n")) == (2, 1)
    assert f"results/histogram/{name}: Too many levels of symbolic links" in err
    assert mine.read_text() == "precious"
    (run / name).unlink()
    assert command(*STUDY)[0] == 0


YAML = """\
# @package _global_
defaults: [histogram]
hydra: {callbacks: {x: {_target_: os.mkdir, path: ran}}}
data: {_target_: os.mkdir, path: ran}
x: !!python/object/apply:os.mkdir [ran]
"""


@pytest.mark.parametrize("flag", ["--config-dir", "--config-d", "-cd", "--config-path", "-cp"])
def test_a_folder_of_configs_from_elsewhere_is_refused(command, tmp_path, flag):
    """Hydra calls what `hydra.callbacks` names, before anything of ours runs."""
    (tmp_path / "evil" / "experiment").mkdir(parents=True)
    (tmp_path / "evil" / "experiment" / "mine.yaml").write_text(YAML)
    (tmp_path / "evil" / "config.yaml").write_text(YAML)
    for words in ((flag, str(tmp_path / "evil")), (f"{flag}={tmp_path / 'evil'}",)):
        code, out, err = command("plan", *words, "experiment=mine")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "is not available: files from elsewhere could run code" in err


CALLS = "{x: {_target_: os.mkdir, path: ran}}"


@pytest.mark.parametrize(
    "words",
    [
        ["+hydra.callbacks.x._target_=os.mkdir", "+hydra.callbacks.x.path=ran"],
        ["++hydra.callbacks.x._target_=os.mkdir", "++hydra.callbacks.x.path=ran"],
        [f"+hydra.callbacks={CALLS}"],
        [f"hydra={{callbacks: {CALLS}}}"],
        [f" +hydra.callbacks={CALLS}"],
        ["hydra.searchpath=[file://{here}/evil]", "experiment=mine"],
        ["+data@hydra.searchpath=zipf"],
        ["+experiment@hydra.callbacks.x=mine"],
        ["data@hydra=one_bin"],
        ["+data@_global_.hydra.callbacks=one_bin"],
        ["hydra/launcher=basic"],
        ["+hydra/callbacks=x"],
        ["~hydra"],
        ["~hydra.job"],
        ["hydra.sweeper._target_=os.mkdir", "--multirun"],
        ["--multirun", "seed=1,2", "hydra.sweep.dir=ran"],
    ],
    ids=str,
)
def test_no_word_reaches_the_section_that_hydra_calls(command, tmp_path, words):
    (tmp_path / "evil" / "experiment").mkdir(parents=True)
    (tmp_path / "evil" / "experiment" / "mine.yaml").write_text(YAML)
    code, out, err = command("plan", *(word.replace("{here}", str(tmp_path)) for word in words))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "is not available: what is under hydra could run code" in err


UP = "../" * 40


@pytest.mark.parametrize(
    "word",
    [
        *("data={up}{here}/mine", "+data@x={up}{here}/mine", "experiment='{up}{here}/mine'", "data=${{oc.env:EVIL}}"),
        *("++mechanism={up}{here}/mine", "cluster=[{up}{here}/mine]", "+noise={up}{here}/mine", "data=./one_bin"),
    ],
)
def test_an_option_of_a_group_is_no_path(command, tmp_path, monkeypatch, word):
    (tmp_path / "mine.yaml").write_text(YAML.replace("defaults: [histogram]\n", ""))
    word = word.format(up=UP, here=str(tmp_path)[1:])
    monkeypatch.setenv("EVIL", f"{UP}{str(tmp_path)[1:]}/mine")
    code, out, err = command("plan", word)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "is not valid: an option is a name, and no file from elsewhere; valid: " in err


def test_words_that_only_look_like_hydras_are_heard(command):
    tiny = ("plan", "cluster=serial", "sweep.k=10", "sweep.rho=0.1", "also=null", "sweep.noise=gaussian")
    code, out, err = command(*tiny, "name=hydra", "results_dir=../hydra.x")
    assert (code, err) == (0, "")
    assert "folder: ../hydra.x/hydra\n" in out


@pytest.mark.parametrize("flag", ["--experimental-rerun", "--exp"])
def test_a_pickled_config_is_refused(command, tmp_path, flag):
    (tmp_path / "config.pickle").write_bytes(BOMB)
    code, out, err = command(flag, "config.pickle")
    assert (code, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("section", ["data", "mechanism", "experiment", "cluster", "sweep", "also.x"])
def test_a_target_in_a_section_is_an_unknown_key(command, section):
    code, _, err = command("plan", "sweep.k=10", f"+{section}._target_=os.mkdir", f"+{section}.path=ran")
    assert (code, err.count("\n")) == (2, 1)


FORMULAS = [
    "=cmd|'/c mkdir ran'!A0",
    "@SUM(1)",
    "+1+1",
    "-2",
    "__import__('os').mkdir('ran')",
    "${oc.env:HOME}",
    "{{7*7}}",
]


def test_formulas_and_code_in_a_table_are_labels(tmp_path):
    (tmp_path / "table.csv").write_text("name\n" + "\n".join(f'"{text}"' for text in FORMULAS) + "\n")
    assert list(read_rows(tmp_path / "table.csv", ["name"])) == [(text,) for text in FORMULAS]


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz", "table.parquet"])
def test_a_pickle_that_is_called_a_table_is_one_line(command, tmp_path, name):
    (tmp_path / name).write_bytes(BOMB)
    code, out, err = command("plan", "data=csv", f"data.path={name}", "data.column=a", "data.domain=3", "sweep.rho=0.1")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert name in err
