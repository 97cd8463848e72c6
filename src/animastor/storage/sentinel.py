"""The sentinel of an artifact store: says that the store is there, and which one it is.

A store gets a number when it is made; the database keeps the number of the store that its artifacts are in
(`belonging`). So a store that is not there is told from an empty place, and another one from its own.
"""

from __future__ import annotations

import re
import secrets
from typing import Final

from animastor.engine.ports import ArtifactStoreUnavailableError

SENTINEL: Final = "animastor-artifacts"  # its name in the store
UNNUMBERED: Final = 0  # stores made by programs that gave no number
_NUMBER: Final = re.compile(r"^store ([0-9a-f]{16})$", re.MULTILINE)


class WrongStoreError(ArtifactStoreUnavailableError):
    """Raised for a store that is there, but is not the one that the database knows. Nothing is believed of it."""


def new_sentinel() -> str:
    """What the sentinel of a new store says."""
    number = secrets.randbits(62) + 1
    return f"The artifacts of an Animastor installation. Do not change anything in here.\nstore {number:016x}\n"


def number_in(text: str) -> int:
    """The number that a sentinel gives; UNNUMBERED when it gives none."""
    found = _NUMBER.search(text)
    return int(found[1], 16) if found else UNNUMBERED


def require_number(where: str, found: int, expected: int) -> None:
    """Raises `WrongStoreError` when another number is expected; UNNUMBERED on either side fits any."""
    if UNNUMBERED not in (found, expected) and found != expected:
        raise WrongStoreError(
            f"the artifact store {where} is not the one that this database knows: it is another installation's, or "
            "this machine does not see what the others see; set ANIMASTOR_ARTIFACTS to the right one"
        )
