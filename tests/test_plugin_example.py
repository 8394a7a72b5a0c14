"""The plug-in of examples/plugin: installed by itself, run on two workers, and held against closed forms."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

EXAMPLE = Path(__file__).parent.parent / "examples" / "plugin"
SIZES = ("trials=20000", "chunk=5000")


def run(*command, cwd, code=0, **environment):
    given = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | environment
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, env=given)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of a fresh environment: this one's libraries, and the plug-in installed as anybody would."""
    home = tmp_path_factory.mktemp("plugin")
    run(sys.executable, "-m", "venv", "--without-pip", str(home / "env"), cwd=home)  # its own setuptools may be old
    python = home / "env" / "bin" / "python"
    site = Path(run(str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home).strip())
    shared = [path for path in sys.path if path.endswith("site-packages")]
    (site / "shared.pth").write_text("\n".join(f"import site; site.addsitedir({path!r})" for path in shared))
    source = home / "source"
    for path in EXAMPLE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            (source / path.relative_to(EXAMPLE)).parent.mkdir(parents=True, exist_ok=True)
            (source / path.relative_to(EXAMPLE)).write_bytes(path.read_bytes())
    pip = (sys.executable, "-m", "pip", "--python", str(python))
    run(*pip, "install", "-q", "--no-deps", "--no-build-isolation", str(source), cwd=home)
    return str(python)


@pytest.fixture(scope="module")
def cells(python, tmp_path_factory):
    """The published cells of a run of its experiment on a local cluster of two workers, and its folder."""
    empty = tmp_path_factory.mktemp("empty")
    out = run(python, "-m", "tcdp_sim", "experiment=noisy_mean", "cluster.workers=2", *SIZES, cwd=empty)
    assert "4 cells x 20,000 trials" in out
    folder = empty / "results" / "noisy_mean"
    return xr.open_zarr(folder / "results.zarr", consolidated=False).load(), folder


def test_it_is_short():
    files = [path for path in EXAMPLE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(len(path.read_text("utf-8").splitlines()) for path in files) < 100


@pytest.mark.slow
def test_the_simulated_numbers_are_those_of_the_closed_forms(cells):
    """The mean is the mean; quantiles are mean + scale log(q / (1 - q)) / n for logistic noise."""
    flat, _ = cells
    logistic = [i for i, law in enumerate(flat["law"].values) if "logistic" in law]
    assert len(logistic) == 2
    for i in range(flat.sizes["cell"]):
        law, cell = json.loads(flat["law"].values[i]), flat.isel(cell=i)
        gap = abs(cell["noisy_mean_mean"].item() - 0.4)
        assert gap < 5 * cell["noisy_mean_mean_mcse"].item()
        if i in logistic:
            scale, q = law["parameters"]["scale"] / 10, flat["quantile"].values
            exact = 0.4 + scale * np.log(q / (1 - q))
            spread = scale / np.sqrt(q * (1 - q) * 20000)  # sqrt(q (1 - q)) over the density, q (1 - q) / scale
            middle = (q >= 0.01) & (q <= 0.99)
            assert middle.sum() >= 5
            off = np.abs(cell["noisy_mean_quantile"].values - exact)
            assert (off < 5 * spread + 0.005 * np.abs(exact))[middle].all()  # bins of a percent
            assert cell["noisy_mean_sd"].item() == pytest.approx(scale * np.pi / np.sqrt(3), rel=0.03)


def renyi_of_logistic(scale, order):
    """D_order of logistic noise and itself moved by one, by the trapezoid rule on its density written down here."""
    y, step = np.linspace(-80 * scale, 80 * scale + 1, 200_001, retstep=True)

    def log_density(x):
        return -x / scale - 2 * np.logaddexp(0, -x / scale) - np.log(scale)

    return np.log(np.exp(order * log_density(y) + (1 - order) * log_density(y - 1)).sum() * step) / (order - 1)


def test_the_scale_is_the_least_that_meets_zcdp(cells):
    for text in cells[0]["law"].values:
        law = json.loads(text)
        if law["noise"]["family"] == "logistic":
            rho, scale = law["target"]["rho"], law["parameters"]["scale"]
            ratios = [renyi_of_logistic(scale, order) / (rho * order) for order in (1.001, 1.1, 1.5, 2, 4, 8, 20)]
            assert 0.999 < max(ratios) <= 1


def test_its_distribution_is_in_the_identity_of_its_cells_and_in_the_provenance(cells):
    flat, folder = cells
    about = {"tcdp-sim-noisy-mean": "1.0"}
    assert all(json.loads(law)["plug_ins"] == about for law in flat["law"].values)
    assert json.loads((folder / "provenance.json").read_text("utf-8"))["plug_ins"] == about
    assert (folder / "figures" / "noisy_mean_vs_rho.csv").is_file()  # drawn by experiments.plain


def test_another_version_makes_other_cells_and_built_in_cells_stay(python, tmp_path):
    """By the registry alone: the ids of a plan before and after the version changes."""
    code = """
        import json, sys
        from tcdp_sim.core import registry
        from tcdp_sim.mechanisms import mechanism_class
        from tcdp_sim.study import cells, groups
        if sys.argv[1] != "1.0":
            registry.PlugIn.distribution = property(lambda self: ("tcdp-sim-noisy-mean", sys.argv[1]))
        noises = {name: groups.named("noise", name) for name in groups.options("noise")}
        point = {"rho": 0.1, "scale": 2.0}
        for mechanism, noise in (("noise", "laplace"), ("noise", "logistic"), ("noisy_mean", "laplace")):
            more = {"mean": 0.4, "n": 10.0} if mechanism == "noisy_mean" else {}
            sweep = {"sweep": [point | more | {"noise": noise}]}
            print(cells.plan(sweep, mechanism_class(mechanism), {}, None, noises).cells[0].id)
    """
    file = tmp_path / "ids.py"
    file.write_text("\n".join(line[8:] for line in code.splitlines()), "utf-8")
    first, second = (run(python, str(file), version, cwd=tmp_path).split() for version in ("1.0", "1.1"))
    assert [a == b for a, b in zip(first, second)] == [True, False, False]
    assert first[0] == run(sys.executable, str(file), "1.0", cwd=tmp_path, code=1).split()[0]  # where it is unknown


@pytest.mark.slow
def test_other_experiments_take_its_noise(python, tmp_path):
    words = ("sweep.noise=[logistic]", "sweep.k=[10,1e6]", "sweep.rho=0.1", "also=null", "cluster=serial")
    out = run(python, "-m", "tcdp_sim", *words, "trials=400", "chunk=200", cwd=tmp_path)
    assert "Traceback" not in out
    table = (tmp_path / "results/histogram/figures/error_vs_k_one_bin.csv").read_text("utf-8")
    assert "logistic" in table
    with xr.open_zarr(tmp_path / "results/histogram/results.zarr", consolidated=False) as flat:
        for i, text in enumerate(flat["law"].values):  # the union bound by its quantile: 2 k P[Z > bound] = 0.05
            p, scale = 0.05 / (2 * flat["k"].values[i]), json.loads(text)["parameters"]["scale"]
            assert flat["linf_error_bound"].values[i] == pytest.approx(scale * np.log((1 - p) / p), rel=1e-9)


@pytest.mark.slow
def test_help_and_a_plan_do_not_import_what_they_do_not_use(python, tmp_path):
    code = "import sys\nfrom tcdp_sim.cli.main import main\n"
    code += "sys.argv = ['tcdp-sim', 'plan', 'sweep.noise=laplace', 'sweep.k=10', 'also=null']\n"
    code += "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end\n"
    code += "assert 'noisy_mean' not in sys.modules\n"
    run(python, "-c", code, cwd=tmp_path)
    assert "noisy_mean" in run(python, "-m", "tcdp_sim", "--help", cwd=tmp_path)
