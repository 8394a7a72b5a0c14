"""Ask libraries and tcdp_sim about the same training runs, and write docs/reference/training_libraries.md."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.training.runs import COMMON, MOST, RUNS
from tcdp_sim.accounting import training_report
from tcdp_sim.core.version import __version__

ROOT = Path(__file__).parents[2]
PINS = Path(__file__).with_name("pins.txt")
HEADINGS = ("batches", "relation", "who", "method", "ε", "remark")
WORDS = {
    "poisson": "Poisson samples",
    "poisson_cut": f"Poisson samples, at most {MOST} records used",
    "fixed_size": "random subsets of fixed size",
    "shuffle_each_epoch": "shuffled anew in each epoch",
    "shuffle_once": "shuffled once",
    "balls_in_bins": "a random step of each epoch for each record",
    "same_bins": "a random step for each record, the same in each epoch",
}
HEAD = """# Training runs beside other libraries

What dp-accounting, opacus and jax_privacy say of the same training runs, and the least and the largest ε of each run.

The run: noise multiplier {sigma:g}, {records:,} records, batches of {batch}, {epochs} epochs, δ = {delta:g}.
`make bench-training` made this page on {date}, in an environment of its own that is pinned in
`benchmarks/training/`. A library is not asked about a sampler for which it has no function. With
`poisson_sampling=False` opacus shuffles the records, and its accountant counts Poisson samples all the same.
[Which epsilon may I print?](../howto/training.md) says what the samplers and relations are.

"""


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m benchmarks.training", description=__doc__)
    words.add_argument("--page", type=Path, default=ROOT / "docs" / "reference" / "training_libraries.md")
    words.add_argument("--environments", type=Path, default=ROOT / ".venv-peers")
    given = words.parse_args()
    python = environment(given.environments / "training")
    said = subprocess.run(
        [str(python), "-m", "benchmarks.training.libraries"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    theirs = [json.loads(line) for line in said.stdout.splitlines() if line.startswith("{")]
    text = page(theirs, f"{datetime.now(UTC):%Y-%m-%d}")
    given.page.write_text(text, "utf-8")
    print(text)


def environment(folder: Path) -> Path:
    """Return the interpreter of an environment with the pinned libraries. Opacus is installed without torch."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", str(PINS)]
        subprocess.run([*install, "jax_privacy"], check=True)
        subprocess.run([*install, "--no-deps", "opacus"], check=True)
    return python


def page(theirs: list[dict[str, Any]], date: str) -> str:
    """Return the page with a row for each answer of each library, and one for the bracket."""
    rows = [HEADINGS, ("---",) * len(HEADINGS)]
    for sampler, (relation, more) in RUNS.items():
        rows += [_theirs(sampler, relation, one) for one in theirs if one["sampler"] == sampler]
        rows += list(_ours(sampler, relation, more))
    return HEAD.format(**COMMON, date=date) + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _theirs(sampler: str, relation: str, one: dict[str, Any]) -> tuple[str, ...]:
    epsilon = "" if one["epsilon"] is None else f"{one['epsilon']:.4g}"
    return WORDS[sampler], relation, one["library"], one["method"], epsilon, one["note"]


def _ours(sampler: str, relation: str, more: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    rows = training_report(sampler, **COMMON, **more).rows
    row = next(row for row in rows if row.relation == relation)
    if row.epsilon is not None:
        ends = f"{row.epsilon.lower:.4g} to {row.epsilon.upper:.4g}"
        yield WORDS[sampler], relation, f"tcdp_sim {__version__}", "bracket", ends, row.reason


if __name__ == "__main__":
    main()
