"""A run is finished only for the user's files as they were: a changed file is read again by the same command."""

import json
import os
from pathlib import Path

import pytest
import yaml

import tcdp_sim
from tcdp_sim.store import kept_plan
from tcdp_sim.study.compose import composed
from tcdp_sim.study.settings import settings

CONF = Path(tcdp_sim.__file__).parent / "conf"
FEW = ("trials=20", "chunk=20", "cluster=serial", "also=null", "name=r")
OLD_LIST = "level,query,sigma_squared\na,x,400\na,y,900\nb,x,2500\n"
NEW_LIST = "level,query,sigma_squared\na,x,4\na,y,9\nb,x,25\n"
# what stands in the file before and after the edit, the words that name it, and the mechanisms and data that read it
KINDS = {
    "census": (OLD_LIST, NEW_LIST, [
        "experiment=census", "+mechanism.lists.mine={path: FILE, sigma_squared: sigma_squared, relation: substitute}",
        "sweep.list=mine", "sweep.delta=1e-10"]),
    "ledger": (OLD_LIST, NEW_LIST, [
        "experiment=ledger", "+mechanism.lists.mine={path: FILE, sigma_squared: sigma_squared, relation: substitute}",
        "sweep.list=mine", "sweep.delta=1e-3"]),
    "per_record_sum": ("pay\n1\n2\n3\n", "pay\n100\n200\n300\n", [
        "experiment=per_record_error", "+mechanism.populations.mine={path: FILE, column: pay}",
        "sweep.population=mine"]),
    "per_record_loss": ("pay\n1\n2\n3\n", "pay\n100\n200\n300\n", [
        "experiment=per_record_policy", "+mechanism.populations.mine={path: FILE, column: pay}",
        "sweep.population=mine", "sweep.release=gaussian", "sweep.scale=2"]),
    "thresholds": ("age\n" + "1\n2\n3\n" * 40, "age\n" + "90\n2\n3\n" * 40, [
        "experiment=thresholds", "+mechanism.records.mine={path: FILE, column: age, log2_k: 7}", "sweep.records=mine",
        "sweep.rho=1", "sweep.noise=gaussian", "sweep.method=windows"]),
    "csv": ("x\n1\n1\n2\n", "x\n1\n2\n2\n2\n", [
        "experiment=gap_max_data", "data=csv", "data.path=FILE", "data.column=x", "data.domain={from: 1, to: 2}",
        "sweep.rho=1", "sweep.noise=gaussian"]),
}  # fmt: skip


def readers():
    """Return the names of the mechanisms and data sets of conf whose options may name a file of the user's."""
    found = {file.stem for file in (CONF / "mechanism").glob("*.yaml") if "path: your own" in file.read_text()}
    found |= {file.stem for file in (CONF / "mechanism").glob("*.yaml") if "{path:" in file.read_text()}
    data = {file.stem: yaml.safe_load(file.read_text()) for file in (CONF / "data").glob("*.yaml")}
    return found | {name for name, spec in data.items() if "path" in spec}


def test_every_option_that_names_a_file_is_here():
    assert readers() == set(KINDS)


def outcome(folder: Path) -> dict:
    files = [path for path in (folder / "results.zarr").rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if "created" not in path.name}


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_file_is_not_believed_to_be_finished(command, tmp_path, kind):
    before, after, words = KINDS[kind]
    words = [word.replace("FILE", "mine.csv") for word in (*words, *FEW)]
    folder = tmp_path / "results" / "r"
    (tmp_path / "mine.csv").write_text(before)
    assert command(*words)[0] == 0
    first = outcome(folder)
    assert command(*words)[0] == 0
    assert outcome(folder) == first
    (tmp_path / "mine.csv").write_text(after)
    code, _, err = command(*words)
    assert code == 0, err
    assert outcome(folder) != first


def test_a_file_is_digested_wherever_a_config_names_it(tmp_path, monkeypatch):
    """Under any key and at any depth, so that the next option that names a file needs no line of ours."""
    monkeypatch.chdir(tmp_path)
    configs = [{"a": "f.txt"}, {"a": {"b": ["x", {"c": "f.txt"}]}}, {"a": str(tmp_path / "f.txt")}]
    (tmp_path / "f.txt").write_text("one")
    first = [kept_plan.key(config) for config in configs]
    assert first == [kept_plan.key(json.loads(json.dumps(config))) for config in configs]
    (tmp_path / "f.txt").write_text("two")
    second = [kept_plan.key(config) for config in configs]
    assert all(one != two for one, two in zip(first, second))
    (tmp_path / "f.txt").unlink()
    assert not {*first, *second} & {kept_plan.key(config) for config in configs}


def test_the_key_of_a_kept_plan_sees_every_setting_that_a_plan_depends_on():
    """A plan for invalid=skip was once read for invalid=refuse."""
    config = dict(settings(composed({})).config)
    elsewhere = {"name", "results_dir", "cluster", "numerics", "code", "part"}
    assert elsewhere <= {*config, "part"}
    for name in {*config} - elsewhere:
        assert kept_plan.key(config | {name: "another"}) != kept_plan.key(config), name
    for name in elsewhere & {*config}:
        assert kept_plan.key(config | {name: "another"}) == kept_plan.key(config), name


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert kept_plan.key({"a": str(tmp_path / "pipe")}) is not None
