"""How often a life goes to PostgreSQL and back, and that what needs no answer is done all the same, and in order."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, event, text
from world import LANE, REGISTRY, Driver, Time, Work, book, empty

from animastor.engine.ports import Begin, NewRequest, Scope, ScopeKind
from animastor.protocol import Pair
from animastor.storage.postgres import PostgresDatabase
from animastor.storage.rows import Statement, scalar, tell
from animastor.storage.sql import SqlStorage

_KEEP = Statement("keep_word", "A word.", "INSERT INTO spoken (word, number, size) VALUES (:word, :number, :size)")
_KEEP_BYTES = Statement("keep_bytes", "Bytes.", "INSERT INTO written (written, kept) VALUES (:written, :kept)")
_COUNT = Statement("count_words", "How many.", "SELECT count(*) FROM spoken")
_WRONG = Statement("wrong", "Divides.", "SELECT 1 / CAST(:by AS bigint)")


@pytest.fixture
def messages() -> list[str]:
    """What is sent to the server, as it is sent."""
    return []


@pytest.fixture
async def postgres(postgres_url: str, messages: list[str]) -> AsyncIterator[PostgresDatabase]:
    """An empty database, over one connection."""
    made = PostgresDatabase(postgres_url, connections=1)

    @event.listens_for(made._engine.sync_engine, "connect")
    def listen(held: Any, _record: object) -> None:
        held.driver_connection.add_query_logger(lambda sent: messages.append(sent.query))

    await made.write(empty)
    await made.write(lambda held: held.execute(text("CREATE TABLE spoken (word text, number bigint, size float)")))
    await made.write(lambda held: held.execute(text("CREATE TABLE written (written bytea, kept smallint)")))
    yield made
    await made.write(lambda held: held.execute(text("DROP TABLE spoken, written")))
    await made.close()


async def test_one_asset_alone_takes_few_messages_from_request_to_ready(
    postgres: PostgresDatabase, messages: list[str]
) -> None:
    storage = SqlStorage(postgres, REGISTRY)
    driver = Driver(storage, Time())
    saved = book()
    key = await driver.save(saved)
    chapter = saved.chapters[0]

    async def life(number: int) -> dict[str, int]:
        taken = {}

        def took(what: str) -> None:
            taken[what] = len(messages)
            messages.clear()

        messages.clear()
        scope = Scope(ScopeKind.SCENE, chapter.chapter_id, chapter.scenes[number].scene_id)
        await storage.open_request(NewRequest(key, scope, ("picture",), f"key{number}"), 100)
        took("opened and entered")
        rows = (await storage.due(Pair("picture", LANE), 10, 10, 0)).rows
        took("found due")
        plans = await driver.plans(rows)
        messages.clear()
        (stored,) = await storage.store_plans(plans)
        took("planned")
        (begun,) = await storage.begin([Begin(rows[0].asset, driver.next_id(), rows[0].plan_seq)])
        took("begun")
        work = Work(rows[0].asset, begun.dispatch_id, begun.fence, stored.missing)
        for source in work.missing[:-1]:
            await storage.accept([driver.result(work, source)])
        messages.clear()
        (last,) = await storage.accept([driver.result(work, work.missing[-1])])
        assert last.ready
        took("accepted and completed")
        return taken

    await life(0)  # whatever is sent for the first time is prepared
    assert await life(1) == {
        "opened and entered": 24,
        "found due": 3,
        "planned": 5,
        "begun": 3,
        "accepted and completed": 7,
    }


async def test_only_what_journals_nothing_is_answered_before_it_is_on_the_disk(
    postgres: PostgresDatabase, messages: list[str]
) -> None:
    driver = Driver(SqlStorage(postgres, REGISTRY), Time())
    key = await driver.save(book())
    messages.clear()
    await driver.request(key)
    await driver.run()
    hasty = [one for one in _transactions(messages) if "synchronous_commit" in one]
    assert any("store_parts" in one for one in hasty), "plans"
    assert any("mark_released" in one for one in hasty)
    assert not [one for one in hasty if "journal" in one]


def _transactions(messages: Sequence[str]) -> list[str]:
    """All that was sent between each beginning and its commit."""
    return re.findall(r"BEGIN;.*?COMMIT;", "\n".join(messages), re.DOTALL)


async def test_words_arrive_as_they_were_told(postgres: PostgresDatabase) -> None:
    words = ["it's", "\\'; DROP TABLE spoken; --", "''", "$1 :word %s", "\n\t", "Ω\U0001f600", "E'\\x'", ""]

    def keep(held: Connection) -> Sequence[Any]:
        for number, word in enumerate(words):
            tell(held, _KEEP, word=word, number=-(2**63) + number, size=1e-300 * number)
        tell(held, _KEEP, word=None, number=None, size=None)
        assert scalar(held, _COUNT) == len(words) + 1
        return held.execute(text("SELECT word, number, size FROM spoken ORDER BY number NULLS LAST")).all()

    rows = await postgres.write(keep)
    assert [row[0] for row in rows] == [*words, None]
    assert [row[1:] for row in rows[:-1]] == [(-(2**63) + n, 1e-300 * n) for n in range(len(words))]


async def test_bytes_and_truth_arrive_as_they_were_told(postgres: PostgresDatabase) -> None:
    given = bytes(range(256))

    def keep(held: Connection) -> Any:
        tell(held, _KEEP_BYTES, written=given, kept=True)
        return held.execute(text("SELECT written, kept FROM written")).one()

    assert tuple(await postgres.write(keep)) == (given, 1)


def _keep(held: Connection, word: str) -> None:
    tell(held, _KEEP, word=word, number=1, size=1.0)


def _count(held: Connection) -> int:
    return int(scalar(held, _COUNT))


async def test_what_was_told_is_done_before_sqlalchemy_itself_does_something(postgres: PostgresDatabase) -> None:
    def told(held: Connection) -> int:
        _keep(held, "a")
        return int(held.execute(text("SELECT count(*) FROM spoken")).scalar_one())

    assert await postgres.write(told) == 1


async def test_a_transaction_that_fails_at_its_end_leaves_nothing_and_harms_no_later_one(
    postgres: PostgresDatabase, messages: list[str]
) -> None:
    def wrong(held: Connection) -> None:
        _keep(held, "a")
        tell(held, _WRONG, by=0)

    for _ in range(2):  # prepared by a message that failed, then anew
        with pytest.raises(Exception, match="division by zero"):
            await postgres.write(wrong)
        assert await postgres.read(_count) == 0
    await postgres.write(_keep, "b")
    assert await postgres.glance(_count) == 1


async def test_what_a_function_told_before_it_raised_is_never_sent(postgres: PostgresDatabase) -> None:
    def raising(held: Connection) -> None:
        _keep(held, "a")
        raise LookupError

    with pytest.raises(LookupError):
        await postgres.write(raising)
    assert await postgres.glance(_count) == 0
    assert await postgres.write(_count) == 0


async def test_a_transaction_in_which_nothing_happens_sends_nothing(
    postgres: PostgresDatabase, messages: list[str]
) -> None:
    messages.clear()
    await postgres.write(lambda _: None)
    assert messages == []


async def test_what_is_told_does_not_pile_up(postgres: PostgresDatabase, messages: list[str]) -> None:
    def many(held: Connection) -> None:
        for _ in range(30):
            _keep(held, "x" * 100_000)

    messages.clear()
    await postgres.write(many)
    assert max(map(len, messages)) < 1_300_000
    assert await postgres.read(_count) == 30
