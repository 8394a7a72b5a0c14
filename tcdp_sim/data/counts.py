"""The histogram of a data set, as far as a mechanism's law depends on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

import numpy as np

from tcdp_sim.core.arrays import Ints
from tcdp_sim.data.checks import LARGEST_DOMAIN


@dataclass(frozen=True, eq=False)
class Counts:
    """How many records lie in each occupied bin of a declared public domain; labels play no part.

    counts: records of the occupied bins only, each >= 1; kept as int64, in descending order, read-only.
    bins: size of the declared domain, at least len(counts), at most 1e300; the other bins hold no record.
    source: where the counts are from and what was left out, for people to read; left_out: the same in numbers, none
    of which is 0 (see tables.py). own: whether it is a user's table, of which people are told more.
    """

    name: str
    counts: Ints
    bins: float
    source: str
    left_out: Mapping[str, int] = field(default_factory=dict)
    own: bool = False

    def __post_init__(self) -> None:
        counts = np.asarray(self.counts)
        if counts.ndim != 1 or (counts.size and counts.dtype.kind not in "iu"):
            raise ValueError(f"counts must be a list of integers, not {counts.ndim}-d of type {counts.dtype}")
        counts = np.sort(counts.astype(np.int64))[::-1].copy()
        if counts.size and counts[-1] < 1:
            raise ValueError(f"counts hold {counts[-1]}; valid: 1 or more, occupied bins only")
        if not max(1, counts.size) <= self.bins <= LARGEST_DOMAIN:
            valid = f"{max(1, counts.size)} to {LARGEST_DOMAIN:g}"
            raise ValueError(f"bins = {self.bins} is not valid; valid: {valid}")
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "bins", float(self.bins))

    @property
    def about(self) -> dict[str, int | str]:
        """What a published table says about data that were read from a file: where from, and what was left out."""
        return {"source": self.source, "records": int(self.counts.sum()), **self.left_out}

    @cached_property
    def digest(self) -> str:
        """Identity of the occupied bins, whatever the data set and its domain are called: 32 hex digits."""
        return blake2b(self.counts.astype("<i8").tobytes(), digest_size=16).hexdigest()
