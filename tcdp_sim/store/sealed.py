"""Small JSON files that carry the digest of what they say, so that it is noticed when they have changed."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tcdp_sim.store import durable

SEAL = "digest"


def write(path: Path, about: Mapping[str, Any]) -> None:
    """Write plain data with its digest, at once or not at all, also when the power fails. Raises OSError."""
    durable.write(path, _text({**about, SEAL: _digest(about)}))


def broken(text: bytes) -> bool:
    """Whether that is not, byte for byte, what `write` has written."""
    try:
        found = json.loads(text)
        seal = found.pop(SEAL)
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        return True
    return seal != _digest(found) or text != _text({**found, SEAL: seal}).encode()


def _text(about) -> str:
    return json.dumps(about, indent=1, sort_keys=True) + "\n"


def _digest(about) -> str:
    return hashlib.blake2b(_text(about).encode(), digest_size=16).hexdigest()
