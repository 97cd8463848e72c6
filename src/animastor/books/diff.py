"""What changed between two versions of a book, as values: enough to tell which assets may be touched.

Nodes are compared by id, never by position; a node that stands elsewhere among those that stayed is moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, TypeVar

from animastor.books import lcs
from animastor.books.model import Book, BookHead, Chapter, Character, Location, Scene, Unit


class Change(StrEnum):
    """What happened to a node."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class ChapterChange:
    """A chapter that was added or removed, whose own `fields` differ, or that stands elsewhere (maybe both)."""

    change: Change
    chapter_id: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SceneChange:
    """A scene that was added or removed, whose own `fields` differ, or that stands elsewhere; `units` are apart."""

    change: Change
    chapter_id: str
    scene_id: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitChange:
    """A unit that was added or removed, whose `fields` differ, or that stands elsewhere (also in another scene).

    The fields of a unit are `text`, `type`, `speaker`, `audio.speaker`, `audio.text`, `image.shot`, `image.prompt`,
    `image.quality`, `image.negative`, `image.text_render`, `action` and `extra`. `chapter_id` and `scene_id` are of the
    new book, for a removed unit of the old one; `before` is the scene it was in when it came from another one.
    """

    change: Change
    chapter_id: str
    scene_id: str
    unit_id: str
    fields: tuple[str, ...] = ()
    before: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A character or a location that was added, removed or changed, with the fields that differ."""

    change: Change
    id: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BookDiff:
    """All that differs. `head` names fields of the head, but for those of the mappings that have their own lists.

    `voices` are ids whose instruction was added, removed or changed; `layer_config` are its keys that differ.
    """

    head: tuple[str, ...] = ()
    voices: tuple[str, ...] = ()
    layer_config: tuple[str, ...] = ()
    characters: tuple[Named, ...] = ()
    locations: tuple[Named, ...] = ()
    chapters: tuple[ChapterChange, ...] = ()
    scenes: tuple[SceneChange, ...] = ()
    units: tuple[UnitChange, ...] = ()
    cover: bool = False

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return self != BookDiff()

    def touched_scenes(self) -> frozenset[tuple[str, str]]:
        """(chapter id, scene id) of every scene whose own plans may differ, for reasons other than the head.

        A chapter's own fields and a scene's place touch nothing; a unit that left a scene touches that one too.
        """
        found = {(s.chapter_id, s.scene_id) for s in self.scenes if s.change is not Change.MOVED or s.fields}
        for unit in self.units:
            found.add((unit.chapter_id, unit.scene_id))
            if unit.before:
                found.add(unit.before)
        return frozenset(found)


_Described = TypeVar("_Described", Character, Location)
_HEAD_APART = frozenset({"voices", "characters", "locations", "layer_config"})


def diff(old: Book, new: Book) -> BookDiff:
    """What changed from one version of a book to another."""
    return BookDiff(
        head=_differing(old.head, new.head, _HEAD_APART),
        voices=_keys(old.head.voices, new.head.voices),
        layer_config=_keys(old.head.layer_config, new.head.layer_config),
        characters=tuple(_named(old.head.characters, new.head.characters)),
        locations=tuple(_named(old.head.locations, new.head.locations)),
        chapters=tuple(_chapters(old, new)),
        scenes=tuple(_scenes(old, new)),
        units=tuple(_units(old, new)),
        cover=old.cover != new.cover,
    )


def diff_heads(old: BookHead, new: BookHead) -> BookDiff:
    """What changed from one head to another, when the chapters are the same."""
    return diff(Book(old, ()), Book(new, ()))


def _differing(old: object, new: object, apart: frozenset[str] = frozenset(), prefix: str = "") -> tuple[str, ...]:
    """The names of the fields of two values of one class that differ."""
    names = (item.name for item in fields(old) if item.name not in apart)  # type: ignore[arg-type]
    return tuple(prefix + name for name in names if getattr(old, name) != getattr(new, name))


def _keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys under which two mappings differ."""
    return tuple(key for key in {**old, **new} if key not in old or key not in new or old[key] != new[key])


def _named(
    old: Sequence[Character] | Sequence[Location], new: Sequence[Character] | Sequence[Location]
) -> Iterator[Named]:
    before, after = {item.id: item for item in old}, {item.id: item for item in new}
    for key in {**before, **after}:
        if key not in after:
            yield Named(Change.REMOVED, key)
        elif key not in before:
            yield Named(Change.ADDED, key)
        elif names := _differing(before[key], after[key]):
            yield Named(Change.CHANGED, key, names)


def _moved(old: Sequence[Any], new: Sequence[Any]) -> frozenset[Any]:
    """The keys that are in both orders and stand elsewhere among those."""
    in_old, in_new = set(old), set(new)
    stayed_old, stayed_new = [key for key in old if key in in_new], [key for key in new if key in in_old]
    kept = {stayed_new[j] for _, j in lcs.common(stayed_old, stayed_new)}
    return frozenset(key for key in stayed_new if key not in kept)


def _chapters(old: Book, new: Book) -> Iterator[ChapterChange]:
    before = {chapter.chapter_id: chapter for chapter in old.chapters}
    after = {chapter.chapter_id: chapter for chapter in new.chapters}
    moved = _moved(list(before), list(after))
    for key in before:
        if key not in after:
            yield ChapterChange(Change.REMOVED, key)
    for key, chapter in after.items():
        names = _differing(before[key], chapter, frozenset({"scenes"})) if key in before else ()
        change = _change(known=key in before, moved=key in moved, names=names)
        if change:
            yield ChapterChange(change, key, names)


def _change(*, known: bool, moved: bool, names: tuple[str, ...]) -> Change | None:
    """What happened to a node that is there now."""
    if not known:
        return Change.ADDED
    if moved:
        return Change.MOVED
    return Change.CHANGED if names else None


def _scenes(old: Book, new: Book) -> Iterator[SceneChange]:
    before = {(chapter.chapter_id, scene.scene_id): scene for chapter, scene in old.scenes()}
    after = {(chapter.chapter_id, scene.scene_id): scene for chapter, scene in new.scenes()}
    moved = _moved(list(before), list(after))
    for key in before:
        if key not in after:
            yield SceneChange(Change.REMOVED, *key)
    for key, scene in after.items():
        names = _scene_fields(before[key], scene) if key in before else ()
        change = _change(known=key in before, moved=key in moved, names=names)
        if change:
            yield SceneChange(change, *key, names)


def _scene_fields(old: Scene, new: Scene) -> tuple[str, ...]:
    apart = frozenset({"units", "location", "visual"})
    nested = _differing(old.location, new.location, prefix="location.")
    return (*_differing(old, new, apart), *nested, *_differing(old.visual, new.visual, prefix="visual."))


def _units(old: Book, new: Book) -> Iterator[UnitChange]:
    before = {unit.unit_id: (chapter, scene, unit) for chapter, scene, unit in _standing(old)}
    after = {unit.unit_id: (chapter, scene, unit) for chapter, scene, unit in _standing(new)}
    moved = _moved(list(before), list(after))
    for key, (chapter, scene, _) in before.items():
        if key not in after:
            yield UnitChange(Change.REMOVED, chapter.chapter_id, scene.scene_id, key)
    for key, (chapter, scene, unit) in after.items():
        place = (chapter.chapter_id, scene.scene_id)
        if key not in before:
            yield UnitChange(Change.ADDED, *place, key)
            continue
        was_in, was_at, was = before[key]
        left = (was_in.chapter_id, was_at.scene_id) if (was_in.chapter_id, was_at.scene_id) != place else None
        names = unit_fields(was, unit)
        change = _change(known=True, moved=key in moved or left is not None, names=names)
        if change:
            yield UnitChange(change, *place, key, names, left)


def unit_fields(old: Unit, new: Unit) -> tuple[str, ...]:
    """The names of the fields in which two units differ, those of sound and picture with their part before them."""
    if old == new:
        return ()
    own = _differing(old, new, frozenset({"unit_id", "audio", "image"}))
    sound = _differing(old.audio, new.audio, prefix="audio.")
    return (*own, *sound, *_differing(old.image, new.image, prefix="image."))


def _standing(book: Book) -> Iterator[tuple[Chapter, Scene, Unit]]:
    for chapter, scene in book.scenes():
        for unit in scene.units:
            yield chapter, scene, unit
