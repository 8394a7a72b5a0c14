"""Shares of the tests: `--share 2/5` runs the second of five shares of the tests that are chosen otherwise.

CI runs one share of the long tests with every commit, the next one with the next commit. The digest of a test's name
decides its share, so that shares are the same everywhere and about equal. Files named by `--whole` are in every share.
"""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    """The share `number` of `count`, counted from 1."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> "Share":
        """Return the share that a text such as "2/5" names. Raises ValueError if it names none."""
        number, slash, count = text.partition("/")
        if not (slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
            raise ValueError(f"--share: {text!r} is no share; valid: K/N with 1 <= K <= N, as in 2/5")
        return cls(int(number), int(count))

    def has(self, name: str, whole: Collection[str] = ()) -> bool:
        """Return True if a test, given by its node id, is in this share or in one of the files `whole`."""
        digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
        return int.from_bytes(digest) % self.count == self.number - 1 or name.split("::")[0] in whole
