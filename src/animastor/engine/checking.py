"""Looking at bytes before anything is written: are they there, and are they what was ordered (CONTRACT 7)."""

from __future__ import annotations

from collections.abc import Sequence

from animastor.engine.gate import Gate
from animastor.engine.ports import ArtifactStore, ArtifactStoreUnavailableError, Checker, PartOrder, Storage
from animastor.media.registry import Registry
from animastor.media.types import Facts
from animastor.protocol import MERGE, AssetId, Uploaded


class Inspector:
    """Finds the bytes of results in the artifact store and has them checked, never inside a transaction."""

    def __init__(
        self, storage: Storage, artifacts: ArtifactStore, checker: Checker, gate: Gate, registry: Registry
    ) -> None:
        self._storage = storage
        self._artifacts = artifacts
        self._checker = checker
        self._gate = gate
        self._registry = registry

    async def inspect(self, order: PartOrder, uploaded: Uploaded) -> tuple[Facts, str | None] | None:
        """The probed facts, and one sentence when the bytes are not as ordered; None when they are not there.

        Raises `ArtifactStoreUnavailableError`.
        """
        if uploaded.size == 0:
            return Facts(), "the file is empty"
        try:
            if await self._artifacts.missing([(uploaded.checksum, uploaded.suffix)]):
                return None
            path = await self._artifacts.path(uploaded.checksum, uploaded.suffix)
        except ArtifactStoreUnavailableError:
            self._gate.unavailable()
            raise
        if path is None:
            return None
        facts, problem = await self._checker.check(order.media, order.kind, order.params, path)
        return facts, problem or await self._mismerged(order, facts)

    async def _mismerged(self, order: PartOrder, facts: Facts) -> str | None:
        """Why a merge is not what its parts give, or None; also when one of them is not there to compare with."""
        check = self._registry[order.media].check_merge
        if order.kind != MERGE or check is None:
            return None
        parts = await self._storage.part_orders([(order.asset, hash_) for hash_ in order.params["parts"]])
        made = [part.facts for part in parts if part is not None and part.artifact is not None]
        return check(order.params, made, facts) if len(made) == len(parts) else None

    async def undecodable(self, asset: AssetId) -> list[tuple[str, str]]:
        """This asset's parts that are gone or do not decode here: what a merge may well refuse. (checksum, suffix)."""
        bad: list[tuple[str, str]] = []
        for part in await self._storage.wanted_parts(asset):
            if part.artifact is None:
                continue
            path = await self._artifacts.path(part.artifact, part.suffix)
            if path is None or (await self._checker.check(part.media, part.kind, part.params, path))[1] is not None:
                bad.append((part.artifact, part.suffix))
        return bad

    async def spoiled(self, asset: AssetId, hash_: str) -> list[tuple[str, str]]:
        """The inputs of a running job that are gone, or are not the bytes that they were. (checksum, suffix)."""
        actives = await self._storage.active_of([asset])
        inputs = {
            one for active in actives for source in active.missing if source.hash == hash_ for one in source.inputs
        }
        suffixes = await self._storage.artifact_suffix(inputs)
        bad: list[tuple[str, str]] = []
        for checksum in sorted(inputs):
            suffix = suffixes.get(checksum, "")
            if not await self._is_good(checksum, suffix):
                bad.append((checksum, suffix))
        return bad

    async def _is_good(self, checksum: str, suffix: str) -> bool:
        try:
            return bool(await self._artifacts.whole(checksum, suffix))
        except OSError:  # what cannot be read proves nothing
            return True

    async def give_up(self, bad: Sequence[tuple[str, str]]) -> None:
        """Bytes (checksum, suffix) that are of no use to anybody: removed, and made again by whoever needs them."""
        for checksum, suffix in bad:
            await self._artifacts.delete(checksum, suffix)
        await self._storage.bytes_missing([checksum for checksum, _ in bad])
