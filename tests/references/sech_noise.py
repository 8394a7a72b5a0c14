"""A file of a user with noise classes: the tests copy it, so its text is what a user would write."""

from pathlib import Path

SECH = '''
from dataclasses import dataclass

import numpy as np

from tcdp_sim.noise import Noise


@dataclass(frozen=True, eq=False)
class Sech(Noise):
    """Noise with the density sech(x / scale) / (pi scale)."""

    scale: float
    family = "sech"
    log_concave = True

    def logpdf(self, x):
        x = np.abs(np.divide(x, self.scale))
        return np.log(2 / np.pi) - x - np.log1p(np.exp(-2 * x)) - np.log(self.scale)

    def sf(self, x):
        return 2 / np.pi * np.arctan(np.exp(-np.divide(x, self.scale)))

    def logsf(self, x):
        x = np.divide(x, self.scale)
        return np.where(x < 100, np.log(self.sf(np.minimum(x, 100) * self.scale)), np.log(2 / np.pi) - x)[()]

    def isf(self, p):
        return -self.scale * np.log(np.tan(np.pi / 2 * np.asarray(p, dtype=float)))

    def var(self):
        return np.square(np.pi * self.scale / 2)

    def sample(self, size=None, *, rng):
        return self.isf(rng.random(self.shape if size is None else size))

    def privacy_loss(self, y, shift):
        h = np.divide(shift, 2 * self.scale)
        return -2 * np.arctanh(np.tanh(np.divide(y, self.scale) - h) * np.tanh(h))

    def largest_loss(self, shift):
        return shift / self.scale


WIDE = Sech(50.0)


class NoNoise:
    pass


class Taken(Sech):
    family = "gaussian"


@dataclass(frozen=True, eq=False)
class Lacks(Noise):
    scale: float
    family = "lacks"


@dataclass(frozen=True, eq=False)
class Wrong(Sech):
    scale: float
    family = "wrong"

    def var(self):
        return np.square(self.scale)
'''


def write(folder: Path, name: str = "my_noise.py", **replaced: str) -> Path:
    """Write the file, with texts replaced, and return its path."""
    text = SECH
    for before, after in replaced.items():
        text = text.replace(before, after)
    path = folder / name
    path.write_text(text)
    return path
