"""Noise distributions, by name: the families are what the files of this folder define."""

import importlib
import pkgutil

from tcdp_sim.noise.base import Noise, Objective
from tcdp_sim.noise.gaussian import Gaussian
from tcdp_sim.noise.laplace import Laplace
from tcdp_sim.noise.sinh_normal import SinhNormal
from tcdp_sim.noise.truncated_laplace import TruncatedLaplace


def _families() -> dict[str, type[Noise]]:
    modules = [importlib.import_module(f"{__name__}.{file.name}") for file in pkgutil.iter_modules(__path__)]
    defined = [(module, value) for module in modules for value in vars(module).values() if isinstance(value, type)]
    return {
        noise.family: noise
        for module, noise in defined
        if issubclass(noise, Noise) and noise.__module__ == module.__name__ and "family" in vars(noise)
    }


FAMILIES: dict[str, type[Noise]] = _families()

__all__ = ["FAMILIES", "Gaussian", "Laplace", "Noise", "Objective", "SinhNormal", "TruncatedLaplace"]
