"""An artifact store that is used only while it is the one that the database knows (CONTRACT 11, the sentinel).

The first process that works on a new database keeps the number of the store that it finds or makes. From then on every
process compares: two machines that see different folders under one name, or the store of another installation, would
otherwise look like parts that are lost, and what one removes as unused could be what the other needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from animastor.engine.ports import ArtifactStore, ArtifactStoreUnavailableError
from animastor.engine.reasons import Reason
from animastor.storage.sentinel import UNNUMBERED, WrongStoreError


class NumberedStore(ArtifactStore, Protocol):
    """A store with a sentinel. Every call raises `WrongStoreError` while it is not the expected one."""

    async def number(self) -> int:
        """The number of the store; a new one is made first where that is allowed.

        Raises `ArtifactStoreUnavailableError`.
        """
        ...

    def expect(self, number: int) -> None:
        """Be that store from now on, or none."""
        ...

    async def holds_artifacts(self) -> bool:
        """Whether there is anything but the sentinel."""
        ...


class Known(Protocol):
    """What a database says of its artifacts."""

    async def artifact_store(self) -> int:
        """The number of its store, or UNNUMBERED."""
        ...

    async def keep_artifact_store(self, number: int) -> int:
        """Keep a number unless there is one; the one that is kept."""
        ...

    async def artifacts_after(self, after: str, limit: int) -> Sequence[tuple[str, str, int]]:
        """Some of its artifacts."""
        ...


class OwnStore(ArtifactStore):
    """The store of a database. `keeps`: this process may say which one that is, when the database does not know yet.

    `shared`: it may be another's, as it is not a folder of this home; one that holds artifacts is not taken for that
    of a database that knows none. `check` raises `WrongStoreError`, whose text says more than a reason.
    """

    def __init__(self, store: NumberedStore, known: Known, *, keeps: bool, shared: bool) -> None:
        self._store = store
        self._known = known
        self._keeps = keeps
        self._shared = shared
        self._belongs = False
        self._asking = asyncio.Lock()

    @property
    def where(self) -> str:
        """Where the store is."""
        return self._store.where

    async def put(self, source: Path, suffix: str) -> tuple[str, int]:
        """Take a finished file in."""
        await self._belong()
        return await self._store.put(source, suffix)

    async def path(self, checksum: str, suffix: str) -> Path | None:
        """The file with these bytes."""
        await self._belong()
        return await self._store.path(checksum, suffix)

    async def missing(self, artifacts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """Those of whose bytes there are none."""
        await self._belong()
        return await self._store.missing(artifacts)

    async def whole(self, checksum: str, suffix: str) -> bool | None:
        """Whether the bytes are the right ones."""
        await self._belong()
        return await self._store.whole(checksum, suffix)

    async def delete(self, checksum: str, suffix: str) -> None:
        """Remove the bytes."""
        await self._belong()
        await self._store.delete(checksum, suffix)

    async def check(self) -> Reason | None:
        """Why nothing may start, or None. Raises `WrongStoreError`."""
        try:
            await self._belong()
        except WrongStoreError:
            raise
        except ArtifactStoreUnavailableError:
            return Reason.ARTIFACT_STORE_UNAVAILABLE
        return await self._store.check()

    async def _belong(self) -> None:
        """Find out which store it has to be, once. Raises `ArtifactStoreUnavailableError`."""
        if not self._belongs:
            async with self._asking:
                await self._find_out()

    async def _find_out(self) -> None:
        if self._belongs:
            return
        number = await self._known.artifact_store()
        if number == UNNUMBERED and self._keeps:
            number = await self._kept()
        self._store.expect(number)
        self._belongs = self._keeps or number != UNNUMBERED

    async def _kept(self) -> int:
        found = await self._store.number()
        if found == UNNUMBERED:
            return found
        if self._shared and await self._is_anothers():
            raise WrongStoreError(
                f"the artifact store {self.where} holds artifacts that this database knows nothing of: it is another "
                "installation's; set ANIMASTOR_ARTIFACTS to an empty place, or restore that installation's backup"
            )
        return await self._known.keep_artifact_store(found)

    async def _is_anothers(self) -> bool:
        """Looked at in this order: a replica keeps the number before it puts anything."""
        if await self._known.artifacts_after("", 1) or not await self._store.holds_artifacts():
            return False
        return await self._known.artifact_store() == UNNUMBERED
