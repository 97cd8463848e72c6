"""Takes: listed, chosen again, pinned and supplied; what is fixed is never made again, whatever is edited."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from unittest.mock import AsyncMock, Mock

import pytest
from invariants import at_rest, rows
from stage import Stage
from toys import book as book_of
from toys import content_of, scene, unit

from animastor.books.model import Book
from animastor.engine.engine import Engine
from animastor.engine.ports import NewRequest, Scope, TakeRow
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import State
from animastor.engine.taking import TakeError, Takes
from animastor.media.types import Facts, PartPlan, Planned
from animastor.protocol import AssetId, BookKey

MEDIA = ("voice", "sketch", "clip")


def _book(prompt: str = "a boat", other: str = "a hill") -> Book:
    return book_of("b", scene("s", unit("u1", "one", prompt), unit("u2", "two", other)))


async def _make(stage: Stage, engine: Engine, key: BookKey, *, rebuild: bool = False) -> None:
    stage._ids += 1
    new = NewRequest(key, Scope(), ("sketch",) if rebuild else MEDIA, f"k{stage._ids}", rebuild=rebuild)
    opened = await engine.requests.open(new)
    await stage.until_ended(opened.request.request_id)


async def _pictures(engine: Engine, key: BookKey) -> list[TakeRow]:
    return [one for one in await engine.takes.of(key, "u1") if one.media == "sketch"]


async def _shown(stage: Stage, key: BookKey) -> str:
    (row,) = await stage.storage.export_rows(key, Scope())
    return str(row.media["sketch"].facts["units"]["u1"])


def test_a_pinned_picture_survives_edits_and_rebuilds_and_tells_that_it_is_outdated() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(_book())
        async with stage.playing() as engine:
            await _make(stage, engine, key)
            (first,) = await _pictures(engine, key)
            await engine.takes.pin(first)
            made = sum(stage.crew.by_hash.values())
            await _make(stage, engine, key)
            assert sum(stage.crew.by_hash.values()) == made, "its bytes are the same, so nothing is made"
            await stage.save(_book("a ship", "a tree"))
            await engine.edited()
            await _make(stage, engine, key)
            await _make(stage, engine, key, rebuild=True)
            pinned = next(one for one in await _pictures(engine, key) if one.wanted)
            assert (pinned.pinned, pinned.outdated, pinned.artifact) == (True, True, first.artifact)
            assert await _shown(stage, key) == first.artifact
            await engine.takes.unpin(pinned)
            await _make(stage, engine, key)
            assert await _shown(stage, key) != first.artifact
        await at_rest_with_given(stage)

    Stage().run(play)


async def at_rest_with_given(stage: Stage) -> None:
    """The invariants; given parts are of other bytes than their order would make."""
    await rows(stage, "SELECT 1")
    assert {one.state for one in await stage.storage.asset_standings()} == {State.READY}


def test_an_earlier_take_is_chosen_again_without_any_work_and_a_rebuild_makes_a_new_one() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(_book())
        async with stage.playing() as engine:
            await _make(stage, engine, key)
            (first,) = await _pictures(engine, key)
            await _make(stage, engine, key, rebuild=True)
            now, before = await _pictures(engine, key)
            assert before.artifact == first.artifact != now.artifact
            await engine.takes.choose(key, "u1", before)
            await _make(stage, engine, key)
            assert await _shown(stage, key) == first.artifact
            assert stage.crew.by_hash[first.hash] == 1, "a take that is kept costs nothing"
            await _make(stage, engine, key, rebuild=True)
            assert await _shown(stage, key) not in (first.artifact, now.artifact)
        await at_rest(stage)

    Stage().run(play)


def test_choosing_a_take_of_one_part_leaves_the_other_parts_of_its_unit_pinned() -> None:
    @dataclass
    class Row:
        takes: dict[str, int]

    def part(hash_: str, own: str = "") -> PartPlan:
        return PartPlan("chunk", hash_, ("u",), {}, own_hash=own)

    def take(hash_: str, ordinal: int, *, pinned: bool = False) -> TakeRow:
        return TakeRow(
            AssetId(1), "voice", "chunk", hash_, ordinal, ("u",), pinned, True, pinned, False, False, hash_, ".x", 1,
            Facts(), {}, None,
        )  # fmt: skip

    old = take("second, once", -1)
    storage, planner = AsyncMock(), AsyncMock()
    storage.takes_of.return_value = [take("pin 0", 0, pinned=True), take("pin 1", 1, pinned=True), old]
    storage.plan_rows.return_value = [Row({})]
    storage.highest_take.return_value = 0
    planner.planned.return_value = Planned((part("pin 0", "first"), part("pin 1", "second, once")), {}, "w")
    takes = Takes(storage=storage, artifacts=AsyncMock(), checker=AsyncMock(), planner=planner, bell=Mock())
    asyncio.run(takes.choose(BookKey(1), "u", old))
    assert [call.args for call in storage.take_back.await_args_list] == [(1, "chunk", "u", "pin 1")]
    storage.choose_take.assert_awaited_once()


def test_a_take_of_another_text_cannot_be_chosen_but_pinned() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(_book())
        async with stage.playing() as engine:
            await _make(stage, engine, key)
            await stage.save(_book("a ship"))
            await engine.edited()
            await _make(stage, engine, key)
            old = next(one for one in await _pictures(engine, key) if not one.wanted)
            with pytest.raises(TakeError, match="pin it instead"):
                await engine.takes.choose(key, "u1", old)
            with pytest.raises(TakeError, match="--part"):
                await engine.takes.pin(old)
            await engine.takes.pin(old, 0)
            await _make(stage, engine, key)
            assert await _shown(stage, key) == old.artifact

    Stage().run(play)


def test_a_supplied_file_takes_its_place_and_lost_bytes_give_it_back_to_the_plan(tmp_path: Path) -> None:
    async def play(stage: Stage) -> None:
        source = tmp_path / "mine.b"
        source.write_bytes(content_of("picture", {"my": "own"}, []))

        async def put(path: Path, suffix: str) -> tuple[str, int]:
            content = path.read_bytes()
            return stage.bytes.keep(content), len(content)

        stage.bytes.put = put  # type: ignore[method-assign]
        key = await stage.save(_book())
        async with stage.playing() as engine:
            await _make(stage, engine, key)
            (first,) = await _pictures(engine, key)
            await engine.takes.supply(first, source)
            await _make(stage, engine, key)
            mine = next(one for one in await _pictures(engine, key) if one.wanted)
            assert (mine.supplied, mine.outdated) == (True, False)
            assert await _shown(stage, key) == mine.artifact
            del stage.bytes.content[mine.artifact]
            await stage.storage.bytes_missing([mine.artifact])
            await _make(stage, engine, key)
            assert await _shown(stage, key) == first.artifact
            told = [row.reason for row in await stage.journal() if row.type is JournalType.EDITED]
            assert told.count(Reason.SUPPLIED) == told.count(Reason.GIVEN_LOST) == 1
            (tmp_path / "wrong.b").write_bytes(b"chunk|of something else spoiled")
            with pytest.raises(TakeError, match=r"wrong\.b cannot be used here"):
                await engine.takes.supply(first, tmp_path / "wrong.b")
            refused = sha256((tmp_path / "wrong.b").read_bytes()).hexdigest()
            assert refused in {one.checksum for one in await stage.storage.unused()}, "its bytes stay for ever"

    Stage().run(play)


def test_a_unit_that_is_not_there_has_no_takes() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(_book())
        with pytest.raises(TakeError, match="no unit 'u10'"):
            await stage.engine().takes.of(key, "u10")

    Stage().run(play)
