"""Digests that reveal changes of stored data: they name trees, and sealed JSON files contain theirs."""

import hashlib
import json
import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tcdp_sim.store import durable

# our own code: each is a folder of its own in a checkout
PACKAGES = ("tcdp_sim", "tcdp_sim.conf", "tcdp_sim.experiments")
DIGITS = 32  # hexadecimal digits of the digest in a tree's name
SEAL = "digest"  # the key of a sealed file with the digest of all other keys
SNAPSHOTS = "snapshots"  # the folder of a run's trees, beside the link to the newest


def hasher(size: int = DIGITS // 2) -> "hashlib.blake2b":
    """Return the hash object of all digests of stored data; `size` is in bytes."""
    return hashlib.blake2b(digest_size=size)


def of_plain(about: Any) -> str:
    """Return the digest of plain data. The order of keys does not matter."""
    return of_bytes(json.dumps(about, sort_keys=True).encode())


def of_bytes(data: bytes) -> str:
    """Return the digest of bytes."""
    digest = hasher()
    digest.update(data)
    return digest.hexdigest()


def of_file(path: Path) -> str:
    """Return the digest of the bytes of a file, which may be larger than the memory. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, hasher).hexdigest()


def of_file_if_any(path: Path) -> str | None:
    """Return the digest of the bytes of a file, None if it cannot be read."""
    try:
        return of_file(path)
    except OSError:
        return None


def of_files(files: Iterable[tuple[str, Path]], size: int = DIGITS // 2) -> str:
    """Return the digest of the names and bytes of files, in this order. Raises OSError."""
    digest = hasher(size)
    for name, path in files:
        data = path.read_bytes()
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def tree_digest(folder: Path) -> str:
    """Return the digest of the names and bytes of all files in a folder."""
    return of_files(((path.relative_to(folder).as_posix(), path) for path in files_in(folder)), size=32)


def files_in(folder: Path) -> Iterator[Path]:
    """Yield all files of a folder in the order of their paths' parts, with the names of one folder in memory."""
    for name in sorted(os.listdir(folder)):
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            yield from files_in(path)
        elif path.is_file():
            yield path


def intact(tree: Path, names: Container[str]) -> bool:
    """Return True if the digest of a tree's bytes is among these names."""
    try:
        return tree_digest(tree)[:DIGITS] in names
    except OSError:
        return False


def is_name(name: str) -> bool:
    """Return True if a file name has the form of a digest."""
    return re.fullmatch(rf"[0-9a-f]{{{DIGITS}}}", name) is not None


def changed(tree: Path) -> bool:
    """Return True if a tree differs from the one that its name was made of.

    `tree` is one of a run's snapshots, or a copy in the same folder. The result is False if no name is known.
    """
    names = {path.name for path in (tree.parent / SNAPSHOTS).glob("*")} | {tree.name}
    names = {name for name in names if is_name(name)}
    return bool(names) and not intact(tree, names)


def write_sealed(path: Path, about: Mapping[str, Any]) -> None:
    """Write plain data as JSON with a digest of its content, atomically. Raises OSError."""
    durable.write(path, sealed_text(about).decode())


def sealed_text(about: Mapping[str, Any]) -> bytes:
    """Return the bytes that `write_sealed` writes."""
    return _sealed_text({**about, SEAL: _content_digest(about)}).encode()


def read_sealed(path: Path) -> Mapping[str, Any]:
    """Return the content of a file that `write_sealed` wrote, empty if it is damaged or missing."""
    try:
        text = path.read_bytes()
    except OSError:
        return {}
    return {} if is_broken(text) else dict(json.loads(text))


def is_broken(text: bytes) -> bool:
    """Return True if a text differs, in any byte, from the text that `write_sealed` writes for its content."""
    try:
        content = json.loads(text)
        seal = content.pop(SEAL)
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        return True
    return seal != _content_digest(content) or text != _sealed_text({**content, SEAL: seal}).encode()


def _sealed_text(about) -> str:
    return json.dumps(about, indent=1, sort_keys=True) + "\n"


def _content_digest(about) -> str:
    return of_bytes(_sealed_text(about).encode())
