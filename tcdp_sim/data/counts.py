"""The histogram of a data set, reduced to the counts that a mechanism's law depends on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

import numpy as np

from tcdp_sim.core.arrays import Ints
from tcdp_sim.core.errors import unmasked
from tcdp_sim.data.checks import LARGEST_DOMAIN


@dataclass(frozen=True, eq=False)
class Counts:
    """The number of records in each occupied bin of a declared public domain, without labels.

    Parameters
    ----------
    name : str
        The name of the data set.
    counts : array_like of int
        The records of the occupied bins, each at least 1; kept as int64, in descending order and read-only.
    k : float
        The size of the declared domain, from len(counts) to 1e300. The other bins hold no record.
    source : str
        The origin of the counts and the records left out, in words.
    left_out : mapping of str to int
        The numbers of records left out, none of them 0 (see tables.py).
    own : bool
        True for a user's table, about which reports say more.

    Examples
    --------
    >>> from tcdp_sim.data import Counts
    >>> Counts("coins", [3, 5], 4, "tossed by hand").counts.tolist()
    [5, 3]
    """

    name: str
    counts: Ints
    k: float
    source: str
    left_out: Mapping[str, int] = field(default_factory=dict)
    own: bool = False

    def __post_init__(self) -> None:
        counts = np.asarray(unmasked("counts", self.counts))
        if counts.ndim != 1 or (counts.size and counts.dtype.kind not in "iu"):
            raise ValueError(f"counts must be a list of integers, not {counts.ndim}-d of type {counts.dtype}")
        counts = np.sort(counts.astype(np.int64))[::-1].copy()
        if counts.size and counts[-1] < 1:
            raise ValueError(f"counts hold {counts[-1]}; valid: 1 or more, occupied bins only")
        if not max(1, counts.size) <= self.k <= LARGEST_DOMAIN:
            valid = f"{max(1, counts.size)} to {LARGEST_DOMAIN:g}"
            raise ValueError(f"k = {self.k} is not valid; valid: {valid}")
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "k", float(self.k))

    @property
    def about(self) -> dict[str, int | str]:
        """The description of data read from a file in a published table: origin, records, and records left out."""
        return {"source": self.source, "records": int(self.counts.sum()), **self.left_out}

    @cached_property
    def digest(self) -> str:
        """The identity of the occupied bins as 32 hex digits, whatever the names of data set and domain."""
        return blake2b(self.counts.astype("<i8").tobytes(), digest_size=16).hexdigest()
