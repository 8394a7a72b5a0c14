"""A zarr store that notices when its tree is removed while somebody reads it."""

from typing import Any

from zarr.storage import LocalStore

from tcdp_sim.core.errors import UserError


class TreeStore(LocalStore):
    """A folder with a zarr tree, to be read. Raises UserError for a chunk once the tree is gone.

    Chunks of zeros are not stored, so zarr reads a missing file as zeros, NaN or "". Somebody who opens a snapshot
    before it is removed would get nothing else.
    """

    async def get(self, key: str, *args: Any, **options: Any) -> Any:
        """Return the bytes of a key, or None for a chunk that is not stored."""
        found = await super().get(key, *args, **options)
        if found is None and not (self.root / "zarr.json").exists():
            raise UserError(f"{self.root} has been removed or replaced since it was opened; open it again")
        return found
