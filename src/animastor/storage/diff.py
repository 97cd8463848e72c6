"""What an incoming book changes of the stored one: scene by scene, by hash. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import orjson

from animastor.books.codec import scene_to_json
from animastor.books.model import Book, Chapter, Scene
from animastor.storage.order import place

Name = tuple[str, str]  # chapter id, scene id


@dataclass(frozen=True, slots=True)
class StoredScene:
    """A scene as it is stored."""

    scene_key: int
    chapter_id: str
    scene_id: str
    position: int
    content_hash: str


@dataclass(frozen=True, slots=True)
class Incoming:
    """A scene as it comes in; `content` is its JSON, or empty when a scene with its hash is stored already."""

    chapter_id: str
    scene_id: str
    content_hash: str
    scene: Scene
    content: str = ""

    def json(self) -> str:
        """The JSON to store."""
        return self.content or orjson.dumps(scene_to_json(self.scene)).decode()


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored scene that goes on, with its place; `moved`: into another chapter."""

    stored: StoredScene
    incoming: Incoming
    position: int

    @property
    def other_bytes(self) -> bool:
        """It may have another content."""
        return self.stored.content_hash != self.incoming.content_hash

    @property
    def elsewhere(self) -> bool:
        """It stands in another place or chapter."""
        return self.stored.position != self.position or self.stored.chapter_id != self.incoming.chapter_id


@dataclass(frozen=True, slots=True)
class Diff:
    """Scenes that go on, that are new (with their place), and that left."""

    kept: tuple[Kept, ...]
    added: tuple[tuple[Incoming, int], ...]
    removed: tuple[StoredScene, ...]


def content_hash(value: Any) -> str:
    """A hash of a frozen value of the content model: equal values, equal hashes; quick."""
    return blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()


def incoming(book: Book, stored: Collection[str] = ()) -> list[Incoming]:
    """The scenes of a book in reading order, hashed; and encoded, but for those with a stored hash."""
    return [_incoming(chapter, scene, stored) for chapter, scene in book.scenes()]


def _incoming(chapter: Chapter, scene: Scene, stored: Collection[str]) -> Incoming:
    hash_ = content_hash(scene)
    content = "" if hash_ in stored else orjson.dumps(scene_to_json(scene)).decode()
    return Incoming(chapter.chapter_id, scene.scene_id, hash_, scene, content)


def bare(chapter: Chapter) -> Chapter:
    """A chapter without its scenes."""
    return Chapter(chapter.chapter_id, (), chapter.title, chapter.display_number, chapter.type, chapter.extra)


def compare(stored: Iterable[StoredScene], arriving: Sequence[Incoming]) -> Diff:
    """Match scenes by chapter and id, then those that changed their chapter by their id alone."""
    by_name = {(one.chapter_id, one.scene_id): one for one in stored}
    matched = _match(by_name, arriving)
    positions = place([one.position if one is not None else None for one in matched])
    kept, added = [], []
    for one, found, position in zip(arriving, matched, positions, strict=True):
        if found is None:
            added.append((one, position))
        else:
            kept.append(Kept(found, one, position))
    going_on = {one.stored.scene_key for one in kept}
    removed = tuple(one for one in by_name.values() if one.scene_key not in going_on)
    return Diff(tuple(kept), tuple(added), removed)


def _match(by_name: Mapping[Name, StoredScene], arriving: Sequence[Incoming]) -> list[StoredScene | None]:
    names = {(one.chapter_id, one.scene_id) for one in arriving}
    left = {one.scene_id: one for name, one in by_name.items() if name not in names}
    return [by_name.get((one.chapter_id, one.scene_id)) or left.pop(one.scene_id, None) for one in arriving]
