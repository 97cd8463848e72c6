"""The truth in SQL: the `Storage` port over a `Database`. Each method runs one storage function as one transaction.

Errors: `StorageUnavailableError` (and `StorageFullError`) when the database cannot answer, after what may be repeated
has been repeated; nothing was changed then. Any other error of a batch means that one of its members is at fault and
that the whole batch was taken back: the caller splits it down to that member (STORAGE, a batch has at most 500).
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from sqlalchemy import Connection

from animastor.books.model import Book
from animastor.engine import ports
from animastor.engine.details import MediaCount, SceneDetail
from animastor.engine.ports import Ended, NewRequest, RequestRow, Scope
from animastor.engine.states import RequestState, Wait
from animastor.media.layers import Value
from animastor.media.registry import Registry
from animastor.media.types import ContentSettings
from animastor.protocol import AssetId, BookKey, Clock, Pair, Uploaded
from animastor.storage import (
    active,
    artifacts,
    attempts,
    beginning,
    bookjournal,
    cancelling,
    content,
    deletion,
    diff,
    drift,
    due,
    ends,
    entering,
    explained,
    exported,
    failed,
    given,
    inputs,
    journal,
    layers,
    library,
    numbers,
    parts,
    plans,
    progress,
    pruning,
    requests,
    results,
    rollback,
    steering,
    sweeping,
    takes,
    touched,
    usage,
    versions,
    waits,
)
from animastor.storage.backups import tables
from animastor.storage.backups.manifest import Manifest
from animastor.storage.database import Database, SqliteDatabase


class SqlStorage(ports.Storage):
    """The database of an installation, SQLite or PostgreSQL. `registry` says what media types there are.

    `kept_s`: how long an artifact that nothing uses any more is kept. `planner`: the number of the planner that makes
    the plans; of another one than the database's none is stored.
    """

    def __init__(
        self,
        database: Database,
        registry: Registry,
        *,
        kept_s: float = artifacts.KEPT_S,
        planner: int = versions.PLANNER,
    ) -> None:
        self._planner = planner
        self._db = database
        self._registry = registry
        self._kept_s = kept_s

    async def close(self) -> None:
        """End all connections."""
        await self._db.close()

    # content

    async def save_book(
        self,
        book: Book,
        *,
        settings: ContentSettings | None,
        source: str,
        source_key: str,
        source_sha256: str,
        for_good: bool = False,
        revision: int | None = None,
    ) -> ports.SavedBook:
        """Import or edit; unchanged content is left alone. `settings` None keeps the stored ones.

        `for_good`: a deletion, which keeps nothing of what leaves the book. Raises `RevisionError` when a `revision` is
        given and the book has another one by now.
        """
        came_from = content.Source(source, source_key, source_sha256)
        stored = await self._db.read(content.stored_hashes, book.head.book_id)
        arriving = await self._db.aside(diff.incoming, book, stored)
        return await self._db.write(
            content.save_book, self._registry, book, arriving, settings, came_from, for_good=for_good, revision=revision
        )

    async def begin_deletion(self, book_key: BookKey) -> Sequence[int]:
        """Write a book's tombstone and close its requests: those that were closed."""
        return await self._db.write(deletion.begin_deletion, book_key)

    async def deletions(self) -> Sequence[BookKey]:
        """Books that are being deleted."""
        return await self._db.read(deletion.deletions)

    async def delete_some(self, book_key: BookKey) -> ports.Deleting:
        """Delete the next batch of a book that is being deleted."""
        return await self._db.write(deletion.delete_some, self._registry, book_key)

    async def touched(self, book_key: BookKey, book: Book) -> ports.Touched:
        """What saving this version of a book would touch. Raises `LookupError`."""
        stored = await self._db.read(touched.stored_scenes, book_key)
        arriving = await self._db.aside(diff.incoming, book, {one.content_hash for one in stored})
        return await self._db.read(touched.touched, book_key, book, stored, arriving)

    async def stored_scene(self, book_key: BookKey, scope: Scope) -> ports.SceneEdit:
        """A scene as it is stored. Raises `requests.ScopeError`."""
        return await self._db.read(touched.stored_scene, book_key, scope)

    async def asked_media(self, book_key: BookKey) -> Sequence[str]:
        """The media types of which anything was ever asked for."""
        return await self._db.read(touched.asked_media, book_key)

    async def assets_touched(self, scenes: Collection[int]) -> Mapping[AssetId, int]:
        """The assets of scenes that were ever asked for, with their scenes' keys."""
        return await self._db.read(touched.assets_touched, scenes)

    async def made_before(self, book_key: BookKey, hashes: Collection[str]) -> Mapping[str, ports.MadeBefore]:
        """What is READY of some hashes."""
        return await self._db.read(touched.made_before, book_key, hashes)

    async def load_book(self, book_key: BookKey) -> Book:
        """A whole book as it was saved. Raises `LookupError`."""
        return await self._db.read(library.load_book, book_key)

    async def find_book(self, *, book_id: str = "", source_key: str = "") -> ports.BookRow | None:
        """The book with this id, or else from this source."""
        return await self._db.read(library.find_book, book_id, source_key)

    async def books(self) -> Sequence[ports.BookRow]:
        """All books, oldest first."""
        return await self._db.read(library.books)

    async def outline(self, book_key: BookKey) -> Sequence[ports.ScenePlace]:
        """Each scene's ids and numbers, in reading order."""
        return await self._db.read(library.outline, book_key)

    async def contexts(self, books: Collection[BookKey]) -> Sequence[ports.BookContext]:
        """What all plans of these books read."""
        return await self._db.glance(library.contexts, books)

    async def save_settings(self, book_key: BookKey, settings: ContentSettings) -> ports.SavedBook:
        """Other settings are an edit of the whole book. Raises `LookupError`."""
        return await self._db.write(content.save_settings, self._registry, book_key, settings)

    # plans and dispatches

    async def outlook(self, pairs: Sequence[Pair]) -> ports.Outlook:
        """What there is to do for these pairs (at least one)."""
        return await self._db.glance(due.outlook, self._planner, pairs)

    async def due(
        self, pair: Pair, limit: int, each: int, after_book: int, besides: Collection[AssetId] = ()
    ) -> ports.DueWalk:
        """A round of the fair walk through what is due, without what the caller has in hand already."""
        return await self._db.glance(due.due, self._registry, pair, limit, each, after_book, besides)

    async def unplanned(self, limit: int) -> Sequence[ports.PlanRow]:
        """Assets at rest or in work whose plan is older than what it may read."""
        return await self._db.read(due.unplanned, self._registry, limit)

    async def plan_rows(self, assets: Sequence[AssetId]) -> Sequence[ports.PlanRow]:
        """These assets with what their plans read."""
        return await self._db.read(inputs.plan_rows, self._registry, assets)

    async def store_plans(self, plans_: Sequence[ports.StorePlan]) -> Sequence[ports.PlanStored]:
        """Store plans where they still stand, and move their assets."""
        return await self._db.write(plans.store_plans, self._registry, self._planner, plans_)

    async def begin(self, begins: Sequence[ports.Begin]) -> Sequence[ports.Begun]:
        """PENDING → GENERATING."""
        return await self._db.write(beginning.begin, begins)

    async def skip(self, refused: Sequence[tuple[AssetId, str]]) -> None:
        """Due assets that could not start, with the reason; SKIPPED is journalled where it is another one."""
        await self._db.write(waits.skip, refused)

    async def set_waits(self, assets: Sequence[AssetId], wait: Wait, reason: str) -> None:
        """Set wait bits on PENDING assets."""
        await self._db.write(waits.set_waits, assets, wait, reason)

    async def clear_no_worker(self, profiles: Collection[str]) -> int:
        """There are workers for these profiles now; how many assets waited for one."""
        total, after = 0, 0
        while True:
            cleared, behind = await self._db.write(waits.clear_no_worker, profiles, after)
            total += cleared
            if behind is None:
                return total
            after = behind

    async def wake_later(self) -> float | None:
        """Clear the back-off bits that are due; when the next one comes."""
        next_ = await self._db.read(waits.next_wake)
        while next_ is not None and await self._db.write(waits.wake):
            next_ = await self._db.read(waits.next_wake)
        return next_

    # results and ends

    async def part_orders(self, keys: Sequence[tuple[AssetId, str]]) -> Sequence[ports.PartOrder | None]:
        """The stored parts of these (asset, hash)."""
        return await self._db.glance(parts.part_orders, keys)

    async def missing_of(self, keys: Sequence[tuple[AssetId, str]]) -> frozenset[tuple[AssetId, str]]:
        """Those of these (asset, hash) that are neither made, nor given up, nor gone."""
        return await self._db.glance(parts.missing_of, keys)

    async def wanted_of(self, keys: Sequence[tuple[AssetId, str]]) -> frozenset[tuple[AssetId, str]]:
        """Those of these (asset, hash) that are missing, wanted, and of an asset that is being made."""
        return await self._db.glance(parts.wanted_of, keys)

    async def wanted_parts(self, asset: AssetId) -> Sequence[ports.PartOrder]:
        """The wanted parts of an asset, in order, without its merge."""
        return await self._db.glance(parts.wanted_parts, asset)

    async def accept(self, results_: Sequence[ports.PartResult]) -> Sequence[ports.Accepted]:
        """Take results in and complete what they complete."""
        return await self._db.write(results.accept, self._registry, results_)

    async def count_failures(self, failures: Sequence[ports.PartFailure]) -> Sequence[ports.Counted]:
        """Count failures of present claims."""
        return await self._db.write(attempts.count_failures, self._registry, failures)

    async def withdraw(self, asset: AssetId, artifacts_: Collection[str]) -> None:
        """Parts that do not decode are made again."""
        await self._db.write(rollback.withdraw, self._registry, asset, artifacts_)

    async def roll_back(self, endings: Sequence[ports.RollBack]) -> Sequence[Ended | None]:
        """Cancel current dispatches; None: it had ended otherwise."""
        return await self._db.write(rollback.roll_back, self._registry, endings)

    async def fail_assets(self, assets: Sequence[AssetId], reason: str, message: str) -> Sequence[Ended | None]:
        """PENDING or GENERATING → FAILED."""
        return await self._db.write(failed.fail_assets, self._registry, assets, reason, message)

    async def unreleased(self, limit: int) -> Sequence[Ended]:
        """Ended dispatches that were not released."""
        return await self._db.glance(ends.unreleased, limit)

    async def mark_released(self, ended: Sequence[Ended]) -> None:
        """Their release has been done."""
        if ended:
            await self._db.write(ends.mark_released, ended)

    async def active(self, after: int, limit: int) -> Sequence[ports.Active]:
        """GENERATING assets by id, with what is missing."""
        return await self._db.read(active.active, after, limit)

    async def active_of(self, assets: Sequence[AssetId]) -> Sequence[ports.Active]:
        """Those of `assets` that are GENERATING."""
        return await self._db.read(active.active_of, assets)

    async def scene_detail(self, book_key: BookKey, chapter_id: str, scene_id: str) -> SceneDetail:
        """A scene with all that is stored of its assets. Raises `requests.ScopeError`."""
        return await self._db.read(explained.scene_detail, book_key, chapter_id, scene_id)

    async def media_counts(self, book_key: BookKey) -> Sequence[MediaCount]:
        """How many assets of a book are in which state."""
        return await self._db.read(explained.media_counts, book_key)

    # takes

    async def takes_of(self, book_key: BookKey, unit_id: str) -> Sequence[ports.TakeRow] | None:
        """What serves a unit, wanted or kept; None when the book has no such unit."""
        return await self._db.read(given.takes_of, book_key, unit_id)

    async def give(self, gift: ports.Gift) -> bool:
        """Fix a part in its place; False when its bytes are being collected: put them again. Raises `LookupError`."""
        return await self._db.write(given.give, gift)

    async def take_back(self, asset: AssetId, kind: str, unit_id: str, hash_: str = "") -> int:
        """Fix nothing of this kind, or only not this part, for this unit any more; how many parts were fixed."""
        return await self._db.write(given.take_back, asset, kind, unit_id, hash_)

    async def choose_take(self, asset: AssetId, unit_id: str, take: int) -> None:
        """Want this take of a unit. Raises `LookupError`."""
        await self._db.write(given.choose, asset, unit_id, take)

    async def highest_take(self, book_key: BookKey, media: str, unit_id: str) -> int:
        """The highest take that a unit ever had."""
        return await self._db.read(given.highest, book_key, media, unit_id)

    # requests

    async def open_request(self, new: NewRequest, entry: int = 0) -> ports.Opened:
        """Open a request and enter its first chunk, or give the first one with its key. Raises `requests.ScopeError`.

        `entry`: the most assets of that chunk; 0 enters none.
        """
        return await self._db.write(requests.open_request, self._registry, new, entry)

    async def enter(self, request_id: int, limit: int) -> ports.Entered:
        """Enter the next chunk."""
        return await self._db.write(entering.enter, self._registry, request_id, limit)

    async def failed_media(self, book_key: BookKey, scope: Scope) -> Sequence[str]:
        """The media types of which something in a scope has FAILED. Raises `requests.ScopeError`."""
        return await self._db.read(library.failed_media, book_key, scope)

    async def kept_parts(self, request: RequestRow) -> Sequence[ports.KeptPart]:
        """The pinned and given parts that a request does not rebuild."""
        return await self._db.read(takes.kept_parts, request.request_id, request.scope.unit_ids)

    async def preparing(self) -> Sequence[RequestRow]:
        """Requests still to be entered."""
        return await self._db.read(requests.preparing)

    async def books_at_work(self) -> int:
        """How many books have unfinished requests."""
        return await self._db.glance(requests.books_at_work)

    async def requests(self, *, open_only: bool = True) -> Sequence[RequestRow]:
        """Requests, oldest first."""
        return await self._db.read(requests.requests, open_only=open_only)

    async def close_request(self, request_id: int, state: RequestState) -> bool:
        """End a request; False when it had ended."""
        return await self._db.write(requests.close, request_id, state)

    async def set_layers(self, book_key: BookKey, changes: Mapping[str, Value | None]) -> ports.LayersSet:
        """Set layers of a book. Raises `media.layers.LayerError` and `LookupError`."""
        return await self._db.write(layers.set_layers, self._registry, book_key, changes)

    async def steer(self, of: ports.Steer) -> Sequence[int]:
        """Steer unfinished requests. Raises `requests.ScopeError`."""
        return await self._db.write(steering.steer, of)

    async def cancel(self, of: ports.Cancel) -> ports.Cancelled:
        """Close or narrow unfinished requests. Raises `requests.ScopeError`."""
        return await self._db.write(cancelling.cancel, self._registry, of)

    async def sweep_uncovered(self, request_id: int, limit: int) -> Sequence[Ended]:
        """Go on with a request's sweep up to the first ended dispatches; empty: nothing is left."""
        begun = await self._db.read(sweeping.mark, request_id)
        if begun is None:
            return ()
        book_key, mark = begun
        behind: sweeping.Cursor | None = sweeping.START
        while behind is not None:
            found = await self._db.read(sweeping.look, book_key, behind)
            for chunk in content.chunks(found.assets, limit):
                if ended := await self._db.write(sweeping.settle, self._registry, chunk):
                    return ended
            behind = found.behind
        await self._db.write(sweeping.over, request_id, mark)
        return ()

    async def uncovered(self) -> Sequence[int]:
        """Requests whose sweep was interrupted, or is due."""
        return await self._db.read(sweeping.to_sweep)

    async def finish_requests(self) -> Sequence[RequestRow]:
        """End the open requests that nothing is left of."""
        if not await self._db.glance(progress.any_finished):
            return ()
        return await self._db.write(progress.finish_requests)

    async def progress(self, request_id: int) -> ports.RequestProgress:
        """Where a request stands. Raises `LookupError`."""
        shown, risen = await self._db.read(progress.progress, request_id)
        if risen and self._db.writable:
            await self._db.write(progress.keep_floor, request_id, shown.fraction)
        return shown

    # journal, artifacts, numbers

    async def observe(self, rows: Sequence[ports.JournalRow]) -> None:
        """Journal what was seen in the coordination store."""
        if rows:
            await self._db.write(journal.observe, rows)

    async def journal(
        self, *, asset: AssetId | None = None, after: int = 0, limit: int = 1000
    ) -> Sequence[ports.JournalRow]:
        """Journal rows behind an id, oldest first; paging so, none is ever missed."""
        until = await self._db.read(journal.horizon)
        return await self._db.read(journal.read, asset, after, until, limit)

    async def book_journal(
        self, of: ports.JournalOf, *, after: int = 0, before: int | None = None, limit: int = 1000
    ) -> Sequence[ports.JournalEntry]:
        """Journal rows of a book, oldest first. Raises `requests.ScopeError`."""
        until = await self._db.read(journal.horizon)
        return await self._db.read(bookjournal.read_book, of, after, before, until, limit)

    async def prune(self, after: int) -> tuple[int, int | None]:
        """Prune old journal rows behind an id: how many went, and the id to go on behind (None: all were seen)."""
        return await self._db.write(pruning.prune, after)

    async def prune_dispatches(self, after: int) -> tuple[int, int | None]:
        """Forget released dispatches of assets that are gone and that the journal tells nothing of any more."""
        return await self._db.write(pruning.prune_dispatches, after)

    async def asset_standings(self) -> Sequence[ports.AssetStanding]:
        """All assets with their states, by id."""
        return await self._db.read(journal.standings)

    async def export_rows(self, book_key: BookKey, scope: Scope) -> Sequence[ports.SceneExport]:
        """The scenes of a scope with their assets. Raises `requests.ScopeError`."""
        return await self._db.read(library.export_rows, book_key, scope)

    async def artifact_suffix(self, checksums: Collection[str]) -> Mapping[str, str]:
        """The file suffix of each known checksum."""
        return await self._db.glance(artifacts.suffixes, checksums)

    async def artifacts_after(self, after: str, limit: int) -> Sequence[tuple[str, str, int]]:
        """(checksum, suffix, size) by checksum."""
        return await self._db.read(artifacts.after, after, limit)

    async def bytes_missing(self, checksums: Collection[str]) -> int:
        """Bytes are positively absent; how many READY assets have to be made again."""
        held = await self._db.read(artifacts.holders, checksums)
        return await self._db.write(artifacts.bytes_missing, self._registry, checksums, held)

    async def uploaded_in_vain(self, uploaded: Uploaded) -> None:
        """Bytes that were refused; if nothing names them, they are collected."""
        await self._db.write(artifacts.uploaded_in_vain, uploaded)

    async def usage(self) -> Sequence[ports.Usage]:
        """What the artifacts are of, by book, media type and kind."""
        return await self._db.read(usage.usage)

    async def artifact_total(self) -> tuple[int, int]:
        """How many artifacts there are, and their bytes."""
        return await self._db.read(usage.total)

    async def unused(self) -> Sequence[ports.Unused]:
        """What nothing uses, and from when on it may be collected."""
        return await self._db.read(usage.unused, self._kept_s)

    async def collectable(self, limit: int, *, after: str = "", at_once: bool = False) -> Sequence[tuple[str, str]]:
        """Artifacts that nobody has used for long enough, marked now: delete their bytes, then say `collected`.

        By checksum, behind `after`; empty when there are no more. `at_once`: whatever nothing uses, however short the
        time.
        """
        while marked := await self._db.write(artifacts.mark, limit, 0.0 if at_once else self._kept_s, after):
            used = await self._db.read(artifacts.used, [checksum for checksum, _ in marked])
            if used:
                await self._db.write(artifacts.unmark, used)
            if free := [one for one in marked if one[0] not in used]:
                marks = await self._db.read(artifacts.still_marked, [checksum for checksum, _ in free])
                if free := [one for one in free if one[0] in marks]:
                    return free
            after = marked[-1][0]
        return []

    async def collected(self, checksums: Collection[str]) -> None:
        """The bytes of marked artifacts are deleted."""
        if checksums:
            held = await self._db.read(artifacts.holders, checksums)
            await self._db.write(artifacts.collected, checksums, held)

    async def drifted_waits(self, after: int) -> tuple[int, int | None]:
        """How many wait bits behind an asset's id are wrong, and the id to go on behind (None: all seen)."""
        until, drifted = await self._db.read(drift.look, self._registry, after)
        return len(drifted), until

    async def recheck_waits(self, after: int) -> tuple[int, int | None]:
        """Look at wait bits behind an asset's id: how many were wrong, and the id to go on behind (None: all seen)."""
        until, drifted = await self._db.read(drift.look, self._registry, after)
        mended = await self._db.write(drift.mend, self._registry, drifted) if drifted else 0
        return mended, until

    async def installation(self) -> int:
        """The number by which the coordination store knows this database; 0 when it was made without one."""
        return (await self._db.read(versions.numbers) or {}).get("installation", 0)

    async def artifact_store(self) -> int:
        """The number of the artifact store; 0 while it is not known."""
        return await self._db.read(numbers.artifact_store)

    async def keep_artifact_store(self, number: int) -> int:
        """Keep the number of the artifact store unless there is one; the one that is kept."""
        return await self._db.write(numbers.keep_artifact_store, number)

    async def raise_era(self) -> int:
        """The next era."""
        return await self._db.write(numbers.raise_era)

    async def untouched(self) -> bool:
        """Whether no dispatch ever began."""
        return await self._db.read(ends.untouched)

    async def ticket_keys(self) -> tuple[float, Mapping[str, tuple[bytes, float]]]:
        """The database's time; secrets by key id, with when they were made."""
        return await self._db.read(numbers.ticket_keys)

    async def add_ticket_key(self, key_id: str, secret: bytes) -> None:
        """Keep a key."""
        await self._db.write(numbers.add_ticket_key, key_id, secret)

    async def never_held_a_book(self) -> bool:
        """Whether no book was ever kept here, also none that was deleted since. Not of the port."""
        return await self._db.read(numbers.never_held_a_book)

    # backups (not of the port) ----------------------------------------------------------------------------------

    async def hold_collecting(self, seconds: float) -> None:
        """Mark no artifact for collecting for so long; what is marked already is used by nothing."""
        await self._db.write(artifacts.hold_collecting, seconds)

    async def dump(self, folder: Path) -> Manifest:
        """Write all tables, as they are at one point, into a folder."""
        return await self._db.read(tables.dump, folder)

    # exports (not of the port: only whoever drives a home exports) ---------------------------------------------

    async def record_export(self, path: str, content_key: str, size: int, modified_ns: int) -> None:
        """Remember what a finished file was made of, and how it looks."""
        await self._db.write(exported.record_export, path, content_key, size, modified_ns)

    async def export_record(self, path: str) -> tuple[str, int, int] | None:
        """(content key, size in bytes, time of change in ns) as they were recorded for this path, or None."""
        return await self._db.read(exported.export_record, path)

    async def ready_hashes(self, book_key: BookKey) -> frozenset[str]:
        """The hashes of a book's parts that are there."""
        return await self._db.read(exported.ready_hashes, book_key)


async def open_storage(
    database: Database, registry: Registry, *, create: bool, kept_s: float = artifacts.KEPT_S
) -> SqlStorage:
    """Storage over a database of this schema; an empty one is made when `create`.

    Raises `versions.OldSchemaError`, `versions.NewerError`, or `LookupError` for an empty database.
    """
    if not await database.read(versions.check):
        if not create:
            raise LookupError("there is nothing here yet")
        await database.write(_make)
        await database.write(versions.raise_planner)  # nothing is planned yet
    return SqlStorage(database, registry, kept_s=kept_s)


def _make(connection: Connection) -> None:
    versions.migrate(connection)
    numbers.name_installation(connection)


async def open_shared(
    database: Database, registry: Registry, *, create: bool, kept_s: float = artifacts.KEPT_S
) -> SqlStorage:
    """The database that many processes share; several may make an empty one at once. Raises as `open_storage`.

    An old one is not migrated: `versions.upgrade` does that when a person asks for it. Closed when it is refused.
    """
    try:
        return await open_storage(database, registry, create=create, kept_s=kept_s)
    except BaseException:
        await database.close()
        raise


async def open_home(
    path: Path, registry: Registry, clock: Clock, *, writable: bool, kept_s: float = artifacts.KEPT_S
) -> SqlStorage:
    """The database of an embedded home. `writable` makes it, or migrates it after a backup copy beside it.

    Only the holder of the home's lock may pass `writable`. Raises as `open_storage`, `StorageUnavailableError` too.
    """
    await asyncio.to_thread(_prepare, path, make=writable)
    database = SqliteDatabase(path, clock.now, read_only=not writable)
    try:
        if writable:
            await _migrate_old(database, path)
        storage = await open_storage(database, registry, create=writable, kept_s=kept_s)
        if writable and not await database.read(versions.planner_is_current):
            await database.write(versions.raise_planner)
        return storage
    except BaseException:
        await database.close()
        raise


def _prepare(path: Path, *, make: bool) -> None:
    if make:
        path.parent.mkdir(parents=True, exist_ok=True)
    elif not path.exists():
        raise LookupError(f"there is no database at {path}")


async def _migrate_old(database: SqliteDatabase, path: Path) -> None:
    try:
        await database.read(versions.check)
    except versions.OldSchemaError:
        await database.backup(path.with_name(f"{path.name}.before-schema-{versions.SCHEMA}"))
        await database.write(versions.migrate)
