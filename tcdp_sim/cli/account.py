"""The command `tcdp-sim account`: what the releases of a file reveal together, as a page and as a JSON file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tcdp_sim.core.errors import UserError, reason, suggestion
from tcdp_sim.core.paths import at_home
from tcdp_sim.core.rounded import from_above
from tcdp_sim.study import plain_yaml

WORDS = {"delta": "NUMBERS", "epsilon": "NUMBERS", "folder": "FOLDER"}
PUBLISHER = ("title", "unit", "population", "period", "contact")
KEYS = ("releases", "training", "relation", "delta", "epsilon", *PUBLISHER)
WRONG = 3  # exit code of a statement that is not confirmed
HELP = """\
FILE.yaml lists releases, or describes a training run, or is a file of `tcdp-sim budget`:

  relation: add_remove   # or substitute, zero_out
  releases:
    - {noise: discrete_gaussian, sigma: 20, times: 12}       # as in mechanism.lists (conf/mechanism/ledger.yaml)
    - {noise: gaussian, scale: 1, sampled: 0.01, times: 500}
    - {kind: Claimed, guarantee: {kind: ZCDP, rho: 0.05}}     # any release of tcdp_sim.accounting, by its parameters
  training: {sampler: shuffle_each_epoch, sigma: 0.8, records: 60000, batch: 60, epochs: 5}   # instead of releases;
                         # with epsilon: 3 in place of sigma, the least noise multiplier is found first
  unit: one person       # and title, population, period, contact: what only the publisher knows

It prints the page, and writes NAME.statement.json and NAME.statement.md into folder=FOLDER, by default the current one.
delta=1e-6,1e-9 and epsilon=1 are the questions. Of a statement in JSON it computes the numbers again, and the exit code
is 3 if they are others."""


def main(console: Any, file: str, **given: str) -> int:
    """Print the page of a file, and write its statement. Raises UserError."""
    if file.endswith(".json"):
        return _again(console, file)
    value = _content(file)
    if "training" in value:
        return _training(console, file, value, given)
    ledger = _ledger(file, value)
    deltas, epsilons = (_numbers(file, key, given.get(key, value.get(key))) for key in ("delta", "epsilon"))
    questions = {"delta": deltas or ([] if epsilons else [1e-6]), "epsilon": epsilons}
    about = {key: str(value[key]) for key in PUBLISHER if value.get(key) is not None}
    try:
        page, data = (ledger.statement(form, **questions, **about) for form in ("md", "json"))
    except ValueError as mistake:
        raise UserError(f"{file}: {mistake}") from None
    console.print(page, markup=False, soft_wrap=True)
    for path in _written(Path(file).stem, given.get("folder", "."), {"md": page, "json": data}):
        console.print(f"statement: {path}", markup=False, soft_wrap=True)
    return 0


def _content(file: str) -> dict[str, Any]:
    value, _ = plain_yaml.read(file)
    if not isinstance(value, dict) or ("releases" in value) == ("training" in value):
        raise UserError(f"{file}: releases is missing; valid: either the key releases, with a list, or training")
    return value


def _ledger(file: str, value: Mapping[str, Any]) -> Any:
    """Return the ledger of a list of releases, or of the plan of a budget's file."""
    from tcdp_sim.accounting import plan_budget
    from tcdp_sim.cli import budget_file

    items = value["releases"]
    if isinstance(items, list) and any(isinstance(item, dict) and {*item} & {*budget_file.KINDS} for item in items):
        asked = budget_file.read(file)
        try:
            return plan_budget(asked.targets, asked.budget, **asked.settings).ledger
        except (ValueError, TypeError, OverflowError) as mistake:
            raise UserError(f"{file}: {mistake}") from None
    for key in value:
        if key not in KEYS:
            raise UserError(f"{file}: {key!r} is not a key here; valid: {', '.join(KEYS)}{suggestion(key, KEYS)}", key)
    if not isinstance(items, list) or not items:
        raise UserError(f"{file}: releases = {items!r} is not valid; valid: a list of releases")
    from tcdp_sim.accounting import Ledger

    try:
        return Ledger(_entries(items), value.get("relation", "add_remove"))
    except ValueError as mistake:
        raise UserError(f"{file}: {mistake}") from None


def _entries(items: Sequence[Any]) -> Iterator[tuple[Any, int]]:
    from tcdp_sim.accounting import Ledger
    from tcdp_sim.accounting.statements.plain import to_entries
    from tcdp_sim.mechanisms.ledger.releases import checked, release_of

    for i, item in enumerate(items):
        if isinstance(item, dict) and ("kind" in item or "parts" in item):
            yield from to_entries([item], Ledger, f"release {i + 1}")
        else:
            found = checked(f"release {i + 1}", item)
            yield release_of(found), found["times"]


def _numbers(file: str, key: str, value: Any) -> list[float]:
    """Return the numbers of a key: one of them, a list, or a text with commas."""
    if value is None:
        return []
    each = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
    try:
        return [float(number) for number in each]
    except (TypeError, ValueError):
        raise UserError(f"{file}: {key} = {value!r} is not valid; valid: a number, or several with commas") from None


def _training(console: Any, file: str, value: Mapping[str, Any], given: Mapping[str, str]) -> int:
    """Print the report of a training run, and write it as JSON."""
    from tcdp_sim.accounting import training_noise, training_report

    run = value["training"]
    if not isinstance(run, dict):
        raise UserError(f"{file}: training = {run!r} is not valid; valid: a mapping with sampler, sigma, records, ...")
    deltas = _numbers(file, "delta", given.get("delta", run.get("delta", value.get("delta")))) or [1e-6]
    try:
        if "epsilon" in run and "sigma" not in run:
            relation = value.get("relation", "zero_out")
            sigma = max(training_noise(**{**run, "delta": delta, "relation": relation}) for delta in deltas)
            console.print(f"noise multiplier {from_above(sigma)} under {relation}", markup=False, soft_wrap=True)
            run = {key: each for key, each in run.items() if key != "epsilon"} | {"sigma": sigma}
        reports = [training_report(**{**run, "delta": delta}) for delta in deltas]
    except (ValueError, TypeError) as mistake:
        said = str(mistake).removeprefix("training_report() ").removeprefix("training_noise() ")
        raise UserError(f"{file}: training: {said}") from None
    for report in reports:
        console.print(str(report), markup=False, soft_wrap=True)
    text = json.dumps([report.to_dict() for report in reports], indent=1) + "\n"
    for path in _written(Path(file).stem, given.get("folder", "."), {"json": text}, "training"):
        console.print(f"report: {path}", markup=False, soft_wrap=True)
    return 0


def _again(console: Any, file: str) -> int:
    """Compute the numbers of a statement again. Return WRONG if they are others."""
    from tcdp_sim.accounting import Ledger
    from tcdp_sim.accounting.statements import statement

    try:
        text = Path(file).read_text("utf-8")
        stated, ledger = statement.read(text), Ledger.from_statement(text)
        wrong, count = statement.disagreements(stated, ledger), len(statement.brackets(stated))
    except OSError as problem:
        raise UserError(f"{file} cannot be read ({reason(problem)})") from None
    except (ValueError, TypeError) as mistake:
        raise UserError(f"{file}: {mistake}") from None
    for line in wrong:
        console.print(f"not confirmed: {line}", markup=False, soft_wrap=True)
    if not wrong:
        console.print(f"confirmed: {count} brackets of {ledger.releases:,} releases", markup=False)
    return WRONG if wrong else 0


def _written(stem: str, folder: str, texts: Mapping[str, str], what: str = "statement") -> list[Path]:
    place = Path(at_home(folder))
    paths = {place / f"{stem}.{what}.{ending}": text for ending, text in texts.items()}
    try:
        place.mkdir(parents=True, exist_ok=True)
        for path, text in paths.items():
            path.write_text(text, "utf-8")
    except OSError as problem:
        raise UserError(f"{folder} cannot be written ({reason(problem)})") from None
    return list(paths)
