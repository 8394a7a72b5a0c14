"""Former keys of configs that have become commands. The configs of older runs still have them."""

from collections.abc import Mapping
from typing import Any

FORMER = {  # key -> what to write instead
    "mode": "",  # depends on its value
    "sample": "`tcdp-sim verify RUN sample=20`",
    "cell": "`tcdp-sim replay RUN cell=ID`",
    "index": "`tcdp-sim replay RUN cell=ID index=0`",
    "other": "`tcdp-sim merge RUN FOLDER` or `tcdp-sim diff RUN FOLDER`",
}
MODES = ("run", "plan", "draw", "status", "verify", "replay", "merge", "diff")  # each of them is a command now


def without(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config without the former keys."""
    return {key: value for key, value in config.items() if key not in FORMER}


def advice(key: str, value: Any) -> str:
    """Return a line that names the command to use instead of a former key with this value."""
    if key != "mode":
        return f"{key} = {value} is no key of a study; write {FORMER[key]}"
    if value in MODES:
        return f"mode={value} is a command now: write `tcdp-sim {value}`, followed by the other words"
    return f"mode={value} is no key of a study; valid: the commands that `tcdp-sim --help` lists"
