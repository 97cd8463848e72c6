"""Chapters and scenes of an aligned book: borders from the stored book and the incoming one, ids by what they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from animastor.books.align_units import Placed, Standing, flatten
from animastor.books.identifiers import Names
from animastor.books.model import Book, Chapter, ChapterId, Json, Scene, SceneId, SceneType, Unit, UnitId
from animastor.books.packing import CONTINUES, SCENE_LIMIT, SCENE_UNITS, Measure, scene_starts

_ROOM = 1.5  # a scene may grow to so many times its bounds before it is divided


@dataclass(slots=True)
class _Span:
    """A scene to be: its units, and whether it only continues the one before."""

    placed: list[Placed]
    continues: bool
    stored: int = -1  # index of the stored scene whose id it keeps

    @property
    def source(self) -> Standing:
        """The incoming unit it begins with."""
        return self.placed[0].source


@dataclass(slots=True)
class _Part:
    """A chapter to be."""

    spans: list[_Span] = field(default_factory=list)
    stored: int = -1

    def owners(self) -> list[int]:
        """The stored units that its units continue."""
        return [item.owner for span in self.spans for item in span.placed if item.owner >= 0]


def rebuild(stored: Book, incoming: Book, placed: Sequence[Placed], names: Names) -> tuple[Chapter, ...]:
    """The chapters that these units make, with ids kept where most of a node is kept, else by position."""
    standing = flatten(stored)
    parts = _parts(placed, standing)
    kept_chapters = _heirs([part.owners() for part in parts], [item.chapter for item in standing], len(stored.chapters))
    for part, kept in zip(parts, kept_chapters, strict=True):
        part.stored = kept
    scenes = [scene for _, scene in stored.scenes()]
    index = {id(scene): at for at, scene in enumerate(scenes)}
    spans = [span for part in parts for span in part.spans]
    scene_of = [index[id(item.scene)] for item in standing]
    owners = [[item.owner for item in span.placed if item.owner >= 0] for span in spans]
    for span, kept in zip(spans, _heirs(owners, scene_of, len(scenes)), strict=True):
        span.stored = kept
    return tuple(_chapter(part, stored, incoming, scenes, names) for part in parts)


def _parts(placed: Sequence[Placed], standing: Sequence[Standing]) -> list[_Part]:
    """The units divided into chapters and scenes."""
    parts: list[_Part] = []
    run: list[Placed] = []
    for item in placed:
        if item.chapter_start or item.hard or not parts:
            if run:
                parts[-1].spans.extend(_spans(run, standing))
            run = []
            if item.chapter_start or not parts:
                parts.append(_Part())
        run.append(item)
    if run:
        parts[-1].spans.extend(_spans(run, standing))
    return parts


def _spans(run: Sequence[Placed], standing: Sequence[Standing]) -> list[_Span]:
    """The scenes of a run that no heading or break divides: where the stored ones began, and by the length bound."""
    kept = [at for at, item in enumerate(run) if at and _began_scene(item, standing)]
    starts: list[int] = []
    for start, end in pairwise([0, *kept, len(run)]):
        starts.extend(start + at for at in _divided(run[start:end]))
    return [_Span(list(run[start:end]), continues=start > 0) for start, end in pairwise([*starts, len(run)])]


def _began_scene(item: Placed, standing: Sequence[Standing]) -> bool:
    """Whether the stored unit began a scene that only continued the one before."""
    if item.owner < 0:
        return False
    before = standing[item.owner]
    return before.scene_start and not before.hard


def _divided(run: Sequence[Placed]) -> list[int]:
    """Where scenes begin in a run that is one scene unless it has grown too long."""
    characters = sum(len(item.unit.text) for item in run)
    if characters <= SCENE_LIMIT * _ROOM and len(run) <= SCENE_UNITS * _ROOM:
        return [0]
    incoming = [0, *(at for at, item in enumerate(run) if at and item.owner < 0 and item.source.scene_start)]
    starts: list[int] = []
    for start, end in pairwise([*incoming, len(run)]):
        measures = [Measure(len(item.unit.text), opens=True) for item in run[start:end]]
        starts.extend(start + at for at in scene_starts(measures))
    return starts


def _heirs(owners: Sequence[Sequence[int]], node_of: Sequence[int], count: int) -> list[int]:
    """For each new node the stored node it continues (-1: none): by most units, then by position between those."""
    votes = [Counter(node_of[owner] for owner in held) for held in owners]
    wishes = sorted((-n, at, node) for at, counted in enumerate(votes) for node, n in counted.items())
    kept = [-1] * len(owners)
    taken: set[int] = set()
    for _, at, node in wishes:
        if kept[at] < 0 and node not in taken:
            kept[at] = node
            taken.add(node)
    for first, last in _unkept(kept):
        low = kept[first - 1] if first else -1
        high = kept[last] if last < len(kept) else count
        free = [node for node in range(low + 1, high) if node not in taken]
        given = free[: last - first]
        kept[first : first + len(given)] = given
        taken.update(given)
    return kept


def _unkept(kept: Sequence[int]) -> list[tuple[int, int]]:
    """The runs of nodes that continue nothing, as (first, behind the last)."""
    runs: list[tuple[int, int]] = []
    for at, node in enumerate(kept):
        if node < 0:
            if runs and runs[-1][1] == at:
                runs[-1] = (runs[-1][0], at + 1)
            else:
                runs.append((at, at + 1))
    return runs


def _chapter(part: _Part, stored: Book, incoming: Book, scenes: Sequence[Scene], names: Names) -> Chapter:
    source = incoming.chapters[part.spans[0].source.chapter]
    made = tuple(_scene(span, scenes, names) for span in part.spans)
    if part.stored >= 0:
        before = stored.chapters[part.stored]
        return replace(before, scenes=made, title=source.title or before.title)
    text = "\n".join(unit.text for scene in made for unit in scene.units)
    return replace(source, chapter_id=ChapterId(names.give("chapter", text)), scenes=made)


def _scene(span: _Span, scenes: Sequence[Scene], names: Names) -> Scene:
    units = tuple(_named(item.unit, names) for item in span.placed)
    source = span.source.scene
    if span.stored < 0:
        scene_id = SceneId(names.give("scene", "\n".join(unit.text for unit in units)))
        title, kind = ("", SceneType.NARRATION) if span.continues else (source.title, source.type)
        return Scene(scene_id, units, title, kind, extra=_extra({}, span))
    before = scenes[span.stored]
    heading = source.type is SceneType.CHAPTER_INTRO and not span.continues
    was_heading = before.type is SceneType.CHAPTER_INTRO
    return replace(
        before,
        units=units,
        title=source.title if heading or was_heading else before.title,
        type=source.type if heading or was_heading else before.type,
        full_text=before.full_text if units == before.units else "",
        extra=_extra(dict(before.extra), span),
    )


def _named(unit: Unit, names: Names) -> Unit:
    return unit if unit.unit_id else replace(unit, unit_id=UnitId(names.give("unit", unit.text)))


def _extra(extra: dict[str, Json], span: _Span) -> dict[str, Json]:
    """What is kept beside a scene's fields, with the mark of a mere continuation as it is now."""
    extra.pop(CONTINUES, None)
    return {**extra, CONTINUES: True} if span.continues else extra
