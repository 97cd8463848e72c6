"""Lost artifacts, gone or with other bytes: how many are given up without asking, and giving them up (CONTRACT 11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from animastor.engine.ports import ArtifactStore, Storage

Artifact: TypeAlias = tuple[str, str]  # checksum, suffix
MOST_LOST = 10  # in one cycle over all artifacts …
LARGEST_SHARE = 0.01  # … or this share of them, but a single one is always made again
BATCH = 500


def too_many(lost: int, looked: int) -> bool:
    """Whether so many lost ones among those that were looked at are more than bad luck: an emptied or failing disk."""
    return lost > min(MOST_LOST, max(1, LARGEST_SHARE * looked))


async def give_up(
    storage: Storage, artifacts: ArtifactStore, missing: Sequence[Artifact] = (), damaged: Sequence[Artifact] = ()
) -> int:
    """Let go of lost bytes; of damaged ones, what is left is deleted. How many assets have to be made again.

    Raises `ArtifactStoreUnavailableError`.
    """
    lost, assets = [*((one, False) for one in missing), *((one, True) for one in damaged)], 0
    for start in range(0, len(lost), BATCH):
        batch = lost[start : start + BATCH]
        for (checksum, suffix), left in batch:
            if left:
                await artifacts.delete(checksum, suffix)
        assets += await storage.bytes_missing([checksum for (checksum, _), _ in batch])
    return assets
