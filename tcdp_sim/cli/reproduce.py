"""The command `tcdp-sim reproduce`, which computes a verdict on each claim of five papers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tcdp_sim.cli.say import say
from tcdp_sim.core.errors import UserError, only_keys
from tcdp_sim.core.paths import at_home

CHANGED = 1  # the exit code if a verdict is not the recorded one
HELP = """\
What five papers claim, with computed verdicts, on one page. The keys:

  only=T.C18p,Z.*     these claims alone, printed here with their evidence; ids as on the page, patterns with *
  full=true           all points and trials (under thirty minutes on two cores; without it under two)
  folder=PATH         where runs and evidence are kept, and the page is written (results/papers)
  cluster=NAME        where studies are simulated, as for every study (here; with full=true local); cluster.KEY=VALUE
  plan=true           say what would be run and computed, and do nothing
  render=true         write the page from what is recorded, and compute nothing

It writes index.html, errata.html, remarks.html, all as Markdown, claims.csv and figures/.
Exit code 1 if a verdict is not the recorded one."""
KEYS = ("only", "full", "folder", "cluster", "plan", "render")


@dataclass(frozen=True)
class Request:
    """A request to the command: the values of its keys."""

    only: str = ""
    full: bool = False
    folder: Path = Path("results/papers")
    cluster: dict[str, Any] = field(default_factory=dict)
    render: bool = False
    plan: bool = False


def main(console, words: Sequence[str]) -> int:
    """Judge the requested claims. Return CHANGED if a verdict is not the recorded one, else 0.

    Raises UserError or Failure.
    """
    request = read(words)
    from tcdp_sim.experiments.papers import command

    if request.plan:
        tell = partial(say, console)
        command.plan(request.folder, request.only, request.full, request.cluster, console, tell)
        return 0
    verdicts = command.reproduce(
        request.folder,
        request.only,
        request.full,
        request.cluster,
        console,
        lambda text: say(console, text),
        request.render,
    )
    return CHANGED if any(verdict.changed for verdict in verdicts) else 0


def read(words: Sequence[str]) -> Request:
    """Return the request in words KEY=VALUE. Raises UserError."""
    given: dict[str, Any] = {}
    cluster: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UserError(f"reproduce: {word!r} is not KEY=VALUE; valid: {', '.join(KEYS)}")
        head, _, rest = key.partition(".")
        only_keys("reproduce", [head], KEYS)
        if head == "cluster":
            cluster[rest or "name"] = _plain(value) if rest else value
        elif rest:
            raise UserError(f"reproduce: {key!r} is not a key; valid: {', '.join(KEYS)}")
        else:
            given[key] = _yes(key, value) if key in ("full", "plan", "render") else value
    if "folder" in given:
        given["folder"] = _folder(given["folder"])
    fast = not given.get("full")  # the fast studies take less time than the start of workers
    return Request(**given, cluster={"name": "serial" if fast else "local"} | cluster)


def _folder(text: str) -> Path:
    if not text or "\0" in text:
        raise UserError(f"folder = {text!r} is no path")
    return Path(at_home(text))


def _yes(key: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise UserError(f"{key} = {text!r} is not valid; valid: true, false")
    return text.lower() == "true"


def _plain(text: str) -> Any:
    """Return a text as a yaml file would read it: a whole number, true, false, null or text."""
    if text.lower() in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[text.lower()]
    try:
        return int(text)
    except ValueError:
        return text
