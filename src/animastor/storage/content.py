"""Books as rows: an import, or an edit that writes only what changed, and raises the plans it may touch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import orjson
from sqlalchemy import Connection

from animastor.books.codec import chapter_to_json, head_to_json
from animastor.books.model import Book
from animastor.engine.ports import RevisionError, SavedBook
from animastor.media.layers import WINDOW, effective, switched_off
from animastor.media.registry import Registry
from animastor.media.types import ContentSettings
from animastor.protocol import BookKey
from animastor.storage import numbers, removal
from animastor.storage.assets import add_assets
from animastor.storage.diff import Diff, Incoming, Kept, bare, compare, content_hash
from animastor.storage.edits import reopen_requests, sweep_scopes, switch_off, touch_book, touch_scenes
from animastor.storage.locking import lock_book, lock_whole_book
from animastor.storage.purging import purge_units
from animastor.storage.rows import Statement, fetch, tell
from animastor.storage.touched import stored_scenes
from animastor.storage.windows import place_windows

WORKSPACE: Final = "default"
CHUNK: Final = 2000  # scenes of one statement

T = TypeVar("T")

_BOOK = Statement(
    "stored_book",
    "What an edit compares with.",
    """
    SELECT b.book_key, b.revision, b.head_hash, b.head, b.settings, b.disabled, b.layers, b.ahead, b.source,
        b.source_key, b.source_sha256
    FROM book b WHERE b.workspace = :workspace AND b.book_id = :book_id
    """,
)
_ADD_BOOK = Statement(
    "add_book",
    "A new book; everything else is written as an edit of it.",
    """
    INSERT INTO book (book_key, workspace, book_id, revision, created_at)
    SELECT n.book_key, n.workspace, n.book_id, 0, {now} FROM {new} AS n
    """,
    new={"book_key": int, "workspace": str, "book_id": str},
)
_WRITE_BOOK = Statement(
    "write_book",
    "A book's head and where it came from.",
    """
    UPDATE book SET title = n.title_, language = n.language_, identifier = n.identifier_, source = n.source_,
        source_key = n.source_key_, source_sha256 = n.sha, kind = n.kind_, head = n.head_, head_hash = n.hash,
        settings = n.settings_, disabled = n.disabled_, ahead = n.ahead_, revision = n.revision_
    FROM {new} AS n WHERE book.book_key = n.key
    """,
    new={
        "key": int, "title_": str, "language_": str, "identifier_": str, "source_": str, "source_key_": str,
        "sha": str, "kind_": str, "head_": str, "hash": str, "settings_": str, "disabled_": str, "ahead_": int,
        "revision_": int,
    },
)  # fmt: skip
_COVER = Statement(
    "write_cover",
    "The cover picture as the source holds it.",
    """
    INSERT INTO book_cover (book_key, media_type, data) VALUES (:book, :media_type, :data)
    ON CONFLICT (book_key) DO UPDATE SET media_type = excluded.media_type, data = excluded.data
    """,
)
_NO_COVER = Statement("drop_cover", "No cover.", "DELETE FROM book_cover WHERE book_key = :book")
_COVER_OF = Statement(
    "stored_cover", "The cover.", "SELECT c.media_type, c.data FROM book_cover c WHERE c.book_key = :book"
)
_CHAPTERS = Statement(
    "stored_chapters",
    "Chapters to compare with.",
    "SELECT c.chapter_key, c.chapter_id, c.position, c.content_hash FROM chapter c WHERE c.book_key = :book",
)
_WRITE_CHAPTERS = Statement(
    "write_chapters",
    "New and changed chapters.",
    """
    INSERT INTO chapter (chapter_key, book_key, chapter_id, position, content_hash, content)
    SELECT n.chapter_key, n.book_key, n.chapter_id, n.position, n.content_hash, n.content FROM {new} AS n WHERE true
    ON CONFLICT (chapter_key) DO UPDATE SET position = excluded.position, content_hash = excluded.content_hash,
        content = excluded.content
    """,
    new={"chapter_key": int, "book_key": int, "chapter_id": str, "position": int, "content_hash": str, "content": str},
)
_DROP_CHAPTERS = Statement(
    "drop_chapters", "Chapters that left.",
    "DELETE FROM chapter WHERE chapter_key IN (SELECT g.key FROM {gone} AS g)",
    gone={"key": int},
)  # fmt: skip
_ADD_SCENES = Statement(
    "add_scenes",
    "New scenes.",
    """
    INSERT INTO scene (scene_key, book_key, chapter_key, scene_id, position, content_hash, content)
    SELECT n.scene_key, n.book_key, n.chapter_key, n.scene_id, n.position, n.content_hash, n.content FROM {new} AS n
    """,
    new={
        "scene_key": int, "book_key": int, "chapter_key": int, "scene_id": str, "position": int, "content_hash": str,
        "content": str,
    },
)  # fmt: skip
_CONTENTS = Statement(
    "scene_contents",
    "The content of scenes whose hash is another one: it may still be equal.",
    "SELECT s.scene_key, s.content FROM {scenes} AS one JOIN scene s ON s.scene_key = one.scene",
    scenes={"scene": int},
)
_CHANGE_SCENES = Statement(
    "change_scenes",
    "Scenes with other bytes.",
    """
    UPDATE scene SET content_hash = n.hash, content = n.bytes FROM {new} AS n WHERE scene.scene_key = n.key
    """,
    new={"key": int, "hash": str, "bytes": str},
)
_MOVE_SCENES = Statement(
    "move_scenes",
    "Scenes that stand elsewhere.",
    "UPDATE scene SET position = n.place, chapter_key = n.chapter FROM {new} AS n WHERE scene.scene_key = n.key",
    new={"key": int, "place": int, "chapter": int},
)
_MOVE_ASSETS = Statement(
    "move_assets",
    "Their assets with them.",
    "UPDATE asset SET reading_order = n.place, chapter_key = n.chapter FROM {new} AS n WHERE asset.scene_key = n.key",
    new={"key": int, "place": int, "chapter": int},
)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a book came from."""

    path: str
    key: str
    sha256: str


def chunks(items: Sequence[T], size: int = CHUNK) -> Iterable[Sequence[T]]:
    """A sequence in pieces of a statement's size."""
    return (items[start : start + size] for start in range(0, len(items), size))


def settings_json(settings: ContentSettings) -> str:
    """Settings as they are stored: equal settings, equal text."""
    return orjson.dumps(settings, option=orjson.OPT_SORT_KEYS).decode()


def stored_hashes(connection: Connection, book_id: str) -> frozenset[str]:
    """The content hashes of a book's scenes; none for a book that is not there."""
    rows = fetch(connection, _BOOK, workspace=WORKSPACE, book_id=book_id)
    if not rows:
        return frozenset()
    return frozenset(scene.content_hash for scene in stored_scenes(connection, rows[0].book_key))


def save_book(
    connection: Connection,
    registry: Registry,
    book: Book,
    arriving: Sequence[Incoming],
    settings: ContentSettings | None,
    source: Source,
    *,
    for_good: bool = False,
    revision: int | None = None,
) -> SavedBook:
    """Import a book, or edit the stored one with its id. Unchanged content writes nothing but its source.

    `arriving` is `diff.incoming(book)`, made before, so that the transaction is no longer than it has to be. What
    leaves the book is kept for a while, unless it leaves `for_good`. Raises `RevisionError` when a `revision` is given
    and the stored book has another one.
    """
    rows = fetch(connection, _BOOK, workspace=WORKSPACE, book_id=book.head.book_id)
    if rows:
        lock_book(connection, rows[0].book_key)
        lock_whole_book(connection, rows[0].book_key)
        rows = fetch(connection, _BOOK, workspace=WORKSPACE, book_id=book.head.book_id)
    if revision is not None and [row.revision for row in rows] != [revision]:
        raise RevisionError("the book has been edited otherwise meanwhile")
    return _Saving(connection, registry, book, arriving, settings, source, rows[0] if rows else None, for_good).save()


class _Saving:
    """One import or edit, in one transaction."""

    def __init__(
        self,
        connection: Connection,
        registry: Registry,
        book: Book,
        arriving: Sequence[Incoming],
        settings: ContentSettings | None,
        source: Source,
        stored: Any,
        for_good: bool,
    ) -> None:
        self._for_good = for_good
        self._connection = connection
        self._registry = registry
        self._book = book
        self._arriving = arriving
        self._source = source
        self._stored = stored
        self._key = BookKey(stored.book_key if stored is not None else self._new_book())
        kept = stored.settings if stored is not None and settings is None else ""
        self._settings = kept or settings_json(settings or ContentSettings())
        self._head_hash = content_hash(book.head)
        self._chapter_keys: dict[str, int] = {}
        set_ = orjson.loads(stored.layers or "{}") if stored is not None else {}
        self._layers = effective(registry, book.head.layer_config, set_)

    def save(self) -> SavedBook:
        """Compare, write, raise."""
        chapters_changed = self._save_chapters()
        stored = stored_scenes(self._connection, self._key)
        diff = compare(stored, self._arriving)
        changed = self._change_scenes([one for one in diff.kept if one.other_bytes])
        self._move_scenes([one for one in diff.kept if one.elsewhere])
        self._add_scenes(diff)
        removal.remove_scenes(self._connection, [one.scene_key for one in diff.removed], for_good=self._for_good)
        self._drop_chapters()
        moved = any(one.elsewhere for one in diff.kept)
        content = bool(changed or moved or diff.added or diff.removed or chapters_changed)
        head = self._save_head(content_changed=content)
        cover = self._save_cover()
        if self._stored is not None:
            self._raise(diff, changed, whole=head)
        revision = self._revision(content or head)
        return SavedBook(
            self._key, revision, len(diff.added), len(changed), len(diff.removed),
            unchanged=not (content or head or cover),
        )  # fmt: skip

    def _new_book(self) -> int:
        key = numbers.take(self._connection, "book")
        tell(self._connection, _ADD_BOOK, new=[(key, WORKSPACE, self._book.head.book_id)])
        return key

    def _revision(self, changed: bool) -> int:
        before: int = self._stored.revision if self._stored is not None else 0
        return before + 1 if changed or before == 0 else before

    def _save_chapters(self) -> bool:
        """Write new and changed chapters; whether there were any, or any left."""
        stored = {row.chapter_id: row for row in fetch(self._connection, _CHAPTERS, book=self._key)}
        rows = []
        for position, chapter in enumerate(self._book.chapters):
            known, hash_ = stored.pop(chapter.chapter_id, None), content_hash(bare(chapter))
            key = known.chapter_key if known is not None else numbers.take(self._connection, "chapter")
            self._chapter_keys[chapter.chapter_id] = key
            if known is None or (known.position, known.content_hash) != (position, hash_):
                content = orjson.dumps(chapter_to_json(chapter)).decode()
                rows.append((key, self._key, chapter.chapter_id, position, hash_, content))
        for chunk in chunks(rows):
            tell(self._connection, _WRITE_CHAPTERS, new=chunk)
        self._left = sorted(row.chapter_key for row in stored.values())
        return bool(rows or self._left)

    def _drop_chapters(self) -> None:
        if self._left:
            tell(self._connection, _DROP_CHAPTERS, gone=self._left)

    def _change_scenes(self, other: Sequence[Kept]) -> list[int]:
        """Write scenes whose bytes changed; the keys of those whose content did."""
        changed: list[int] = []
        for chunk in chunks(other):
            keys = [one.stored.scene_key for one in chunk]
            contents = {row.scene_key: row.content for row in fetch(self._connection, _CONTENTS, scenes=keys)}
            rows = []
            for one in chunk:
                key, data = one.stored.scene_key, one.incoming.json()
                rows.append((key, one.incoming.content_hash, data))
                before, after = orjson.loads(contents[key]), orjson.loads(data)
                if before != after:
                    changed.append(key)
                    self._purge_units(key, before, after)
            tell(self._connection, _CHANGE_SCENES, new=rows)
        return changed

    def _purge_units(self, scene: int, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Units that were deleted, not edited away, take everything of theirs along."""
        left = {unit["unit_id"] for unit in before["units"]} - {unit["unit_id"] for unit in after["units"]}
        if self._for_good and left:
            purge_units(self._connection, self._key, scene, left)

    def _move_scenes(self, moved: Sequence[Kept]) -> None:
        for chunk in chunks(moved):
            rows = [(one.stored.scene_key, one.position, self._chapter_keys[one.incoming.chapter_id]) for one in chunk]
            tell(self._connection, _MOVE_SCENES, new=rows)
            tell(self._connection, _MOVE_ASSETS, new=rows)

    def _add_scenes(self, diff: Diff) -> None:
        if not diff.added:
            return
        first = numbers.take(self._connection, "scene", len(diff.added))
        keyed = [(first + nth, one, position) for nth, (one, position) in enumerate(diff.added)]
        for chunk in chunks(keyed):
            tell(self._connection, _ADD_SCENES, new=[self._scene_row(*one) for one in chunk])
        add_assets(self._connection, self._registry.names, [key for key, _, _ in keyed])

    def _scene_row(self, key: int, one: Incoming, position: int) -> tuple[object, ...]:
        chapter = self._chapter_keys[one.chapter_id]
        return key, self._key, chapter, one.scene_id, position, one.content_hash, one.json()

    def _save_head(self, *, content_changed: bool) -> bool:
        """Write the book's row where it changes; whether its head or settings did."""
        head, stored, source = self._book.head, self._stored, self._source
        disabled, ahead = " ".join(switched_off(self._layers, self._registry)), int(self._layers[WINDOW])
        head_json = orjson.dumps(head_to_json(head)).decode()
        changed = stored is None or not _equal(stored.head, head_json) or stored.settings != self._settings
        came_from = (source.path, source.key, source.sha256)
        same_source = stored is not None and came_from == (stored.source, stored.source_key, stored.source_sha256)
        if changed or content_changed or not same_source or stored.head_hash != self._head_hash:
            row = (
                self._key, head.title, head.language, head.identifier, *came_from, self._book.source, head_json,
                self._head_hash, self._settings, disabled, ahead, self._revision(changed or content_changed),
            )  # fmt: skip
            tell(self._connection, _WRITE_BOOK, new=[row])
        return changed

    def _save_cover(self) -> bool:
        cover = self._book.cover
        rows = fetch(self._connection, _COVER_OF, book=self._key)
        held = (rows[0].media_type, bytes(rows[0].data)) if rows else None
        if held == ((cover.media_type, cover.data) if cover is not None else None):
            return False
        if cover is None:
            tell(self._connection, _NO_COVER, book=self._key)
        else:
            tell(self._connection, _COVER, book=self._key, media_type=cover.media_type, data=cover.data)
        return True

    def _raise(self, diff: Diff, changed: Collection[int], *, whole: bool) -> None:
        """Raise the plans that the edit may touch; let open requests cover what is theirs now, and nothing else."""
        if whole:
            off = [name for name in switched_off(self._layers, self._registry) if name not in self._was_off()]
            touch_book(self._connection, self._key)
            switch_off(self._connection, self._registry, self._key, off)
        if changed:
            touch_scenes(self._connection, sorted(changed), raised=whole)
        moved = [one.position for one in diff.kept if one.elsewhere]
        if diff.added or moved:
            reopen_requests(self._connection, self._key, min([position for _, position in diff.added] + moved))
        if diff.removed or moved:
            sweep_scopes(self._connection, self._key)
        if diff.added or diff.removed or moved or self._stored.ahead != self._layers[WINDOW]:
            place_windows(self._connection, self._key)

    def _was_off(self) -> list[str]:
        disabled: str = self._stored.disabled
        return disabled.split()


def _equal(stored: str, given: str) -> bool:
    return stored == given or (bool(stored) and orjson.loads(stored) == orjson.loads(given))


def save_settings(
    connection: Connection, registry: Registry, book_key: BookKey, settings: ContentSettings
) -> SavedBook:
    """Other settings are an edit of the whole book; the same ones change nothing. Raises `LookupError`."""
    lock_book(connection, book_key)
    rows = fetch(connection, _SETTINGS_OF, book=book_key)
    if not rows:
        raise LookupError(f"there is no book {book_key}")
    given, revision = settings_json(settings), rows[0].revision
    if rows[0].settings == given:
        return SavedBook(book_key, revision, 0, 0, 0, unchanged=True)
    lock_whole_book(connection, book_key)
    tell(connection, _WRITE_SETTINGS, book=book_key, settings=given)
    touch_book(connection, book_key)
    return SavedBook(book_key, revision + 1, 0, 0, 0, unchanged=False)


_SETTINGS_OF = Statement(
    "settings_of",
    "A book's settings.",
    "SELECT b.revision, b.settings FROM book b WHERE b.book_key = :book AND b.deleted_at IS NULL",
)
_WRITE_SETTINGS = Statement(
    "write_settings", "Other settings.",
    "UPDATE book SET settings = :settings, revision = revision + 1 WHERE book_key = :book",
)  # fmt: skip
