"""Books as rows: what is written, what comes back, and what an edit touches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, text
from world import Driver, book, chapter, large_book, scene, unit, with_text

from animastor.books.model import Book, Character, Cover, Location, SceneLocation
from animastor.engine.ports import Scope
from animastor.engine.states import State
from animastor.media.types import ContentSettings, Profile
from animastor.storage.database import Database
from animastor.storage.diff import compare, incoming
from animastor.storage.order import GAP, place
from animastor.storage.sql import SqlStorage


def _rich() -> Book:
    first = replace(
        scene("a", unit("a1", 'Ünï "quoted" 日本 \\ text')), location=SceneLocation("quay", {"time": "dusk"})
    )
    tale = book(
        chapter("one", first),
        chapter("two", scene("b"), replace(scene("c"), extra={"kept": [1, None, {"x": 1.5}]})),
        characters=(Character("ann", "Ann", appearance="tall"),),
        locations=(Location("quay", "a quay"),),
        voices={"ann": "warm"},
    )
    return replace(tale, cover=Cover("image/png", b"\x89PNG\0\xff"), source="vbook")


async def test_a_book_comes_back_as_it_was_saved(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_rich())
    assert await storage.load_book(key) == _rich()
    row = await storage.find_book(book_id="tale")
    assert row is not None
    assert (row.book_key, row.title, row.scenes, row.revision) == (key, "tale", 3, 1)
    assert await storage.find_book(source_key="tale") == row
    assert await storage.find_book(book_id="other") is None
    assert list(await storage.books()) == [row]
    with pytest.raises(LookupError):
        await storage.load_book(key + 1)  # type: ignore[arg-type]


async def _versions(database: Database) -> dict[str, int]:
    def read(connection: Connection) -> dict[str, int]:
        sql = "SELECT s.scene_id, a.media, a.plan_seq FROM asset a JOIN scene s ON s.scene_key = a.scene_key"
        return {f"{row.scene_id}/{row.media}": row.plan_seq for row in connection.execute(text(sql))}

    return await database.read(read)


async def test_saving_the_same_again_writes_nothing(driver: Driver, storage: SqlStorage, database: Database) -> None:
    saved = [
        await storage.save_book(_rich(), settings=None, source="f", source_key="k", source_sha256="1") for _ in range(2)
    ]
    assert [one.unchanged for one in saved] == [False, True]
    assert saved[0].revision == saved[1].revision
    assert set((await _versions(database)).values()) == {1}


async def test_an_edit_raises_exactly_the_plans_of_the_scenes_that_changed(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    await driver.save(book())
    saved = await storage.save_book(
        with_text(book(), "tale-1-a", "new"), settings=None, source="", source_key="", source_sha256=""
    )
    assert (saved.added, saved.changed, saved.removed, saved.unchanged, saved.revision) == (0, 1, 0, False, 2)
    raised = {name for name, seq in (await _versions(database)).items() if seq > 1}
    assert raised == {"sc-1/sound", "sc-1/picture", "sc-1/clip"}
    assert {row.asset for row in await storage.journal() if row.type == "EDITED"} == {4, 5, 6}


async def test_another_head_or_other_settings_raise_every_plan(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    key = await driver.save(book())
    await driver.save(book(style="gouache"))
    assert set((await _versions(database)).values()) == {2}
    settings = ContentSettings(width=640, profiles={"picture": Profile("fine", 2)})
    saved = [await storage.save_settings(key, settings) for _ in range(2)]
    assert [one.unchanged for one in saved] == [False, True]
    assert set((await _versions(database)).values()) == {3}
    (context,) = await storage.contexts([key])
    assert (context.settings, context.head.style, context.revision) == (settings, "gouache", saved[0].revision)
    await driver.save(book(style="gouache"))
    assert (await storage.contexts([key]))[0].settings == settings, "None keeps the stored ones"


async def test_a_chapter_title_touches_no_plan(driver: Driver, database: Database, storage: SqlStorage) -> None:
    key = await driver.save(book())
    tale = book()
    await driver.save(replace(tale, chapters=(replace(tale.chapters[0], title="Another"),)))
    assert set((await _versions(database)).values()) == {1}
    assert (await storage.export_rows(key, Scope()))[0].chapter_title == "Another"


async def test_equal_content_under_another_hash_is_no_change(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    await driver.save(book())

    def spoil(connection: Connection) -> None:
        connection.execute(text("UPDATE scene SET content_hash = 'of an older version'"))

    await database.write(spoil)
    saved = await storage.save_book(book(), settings=None, source="", source_key="", source_sha256="")
    assert (saved.changed, set((await _versions(database)).values())) == (0, {1})


async def test_a_media_type_that_is_installed_later_gets_its_assets_when_asked_for(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    key = await driver.save(book())

    def forget(connection: Connection) -> None:
        connection.execute(text("DELETE FROM asset WHERE media = 'clip'"))

    await database.write(forget)
    await driver.request(key)
    assert len(await driver.states(key)) == 9


async def test_ids_are_never_prefixes_of_each_other(driver: Driver, storage: SqlStorage) -> None:
    tale = book(chapter("ch-1", scene("sc-1"), scene("sc-10")), chapter("ch-10", scene("sc_1")))
    key = await driver.save(tale)
    from animastor.engine.ports import ScopeKind

    rows = await storage.export_rows(key, Scope(ScopeKind.SCENE, "ch-1", "sc-1"))
    assert [row.scene_id for row in rows] == ["sc-1"]
    rows = await storage.export_rows(key, Scope(ScopeKind.CHAPTER, "ch-1"))
    assert [row.scene_id for row in rows] == ["sc-1", "sc-10"]


async def test_a_first_import_leaves_gaps_and_an_insertion_moves_nobody(driver: Driver, database: Database) -> None:
    def orders(connection: Connection) -> dict[str, int]:
        return {row.scene_id: row.position for row in connection.execute(text("SELECT scene_id, position FROM scene"))}

    await driver.save(large_book(3, name="tale"))
    before = await database.read(orders)
    assert sorted(before.values()) == [GAP, 2 * GAP, 3 * GAP]
    old = large_book(3, name="tale").chapters[0]
    await driver.save(book(replace(old, scenes=(*old.scenes[:1], scene("new"), *old.scenes[1:]))))
    after = await database.read(orders)
    assert {name: after[name] for name in before} == before
    assert before["s0"] < after["new"] < before["s1"]


@given(st.lists(st.one_of(st.none(), st.integers(1, 50)), max_size=40))
def test_places_rise_and_as_many_as_possible_stay(stored: list[int | None]) -> None:
    given_ = [None if value is None else value * 8 for value in stored]
    seen: set[int] = set()
    for index, value in enumerate(given_):
        if value in seen:
            given_[index] = None
        elif value is not None:
            seen.add(value)
    places = place(given_)
    assert places == sorted(set(places))
    assert len(places) == len(given_)


def test_a_gap_that_is_used_up_numbers_all_anew() -> None:
    assert place([1, None, 2]) == [GAP, 2 * GAP, 3 * GAP]
    assert place([GAP, None, None, 2 * GAP])[1:3] == [GAP + GAP // 3, GAP + 2 * (GAP // 3)]
    assert place([None, 0]) == [-GAP, 0]
    assert place([]) == []


def test_scenes_are_matched_by_chapter_and_name_and_moved_ones_by_name() -> None:
    from animastor.storage.diff import StoredScene

    names = [("1", "a"), ("1", "b"), ("2", "a")]
    stored = [StoredScene(n, *name, n * GAP, "x") for n, name in enumerate(names, 1)]
    arriving = incoming(book(chapter("1", scene("a")), chapter("2", scene("a"), scene("b"), scene("c"))))
    diff = compare(stored, arriving)
    assert [(one.stored.scene_key, one.incoming.chapter_id) for one in diff.kept] == [(1, "1"), (3, "2"), (2, "2")]
    assert [one.scene_id for one, _ in diff.added] == ["c"]
    assert diff.removed == ()


async def test_exports_see_what_is_current_and_what_is_not(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    await driver.save(with_text(book(), "tale-0-a", "new"))
    (first, second, _) = await storage.export_rows(key, Scope())
    sound = first.media["sound"]
    assert (sound.state, sound.current) == (State.READY, False), "an edit that was not looked at yet"
    assert sound.artifact is not None
    assert sound.suffix == ".bin"
    assert second.media["sound"].current
    await driver.replan()
    (first, *_) = await storage.export_rows(key, Scope())
    assert (first.media["sound"].state, first.media["sound"].artifact) == (State.DIRTY, sound.artifact)
