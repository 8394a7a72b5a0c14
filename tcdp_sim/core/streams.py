"""Random streams, the only place where a generator is made, and digests that show whether two machines draw alike."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

NOISE_STREAM, LOSS_STREAM = 0, 1  # last word of the key: roles with other streams


def generator(seed: int, stream: str, chunk: int, role: int = NOISE_STREAM) -> np.random.Generator:
    """Return the random generator of one chunk.

    `seed` lies in [0, 2^128), `stream` is a cell's id of 64 hex digits, and `chunk` is at least 0. Another role has
    another stream.
    """
    words = (int(stream[i : i + 8], 16) for i in range(0, 32, 8))
    key = np.array(
        [*words, chunk & 0xFFFFFFFF, chunk >> 32, role], np.uint32
    )  # an array is faster than separate numbers
    words_of_key: Any = (key,)  # numpy's annotation admits integers only, not arrays of them
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=words_of_key)))


def generators(seed: int, streams: Sequence[str], chunks: int | Sequence[int]) -> Iterator[np.random.Generator]:
    """Yield `generator(seed, stream, chunk)` for each stream and its chunk, at a tenth of the cost.

    `chunks` is one number for all streams, or one for each. NumPy promises that the algorithm of SeedSequence stays the
    same, so it is repeated here for all keys at once.
    """
    ids = np.frombuffer(bytes.fromhex("".join(streams)), ">u4").reshape(-1, 8)[:, :4]
    each = np.broadcast_to(np.asarray(chunks, np.uint64), len(streams))
    last = np.stack([each & np.uint64(0xFFFFFFFF), each >> np.uint64(32), np.full(len(each), NOISE_STREAM, np.uint64)])
    for place, words in enumerate(_seed_words(seed, ids, last.astype(np.uint32))):
        # numpy's annotation lacks the interface that its documentation offers
        seed_words: Any = _Words(words, seed, streams[place], each[place])
        yield np.random.Generator(np.random.SFC64(seed_words))


class _Words(np.random.bit_generator.ISpawnableSeedSequence):
    """Words that SeedSequence would give a bit generator, computed before. It spawns as that SeedSequence does."""

    def __init__(self, words: Any, seed: int, stream: str, chunk: Any) -> None:
        self._words = words
        self._about = seed, stream, chunk
        self._same: Any = None  # the SeedSequence, which few simulations need

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        """Return the words."""
        return self._words

    def spawn(self, n_children: int) -> Any:
        """Return further children of the SeedSequence."""
        if self._same is None:
            seed, stream, chunk = self._about
            self._same = generator(seed, stream, int(chunk)).bit_generator.seed_seq
        return self._same.spawn(n_children)


_POOL = 4  # words of entropy that SeedSequence mixes
_MIXED, _DRAWN = (0x43B0D7E5, 0x931E8875), (0x8B51F9DD, 0x58F38DED)  # first constant of a hash, and its multiplier
_LEFT, _RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)


def _seed_words(seed: int, ids: Any, last: Any) -> Any:
    """Return the three 64-bit words with which each key, of ids (rows of words) and `last` (columns), seeds SFC64."""
    entropy = [seed >> shift & 0xFFFFFFFF for shift in range(0, 32 * _POOL, 32)]
    columns = [np.full(len(ids), word, np.uint32) for word in entropy]
    columns += [*ids.T.astype(np.uint32), *last]
    mixed = _hashes(*_MIXED)
    pool = [mixed(column) for column in columns[:_POOL]]
    for source in range(_POOL):
        for place in range(_POOL):
            if place != source:
                pool[place] = _mix(pool[place], mixed(pool[source]))
    for column in columns[_POOL:]:
        pool = [_mix(word, mixed(column)) for word in pool]
    drawn = _hashes(*_DRAWN)
    words = np.stack([drawn(pool[place % _POOL]) for place in range(6)], axis=1)
    return words.astype("<u4").view("<u8").astype(np.uint64)


def _hashes(constant: int, multiplier: int) -> Any:
    """Return the hash function of SeedSequence, whose constant changes with every call."""

    def hashed(words: Any) -> Any:
        nonlocal constant
        words = words ^ np.uint32(constant)
        constant = constant * multiplier & 0xFFFFFFFF
        words = words * np.uint32(constant)
        return words ^ (words >> np.uint32(16))

    return hashed


def _mix(x: Any, y: Any) -> Any:
    """Return two words of the pool as one."""
    words = _LEFT * x - _RIGHT * y
    return words ^ (words >> np.uint32(16))


def bit_stream() -> str:
    """Return a digest of the random generator's first numbers of each kind."""
    rng = generator(0, "0" * 64, 0)
    drawn = (rng.integers(2**63, size=64), rng.random(64), rng.standard_normal(256), rng.standard_exponential(256))
    return hashlib.blake2b(b"".join(part.tobytes() for part in drawn), digest_size=8).hexdigest()


@cache
def fingerprint() -> str:
    """Return a digest of this machine's elementary functions and of numpy's bit stream.

    Results of two machines with different digests (say AVX-512 and AVX2) differ in the last place.
    """
    x = np.linspace(-6, 6, 4096)
    p = (np.arange(4096) + 0.5) / 4096
    values = [np.arcsinh(x), np.exp(x), np.log(p), np.log1p(-p), np.expm1(x), np.sqrt(p)]
    values.append(generator(0, "0" * 64, 0).standard_normal(256))
    return hashlib.blake2b(b"".join(v.tobytes() for v in values), digest_size=8).hexdigest()
