"""A file of a user with noise classes: that of docs/howto/own_noise.md, an object, and classes with mistakes."""

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/howto/own_noise.md"  # whose class the tests use
CLASS = PAGE.read_text("utf-8").split("```python\n")[1].split("```")[0]
OTHERS = """
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
"""


def write(folder: Path, name: str = "my_noise.py", **replaced: str) -> Path:
    """Write the file, with texts replaced, and return its path."""
    text = CLASS + OTHERS
    for before, after in replaced.items():
        text = text.replace(before, after)
    path = folder / name
    path.write_text(text)
    return path
