"""RAPPOR (Erlingsson, Pihur, Korolova 2014): randomised response on every bit of a value's Bloom filter."""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from audit_gallery import draws
from audit_gallery.laws import bits
from audit_gallery.mechanisms.base import Known


@dataclass(frozen=True)
class Rappor(Known):
    """RAPPOR: a lasting answer for every bit, and a report of each answer.

    A lasting answer is 1 with probability f / 2, 0 with probability f / 2, and otherwise the truth. An answer of 1 is
    reported as set with probability q, and an answer of 0 with probability p <= q. With p = 0 and q = 1 the report is
    the lasting answer itself (one-time RAPPOR). `salt` chooses the hash functions.

    The mechanism is sound: two values differ in at most 2 * hashes bits, each with the same loss. It is hard to audit,
    because the evidence needs all these bits together.
    """

    f: float
    p: float = 0.0
    q: float = 1.0
    hashes: int = 4
    size: int = 20
    salt: int = 0

    def bits(self, data: np.ndarray) -> np.ndarray:
        """Return the Bloom filter of data[0] as booleans, shape (size,)."""
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
        """Draw one lasting answer for every true bit, shapes (bits,)."""
        uniform = rng.random(true.size, dtype=np.float32)
        honest = uniform >= np.float32(self.f)
        return (uniform < np.float32(self.f / 2)) | (honest & true)

    def _report(self, rng, lasting):
        """Draw one report of every lasting answer, shapes (bits,)."""
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
