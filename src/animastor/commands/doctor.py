"""`animastor doctor`: can the home be used, and is everything finished really there?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from animastor.app import Driving
from animastor.commands import messages
from animastor.commands.messages import Tell

PAGE = 500


@dataclass(frozen=True, slots=True)
class Examining:
    """What `animastor doctor` was asked for."""

    repair: bool = False


async def look(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """Read every artifact. With `repair`, those that are gone or damaged are given up; what used them is made again.

    Raises `ArtifactStoreUnavailableError` and `StorageUnavailableError`.
    """
    asked = Examining(**told)
    for profile, why in await _complaints(drive):
        tell(messages.note(f"{profile} cannot work: {why}.", event="alarm", reason="backend_unable"))
    looked, lost = 0, list[str]()
    after = ""
    while rows := await drive.reading.storage.artifacts_after(after, PAGE):
        for checksum, suffix, _ in rows:
            if not await drive.reading.artifacts.whole(checksum, suffix):
                lost.append(checksum)
        after, looked = rows[-1][0], looked + len(rows)
    given_up = await drive.reading.storage.bytes_missing(lost) if lost and asked.repair else 0
    tell(messages.result(looked=looked, lost=len(lost), given_up=given_up, repaired=asked.repair))


async def _complaints(drive: Driving) -> list[tuple[str, str]]:
    await drive.backends.able()
    return list(drive.backends.complaints.items())
