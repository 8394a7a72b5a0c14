"""The numbers of a sweep are a function of seed, point and chunk: no name of a function, file or module matters."""

import json
import subprocess
import sys
from importlib import import_module
from types import FunctionType, ModuleType

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.audits.pairs import listed
from tcdp_sim.core.code_dependencies import known_place
from tcdp_sim.mechanisms import NoiseDraw
from tcdp_sim.mechanisms.functions import law_of
from tcdp_sim.noise import Gaussian
from tcdp_sim.study import sweeps

AXES = {"n": [2, 5], "kind": ["a", 0.5]}
SETTINGS = {
    "one small chunk": {"trials": 500},
    "several chunks": {"trials": 30_000, "chunk": 10_000},
    "a target": {"trials": 200, "chunk": 200, "target_mcse": {"value": {"relative": 0.02}}, "max_trials": 2000},
    "shared numbers": {"trials": 500, "share": "n"},
}


def largest(rng, trials, n, kind):
    return rng.random((trials, n)).max(axis=1)


def renamed(name, module):
    """Return a copy of `largest` under another name and of another module."""
    other = FunctionType(largest.__code__, {"np": np}, name)
    other.__qualname__, other.__module__ = name, module
    return other


def bits(found):
    return {str(name): found[name].values.tobytes() for name in found.data_vars}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SETTINGS)
def test_names_of_function_and_module_do_not_matter(name):
    usual = bits(tcdp_sim.sweep(largest, AXES, **SETTINGS[name]))
    for other in (renamed("greatest", __name__), renamed("largest", "__main__"), renamed("<lambda>", "another.module")):
        assert bits(tcdp_sim.sweep(other, AXES, **SETTINGS[name])) == usual


@pytest.mark.parametrize("name", SETTINGS)
def test_the_folder_has_the_numbers_of_memory(name, tmp_path):
    usual = bits(tcdp_sim.sweep(largest, AXES, **SETTINGS[name]))
    found = bits(tcdp_sim.sweep(largest, AXES, **SETTINGS[name], name="there", results_dir=tmp_path))
    assert {each: found[each] for each in usual} == usual


def test_stored_chunks_still_belong_to_their_function(tmp_path):
    """Another function is refused in the same folder, and has ids of its own wherever both are."""
    given = {"trials": 400, "chunk": 200, "name": "there", "results_dir": tmp_path}

    def wrong(rng, trials, n, kind):
        return rng.random((trials, n)).min(axis=1)

    tcdp_sim.sweep(largest, AXES, **given)
    with pytest.raises(
        tcdp_sim.UserError, match=r"\(function = .*largest' there, .*wrong' here\); choose another name"
    ):
        tcdp_sim.sweep(wrong, AXES, **given)
    assert bits(tcdp_sim.sweep(wrong, AXES, **given | {"name": "other"})) != bits(
        tcdp_sim.sweep(largest, AXES, **given)
    )
    points = sweeps.distinct([{"n": 2}, {"n": 5}])
    abouts = [{"module": "m", "name": name, "source": source} for name in "fg" for source in ("1", "2")]
    ids = [each for about in abouts for each in sweeps.identities(about, points, ())[0]]
    assert len(set(ids)) == len(ids) == 8


def test_each_point_has_a_stream_of_its_own():
    points = sweeps.distinct([{"n": value} for value in (1, 1.0, True, "1", None, (1,))])
    names = list(sweeps.streams(points))
    assert len(set(names)) == len(points) == 6
    about = {"module": "m", "name": "f", "source": None}
    assert [sweeps.stream(law_of(about, point), "id") for point in points.values()] == names
    assert sweeps.stream({"mechanism": "noise"}, "id") == "id"


SCRIPT = """
import json
import numpy as np
import tcdp_sim
from tcdp_sim.audits.pairs import listed
from tcdp_sim.core.code_dependencies import known_place
from tcdp_sim.mechanisms import NoiseDraw
from tcdp_sim.noise import Gaussian

def largest(rng, trials, n):
    return rng.random((trials, n)).max(axis=1)

class Draw(NoiseDraw):
    pass

if __name__ == "__main__":
    found = tcdp_sim.sweep(largest, {"n": [2, 5]}, trials=500)
    drawn = tcdp_sim.simulate(Draw(Gaussian(1.0), None), trials=100, seed=1)
    print(json.dumps([found["value"].values.tolist(), float(drawn["noise_mean"])]))
"""


def test_files_notebooks_and_standard_input_give_the_same_numbers(tmp_path):
    """A cell of a notebook is a function of `__main__` without a file, as with -c and standard input."""
    for name in ("my_file.py", "another name.py"):
        (tmp_path / name).write_text(SCRIPT)
    ways = [["my_file.py"], ["another name.py"], ["-c", SCRIPT], ["-"]]
    texts = [
        subprocess.run(
            [sys.executable, *way], input=SCRIPT, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        for way in ways
    ]
    space = {"__name__": "a_notebook"}
    exec(SCRIPT, space)
    found = tcdp_sim.sweep(space["largest"], {"n": [2, 5]}, trials=500)
    drawn = tcdp_sim.simulate(NoiseDraw(Gaussian(1.0), None), trials=100, seed=1)
    here = [found["value"].values.tolist(), float(drawn["noise_mean"])]
    assert [json.loads(text) for text in texts] == [here] * len(ways)


def test_a_class_of_a_mechanism_may_move(monkeypatch):
    drawn = []
    for name in ("first_place", "second_place"):
        module = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec("from tcdp_sim.mechanisms import NoiseDraw\nclass Draw(NoiseDraw): pass", vars(module))
        assert module.Draw.__module__ == name
        drawn.append(bits(tcdp_sim.simulate(module.Draw(Gaussian(1.0), None), trials=500, seed=3)))
    assert drawn[0] == drawn[1] == bits(tcdp_sim.simulate(NoiseDraw(Gaussian(1.0), None), trials=500, seed=3))


SURVEY = """
from dataclasses import dataclass

@dataclass
class Survey:
    answers: tuple
"""


def test_a_class_of_audited_data_may_move(tmp_path, monkeypatch):
    """Its name and values name the streams; its code names the stored chunks too."""
    pairs = []
    for name in ("first_place", "second_place"):
        (tmp_path / f"{name}.py").write_text(SURVEY)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setitem(sys.modules, name, None)  # so that the module goes at the end
        del sys.modules[name]
        survey = import_module(name).Survey
        pairs.append(listed([(survey((1, 2)), survey((1,))), (survey((1, 2)), survey((2,)))]))
    (one, more), (other, _) = pairs
    assert one.known
    assert one.stream == other.stream != more.stream
    assert one.content != other.content


def test_plain_inputs_have_one_digest():
    (pair,) = listed([(np.arange(3), [1, "a", None])])
    assert pair.stream == pair.content


def test_a_file_of_the_package_may_move():
    """Classes are known by the package that exports them."""
    assert known_place(Gaussian) == ("tcdp_sim.noise", "Gaussian")
    assert known_place(NoiseDraw) == ("tcdp_sim.mechanisms", "NoiseDraw")
    assert known_place(np.ndarray) == ("numpy", "ndarray")
    assert known_place(law_of) == ("tcdp_sim.mechanisms.functions", "law_of")
