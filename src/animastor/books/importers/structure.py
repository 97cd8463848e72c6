"""From blocks of text to chapters, scenes and units: what Markdown, plain text and EPUB have in common (CONTRACT 2).

A source is first read into blocks: headings, paragraphs and scene breaks. Where navigation does not divide them into
chapters, the levels of the headings do; what a heading says is never looked at.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from animastor.books.identifiers import Names, plain
from animastor.books.model import (
    Chapter,
    ChapterId,
    Character,
    Json,
    Scene,
    SceneId,
    SceneType,
    Unit,
    UnitId,
)
from animastor.books.packing import CONTINUES, Atom, Measure, atoms_of_paragraph, pack_units, scene_starts, unit_of
from animastor.books.sentences import pack
from animastor.books.speech import Speaker

NUMBER = 16  # characters; a heading this short is a number or "Chapter XXXVIII", no sentence of its own
WHOLE_BOOK = 20_000  # characters; a level of headings that leaves most of more than this in one chapter divides nothing
_DASHES = frozenset("-–—_=~+")
_ORNAMENTS = frozenset("*#•·∙●○◦◆◇■□▪▫★☆✦✧✩✶✻✽❀❁❦❧☙⁂⁕※†‡♦♥♣♠♢♡✠✢✣✤✥∗⋆＊◊~")


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, a paragraph or a scene break. `joins`: a heading that goes on with the one before it (a subtitle)."""

    kind: Literal["heading", "paragraph", "break"]
    text: str = ""
    level: int = 0
    joins: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A chapter to be: its title and its blocks."""

    title: str
    blocks: Sequence[Block]


def is_break(text: str) -> bool:
    """Whether a line is only there to separate scenes: `***`, `* * *`, `---`, ornaments."""
    marks = "".join(text.split())
    if not marks or len(marks) > 40:
        return False
    if set(marks) <= _DASHES:
        return len(marks) >= 3
    return all(char in _ORNAMENTS or char in _DASHES or unicodedata.category(char) == "So" for char in marks)


def block_of(text: str) -> Block:
    """The paragraph or the scene break that a stretch of text is."""
    return Block("break") if is_break(text) else Block("paragraph", text)


def divide(blocks: Sequence[Block], files: Sequence[int] = ()) -> list[Section]:
    """Chapters by headings alone; without any heading by the places where files begin, else one."""
    level = chapter_level(blocks)
    starts = [at for at in range(len(blocks)) if _opens(blocks, at, level)] if level else list(files)
    return sections(blocks, {at: title_of(blocks[at:], level) for at in starts})


def sections(blocks: Sequence[Block], starts: Mapping[int, str]) -> list[Section]:
    """The blocks divided at these places; a chapter without a given title has the one of its headings."""
    bounds = sorted({0, *starts, len(blocks)})
    found = []
    for start, end in pairwise(bounds):
        part = blocks[start:end]
        if any(block.kind != "break" for block in part):
            found.append(Section(starts.get(start, "") or title_of(part), part))
    return found


def title_of(blocks: Sequence[Block], level: int = 0) -> str:
    """What the headings at the start of a chapter call it, down to `level` (0: to that of the first).

    A deeper heading takes the place of the one before it (the book's title, a part's); a subtitle or a higher heading
    behind it (`Chapter two`, and then its name in larger letters) is added.
    """
    title: list[Block] = []
    for block in blocks:
        if block.kind != "heading":
            break
        if not title:
            title = [block]
        elif block.joins or block.level < title[-1].level:
            title.append(block)
        elif title[-1].level < block.level <= level:
            title = [block]
        else:
            break
    return joined_title(block.text for block in title)


def joined_title(texts: Iterable[str]) -> str:
    """Several headings in one line."""
    title = ""
    for line in map(plain, texts):
        mark = "" if not title else " " if title[-1] in ".:!?。：！？—–-" else ": "
        title += mark + line
    return title


def chapter_level(blocks: Sequence[Block]) -> int:
    """The level of headings that open chapters; 0 without headings.

    It is the highest level that divides: not one that occurs once (the book's title), nor one whose headings are
    mostly followed by a lower one at once (parts), nor one that leaves nearly all of a long book in one chapter.
    """
    counts = Counter(block.level for block in blocks if block.kind == "heading" and not block.joins)
    levels = sorted(counts)
    several = [level for level in levels if counts[level] > 1]
    for level in several:
        deeper = any(lower > level for lower in several)
        if not deeper or not (_leads(blocks, level) or _leaves_whole(blocks, level)):
            return level
    return levels[0] if levels else 0


def _leads(blocks: Sequence[Block], level: int) -> bool:
    """Whether at least half of a level's headings have a deeper heading directly behind them."""
    heads = [at for at, block in enumerate(blocks) if block.kind == "heading" and block.level == level]
    behind = [blocks[at + 1] for at in heads if at + 1 < len(blocks)]
    return 2 * sum(block.kind == "heading" and block.level > level for block in behind) >= len(heads)


def _leaves_whole(blocks: Sequence[Block], level: int) -> bool:
    """Whether a level leaves four fifths of a long book in one chapter."""
    sizes = [0]
    for block in blocks:
        if block.kind == "heading" and block.level <= level:
            sizes.append(0)
        sizes[-1] += len(block.text)
    total = sum(sizes)
    return total > WHOLE_BOOK and max(sizes) > 0.8 * total


def _opens(blocks: Sequence[Block], at: int, level: int) -> bool:
    """Whether a chapter begins at this block: a heading of the level or above, unless a higher one leads it."""
    block = blocks[at]
    if block.kind != "heading" or block.level > level or block.joins:
        return False
    before = blocks[at - 1] if at else None
    return not (before and before.kind == "heading" and before.level < block.level)


@dataclass(slots=True)
class _Draft:
    """A scene before it has ids."""

    units: list[Unit]
    type: SceneType = SceneType.NARRATION
    title: str = ""
    continues: bool = False


@dataclass(slots=True)
class Builder:
    """Makes chapters of sections, and remembers who spoke in them."""

    language: str
    names: Names = field(default_factory=Names)
    speakers: dict[str, Speaker] = field(default_factory=dict)

    def characters(self) -> tuple[Character, ...]:
        """Everybody who was told to speak, in order of appearance."""
        return tuple(Character(speaker.id, speaker.name) for speaker in self.speakers.values())

    def chapters(self, parts: Sequence[Section]) -> tuple[Chapter, ...]:
        """The chapters of a book, with ids; a section without text makes none."""
        made = [(section, self._scenes(section.blocks)) for section in parts]
        return tuple(self._named(section.title, drafts) for section, drafts in made if drafts)

    def _scenes(self, blocks: Sequence[Block]) -> list[_Draft]:
        drafts: list[_Draft] = []
        atoms: list[Atom] = []
        headings: list[Block] = []
        for block in (*blocks, Block("break")):
            if block.kind != "paragraph":
                drafts.extend(_told(atoms))
                atoms = []
            if block.kind == "heading":
                headings.append(block)
                continue
            if headings:
                drafts.append(self._intro(headings))
                headings = []
            if block.kind == "paragraph":
                atoms.extend(self._atoms(block.text))
        return drafts

    def _atoms(self, text: str) -> list[Atom]:
        atoms, speakers = atoms_of_paragraph(text, self.language)
        for speaker in speakers:
            self.speakers.setdefault(speaker.id, speaker)
        return atoms

    def _intro(self, headings: Sequence[Block]) -> _Draft:
        """The scene in which headings are spoken; a number and the title behind it are said as one."""
        said: list[str] = []
        for heading in headings:
            if heading.joins and said and len(said[-1]) <= NUMBER:
                said[-1] = f"{said[-1]}\n{heading.text}"
            else:
                said.append(heading.text)
        texts = [part for text in said for part in pack(text, language=self.language)]
        title = joined_title(heading.text for heading in headings)
        return _Draft([Unit(UnitId(""), text) for text in texts], SceneType.CHAPTER_INTRO, title)

    def _named(self, title: str, drafts: Sequence[_Draft]) -> Chapter:
        """A chapter with ids from its text."""
        scenes = tuple(self._named_scene(draft) for draft in drafts)
        text = "\n".join(unit.text for draft in drafts for unit in draft.units)
        return Chapter(ChapterId(self.names.give("chapter", text)), scenes, title)

    def _named_scene(self, draft: _Draft) -> Scene:
        units = tuple(replace(unit, unit_id=UnitId(self.names.give("unit", unit.text))) for unit in draft.units)
        scene_id = SceneId(self.names.give("scene", "\n".join(unit.text for unit in units)))
        extra: dict[str, Json] = {CONTINUES: True} if draft.continues else {}
        return Scene(scene_id, units, draft.title, draft.type, extra=extra)


def _told(atoms: Sequence[Atom]) -> list[_Draft]:
    """The scenes of a run of sentences that only the length bound divides."""
    groups = pack_units(atoms)
    if not groups:
        return []
    units = [unit_of(group) for group in groups]
    starts = scene_starts([Measure(len(u.text), g[0].opens) for u, g in zip(units, groups, strict=True)])
    bounds = [*starts, len(units)]
    return [_Draft(units[a:b], continues=a > 0) for a, b in pairwise(bounds)]
