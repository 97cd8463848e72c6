"""Deleting books, and parts of them: for good, with everything that hangs on them (CONTRACT 11).

A part of a book leaves it by an edit that keeps nothing. A whole book goes batch by batch behind its tombstone; what
was interrupted, reconciliation finishes. Bytes that nothing else uses are collected at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from animastor.books.model import Book, Chapter, Scene
from animastor.engine.collecting import Collector
from animastor.engine.completing import Successors
from animastor.engine.errors import EngineError
from animastor.engine.ports import BookRow, SavedBook, Scope, ScopeKind, Storage
from animastor.engine.requests import Requests
from animastor.protocol import BookKey


class NothingLeftError(EngineError):
    """Raised when a deletion would leave a book without any scene, or names what is not there."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a deletion took: scenes, running attempts that were ended, artifacts whose bytes are gone."""

    scenes: int
    stopped: int
    artifacts: int


class Deletion:
    """Deletes. Repeating any of it is harmless."""

    def __init__(self, *, storage: Storage, requests: Requests, successors: Successors, collector: Collector) -> None:
        self._storage = storage
        self._requests = requests
        self._successors = successors
        self._collector = collector

    async def book(self, book_key: BookKey) -> Deleted:
        """Delete a whole book. Returns when nothing of it is left but bytes that the next rounds collect."""
        for request in await self._storage.begin_deletion(book_key):
            await self._requests.sweep(request)
        scenes, stopped = await self._delete(book_key)
        return Deleted(scenes, stopped, await self._collector.collect_all())

    async def part(self, row: BookRow, scope: Scope, units: Collection[str] = ()) -> Deleted:
        """Delete a chapter or scene, or units, out of a book; the rest of it stays as it is.

        Raises `NothingLeftError`.
        """
        saved = await self._save(row, without(await self._storage.load_book(row.book_key), scope, units))
        await self._requests.resume_preparing()
        await self._requests.resume_sweeps()
        ended = await self._storage.unreleased(500)
        await self._successors.release_and_wake(ended)
        return Deleted(saved.removed, len(ended), await self._collector.collect_all())

    async def resume(self) -> int:
        """Finish deletions that were interrupted; how many books."""
        going = await self._storage.deletions()
        for book_key in going:
            await self._delete(book_key)
        return len(going)

    async def _delete(self, book_key: BookKey) -> tuple[int, int]:
        scenes = stopped = 0
        while True:
            batch = await self._storage.delete_some(book_key)
            scenes, stopped = scenes + batch.scenes, stopped + len(batch.ended)
            if batch.ended:
                await self._successors.release_and_wake(batch.ended)
                await self._storage.mark_released(batch.ended)
            if batch.done:
                return scenes, stopped

    async def _save(self, row: BookRow, book: Book) -> SavedBook:
        return await self._storage.save_book(
            book,
            settings=None,
            source=row.source,
            source_key=row.source_key,
            source_sha256=row.source_sha256,
            for_good=True,
        )


def without(book: Book, scope: Scope, units: Collection[str] = ()) -> Book:
    """The book without a chapter, a scene or some units. Pure. Raises `NothingLeftError`."""
    if units:
        left = _of_scenes(book, lambda scene: _without_units(scene, frozenset(units)))
    elif scope.kind is ScopeKind.CHAPTER:
        left = replace(book, chapters=tuple(one for one in book.chapters if one.chapter_id != scope.chapter_id))
    elif scope.kind is ScopeKind.SCENE:
        left = _of_chapters(book, scope)
    else:
        raise NothingLeftError("name a chapter, a scene or units, or delete the whole book")
    if left == book:
        raise NothingLeftError("there is nothing of that name in the book")
    if not any(chapter.scenes for chapter in left.chapters):
        raise NothingLeftError("that would leave a book without scenes: delete the whole book instead")
    return left


def _of_chapters(book: Book, scope: Scope) -> Book:
    def shorter(chapter: Chapter) -> Chapter:
        if chapter.chapter_id != scope.chapter_id:
            return chapter
        return replace(chapter, scenes=tuple(one for one in chapter.scenes if one.scene_id != scope.scene_id))

    return replace(book, chapters=tuple(map(shorter, book.chapters)))


def _of_scenes(book: Book, change: Callable[[Scene], Scene]) -> Book:
    chapters = (replace(one, scenes=tuple(map(change, one.scenes))) for one in book.chapters)
    return replace(book, chapters=tuple(chapters))


def _without_units(scene: Scene, units: Collection[str]) -> Scene:
    if not any(unit.unit_id in units for unit in scene.units):
        return scene
    return replace(scene, units=tuple(unit for unit in scene.units if unit.unit_id not in units))
