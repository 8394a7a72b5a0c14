"""An exhibit: a privacy bug that was shipped, with its claim, its neighbours and its repaired version."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from tcdp_sim.audits import Neighbours

GITHUB = "https://github.com"


@dataclass(frozen=True)
class Exhibit:
    """One bug.

    Attributes
    ----------
    name : str
        The name on the command line.
    threads : tuple of str
        Where the bug is described, as "owner/repository/issues/5"; the first one is the main thread.
    version : str
        The version that has the bug, and the repaired one if it is known.
    ours : bool
        True if the mechanism is written anew from the thread's description, False if the library's own code runs.
    says : str
        The bug in a sentence or two.
    repair : str
        The repaired version in a phrase.
    broken, repaired : callable
        The mechanisms, as functions (data, rng, trials) or (data, rng).
    claim : Guarantee
        What the library claims.
    neighbours : Neighbours
        The inputs, with their relation in words.
    trials : int
        Outputs of each input for the bound.
    repaired_claim : Guarantee or None
        The claim of the repaired version, if the repair is in the claim.
    bits : bool
        True if the audit also reads floating-point outputs bit by bit.
    needs : str
        The library that must be installed, if any.
    """

    name: str
    threads: tuple[str, ...]
    version: str
    ours: bool
    says: str
    repair: str
    broken: Callable[..., Any]
    repaired: Callable[..., Any]
    claim: Any
    neighbours: Neighbours
    trials: int = 20_000
    repaired_claim: Any = None
    bits: bool = False
    needs: str = ""

    def case(self, which: Literal["broken", "repaired"]) -> tuple[Callable[..., Any], Any]:
        """Return the mechanism of a version and its claim."""
        if which == "broken":
            return self.broken, self.claim
        return self.repaired, self.claim if self.repaired_claim is None else self.repaired_claim

    @property
    def links(self) -> str:
        """The threads as links in markdown."""
        return ", ".join(f"[{_short(thread)}]({GITHUB}/{thread})" for thread in self.threads)


def _short(thread: str) -> str:
    """Return a thread in the form "repository #5"."""
    _, repository, _, number = thread.split("/")
    return f"{repository} #{number}"


def pair(data: Any, other: Any, relation: str) -> Neighbours:
    """Return two inputs as neighbours, with their relation in words."""
    return Neighbours(((data, other),), relation)
