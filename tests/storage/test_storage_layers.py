"""Layers: what is switched off is cancelled, what is set stays through edits, what is out of range is refused."""

from __future__ import annotations

import pytest
from world import REGISTRY, Driver, book, chapter, scene

from animastor.books.model import Book
from animastor.engine.states import State
from animastor.media.layers import LayerError, effective, parse
from animastor.protocol import BookKey
from animastor.storage.sql import SqlStorage


def _tale(**layers: object) -> Book:
    return book(chapter("1", scene("a"), scene("b"), scene("c")), layer_config=layers)


async def _sweep(storage: SqlStorage) -> None:
    for row in await storage.preparing():
        while not (await storage.enter(row.request_id, 1000)).done:
            pass
    for request in await storage.uncovered():
        while await storage.sweep_uncovered(request, 100):
            pass


async def _busy(driver: Driver, key: BookKey) -> set[str]:
    busy = (State.PENDING, State.GENERATING)
    return {media for (_, media), state in (await driver.states(key)).items() if state in busy}


async def test_switching_a_layer_off_is_a_cancel_and_switching_it_on_starts_nothing(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_tale())
    opened = await driver.request(key)
    await driver.start("picture", limit=1)
    answer = await storage.set_layers(key, {"picture_enabled": False})
    assert (dict(answer.changed), answer.requests) == ({"picture_enabled": False}, (opened.request.request_id,))
    await _sweep(storage)
    assert await _busy(driver, key) == {"sound"}, "clips require pictures"
    again = await driver.request(key, kind="again")
    assert again.request.media == ("sound",)
    assert (await storage.set_layers(key, {"picture_enabled": True})).changed == {"picture_enabled": True}
    await _sweep(storage)
    assert await _busy(driver, key) == {"sound"}
    assert (await storage.set_layers(key, {"picture_enabled": True})).changed == {}


async def test_a_request_that_ends_with_a_layer_is_looked_through_at_once(driver: Driver, storage: SqlStorage) -> None:
    """Else what it runs would be given to workers until the next reconciliation finds it."""
    key = await driver.save(book())
    opened = await driver.request(key, media=("sound",))
    await driver.start("sound")
    answer = await storage.set_layers(key, {"sound_enabled": False})
    assert list(answer.requests) == [opened.request.request_id]


async def test_what_is_set_stays_when_the_book_is_edited_and_can_be_given_back(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_tale())
    await storage.set_layers(key, {"clip_enabled": False, "sound_timeout_minutes": 7})
    await driver.save(_tale(clip_enabled=True, picture_enabled=False, sound_timeout_minutes=9))
    (context,) = await storage.contexts([key])
    assert context.disabled == {"clip", "picture"}
    held = effective(REGISTRY, context.head.layer_config, context.layers)
    assert (held["sound_timeout_minutes"], held["clip_timeout_minutes"]) == (7, 30)
    answer = await storage.set_layers(key, {"clip_enabled": None, "sound_timeout_minutes": None})
    assert dict(answer.changed) == {"clip_enabled": True, "sound_timeout_minutes": 9}


async def test_the_window_of_a_book_holds_back_all_but_makes(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_tale())
    await driver.request(key, ("sound",), kind="read")
    await storage.set_layers(key, {"window": 1})
    await _sweep(storage)
    assert len(await driver.start("sound")) == 2
    await storage.set_layers(key, {"window": 0})
    await _sweep(storage)
    assert len(await driver.start("sound")) == 1
    await storage.set_layers(key, {"window": 1})
    made = await driver.save(book(chapter("1", scene("a"), scene("b"), scene("c")), name="other"))
    await driver.request(made, ("sound",))
    assert len(await driver.start("sound")) == 3


async def test_what_is_out_of_range_is_refused_with_the_range_and_ignored_where_a_book_brings_it(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_tale(sound_timeout_minutes=9000, sound_enabled="perhaps", window=-3))
    with pytest.raises(LayerError, match="sound_timeout_minutes is 5 to 120, not 121"):
        await storage.set_layers(key, {"sound_timeout_minutes": 121})
    with pytest.raises(LayerError, match="'smell_enabled' is no setting of layers: there are sound_enabled,"):
        await storage.set_layers(key, {"smell_enabled": True})
    with pytest.raises(LayerError, match="window is 0 to 10000, not True"):
        await storage.set_layers(key, {"window": True})
    (context,) = await storage.contexts([key])
    held = effective(REGISTRY, context.head.layer_config, context.layers)
    assert (held["sound_timeout_minutes"], held["sound_enabled"], held["window"]) == (30, True, 0)


@pytest.mark.parametrize(
    ("text", "value"),
    [("sound_enabled=off", False), ("sound_enabled = true", True), ("window=7", 7), ("window=default", None)],
)
def test_a_setting_is_read_as_it_is_written(text: str, value: object) -> None:
    assert parse(REGISTRY, text) == (text.split("=", maxsplit=1)[0].strip(), value)


@pytest.mark.parametrize("text", ["sound_enabled", "sound_enabled=perhaps", "window=-1", "window=many", "x=1"])
def test_what_is_no_setting_is_refused(text: str) -> None:
    with pytest.raises(LayerError):
        parse(REGISTRY, text)
