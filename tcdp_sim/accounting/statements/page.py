"""A statement as one page of Markdown. All numbers are rounded to the safe side."""

from collections.abc import Iterator, Mapping
from typing import Any

from tcdp_sim.accounting.statements.plain import KIND
from tcdp_sim.core.rounded import from_above, from_below

OPEN = "*(to be filled in by the publisher)*"
RELATIONS = {
    "add_remove": "one of two neighbouring data sets has one record more",
    "substitute": "one record of two neighbouring data sets differs; the number of records is public",
    "zero_out": "one record is replaced by an empty one; the number of records is public",
    None: "no release depends on the neighbouring relation; sensitivities are stated for one record",
}
HEADINGS = {"unit": "Unit of privacy", "population": "Population", "period": "Period", "contact": "Contact"}


def markdown(stated: Mapping[str, Any]) -> str:
    """Return the page."""
    return "\n".join(_lines(stated)) + "\n"


def _lines(stated: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {stated['title'] or 'Statement of privacy'}"
    yield ""
    yield from (f"- {heading}: {stated[key] or OPEN}" for key, heading in HEADINGS.items())
    relation = stated["relation"]
    yield f"- Neighbouring relation: {f'{relation}: ' if relation else ''}{RELATIONS[relation]}"
    yield from ("", "## What is guaranteed", "")
    yield "| δ | ε, at most | ε, at least |"
    yield "|---|---|---|"
    for row in stated["epsilon"]:
        yield f"| {row['delta']:g} | {_up(row['upper'])} | {_down(row['lower'])} |"
    if stated["delta"]:
        yield from ("", "| ε | δ, at most | δ, at least |", "|---|---|---|")
        for row in stated["delta"]:
            yield f"| {row['epsilon']:g} | {_up(row['upper'])} | {_down(row['lower'])} |"
    yield from _libraries(stated.get("libraries"))
    yield ""
    yield "The releases together are (ε, δ)-differentially private with each ε of the second column. No smaller ε than"
    yield "in the third column holds for every program that makes these releases."
    yield from ("", "## What an attacker can do", "")
    yield from _risks(stated["risks"])
    yield from ("", "## What is released", "", "| release | times |", "|---|---|")
    yield from _rows(stated["releases"])
    yield from ("", "## How it was computed", "")
    how = stated["accounting"]
    yield f"{how['software']} {how['version']}: {how['method']}. The two ends of an ε are at most about"
    yield f"{how['tolerance']:g} apart, relative to the upper one, where the releases have exact pairs."
    yield ""
    yield f"The same numbers again, from the JSON form of this statement: {how['again']}."


def _libraries(printed: Mapping[str, Any] | None) -> Iterator[str]:
    if printed is None:
        return
    yield ""
    answers = (f"ε = {_up(row['upper'])} at δ = {row['delta']:g}" for row in printed["epsilon"])
    yield f"Libraries for training count Poisson samples in place of {' and '.join(printed['counted'])}, and print"
    yield f"{', '.join(answers)}. These are values of another mechanism, and no guarantee for these releases."


def _risks(risks: Mapping[str, Any]) -> Iterator[str]:
    attack, some = risks["attack"], risks["reconstruction"]
    yield "- Whoever thinks at first that a record is as likely in the data as not guesses right with a probability of"
    yield f"  at most {_share(attack['upper'])} after seeing all releases."
    yield "- The true positive rate of a test for a record exceeds its false positive rate by at most"
    yield f"  {_share(risks['advantage']['upper'])}."
    yield f"- The true one of {some['candidates']:g} equally likely records is found with a probability of at most"
    yield f"  {_share(some['upper'])} (without any release: {1 / some['candidates']:.3%})."


def _rows(releases: Any, depth: int = 0) -> Iterator[str]:
    for item in releases:
        if "parts" in item:
            yield f"| {len(item['parts'])} lists on disjoint parts of the records: | {item['times']:,} |"
            for part in item["parts"]:
                yield from _rows(part, depth + 1)
        else:
            yield f"| {'in a part: ' * bool(depth)}`{_words(item)}` | {item['times']:,} |"


def _words(thing: Any) -> str:
    """Return a release as its call, without parameters that are None."""
    if isinstance(thing, list):
        return f"[{', '.join(map(_words, thing))}]" if len(thing) <= 4 else f"[{len(thing)} numbers]"
    if not isinstance(thing, Mapping):
        return f"{thing:.10g}" if isinstance(thing, float) else repr(thing)
    given = {key: value for key, value in thing.items() if key not in (KIND, "times") and value is not None}
    return f"{thing[KIND]}({', '.join(f'{key}={_words(value)}' for key, value in given.items())})"


def _share(value: Any) -> str:
    return f"{from_above(100 * float(value))}%"


def _up(value: Any) -> str:
    return from_above(float(value), 6)


def _down(value: Any) -> str:
    return from_below(float(value), 6)
