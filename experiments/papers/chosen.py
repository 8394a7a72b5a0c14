"""The choice of claims by the word `only`."""

from collections.abc import Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase

from tcdp_sim.core.errors import UserError
from tcdp_sim.experiments.papers.library import Claim


def chosen(claims: Mapping[str, Claim], only: str) -> list[Claim]:
    """Return the claims that `only` names, in the order of the catalogue, or all claims for "".

    `only` has ids with commas between them: an id of the catalogue, the id of one statement of a row, or a pattern
    (Z.*, *repaired). An id alone means the statement as printed, without the parts of its row. The function raises
    UserError that names the nearest ids.
    """
    words = [word.strip() for word in only.split(",") if word.strip()]
    if not words:
        return list(claims.values())
    kept: set[str] = set()
    for word in words:
        found = {one.id for one in claims.values() if _meant(one, word)}
        if not found:
            raise UserError(f"only = {word!r} is no claim{_nearest(claims, word)}")
        kept |= found
    return [one for one in claims.values() if one.id in kept]


def _meant(claim: Claim, word: str) -> bool:
    if any(sign in word for sign in "*?["):
        return any(fnmatchcase(name, word) for name in (claim.id, *claim.ids))
    return word == claim.id or (word in claim.ids and not claim.of)


def _nearest(claims: Mapping[str, Claim], word: str) -> str:
    names = list(dict.fromkeys(name for one in claims.values() for name in (one.id, *one.ids)))
    folded = {name.casefold(): name for name in names}
    near = [folded[name] for name in get_close_matches(word.casefold(), folded, 5, 0.5)]
    return f"; the nearest are {', '.join(near)}" if near else "; valid: ids such as T.C18p, patterns such as Z.*"
