"""Takes and fixed parts as rows, on each database; which of them are kept (CONTRACT 11, kept takes)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from world import Driver, Time, book, chapter, gift_of, scene, unit

from animastor.media.giving import GIVEN
from animastor.protocol import BookKey
from animastor.storage.sql import SqlStorage

DAY = 86_400.0


async def _prompted(driver: Driver, prompt: str) -> BookKey:
    """The book with this prompt of its one picture, made."""
    key = await driver.save(book(chapter("ch-1", scene("s", unit("u", "text", prompt)))))
    await driver.request(key, ["picture"])
    await driver.run(["picture"])
    return key


async def test_a_fixed_part_is_in_every_plan_until_it_is_taken_back(driver: Driver, storage: SqlStorage) -> None:
    key = await _prompted(driver, "p1")
    (first,) = await storage.takes_of(key, "u") or ()
    assert await storage.give(gift_of(first))
    await driver.run(["picture"])
    key = await _prompted(driver, "p2")
    takes = await storage.takes_of(key, "u") or ()
    fixed = takes[0]
    assert (fixed.wanted, fixed.pinned, fixed.supplied, fixed.outdated) == (True, True, False, True)
    assert fixed.artifact == first.artifact
    assert fixed.params[GIVEN] == {"ordinal": 0, "artifact": first.artifact, "base": first.hash}
    assert len(driver.made) == 1
    assert await storage.take_back(fixed.asset, fixed.kind, "u") == 1
    assert await storage.take_back(fixed.asset, fixed.kind, "u") == 0
    await driver.request(key, ["picture"])
    await driver.run(["picture"])
    assert len(driver.made) == 2


async def test_only_one_part_is_fixed_in_one_place(driver: Driver, storage: SqlStorage) -> None:
    await _prompted(driver, "p1")
    key = await _prompted(driver, "p2")
    now, before = await storage.takes_of(key, "u") or ()
    assert await storage.give(gift_of(now))
    assert await storage.give(gift_of(before, supplied=True))
    takes = await storage.takes_of(key, "u") or ()
    assert [one.artifact for one in takes if one.pinned or one.supplied] == [before.artifact]


async def test_taking_one_part_back_leaves_the_other_fixed_parts_of_its_unit(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await _prompted(driver, "p1")
    (made,) = await storage.takes_of(key, "u") or ()
    for ordinal in (0, 1):
        assert await storage.give(replace(gift_of(made), ordinal=ordinal))
    first, second = sorted(
        (one for one in await storage.takes_of(key, "u") or () if one.pinned), key=lambda one: one.ordinal
    )
    assert await storage.take_back(first.asset, first.kind, "u", first.hash) == 1
    assert [one.hash for one in await storage.takes_of(key, "u") or () if one.pinned] == [second.hash]


async def test_an_unknown_unit_has_no_takes_and_no_name_is_looked_up_by_its_beginning(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(book(chapter("ch-1", scene("s", unit("u1"), unit("u_2")))))
    assert await storage.takes_of(key, "u") is None
    assert await storage.takes_of(key, "u12") is None
    assert await storage.takes_of(key, "u_2") == []


async def test_bytes_that_are_being_collected_cannot_be_fixed(driver: Driver, storage: SqlStorage, time: Time) -> None:
    if not hasattr(storage._db, "run"):
        return  # the clock of these databases is not the test's
    await _prompted(driver, "p0")
    key = await _prompted(driver, "p1")
    takes = await storage.takes_of(key, "u") or ()
    for number in range(2, 9):
        await _prompted(driver, f"p{number}")
    time.now += 40 * DAY
    assert await storage.collectable(100)
    assert not await storage.give(gift_of(takes[1]))


async def test_the_last_five_takes_are_kept_and_others_for_thirty_days(
    driver: Driver, storage: SqlStorage, time: Time
) -> None:
    if not hasattr(storage._db, "run"):
        return
    for number in range(8):
        key = await _prompted(driver, f"p{number}")
        time.now += 60.0
    takes = await storage.takes_of(key, "u") or ()
    assert len(takes) == 8
    time.now += 29 * DAY
    assert await storage.collectable(100) == []
    time.now += 2 * DAY + 8 * DAY
    marked = {checksum for checksum, _ in await storage.collectable(100)}
    await storage.collected(marked)
    kept = await storage.takes_of(key, "u") or ()
    assert len(kept) == 5
    assert {one.artifact for one in takes} - {one.artifact for one in kept} == marked


async def test_a_fixed_part_is_never_collected(driver: Driver, storage: SqlStorage, time: Time) -> None:
    if not hasattr(storage._db, "run"):
        return
    await _prompted(driver, "p0")
    key = await _prompted(driver, "p1")
    old = (await storage.takes_of(key, "u") or ())[1]
    assert await storage.give(gift_of(old))
    for number in range(2, 9):
        await _prompted(driver, f"p{number}")
    for _ in range(3):
        time.now += 40 * DAY
        await storage.collected([checksum for checksum, _ in await storage.collectable(100)])
    assert old.artifact in {one.artifact for one in await storage.takes_of(key, "u") or () if one.pinned}


async def test_nothing_is_fixed_or_chosen_of_a_scene_that_has_left_the_book_and_nothing_is_left_behind(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await _prompted(driver, "p1")
    (made,) = await storage.takes_of(key, "u") or ()
    await driver.save(book(chapter("ch-1", scene("other", unit("v", "text")))))
    mine = replace(gift_of(made, supplied=True), artifact="f" * 64, fresh=True)
    for fixing in (storage.give(gift_of(made)), storage.give(mine), storage.choose_take(made.asset, "u", 3)):
        with pytest.raises(LookupError, match="left the book"):
            await fixing
    assert await storage.highest_take(key, "picture", "u") == 0
    assert "f" * 64 not in {checksum for checksum, _, _ in await storage.artifacts_after("", 1000)}


async def test_a_take_whose_bytes_were_collected_since_it_was_listed_cannot_be_fixed(
    driver: Driver, storage: SqlStorage
) -> None:
    await _prompted(driver, "p1")
    key = await _prompted(driver, "p2")
    _, before = await storage.takes_of(key, "u") or ()
    await storage.collected([before.artifact])
    assert not await storage.give(gift_of(before))
    assert before.artifact not in {checksum for checksum, _, _ in await storage.artifacts_after("", 1000)}
