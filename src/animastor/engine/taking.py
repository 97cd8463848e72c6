"""Takes: which there are of a unit, and which one is wanted, by choice, by pin, or as a file of one's own.

Choosing takes an earlier take for as long as its text and prompts stay; pinning and supplying fix a part whatever is
edited (CONTRACT 10). Whatever is fixed, the plans say what has to be put together again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from animastor.engine.errors import EngineError
from animastor.engine.planning import Planner
from animastor.engine.ports import ArtifactStore, Checker, Gift, PlanRow, Storage, TakeRow
from animastor.engine.waking import Bell
from animastor.media.giving import GIVEN
from animastor.media.types import Planned
from animastor.protocol import BookKey, Uploaded

PUTS = 3  # bytes that are just being collected are put again so often
MOST_TAKES = 200  # of a unit that are looked through for the chosen one


class TakeError(EngineError):
    """Raised for a take that cannot be chosen, pinned or supplied; the text is a phrase that says why."""


class Takes:
    """The takes of units."""

    def __init__(
        self,
        *,
        storage: Storage,
        artifacts: ArtifactStore,
        checker: Checker,
        planner: Planner,
        bell: Bell,
    ) -> None:
        self._storage = storage
        self._artifacts = artifacts
        self._checker = checker
        self._planner = planner
        self._bell = bell

    async def of(self, book_key: BookKey, unit_id: str) -> Sequence[TakeRow]:
        """Every take of a unit that is there or wanted. Raises `TakeError`."""
        rows = await self._storage.takes_of(book_key, unit_id)
        if rows is None:
            raise TakeError(f"there is no unit {unit_id!r} in this book")
        return rows

    async def choose(self, book_key: BookKey, unit_id: str, take: TakeRow) -> None:
        """Want an earlier take again; an edit still makes another one. Raises `TakeError`."""
        if take.wanted:
            raise TakeError("this take is the one that is wanted already")
        if take.pinned or take.supplied or GIVEN in take.params:
            raise TakeError("this take was pinned or supplied: pin it again")
        found = await self._number(book_key, unit_id, take)
        if found is None:
            raise TakeError(
                "this take was made of another text, prompt or setting than the present one: pin it instead"
            )
        number, place = found
        for one in await self.of(book_key, unit_id):
            there = (one.asset, one.kind, one.unit_ids, one.ordinal) == (take.asset, take.kind, take.unit_ids, place)
            if there and (one.pinned or one.supplied):
                await self._storage.take_back(one.asset, one.kind, one.unit_ids[0], one.hash)
        try:
            await self._storage.choose_take(take.asset, take.unit_ids[0], number)
        except LookupError as error:
            raise TakeError(str(error)) from error
        self._bell.ring()

    async def pin(self, take: TakeRow, ordinal: int | None = None) -> None:
        """Fix a take in its place, whatever is edited. Raises `TakeError` when its place is not known."""
        if not take.ready:
            raise TakeError("this take is not made yet: there is nothing to pin")
        place = ordinal if ordinal is not None else take.ordinal
        if place < 0:
            raise TakeError("it is not known which part of the unit this take was: name it by --part")
        base = str(take.params[GIVEN]["base"]) if GIVEN in take.params else take.hash
        await self._give(
            Gift(
                take.asset, take.kind, place, take.unit_ids, take.artifact, take.suffix, take.size, take.facts,
                take.params, base, supplied=take.supplied,
            )
        )  # fmt: skip

    async def supply(self, place: TakeRow, source: Path) -> None:
        """Put a file of one's own in the place of a wanted part: probed, checked and kept. Raises `TakeError`."""
        checksum, size = await self._artifacts.put(source, source.suffix.lower())
        try:
            await self._supply(place, source, checksum, size)
        except TakeError:
            await self._storage.uploaded_in_vain(Uploaded(checksum, size, source.suffix.lower()))
            raise

    async def _supply(self, place: TakeRow, source: Path, checksum: str, size: int) -> None:
        path = await self._artifacts.path(checksum, source.suffix.lower())
        if path is None:
            raise TakeError(f"{source} could not be stored")
        order = {name: value for name, value in place.params.items() if name != GIVEN}
        facts, problem = await self._checker.check(place.media, place.kind, order, path)
        if problem is not None:
            raise TakeError(f"{source.name} cannot be used here: {problem}")
        base = str(place.params[GIVEN]["base"]) if GIVEN in place.params else place.hash
        gift = Gift(
            place.asset, place.kind, place.ordinal, place.unit_ids, checksum, source.suffix.lower(), size, facts, order,
            base, supplied=True, fresh=True,
        )  # fmt: skip
        await self._give(gift, source)

    async def unpin(self, take: TakeRow) -> int:
        """Fix this part no more; how many parts were fixed."""
        gone = await self._storage.take_back(take.asset, take.kind, take.unit_ids[0], take.hash)
        self._bell.ring()
        return gone

    async def _give(self, gift: Gift, source: Path | None = None) -> None:
        for _ in range(PUTS):
            try:
                given = await self._storage.give(gift)
            except LookupError as error:
                raise TakeError(str(error)) from error
            if given:
                self._bell.ring()
                return
            if source is not None:
                await self._artifacts.put(source, gift.suffix)
        raise TakeError("its bytes are just being deleted, as nothing had used them for long: try again in a minute")

    async def _number(self, book_key: BookKey, unit_id: str, take: TakeRow) -> tuple[int, int] | None:
        """The number by which the plan, as it stands, wants exactly this take, and which part that is; else None."""
        rows = await self._storage.plan_rows([take.asset])
        if not rows:
            raise TakeError("its scene has left the book")
        (row,) = rows
        unit = take.unit_ids[0]
        most = min(MOST_TAKES, await self._storage.highest_take(book_key, take.media, unit))
        for number in range(most, -1, -1):
            place = await self._place(replace(row, takes={**row.takes, unit: number}), take.hash)
            if place is not None:
                return number, place
        return None

    async def _place(self, row: PlanRow, hash_: str) -> int | None:
        """Which part of its unit and kind the plan makes with this hash; None when it makes none."""
        plan = await self._planner.planned(row)
        seen: Counter[tuple[str, str]] = Counter()
        for part in plan.parts if isinstance(plan, Planned) else ():
            place = (part.kind, part.unit_ids[0])
            if (part.own_hash or part.hash) == hash_:
                return seen[place]
            seen[place] += 1
        return None
