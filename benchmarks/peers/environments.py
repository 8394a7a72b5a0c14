"""Separate environments for the peers: pinned, each peer optional, none of them in the product's environment."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PINS = {"common": HERE / "common.txt", "tumult": HERE / "tumult.txt"}  # tmlt.core needs an older pandas than xyzpy
PEERS = {
    "common": (
        *("dp-accounting", "prv-accountant", "opake-accounting", "autodp", "riskcal", "opendp", "diffprivlib"),
        *("PLD_accounting", "xyzpy", "joblib"),
    ),
    "tumult": ("tmlt.core",),
}
LONGEST_REASON = 160  # characters


def made(name: str, root: Path) -> tuple[Path, dict[str, str]]:
    """Return (the interpreter, {peer: the reason why it is missing}) of an environment.

    An existing environment with the same pins is used again.
    """
    folder, pins = root / name, PINS[name]
    python, stamp = folder / "bin" / "python", folder / "peers.json"
    digest = hashlib.sha256(pins.read_bytes()).hexdigest()
    told = json.loads(stamp.read_text()) if stamp.exists() else {}
    if told.get("pins") == digest and not told["missing"]:
        return python, {}
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    missing = installed(python, pins, PEERS[name])
    stamp.write_text(json.dumps({"pins": digest, "missing": missing}))
    return python, missing


def installed(python: Path, pins: Path, peers: tuple[str, ...]) -> dict[str, str]:
    """Return {peer: pip's reason, in one line} for peers that could not be installed, together or one by one."""
    if _reason(python, pins, peers) is None:
        return {}
    reasons = {peer: _reason(python, pins, (peer,)) for peer in peers}
    return {peer: reason for peer, reason in reasons.items() if reason is not None}


def _reason(python: Path, pins: Path, peers: tuple[str, ...]) -> str | None:
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", str(pins), *peers]
    done = subprocess.run(command, capture_output=True, text=True)
    return None if done.returncode == 0 else one_line(done.stderr)


def one_line(errors: str) -> str:
    """Return the first error that pip names, or else the last line that it wrote."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    named = [line for line in lines if line.startswith("ERROR:")]
    return (named or lines[-1:] or ["pip gave no reason"])[0].removeprefix("ERROR:").strip()[:LONGEST_REASON]
