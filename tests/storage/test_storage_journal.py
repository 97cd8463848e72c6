"""The journal: read back it tells the tables' states, also after what is old was pruned; its pages are of one book."""

from __future__ import annotations

from world import Driver, Time, book, chapter, scene, unit, with_text

from animastor.engine.ports import JournalOf, JournalRow, RollBack
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.replaying import Replayed, replay
from animastor.engine.states import RequestState, State
from animastor.protocol import BookKey
from animastor.storage.sql import SqlStorage

DAY = 86_400.0


async def _whole(storage: SqlStorage) -> list[JournalRow]:
    rows: list[JournalRow] = []
    while page := await storage.journal(after=rows[-1].row_id if rows else 0, limit=7):
        rows += page
    return rows


async def _replayed(storage: SqlStorage) -> Replayed:
    replayed = replay(await _whole(storage))
    assert not replayed.faults
    assert not replayed.differences(await storage.asset_standings())
    return replayed


async def _lives(driver: Driver) -> BookKey:
    """Made, edited, failed in part, cancelled, begun again; a scene left."""
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    left = chapter("ch-1", scene("sc-0", unit("tale-0-a"), unit("tale-0-b")), scene("sc-1", unit("tale-1-a")))
    await driver.save(with_text(book(left), "tale-0-a", "other words"))
    opened = await driver.request(key)
    await driver.replan()
    (work, *_) = await driver.start("sound")
    await driver.storage.roll_back([RollBack(work.asset, work.dispatch_id, Reason.LOST_BOTH)])
    await driver.start("sound")
    await driver.storage.close_request(opened.request.request_id, RequestState.CANCELLED)
    while await driver.storage.sweep_uncovered(opened.request.request_id, 100):
        pass
    await driver.request(key, ["sound"])
    await driver.start("sound")
    return key


async def _pruned(storage: SqlStorage) -> int:
    total, after = 0, 0
    while True:
        gone, behind = await storage.prune(after)
        total += gone
        if behind is None:
            return total
        after = behind


async def test_the_journal_replayed_gives_the_states_and_dispatches_of_the_tables(
    driver: Driver, storage: SqlStorage
) -> None:
    await _lives(driver)
    replayed = await _replayed(storage)
    assert set(replayed.states.values()) >= {State.READY, State.GENERATING, State.DIRTY}
    assert len(replayed.states) == 6, "the assets of the scene that left are gone from it"


async def test_a_replay_finds_a_state_that_no_row_tells_of(driver: Driver, storage: SqlStorage) -> None:
    await _lives(driver)
    rows = await _whole(storage)
    (last,) = [row for row in rows if row.type is JournalType.DISPATCHED][-1:]
    assert replay(row for row in rows if row is not last).differences(await storage.asset_standings())


async def test_nothing_younger_than_thirty_days_is_pruned(driver: Driver, storage: SqlStorage, time: Time) -> None:
    await _lives(driver)
    before = await _whole(storage)
    time.now += 29 * DAY
    assert await _pruned(storage) == 0
    assert await _whole(storage) == before


async def test_pruning_leaves_one_snapshot_of_each_asset_from_which_replaying_goes_on(
    driver: Driver, storage: SqlStorage, time: Time
) -> None:
    if not hasattr(storage._db, "run"):
        return  # the clock of these databases is not the test's
    key = await _lives(driver)
    time.now += 31 * DAY
    assert await _pruned(storage) > 10
    rows = await _whole(storage)
    assert {row.type for row in rows} == {JournalType.SNAPSHOT}
    assert len(rows) == len({row.asset for row in rows}) == 6
    await _replayed(storage)
    await driver.request(key)
    await driver.run(["sound"])
    await _replayed(storage)
    time.now += 31 * DAY
    await _pruned(storage)
    assert len(await _whole(storage)) == 6, "an older snapshot goes when there is a newer one"
    await _replayed(storage)


async def test_pages_of_a_book_hold_its_rows_alone_forth_and_back(driver: Driver, storage: SqlStorage) -> None:
    key = await _lives(driver)
    other = await driver.save(book(name="other"))
    await driver.request(other)
    await storage.observe([JournalRow(0.0, None, JournalType.CIRCUIT_OPENED, None, "circuit_open", observed=True)])
    entries = await storage.book_journal(JournalOf(key))
    assert {entry.scene_id for entry in entries} == {"sc-0", "sc-1", ""}
    assert entries[-1].row.type is JournalType.CIRCUIT_OPENED, "what concerns all books is told of each"
    last = await storage.book_journal(JournalOf(key), before=2**62, limit=3)
    assert last == entries[-3:]
    assert await storage.book_journal(JournalOf(key), after=last[0].row.row_id) == last[1:]
    one = await storage.book_journal(JournalOf(key, scene_id="sc-1", media="sound"))
    assert {(entry.chapter_id, entry.scene_id, entry.media) for entry in one} == {("ch-1", "sc-1", "sound")}
    edits = [entry for entry in await storage.book_journal(JournalOf(other)) if entry.row.type is JournalType.EDITED]
    assert not edits, "another book's edit is not told"
