"""A folder which, on PYTHONPATH, gives a process only what Windows has (see like_windows.py)."""

import json
import shutil
from pathlib import Path

import lacking_on_windows


def make(folder: Path, locks: bool = True) -> None:
    """Fill a folder. Without `locks` there are none, and no `msvcrt` either."""
    shutil.copy(Path(__file__).with_name("like_windows.py"), folder / "sitecustomize.py")
    lacking = {module: names and sorted(names) for module, names in lacking_on_windows.lacking().items()}
    (folder / "lacking.json").write_text(json.dumps(lacking | ({} if locks else {"msvcrt": None})), "utf-8")
