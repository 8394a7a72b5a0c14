"""Releases of a list as plain data: read from a configuration or a table, checked, and turned into pairs of laws.

A release is a mapping. One of its keys gives its kind:

- noise: an answer with additive noise of this family, whose parameters are further keys. `sensitivity` (default 1) is
  the change of the answer. With `sampled` the answer comes from a Poisson sample with this probability.
- response: randomised response with this epsilon on `k` answers (default 2).
- bounded_range: a release of bounded range epsilon, such as the exponential mechanism; with `larger_loss` the pair that
  has this loss and the one that is smaller by epsilon.
- epsilon: a black box of which only epsilon and `delta` (default 0) are known.
- p, q: two probability vectors.

Each may have `times`, the number of independent releases.
"""

from collections.abc import Callable, Mapping, Sequence
from math import fsum, sqrt
from typing import Any, NamedTuple

from numpy import rint

from tcdp_sim.core.errors import UserError, known, only_keys, scalar, whole
from tcdp_sim.data.count_lists import CELLS, count_list
from tcdp_sim.noise import FAMILIES
from tcdp_sim.privacy import ApproxDP, PureDP
from tcdp_sim.privacy.relation import Relation
from tcdp_sim.samplers.release_pairs import (
    AtomPair,
    NoisePair,
    RangePair,
    ReleasePair,
    lattice_pair,
    range_atoms,
    response_pair,
    vector_pair,
)

Spec = dict[str, Any]
DIRECTIONS = ("forward", "backward")
MOST_TIMES = 10**6
MOST_DRAWN = 2000  # releases that are drawn one by one
_FEW = 8  # outcomes of a release whose copies are drawn at once


def read_list(name: str, spec: Any) -> tuple[str, list[Spec]]:
    """Return the relation and the checked releases of a list. Raises UserError in one line.

    A list has `relation` and `releases`, or it is a table of histograms with discrete Gaussian noise, as `count_list`
    reads it.
    """
    where = f"list {name}"
    if not isinstance(spec, Mapping):
        raise UserError(f"{where} = {spec!r} is not valid; valid: relation and releases, or path, relation, ...")
    if "releases" not in spec:
        return _histograms(name, spec)
    only_keys(where, spec, ("relation", "releases"))
    relation = known(f"{where}: relation", spec.get("relation", "add_remove"), tuple(map(str, Relation)))
    items = spec["releases"]
    if isinstance(items, str) or not isinstance(items, Sequence) or not items:
        raise UserError(f"{where}: releases = {items!r} is not valid; valid: a list of releases")
    found = [checked(f"{where}: release {i + 1}", item) for i, item in enumerate(items)]
    for i, release in enumerate(found):
        _need_drawn(f"{where}: release {i + 1}", release)
    if relation == "substitute" and any("sampled" in release for release in found):
        raise UserError(f"{where}: a Poisson sample is accounted for under relation = add_remove alone")
    drawn = sum(release["times"] for release in found if _outcomes(release) > _FEW)
    if drawn > MOST_DRAWN:
        raise UserError(f"{where} has {drawn:,} releases that are drawn one by one; valid: at most {MOST_DRAWN:,}")
    return str(relation), found


def _histograms(name: str, spec: Mapping[str, Any]) -> tuple[str, list[Spec]]:
    """Return the releases of a table of histograms. A record changes one or two cells of each of them."""
    table = count_list(name, spec)
    cells, rows = CELLS[table.relation], zip(table.sigma_squared, table.shift, table.times)
    keys = ("noise", "sigma", "sensitivity", "times")
    found: list[Spec] = [
        dict(zip(keys, ("discrete_gaussian", sqrt(square), float(shift), cells * times)))
        for square, shift, times in rows
    ]
    if sum(int(release["times"]) for release in found) > MOST_DRAWN:
        raise UserError(f"list {name} has too many releases to draw; valid: at most {MOST_DRAWN:,}")
    return table.relation, found


def checked(where: str, item: Any) -> Spec:
    """Return a release of a list with all its keys. Raises UserError."""
    kinds = [kind for kind in FORMS if isinstance(item, Mapping) and kind in item]
    if len(kinds) != 1:
        raise UserError(f"{where} = {item!r} is not valid; valid: one of the keys {', '.join(FORMS)}")
    try:
        return FORMS[kinds[0]].checked(where, item) | {"times": whole("times", item.get("times", 1), 1, MOST_TIMES)}
    except UserError:
        raise
    except (TypeError, ValueError, ArithmeticError) as mistake:
        raise UserError(f"{where}: {mistake}") from None


def _need_drawn(where: str, found: Spec) -> None:
    """Raise UserError for a release whose losses cannot be drawn."""
    try:
        pair_of(found, "forward").tilted(1e-3)
    except (TypeError, ValueError, ArithmeticError) as mistake:
        raise UserError(f"{where}: {mistake}") from None
    if "bounded_range" in found and "larger_loss" not in found and found["times"] > 1:
        raise UserError(
            f"{where}: the worst pair of several bounded ranges is adaptive; valid: times = 1, or larger_loss"
        )


def _noise(where: str, item: Mapping[str, Any]) -> Spec:
    family = known(f"{where}: noise", item["noise"], FAMILIES)
    names = FAMILIES[family].parameters()
    only_keys(where, item, ("noise", *names, "sensitivity", "sampled", "times"))
    found: Spec = {"noise": family} | {name: scalar(name, item[name], 0) for name in names if name in item}
    found["sensitivity"] = scalar("sensitivity", item.get("sensitivity", 1.0), 0)
    noise = built_noise(found)
    if "sampled" in item:
        found["sampled"] = scalar("sampled", item["sampled"], 0, 1)
    if noise.is_discrete:
        steps = found["sensitivity"] / float(noise.step_length)
        if abs(steps - rint(steps)) > 1e-9 * steps or steps < 0.5:
            raise ValueError(
                f"sensitivity = {found['sensitivity']:g} is not on the lattice; valid: whole steps of {noise!r}"
            )
    else:
        noise.need_log_concave(f"draw the losses of {noise!r}")
    return found


def _response(where: str, item: Mapping[str, Any]) -> Spec:
    only_keys(where, item, ("response", "k", "times"))
    return {"response": scalar("response", item["response"], 0, 300), "k": whole("k", item.get("k", 2), 2, 2**53)}


def _bounded_range(where: str, item: Mapping[str, Any]) -> Spec:
    only_keys(where, item, ("bounded_range", "larger_loss", "times"))
    found = {"bounded_range": scalar("bounded_range", item["bounded_range"], 0, 300)}
    if "larger_loss" in item:
        found["larger_loss"] = scalar("larger_loss", item["larger_loss"], 0, found["bounded_range"])
    return found


def _black_box(where: str, item: Mapping[str, Any]) -> Spec:
    only_keys(where, item, ("epsilon", "delta", "times"))
    delta = scalar("delta", item.get("delta", 0.0), 0, 1, closed=True)
    return {"epsilon": scalar("epsilon", item["epsilon"], 0, 300), "delta": delta}


def _vectors(where: str, item: Mapping[str, Any]) -> Spec:
    only_keys(where, item, ("p", "q", "times"))
    p, q = (
        [scalar(name, value, 0, 1, closed=True, finite=False) for value in item[name]] for name in "pq" if name in item
    )
    if len(p) != len(q) or max(abs(fsum(p) - 1), abs(fsum(q) - 1)) > 1e-12:
        raise ValueError("p and q are not valid; valid: two vectors of one length, each of which sums to 1")
    return {"p": p, "q": q}


def built_noise(release: Mapping[str, Any]) -> Any:
    """Return the noise of a release."""
    family = FAMILIES[release["noise"]]
    return family(**{name: release[name] for name in family.parameters() if name in release})


def _outcomes(release: Spec) -> float:
    """Return the number of finite losses of a release."""
    pair = pair_of(release, "forward")
    return len(pair.values) if isinstance(pair, AtomPair) else float("inf")


def pair_of(release: Mapping[str, Any], direction: str) -> ReleasePair:
    """Return the pair of laws of a checked release: P has the record in the forward direction, Q in the other one."""
    return _form(release).pair(release, direction == "forward")


def release_of(release: Mapping[str, Any]) -> Any:
    """Return a checked release as the ledger takes it. It shares no code with the pair that is drawn."""
    from tcdp_sim import accounting  # workers need no accounting

    return _form(release).release(release, accounting)


def accounted(relation: str, releases: Sequence[Mapping[str, Any]]) -> Any:
    """Return the ledger of checked releases, as `read_list` returns them."""
    from tcdp_sim.accounting import Ledger  # workers need no accounting

    return Ledger([(release_of(item), item["times"]) for item in releases], relation)


def _form(release: Mapping[str, Any]) -> "Form":
    return next(form for key, form in FORMS.items() if key in release)


def _noise_pair(release: Mapping[str, Any], forward: bool) -> ReleasePair:
    noise, shift, s = built_noise(release), release["sensitivity"], release.get("sampled", 1.0)
    if not noise.is_discrete:
        return NoisePair(noise, shift, s, forward)
    pair = lattice_pair(noise, shift, s)
    return pair if forward or s == 1 else pair.swapped()


def _noise_release(release: Mapping[str, Any], accounting: Any) -> Any:
    additive = accounting.Additive(built_noise(release), release["sensitivity"])
    return accounting.Sampled(additive, release["sampled"]) if "sampled" in release else additive


def _range_pair(release: Mapping[str, Any], forward: bool) -> ReleasePair:
    epsilon, t = release["bounded_range"], release.get("larger_loss")
    return RangePair(epsilon) if t is None else range_atoms(epsilon, t if forward else epsilon - t)


def _range_release(release: Mapping[str, Any], accounting: Any) -> Any:
    epsilon, t = release["bounded_range"], release.get("larger_loss")
    return accounting.BoundedRange(epsilon) if t is None else accounting.BoundedRangePair(epsilon, t)


def _black_box_release(release: Mapping[str, Any], accounting: Any) -> Any:
    epsilon, delta = release["epsilon"], release["delta"]
    return accounting.Claimed(ApproxDP(epsilon, delta) if delta else PureDP(epsilon))


class Form(NamedTuple):
    """One form of a release in a configuration: its check, the pair that is drawn, and the release of the ledger."""

    checked: Callable[[str, Mapping[str, Any]], Spec]
    pair: Callable[[Mapping[str, Any], bool], ReleasePair]
    release: Callable[[Mapping[str, Any], Any], Any]


FORMS: dict[str, Form] = {  # by the key that identifies the form
    "noise": Form(_noise, _noise_pair, _noise_release),
    "response": Form(
        _response,
        lambda release, _: response_pair(release["response"], release["k"]),
        lambda release, accounting: accounting.RandomisedResponse(release["response"], release["k"]),
    ),
    "bounded_range": Form(_bounded_range, _range_pair, _range_release),
    "epsilon": Form(
        _black_box, lambda release, _: response_pair(release["epsilon"], 2, release["delta"]), _black_box_release
    ),
    "p": Form(
        _vectors,
        lambda release, forward: vector_pair(*(release[name] for name in ("pq" if forward else "qp"))),
        lambda release, accounting: accounting.Distributions(release["p"], release["q"]),
    ),
}


def symmetric(releases: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if the losses of a list have the same law in both directions."""
    return not any(key in release for release in releases for key in ("sampled", "larger_loss", "p"))
