"""RAPPOR (Erlingsson, Pihur, Korolova 2014): a value's Bloom filter, every bit of it by randomised response."""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from audit_gallery import draws
from audit_gallery.laws import bits
from audit_gallery.mechanisms.base import Known


@dataclass(frozen=True)
class Rappor(Known):
    """A lasting answer for every bit (1 with probability f / 2, 0 with f / 2, else the truth), and a report of each.

    An answer of 1 is reported as set with probability q, one of 0 with p <= q; p = 0, q = 1 report the lasting answer
    itself (one-time RAPPOR). Sound: two values differ in at most 2 hashes bits, each of which gives the same loss.
    Hard to audit, since the evidence needs all these bits together. `salt` chooses the hash functions.
    """

    f: float
    p: float = 0.0
    q: float = 1.0
    hashes: int = 4
    size: int = 20
    salt: int = 0

    def bits(self, data: np.ndarray) -> np.ndarray:
        """The Bloom filter of data[0]: booleans, shape (size,)."""
        text = (f"{self.salt}/{i}/{float(data[0]):g}".encode() for i in range(self.hashes))
        filled = np.zeros(self.size, dtype=bool)
        filled[[int.from_bytes(blake2b(word, digest_size=8).digest(), "little") % self.size for word in text]] = True
        return filled

    def __call__(self, data, rng, trials):
        outputs = np.empty((trials, self.size), dtype=bool)
        true = np.tile(self.bits(data), max(draws.BLOCK // self.size, 1))
        for part in draws.blocks(trials, self.size):
            reported = outputs[part].reshape(-1)
            reported[:] = self._report(rng, self._lasting(rng, true[: reported.size]))
        return outputs

    def _lasting(self, rng, true):
        """One lasting answer for every true bit, shapes (bits,)."""
        uniform = rng.random(true.size, dtype=np.float32)
        honest = uniform >= np.float32(self.f)
        return (uniform < np.float32(self.f / 2)) | (honest & true)

    def _report(self, rng, lasting):
        """One report of every lasting answer, shapes (bits,)."""
        if (self.p, self.q) == (0, 1):
            return lasting
        uniform = rng.random(lasting.size, dtype=np.float32)
        return (uniform < np.float32(self.p)) | ((uniform < np.float32(self.q)) & lasting)

    def log_likelihood_ratio(self, outputs, data, other):
        if_zero, if_one = bits.set_probabilities(self.f, self.p, self.q)
        ratio, (true, changed) = np.zeros(len(outputs)), (self.bits(x) for x in (data, other))
        for i in np.flatnonzero(true != changed):
            towards = 1 if true[i] else -1
            losses = towards * np.log([(1 - if_one) / (1 - if_zero), if_one / if_zero])
            ratio += losses[outputs[:, i].view(np.int8)]
        return ratio

    def cells(self, data, other):
        return bits.cells(self.bits(data), self.bits(other), *bits.set_probabilities(self.f, self.p, self.q))

    def epsilon(self, data, other):
        if_zero, if_one = bits.set_probabilities(self.f, self.p, self.q)
        set_loss, unset_loss = np.log(if_one / if_zero), np.log((1 - if_zero) / (1 - if_one))
        true, changed = self.bits(data), self.bits(other)
        return float(np.count_nonzero(true & ~changed) * set_loss + np.count_nonzero(changed & ~true) * unset_loss)
