"""The command `tcdp-sim audit`, which audits the privacy claim of a function in the user's own file."""

import json
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tcdp_sim.core.errors import UserError, only_keys

if TYPE_CHECKING:
    from rich.console import Console

HELP = """\
Audit the privacy claim of a function in a file of yours. The file is imported, and no other.

  tcdp-sim audit my_file.py:count --claim "PureDP(1)" --neighbours "records([31, 44, 58], domain=[0, 99])"
  tcdp-sim audit my_file.py:count claim='ApproxDP(1, 1e-6)' neighbours=PAIRS seconds=60 --json

The function is f(data, rng, trials), which returns `trials` outputs, or f(data, rng), which returns one. Keys, each as
KEY=VALUE or as --KEY VALUE:

  claim        PureDP(1), ApproxDP(1, 1e-6), ZCDP(0.1), TCDP(0.1, 5), RDP(2, 0.5); without it, epsilon is bounded
  neighbours   required: records([...]), records([...], 'substitute', domain=[...]), answers(5), or a name in the file
  seconds      the time that the audit may take, 20 by default; or trials, the number of outputs
  level        the confidence level, 0.95 by default
  until        refuted: end as soon as the claim is refuted; a value above the claim: also once it would have been found
  seed, cluster, name, results_dir, errors, bits     as in `tcdp_sim.audit`
  --json       print the report as JSON

The claim and the neighbours are parsed, never evaluated. The exit code is 1 if the claim is refuted, and 2 after a
mistake or if the audit has tested nothing: both inputs of every pair give the same outputs from the same random stream.
Else it is 0."""

KEYS = (
    *("claim", "neighbours", "seconds", "trials", "level", "until", "seed", "cluster", "name", "results_dir"),
    *("errors", "bits"),
)
TEXTS = ("claim", "neighbours", "name", "results_dir", "errors")
SECONDS = 20.0


def main(console: "Console", words: Sequence[str]) -> int:
    """Audit a function and print the report. Return the exit code, as HELP says. Raises UserError."""
    from tcdp_sim import api
    from tcdp_sim.audits import WeakAudit
    from tcdp_sim.core.user_files import load

    places, given, as_json = read("audit", words, KEYS)
    if len(places) != 1:
        raise UserError("audit needs one function; valid: FILE.py:FUNCTION, such as my_file.py:count")
    (place,) = places
    mechanism = load(place)
    settings = _settings(place, given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakAudit)  # the report itself says so
        report = api.audit(mechanism, **settings)
    if as_json:
        console.print(json.dumps(report.to_dict(), indent=1), markup=False)
    else:
        console.print(str(report), markup=False)
    return 1 if report.refuted else 0 if report.tested else 2


def read(command: str, words: Sequence[str], keys: Sequence[str]) -> tuple[list[str], dict[str, str], bool]:
    """Return the places, the keys as texts, and whether JSON is asked for, of a command. Raises UserError."""
    places, given, left = [], {}, list(words)
    as_json = "--json" in left
    left = [word for word in left if word != "--json"]
    while left:
        word = left.pop(0)
        option = word.startswith("--")
        key, equals, value = word.removeprefix("--").partition("=")
        if option and not equals:
            if not left:
                raise UserError(f"{word} needs a value")
            value = left.pop(0)
        if not option and (not equals or ":" in key):
            places.append(word)
            continue
        only_keys(command, {key: value}, keys)
        given[key] = value
    return places, given, as_json


def _settings(place: str, given: dict[str, str]) -> dict[str, Any]:
    """Return the arguments of `tcdp_sim.audit`. Raises UserError."""
    from tcdp_sim.audits import parse
    from tcdp_sim.core.user_files import load

    plain: dict[str, Any] = {key: value if key in TEXTS else _number(key, value) for key, value in given.items()}
    if "claim" in plain:
        plain["claim"] = parse.claim(plain["claim"])
    if "neighbours" not in plain:
        raise UserError(f"audit needs neighbours; valid: {parse.VALID_NEIGHBOURS}")
    text = plain["neighbours"]
    named = text.isidentifier()
    plain["neighbours"] = load(f"{place.rpartition(':')[0]}:{text}") if named else parse.neighbours(text)
    if "trials" not in plain:
        plain.setdefault("seconds", SECONDS)
    return plain


def _number(key: str, text: str) -> Any:
    """Return the number, the truth value or the name that a text stands for. Raises UserError."""
    if key == "cluster" or (key, text) == ("until", "refuted"):
        return text
    if key == "bits":
        if text.lower() not in ("true", "false"):
            raise UserError(f"bits = {text} is not valid; valid: true, false")
        return text.lower() == "true"
    try:
        return int(text) if key == "seed" else float(text)
    except ValueError:
        raise UserError(f"{key} = {text} is not valid; valid: a number") from None
