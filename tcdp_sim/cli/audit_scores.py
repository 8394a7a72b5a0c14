"""The command `tcdp-sim audit-scores`, which audits a privacy claim from a file of scores."""

import json
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tcdp_sim.cli.audit import read
from tcdp_sim.core.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

HELP = """\
Audit a privacy claim from scores that are already there: one score for each run, or for each canary of one run.

  tcdp-sim audit-scores scores.csv --claim "ApproxDP(1, 1e-6)"
  tcdp-sim audit-scores canaries.csv runs=one claim='PureDP(1)' larger=outside --json

The file (.csv, .csv.gz, .parquet) has the columns score and in: 1 with the record, 0 without it. If it has the columns
run and canary, they are checked. Keys, each as KEY=VALUE or as --KEY VALUE:

  claim        PureDP(1), ApproxDP(1, 1e-6), ZCDP(0.1), TCDP(0.1, 5), RDP(2, 0.5), GaussianDP(1); without it, epsilon,
               mu and rho are bounded
  runs         many (the default): the scores are of independent runs; one: of the canaries of one run
  larger       inside or outside: where scores are larger; without it, both are tried
  delta        the delta at which epsilon is bounded, by default that of the claim, or 0
  level        the confidence level of all numbers together, 0.95 by default
  sequential   true: the file grows, and the audit is repeated; the level holds for all audits together
  --json       print the report as JSON

The claim is parsed, never evaluated. The exit code is 1 if the claim is refuted, and 2 after a mistake or if all scores
are equal. Else it is 0."""

KEYS = ("claim", "runs", "larger", "delta", "level", "sequential")
NUMBERS = ("delta", "level")


def main(console: "Console", words: Sequence[str]) -> int:
    """Audit a file of scores and print the report. Return the exit code, as HELP says. Raises UserError."""
    from tcdp_sim import api
    from tcdp_sim.audits import WeakAudit, score_file
    from tcdp_sim.audits.score_arguments import check_runs

    places, given, as_json = read("audit-scores", words, KEYS)
    if len(places) != 1:
        raise UserError("audit-scores needs one file; valid: FILE.csv, with the columns score and in")
    settings = _settings(given)
    check_runs(settings.get("runs", "many"))
    inside, outside = score_file.read(places[0], settings.get("runs", "many"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakAudit)  # the report itself says so
        report = api.audit_scores(inside, outside, **settings)
    console.print(json.dumps(report.to_dict(), indent=1) if as_json else str(report), markup=False)
    return 1 if report.refuted else 0 if report.tested else 2


def _settings(given: dict[str, str]) -> dict[str, Any]:
    """Return the arguments of `tcdp_sim.audit_scores`. Raises UserError."""
    from tcdp_sim.audits import parse

    settings: dict[str, Any] = {key: _number(key, text) if key in NUMBERS else text for key, text in given.items()}
    if "sequential" in settings:
        text = settings["sequential"]
        settings["sequential"] = {"true": True, "false": False}.get(text.lower(), text)
    if "claim" in settings:
        settings["claim"] = parse.claim(settings["claim"])
    return settings


def _number(key: str, text: str) -> float:
    """Return the number that a text stands for. Raises UserError."""
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{key} = {text} is not valid; valid: a number") from None
