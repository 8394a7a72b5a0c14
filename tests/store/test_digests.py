"""What names a tree: all of its files, in one order, whatever they are called."""

import hashlib

from tcdp_sim.store.digests import tree_digest


def plain(folder):
    """The digest by way of a sorted list of all paths."""
    found = hashlib.blake2b(digest_size=32)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        found.update(f"{path.relative_to(folder).as_posix()}\0{len(data)}\0".encode() + data)
    return found.hexdigest()


def test_a_tree_is_gone_through_in_the_order_of_its_paths(tmp_path):
    """Names that sort otherwise as texts with slashes than as parts of paths; links to files count, to folders not."""
    folder = tmp_path / "tree"
    for name in ("a/c/0", "a/c/10", "a/c/9", "a/zarr.json", "a.b/1", "a-b", "a b/x", "A", "\u00e9/1", "z/y/x/w"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (folder / "empty").mkdir()
    (folder / "link").symlink_to(folder / "a")
    (folder / "b").symlink_to(folder / "A")
    assert tree_digest(folder) == plain(folder)
    before = tree_digest(folder)
    (folder / "a/c/9").rename(folder / "a/c/8")
    assert tree_digest(folder) not in (before,)
    assert tree_digest(folder) == plain(folder)
