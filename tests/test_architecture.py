"""Who may import whom, and what may be done where; read off the syntax trees, so that nothing hides in a branch."""

import ast
import json
import re
import subprocess
import sys
import textwrap
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from tcdp_sim.data import Counts
from tcdp_sim.mechanisms import Histogram
from tcdp_sim.noise import FAMILIES
from tcdp_sim.study import groups as config

FOLDERS = {  # import name -> folder, as pyproject.toml maps them
    "tcdp_sim": Path(str(resources.files("tcdp_sim"))),
    "tcdp_sim.conf": Path(str(resources.files("tcdp_sim.conf"))),
    "tcdp_sim.experiments": Path(str(resources.files("tcdp_sim.experiments"))),
}
PACKAGE = "__init__"  # tcdp_sim itself: its version and its public names

# Package -> the packages that it may import beside core. A line names packages of the lines above it only.
MAY_IMPORT = {
    # 1: the ground
    "conf": (),
    "core": (),  # every room may import it
    # 2: what is known of itself
    "privacy": (),
    "noise": ("privacy",),
    "summaries": (),
    "data": ("privacy",),
    "report": ("summaries",),
    "candidates": (),
    # 3: drawing | exact laws, each other's oracle
    "samplers": ("noise",),
    "per_record": ("noise", "privacy"),
    "exact": ("noise", "privacy", "per_record", "candidates"),
    "bounds": ("noise", "privacy"),
    "accounting": ("noise", "privacy", "candidates", "exact"),
    # 4: the noise that meets a guarantee
    "calibration": ("noise", "privacy", "exact", "per_record", "accounting"),
    # 5, 6: algorithms of several files
    "selection": ("noise", "privacy", "samplers", "calibration", "accounting"),
    "ordered": ("noise", "privacy", "samplers", "calibration", "accounting"),
    # 7: mechanisms, as the engine sees them
    "mechanisms": (
        *("noise", "privacy", "data", "samplers", "bounds", "per_record", "calibration", "selection", "ordered"),
        *("accounting", "candidates"),
    ),
    # 8, 9, 10: what is asked, what is kept, what is done
    "study": ("noise", "privacy", "summaries", "data", "mechanisms"),
    "store": ("summaries", "mechanisms", "study"),
    "statistics": ("summaries", "store"),
    "engine": ("summaries", "report", "statistics", "mechanisms", "study", "store"),
    "audits": ("noise", "privacy", "data", "report", "samplers", "accounting", "store", "engine"),
    "results": ("summaries", "report", "statistics", "mechanisms", "study", "store"),
    "sweeps": ("summaries", "statistics", "mechanisms", "study", "store", "engine", "results"),
    # 11: faces
    "experiments": (
        *("noise", "privacy", "summaries", "data", "report", "exact", "bounds", "per_record", "calibration"),
        *("selection", "ordered", "mechanisms", "statistics", "store", "audits", "results", "accounting", "candidates"),
    ),
    "papers": (  # experiments/papers: claims, their judge, their page
        *("noise", "privacy", "data", "report", "exact", "bounds", "per_record", "calibration", "selection"),
        *("ordered", "mechanisms", "statistics", "store", "study", "engine", "results"),
        "experiments",
    ),
    "checks": ("noise", "exact", "mechanisms", "study", "store", "statistics", "engine", "results"),
    "api": ("checks", "privacy", "report", "mechanisms", "study", "store", "engine", "audits", "results", "sweeps"),
    "cli": (
        *("privacy", "accounting", "summaries", "report", "statistics", "mechanisms", "study", "store", "engine"),
        *("results", "papers", "sweeps", "audits", "checks", "api"),
    ),
    "__main__": ("cli",),
}
LAZY = "test_importing_the_package_loads_nothing"  # holds that tcdp_sim names its API without importing it

# Library -> the only parts that may import it.
ONLY_IN = {
    "dask": {
        "engine.schedule",
        "engine.clusters",
        "results.open",
    },  # results.open: whose lazy arrays are read by its threads
    "distributed": {"engine.schedule", "engine.clusters"},
    "zarr": {"store"},
    "matplotlib": {
        "report",
        "experiments",
        "results.published",
        "results.page",
        "papers",
        "api",
        "audits.drawing",
        "audits.report",
    },
    "jinja2": {"report.html", "cli.script"},
    "hydra": {"cli.overrides", "study.compose"},
    "omegaconf": {"cli.overrides", "study"},
    "rich": {"cli", "report.terminal", "report.tables", "engine.progress"},
    "pyarrow": {"data"},
    "sklearn": {"audits.learnt"},
    "subprocess": {"store.provenance", "engine.clusters"},
}
SIMULATE = ("mechanisms", "samplers", "selection", "ordered.thresholds", "ordered.quantiles")  # they name no exact law
LAWS = ("ordered.interior", "ordered.thresholds")  # rooms in which exact laws stand, in modules that say so
FORBIDDEN = {"pickle", "cloudpickle", "marshal", "shelve", "dill", "joblib", "random", "imp", "runpy"}


@cache
def tree(path):
    return ast.parse(path.read_text("utf-8"), str(path))


def modules():
    """Every file of the three folders: its dotted name below tcdp_sim -> its path; a package by its own name."""
    for name, folder in FOLDERS.items():
        for path in sorted(folder.rglob("*.py")):
            below = path.relative_to(folder).with_suffix("").parts
            below = below[:-1] if below[-1] == "__init__" else below
            yield ".".join([*name.split(".")[1:], *below]) or PACKAGE, path


MODULES = dict(modules())


def part(name):
    """The room of a module; the papers are one of their own."""
    return "papers" if f"{name}.".startswith("experiments.papers.") else name.split(".")[0]


def lies_in(name, rooms):
    """Whether a module lies in one of these rooms."""
    return f"{name}.".startswith(tuple(f"{room}." for room in rooms))


def resolved(name):
    """The module of the package that `tcdp_sim.<name>` is or is defined in."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name or PACKAGE


def outside_functions(node):
    """Like ast.walk, without what stands in functions."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from outside_functions(child)


@cache
def imports(path, nodes=ast.walk):
    """Every import of a file, wherever it stands: absolute dotted names, `from a import b` as a.b."""
    found = []
    for node in nodes(tree(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


@cache
def inside(path, nodes=ast.walk):
    """The modules of the package that a file imports."""
    names = (name for name in imports(path, nodes) if part(name) == "tcdp_sim")
    found = {resolved(name.partition(".")[2]) for name in names}
    return found - {"api"} if path == MODULES[PACKAGE] else found  # handed out when asked for: see LAZY


def reachable(start, nodes=outside_functions):
    """All modules that importing one brings in at once: what it names at its top, and the packages these lie in.

    nodes=ast.walk: also those that it names in functions, as do the modules that these name.
    """
    found, todo = set(), [start]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += inside(MODULES[name], nodes)
            if "." in name:
                todo.append(name.rpartition(".")[0])
    return found


@cache
def calls(path):
    """(function as written, node) of every call in a file."""
    return [(ast.unparse(node.func), node) for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]


def by_module(test):
    """One test of all modules, since hundreds of small ones cost more than what they do."""

    def of_all_modules():
        for name in MODULES:
            try:
                test(name)
            except AssertionError as failed:
                raise AssertionError(name) from failed

    of_all_modules.__name__, of_all_modules.__doc__ = test.__name__, test.__doc__
    return of_all_modules


# Who imports whom


def test_every_room_has_its_line_in_the_table():
    assert {part(name) for name in MODULES} == {PACKAGE, *MAY_IMPORT}


def test_every_list_of_rooms_names_what_is_there():
    """A pattern that matches nothing would check nothing, in silence."""
    root = Path(__file__).parents[1]
    overrides = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]["overrides"]
    strict = [name for each in overrides for name in each["module"] if name.startswith("tcdp_sim.")]
    assert len(strict) > 5
    rooms = [name.removeprefix("tcdp_sim.").removesuffix(".*") for name in strict]
    rooms += [*SIMULATE, *LAWS, *(room for allowed in ONLY_IN.values() for room in allowed)]
    names = {*MODULES, *(name.replace("experiments.papers", "papers") for name in MODULES)}
    assert [room for room in rooms if not any(lies_in(name, (room,)) for name in names)] == []
    assert {part(name) for name in MODULES} - {PACKAGE} == set(MAY_IMPORT)
    numerical = re.search(r"rooms=\((.*)\)", (root / ".ci" / "processors").read_text("utf-8"))[1].split()
    assert [room for room in numerical if not [*(root / "tests" / room).glob("test_*.py")]] == []


def test_the_table_itself_goes_one_way():
    above = set()
    for name, allowed in MAY_IMPORT.items():
        assert set(allowed) <= above, name
        above.add(name)


@by_module
def test_imports_go_one_way(name):
    found = {part(other) for other in inside(MODULES[name])} - {part(name)}
    assert found <= {"core", *MAY_IMPORT.get(part(name), ())}


def test_no_import_cycles():
    graph = {name: inside(path) - {name} for name, path in MODULES.items()}
    assert list(TopologicalSorter(graph).static_order())


def test_experiments_know_of_the_store_its_names_and_exact_values_alone():
    named = set().union(*(inside(path) for name, path in MODULES.items() if part(name) == "experiments"))
    assert {name for name in named if part(name) == "store"} <= {"store", "store.columns", "store.exact_values"}
    assert not [name for name in named if name == "study.groups"]  # labels of noises are read from the results


def test_the_names_of_types_compute_nothing():
    body = tree(MODULES["core.arrays"]).body
    assert not [node for node in ast.walk(tree(MODULES["core.arrays"])) if isinstance(node, ast.Call | ast.Lambda)]
    assert all(isinstance(node, ast.Expr | ast.Import | ast.ImportFrom | ast.Assign) for node in body)


@pytest.mark.parametrize("name", ["core.arrays", "core.errors", "core.streams", "core.texts", "core.version"])
def test_the_ground_floor_stands_on_nothing(name):
    below = {"core.texts"} if name == "core.errors" else set()  # messages are made printable
    assert inside(MODULES[name]) <= {"core"} | below


def says_exact(name):
    """Whether a module is one of those that hold exact laws, by its name: they alone may."""
    return lies_in(name, LAWS) and any(word.startswith("exact_") for word in name.split(".")[2:])


def simulates(name):
    """Whether a module is one of those that simulate, and so must know no exact law."""
    return name == "engine.simulate" or (lies_in(name, SIMULATE) and not says_exact(name))


def test_importing_the_simulation_brings_in_nothing_exact():
    found = reachable("engine.simulate")
    assert {"engine.simulate", "mechanisms.histogram", "samplers.extremes"} <= found
    assert not [name for name in found if part(name) == "exact"]


def test_what_simulates_never_names_exact():
    starts = [name for name in MODULES if simulates(name)]
    assert len(starts) > 50
    assert not [(name, other) for name in starts for other in inside(MODULES[name]) if part(other) == "exact"]


def test_no_simulation_knows_how_often_it_should_succeed():
    """Through all imports, those in functions too: the laws that a run is compared with are out of its reach."""
    starts = [name for name in MODULES if simulates(name)]
    found = set().union(*(reachable(name, ast.walk) for name in starts))
    assert {
        "ordered.interior.binary_search",
        "ordered.interior.exponential_mechanism",
        "ordered.interior.choose_node",
        "ordered.thresholds.noisy_tree",
    } <= found
    assert not [name for name in found if says_exact(name)]


def functions(name):
    """The names of all functions of a module."""
    return {node.name for node in ast.walk(tree(MODULES[name])) if isinstance(node, ast.FunctionDef)}


def test_laws_of_success_stand_in_modules_that_say_so():
    """So that the test above knows them: what is called a success, and the laws of outputs, in `interior`."""
    laws = {"success_probability", "search_success", "exponential_success", "output_log_pmf", "search_law"}
    homes = {name for name in MODULES if lies_in(name, LAWS) and functions(name) & laws}
    told = {name for name in MODULES if lies_in(name, LAWS) and any("_success" in f for f in functions(name))}
    ours = {"ordered.interior.exact_law", "ordered.interior.exact_baselines", "ordered.thresholds.exact_rank_search"}
    assert homes == ours
    assert told <= homes


@pytest.mark.parametrize("name", [name for name in MODULES if says_exact(name)])
def test_exact_laws_of_interior_points_share_no_code_with_what_draws(name):
    """Of the package they name the data's profile, the recipe's numbers, deep quantiles and noise."""
    named = {found for found in imports(MODULES[name]) if part(found) == "tcdp_sim"}
    named = {each for each in named if not each.startswith("tcdp_sim.core.arrays.")}
    names = ("level_profile.LevelProfile", "level_profile.Segments", "release.CANDIDATES", "release.ReleaseParameters")
    data = {f"ordered.interior.{name}" for name in names}
    data |= {"ordered.thresholds.records.Records", "samplers.log_extremes.isf_log"}
    allowed = {f"tcdp_sim.{each}" for each in data}
    allowed |= {"tcdp_sim.noise.Noise", "tcdp_sim.core.numerics.gauss_panels", "tcdp_sim.core.errors.UserError"}
    assert named <= allowed


def test_samplers_and_exact_are_each_others_oracle():
    samplers = set().union(*(reachable(name) for name in MODULES if part(name) == "samplers"))
    exact = set().union(*(reachable(name) for name in MODULES if part(name) == "exact"))
    assert not [name for name in samplers if part(name) == "exact"]
    assert not [name for name in exact if part(name) == "samplers"]


def test_what_simulates_asks_no_noise_for_its_closed_forms():
    """They are the witnesses of exact; the noises themselves are all that both sides share."""
    for name in filter(simulates, MODULES):
        attributes = {node.attr for node in ast.walk(tree(MODULES[name])) if isinstance(node, ast.Attribute)}
        assert not attributes & {"closed_renyi", "closed_hockey_stick", "fast_profile", "fast_divergences"}, name


@by_module
def test_no_list_of_noises_outside_their_room(name):
    """What holds for one family is a method of its class: nothing asks which class it is, or by what name it goes."""
    if part(name) in ("noise", "experiments") or name.startswith("experiments.papers.balls"):
        return  # the balls have laws of their own, which share no code with the noises
    families = {"Gaussian", "Laplace", "SinhNormal", "TruncatedLaplace"}
    for node in ast.walk(tree(MODULES[name])):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            assert not {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)} & families
        if isinstance(node, ast.MatchClass):
            assert ast.unparse(node.cls) not in families
        if isinstance(node, ast.FunctionDef):  # singledispatch
            registered = any("register" in ast.unparse(decorator) for decorator in node.decorator_list)
            named = {word.id for word in ast.walk(node.args) if isinstance(word, ast.Name)}
            assert not (registered and named & families)
        if isinstance(node, ast.Compare):
            assert not set(FAMILIES) & {word.value for word in ast.walk(node) if isinstance(word, ast.Constant)}


@pytest.mark.parametrize("library", ONLY_IN)
def test_a_library_has_its_place(library):
    users = {name for name, path in MODULES.items() if library in {part(found) for found in imports(path)}}
    assert users
    assert not [name for name in users if not any(f"{name}.".startswith(f"{place}.") for place in ONLY_IN[library])]


@by_module
def test_nothing_private_of_hydra_is_used_and_the_command_line_is_read_once(name):
    assert not [found for found in imports(MODULES[name]) if found.startswith("hydra.") and "._" in found]
    words = [node for node in ast.walk(tree(MODULES[name])) if isinstance(node, ast.Attribute) and node.attr == "argv"]
    assert len(words) == (name == "cli.main")
    assert all(isinstance(node.ctx, ast.Load) for node in words)
    for node in ast.walk(tree(MODULES[name])):
        if isinstance(node, ast.Assign):  # a patch of somebody else's class
            assert not [target for target in node.targets if ast.unparse(target).startswith(("Hydra", "hydra"))]


def test_experiments_import_matplotlib_inside_functions_only():
    for name, path in MODULES.items():
        if part(name) == "experiments":
            top = [node for node in tree(path).body if isinstance(node, ast.Import | ast.ImportFrom)]
            assert "matplotlib" not in " ".join(ast.unparse(node) for node in top)


def test_property_tests_draw_the_same_examples_each_time():
    assert settings.default.derandomize
    texts = {path: path.read_text("utf-8") for path in Path(__file__).parent.rglob("test_*.py")}
    for path in (path for path, text in texts.items() if "derandomize" in text):
        words = (word for _, node in calls(path) for word in node.keywords if word.arg == "derandomize")
        assert all(ast.unparse(word.value) == "True" for word in words), path


# What is done where


@by_module
def test_nothing_that_runs_stored_code(name):
    path = MODULES[name]
    assert not {part(found) for found in imports(path)} & FORBIDDEN
    called = {function for function, _ in calls(path)}
    assert not called & {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "hydra.utils.instantiate"}
    assert not [node for _, node in calls(path) for word in node.keywords if word.arg in ("shell", "allow_pickle")]


@by_module
def test_generators_are_made_in_streams_only(name):
    makers = ("default_rng", "Generator", "RandomState", "SeedSequence", "PCG64", "Philox", "SFC64", "MT19937")
    made = {function for function, _ in calls(MODULES[name]) if function.split(".")[-1] in makers}
    assert bool(made) == (name == "core.streams")


@by_module
def test_the_global_generator_of_numpy_is_never_used(name):
    attributes = {ast.unparse(node) for node in ast.walk(tree(MODULES[name])) if isinstance(node, ast.Attribute)}
    classes = {"np.random.Generator", "np.random.SFC64", "np.random.SeedSequence", "np.random.bit_generator"}
    classes |= {"np.random.bit_generator.ISpawnableSeedSequence"}
    assert {found for found in attributes if found.startswith("np.random.")} <= classes
    assert not [found for found in imports(MODULES[name]) if found.startswith("numpy.random")]


@by_module
def test_no_default_for_rng(name):
    for node in ast.walk(tree(MODULES[name])):
        if isinstance(node, ast.FunctionDef):
            positional = node.args.posonlyargs + node.args.args
            with_default = positional[len(positional) - len(node.args.defaults) :]
            with_default += [a for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults) if d is not None]
            assert "rng" not in [argument.arg for argument in with_default], node.name


@by_module
def test_what_is_public_says_what_it_is(name):
    body = tree(MODULES[name])
    assert name in ("conf", "__main__") or ast.get_docstring(body)
    for node in body.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            overload = "overload" in map(ast.unparse, node.decorator_list)  # only its last definition is one for people
            assert overload or ast.get_docstring(node), node.name


# What is loaded


def loaded(code):
    """The modules that a fresh interpreter has loaded once it has run the code."""
    code = f"import atexit, sys\natexit.register(lambda: print('LOADED', *sys.modules))\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rsplit("LOADED", 1)[1].split())


def test_importing_the_package_loads_nothing():
    ours = {name for name in loaded("import tcdp_sim") - loaded("") if part(name) == "tcdp_sim"}
    assert ours == {"tcdp_sim", "tcdp_sim.core", "tcdp_sim.core.version"}
    assert loaded("import tcdp_sim") - loaded("") == ours


def test_help_loads_no_numerics():
    found = loaded("sys.argv = ['tcdp-sim', '--help']\nfrom tcdp_sim.cli.main import main\nmain()")
    assert "tcdp_sim.cli.help_text" in found
    heavy = {
        "hydra",
        "omegaconf",
        "pydantic",
        "numpy",
        "scipy",
        "pandas",
        "matplotlib",
        "dask",
        "distributed",
        "zarr",
        "xarray",
        "pyarrow",
        "rich",
    }
    assert not found & heavy


def test_what_draws_is_not_loaded_before_there_is_something_to_draw():
    found = loaded("import tcdp_sim.cli.run, tcdp_sim.cli.planning")
    assert "tcdp_sim.engine.run" in found
    assert not found & {"matplotlib", "distributed"}


SLOW = {"matplotlib", "zarr", "xarray", "pandas", "dask", "scipy.optimize", "scipy.stats", "scipy.integrate", "pyarrow"}


def test_a_command_that_computes_nothing_loads_no_slow_library():
    assert not loaded("from tcdp_sim.cli import study_words, draw, run, status") & SLOW
    commands = "from tcdp_sim.cli import commands\nassert not commands.main"
    assert not loaded(f"{commands}(['list', '.'])") & (
        SLOW | {"scipy", "hydra", "tcdp_sim.mechanisms", "tcdp_sim.noise"}
    )
    assert not loaded(f"{commands}(['--help'])") & (SLOW | {"scipy", "numpy", "rich", "hydra"})


def test_a_worker_computes_exact_values_of_the_default_study_without_tables_and_figures():
    found = loaded("from tcdp_sim.store.exact_values import known_exactly\nassert known_exactly('histogram').width")
    assert "tcdp_sim.exact.ranking" in found
    assert not found & {"matplotlib", "zarr", "xarray", "pandas", "pyarrow", "hydra", "rich"}


@pytest.mark.parametrize("noise", config.options("noise"))
def test_a_worker_simulates_without_exact_figures_and_storage(noise):
    data = Counts("two", np.array([7, 3]), 9.0, "")
    point = {"noise": config.named("noise", noise), "data": "two", "k": 9.0, "rho": 0.1, "omega": 5.0, "delta": 1e-6}
    law = Histogram.law(point, {"sampling": "order_statistics", "beta": 0.05}, data)
    code = f"""
        import numpy as np
        from tcdp_sim.engine.simulate import Batch, Task, run
        batch = Batch("0" * 64, json.loads({json.dumps(law)!r}), np.array([7, 3]), (0,))
        assert len(run(Task(1, 10, (batch,))).records) == 1
    """
    found = loaded("import json\n" + textwrap.dedent(code))
    assert "tcdp_sim.mechanisms.histogram" in found
    assert not found & {"matplotlib", "zarr", "xarray", "pandas", "hydra", "dask", "distributed", "rich"}
    assert not [name for name in found if name.startswith("tcdp_sim.exact")]


# Verdicts


def test_nobody_but_the_judge_makes_a_verdict():
    makers = {name for name, path in MODULES.items() if any(f.split(".")[-1] == "Judgement" for f, _ in calls(path))}
    assert makers == {"experiments.papers.judge.verdict"}


def test_what_is_expected_of_a_claim_is_read_only_to_be_compared():
    """Not where evidence is gathered, and not where it is judged."""
    readers = set()
    for name, path in MODULES.items():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Attribute) and node.attr == "expected" and isinstance(node.ctx, ast.Load):
                readers.add((name, ast.unparse(node.value)))
    assert readers == {
        ("experiments.papers.gather.gather", "self.claim"),  # Result.changed
        ("experiments.papers.page.rows", "claim"),  # the column `recorded`
        ("experiments.papers.page.terminal", "claim"),
    }


def test_the_judge_reads_no_class_and_no_data_file():
    """A verdict follows from the evidence: no class, no quote and nothing that is recorded can enter it."""
    for name in ("evidence", "verdict", "power"):
        found = inside(MODULES[f"experiments.papers.judge.{name}"])
        assert not {other for other in found if other.endswith((".classes", ".library", ".registry"))}, name


def test_claims_know_nothing_of_the_page():
    upper = ("experiments.papers.page", "experiments.papers.command")
    for name, path in MODULES.items():
        if name.startswith("experiments.papers.") and not name.startswith(upper):
            assert not {each for each in inside(path) if each.startswith(upper)}, name
