"""The test files that should notice a fault of a module, the nearest ones first."""

import ast
import re
from functools import cache
from pathlib import Path

from .faults import ROOT

FAR = 4


@cache
def nearest_tests(file: str) -> tuple[str, ...]:
    """Return the test files named after a module, those that name it or one of its public names, those of its room."""
    parts = Path(file).with_suffix("").parts
    room = parts[1] if parts[0] == "tcdp_sim" else "papers" if "papers" in parts else "experiments"
    stem = parts[-2] if parts[-1] == "__init__" else parts[-1]
    named = re.compile(rf"\b({'|'.join(map(re.escape, ['.'.join(parts), *_public_names(file)]))})\b")
    in_room = re.compile(rf"\b{room}\b")

    def distance(path: Path) -> int:
        text = (ROOT / path).read_text("utf-8")
        if path.stem.removeprefix("test_").rstrip("s") == stem.rstrip("s"):
            return 0
        if path.parts[1] == room:
            return 1 if named.search(text) else 2
        return 3 if named.search(text) and in_room.search(text) else FAR

    paths = sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))
    far = {path: distance(path) for path in paths}
    return tuple(str(path) for path in sorted(paths, key=far.__getitem__) if far[path] < FAR)


def _public_names(file: str) -> list[str]:
    body = ast.parse((ROOT / file).read_bytes()).body
    named = (node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return [name for name in named if not name.startswith("_")]
