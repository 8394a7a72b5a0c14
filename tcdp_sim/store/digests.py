"""Digests that tell whether what is stored has changed: they name trees, and sealed JSON files carry theirs."""

import hashlib
import json
import os
import re
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from tcdp_sim.store import durable

PACKAGES = ("tcdp_sim", "tcdp_sim.conf", "tcdp_sim.experiments")  # our own code: each a folder of its own in a checkout
DIGITS = 32  # of the digest in a tree's name
SEAL = "digest"  # the key of a sealed file that has the digest of the others
SNAPSHOTS = "snapshots"  # where a run's trees lie, beside the link to the newest


def tree_digest(folder: Path) -> str:
    """blake2b of all files of a folder, names and bytes."""
    digest = hashlib.blake2b(digest_size=32)
    for path in _files(folder):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    """All files of a folder in the order of their paths' parts; memory holds the names of one folder."""
    for name in sorted(os.listdir(folder)):
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        elif path.is_file():
            yield path


def intact(tree: Path, names: Container[str]) -> bool:
    """Whether the digest of a tree's bytes is among these names."""
    try:
        return tree_digest(tree)[:DIGITS] in names
    except OSError:
        return False


def is_name(name: str) -> bool:
    """Whether a file may be called so because of its bytes."""
    return re.fullmatch(rf"[0-9a-f]{{{DIGITS}}}", name) is not None


def changed(tree: Path) -> bool:
    """Whether a tree is not what it was when it was named; False where nothing tells its name any more.

    tree: one of a run's snapshots, or a copy of one that lies beside them.
    """
    names = {path.name for path in (tree.parent / SNAPSHOTS).glob("*")} | {tree.name}
    names = {name for name in names if is_name(name)}
    return bool(names) and not intact(tree, names)


def write_sealed(path: Path, about: Mapping[str, Any]) -> None:
    """Write plain data as JSON that carries the digest of what it says, at once or not at all. Raises OSError."""
    durable.write(path, _sealed_text({**about, SEAL: _content_digest(about)}))


def is_broken(text: bytes) -> bool:
    """Whether that is not, byte for byte, what `write_sealed` has written."""
    try:
        content = json.loads(text)
        seal = content.pop(SEAL)
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        return True
    return seal != _content_digest(content) or text != _sealed_text({**content, SEAL: seal}).encode()


def _sealed_text(about) -> str:
    return json.dumps(about, indent=1, sort_keys=True) + "\n"


def _content_digest(about) -> str:
    return hashlib.blake2b(_sealed_text(about).encode(), digest_size=16).hexdigest()
