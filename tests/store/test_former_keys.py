"""Runs whose stored config has keys that are commands now: opened, checked, resumed and merged as ever."""

import json
import re
import shutil

import pytest

import tcdp_sim
from tcdp_sim.core.errors import UserError
from tcdp_sim.results import page
from tcdp_sim.store import recorded
from tcdp_sim.store.digests import tree_digest
from tcdp_sim.study import retired
from tcdp_sim.study.settings import KEYS, Settings, settings

WORDS = ("cluster=serial", "trials=1000", "chunk=500", "also=null", "sweep.rho=0.1", "sweep.k=[1e6,10]")
WORDS += ("sweep.noise=[laplace,gaussian]", "sweep.omega_sqrt_rho=1")
FORMER = {"mode": "run", "sample": 20, "cell": None, "index": 0, "other": None}


@pytest.fixture
def former(command, monkeypatch, tmp_path):
    """A run whose provenance and journal tell the former keys, as those of older versions do; its folder."""
    with monkeypatch.context() as patch:
        patch.setattr(Settings, "config", property(lambda self: FORMER | self.model_dump()))
        assert command(*WORDS, "name=mine")[0] == 0
    folder = tmp_path / "results" / "mine"
    assert FORMER.items() <= json.loads((folder / "provenance.json").read_text())["config"].items()
    return folder


def contents(folder):
    return tree_digest((folder / "results.zarr").resolve()), (folder / "certificate.json").read_bytes()


def test_every_former_key_is_known_as_one():
    assert set(retired.FORMER) == set(FORMER)
    assert not set(FORMER) & set(KEYS)


@pytest.mark.parametrize("lost", [False, True], ids=["provenance", "journal"])
def test_a_former_run_is_read_as_its_words_would_be(command, former, lost):
    if lost:
        (former / "provenance.json").unlink()
    found = recorded.settings_of(former)
    assert not set(FORMER) & set(found.config)
    assert list(recorded.config_of(former)["sweep"]["k"]) == [1e6, 10]
    assert "8 of 8 chunks, 4 of 4 cells done" in command("status", former)[1]
    assert "all as certified" in command("verify", former, "sample=100")[1]


def test_a_former_run_and_a_new_one_are_one_study(command, former, tmp_path):
    before = contents(former)
    assert command(*WORDS, "name=new")[0] == 0
    new = tmp_path / "results" / "new"
    assert contents(new) == before
    assert "identical: 4 cells; compared: 0 cells" in command("diff", former, new)[1]
    for words in ((*WORDS, "name=mine"), ("run", str(former))):
        code, out, _ = command(*words)
        assert (code, "nothing to simulate" in out) == (0, True)
        assert contents(former) == before
    assert command(*WORDS, "name=longer", "trials=1500")[0] == 0
    longer = tmp_path / "results" / "longer"
    shutil.copytree(longer, tmp_path / "copy", symlinks=True)
    assert "4 chunks added" in command("merge", former, longer)[1]
    assert "0 chunks added" in command("merge", tmp_path / "copy", former)[1]
    assert contents(former) == contents(longer) == contents(tmp_path / "copy")


def test_a_former_run_is_replayed_drawn_reported_and_listed(command, former):
    cell = next(iter(json.loads((former / "certificate.json").read_text())["cells"]))
    assert "the same bits as stored" in command("replay", former, f"cell={cell}", "index=1")[1]
    assert command("draw", former)[0] == 0
    assert "4 cells" in command("list")[1]
    text = page.write(former).read_text("utf-8")
    assert "tcdp-sim experiment=histogram name=mine" in text
    assert "mode=" not in re.sub(r"<script>.*?</script>", "", text, flags=re.S)


def test_python_names_the_command_too():
    with pytest.raises(UserError, match="mode=plan is a command now: write `tcdp-sim plan`"):
        tcdp_sim.run(mode="plan")
    with pytest.raises(UserError, match="sample = 3 is no key of a study; write `tcdp-sim verify"):
        settings({"sample": 3})
