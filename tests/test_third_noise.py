"""A noise that somebody adds as CONTRIBUTING says it: the default experiment and gap_max take it, worker and all."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tcdp_sim
from tcdp_sim.bounds.accuracy import histogram_error_bound
from tcdp_sim.noise import Gaussian, Noise

NOISE = """
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, log_expit

from tcdp_sim.noise.base import Noise


@dataclass(frozen=True, eq=False)
class Logistic(Noise):
    scale: float
    family = "logistic"
    {says}

    def logpdf(self, x):
        z = np.divide(x, self.scale)
        return log_expit(z) + log_expit(-z) - np.log(self.scale)

    def sf(self, x):
        return expit(-np.divide(x, self.scale))

    def logsf(self, x):
        return log_expit(-np.divide(x, self.scale))

    def isf(self, p):
        p = np.asarray(p, dtype=float)
        with np.errstate(divide="ignore"):
            return self.scale * (np.log1p(-p) - np.log(p))

    def var(self):
        return (np.pi * self.scale) ** 2 / 3

    def sample(self, rng, size=None):
        return rng.logistic(0.0, self.scale, size)
"""
CALIBRATION = """

def _logistic(guarantee, sensitivity, coordinates, method, objective):
    from tcdp_sim.noise.logistic import Logistic

    return Logistic(coordinates * sensitivity / guarantee.epsilon)  # |score| <= 1 / scale


_CALIBRATORS["logistic"] = _logistic
DEPENDS_ON["logistic"] = ("rho",)
"""


@pytest.fixture
def with_logistic(tmp_path):
    """with_logistic(says): runs the command line of a copy of the package that has the noise; (code, out, err)."""

    def run(says, *words):
        home = tmp_path / "code"
        shutil.copytree(Path(tcdp_sim.__file__).parent, home / "tcdp_sim", ignore=shutil.ignore_patterns("__pycache__"))
        package = home / "tcdp_sim"
        (package / "noise/logistic.py").write_text(NOISE.replace("{says}", says), "utf-8")
        (package / "conf/noise/logistic.yaml").write_text(
            "family: logistic\ncalibration: paper\nlabel: Logistic\n", "utf-8"
        )
        with (package / "noise/__init__.py").open("a", encoding="utf-8") as file:
            file.write('\nfrom tcdp_sim.noise.logistic import Logistic\nFAMILIES["logistic"] = Logistic\n')
        source = (package / "calibration.py").read_text("utf-8")
        source = source.replace('if family == "laplace":', 'if family in ("laplace", "logistic"):') + CALIBRATION
        (package / "calibration.py").write_text(source, "utf-8")
        command = [sys.executable, "-m", "tcdp_sim", "cluster=serial", "trials=400", "chunk=200", "also=null", *words]
        given = os.environ | {"PYTHONPATH": str(home)}
        done = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout, done.stderr

    return run


def test_the_default_experiment_takes_a_third_noise(with_logistic, tmp_path):
    code, out, err = with_logistic("", "sweep.noise=[gaussian,logistic]", "sweep.k=[10,1e6]", "sweep.rho=0.1")
    assert code == 0, err
    assert "Traceback" not in out + err
    table = pd.read_csv(tmp_path / "results/histogram/figures/error_vs_k_one_bin.csv")
    for row in table[table["noise"] == "logistic"].to_dict("records"):
        p = 0.05 / (2 * row["k"])  # epsilon = sqrt(.2), two bins: scale 2 / epsilon; 2 k P[Z > bound] = .05
        assert row["bound"] == pytest.approx(2 / np.sqrt(0.2) * np.log((1 - p) / p), rel=1e-12)
        assert 0.04 < row["exceeds_bound_exact"] <= 0.05
        assert row["trials"] == 400


@pytest.mark.parametrize(("says", "taken"), [("log_concave = True", True), ("", False)])
def test_gap_max_takes_a_third_noise_that_says_it_is_log_concave(with_logistic, says, taken):
    words = ("experiment=gap_max", "sweep.algorithm=generalized_histogram", "sweep.noise=[logistic]", "sweep.k=10")
    code, _, err = with_logistic(says, *words, "sweep.accounting=tight")
    assert "Traceback" not in err
    assert code == (0 if taken else 2), err
    assert taken or "Logistic(scale=" in err
    assert taken or "valid: a noise that says it is log_concave" in err


def test_the_radius_of_any_noise_is_the_union_bounds():
    methods = {name: getattr(Gaussian, name) for name in Noise.__abstractmethods__}
    noise = type("Unknown", (Noise,), methods)()
    object.__setattr__(noise, "scale", 3.0)
    for bins, beta in ((10, 0.05), (1e6, 0.01), (1e300, 1e-3)):
        radius = histogram_error_bound(noise, bins, beta)  # 2 k P[Z > radius] = beta
        assert np.log(2 * bins) + noise.logsf(radius) == pytest.approx(np.log(beta), rel=1e-9)
