"""Which stored unit each incoming unit continues; between those that are the same, sentence by sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from animastor.books import lcs
from animastor.books.identifiers import plain
from animastor.books.model import Book, Scene, SceneType, Unit, UnitId
from animastor.books.packing import (
    CONTINUES,
    SENTENCES,
    UNIT_LIMIT,
    Atom,
    atoms_of_unit,
    length,
    may_join,
    same_voice,
    unit_of,
)

AHEAD = 3  # sentences after an inserted one that may show that a unit goes on


@dataclass(frozen=True, slots=True)
class Standing:
    """A unit where it stands: its scene, and whether a chapter, or a scene that is no mere continuation, starts."""

    unit: Unit
    chapter: int
    scene: Scene
    chapter_start: bool
    hard: bool
    scene_start: bool

    @property
    def is_heading(self) -> bool:
        """Whether it is a heading that is spoken."""
        return self.scene.type is SceneType.CHAPTER_INTRO


@dataclass(frozen=True, slots=True)
class Placed:
    """A unit of the result, the index of the stored unit that it continues (-1: none), the incoming one it is from."""

    unit: Unit
    owner: int
    source: Standing
    chapter_start: bool
    hard: bool


@dataclass(frozen=True, slots=True)
class _Sentence:
    """An atom of an incoming unit. `fixed`: no unit may go across the place before it."""

    atom: Atom
    source: Standing
    first: bool
    fixed: bool


def flatten(book: Book) -> list[Standing]:
    """The units of a book in reading order."""
    found: list[Standing] = []
    for at, chapter in enumerate(book.chapters):
        chapter_start = True
        for scene in chapter.scenes:
            continues = scene.extra.get(CONTINUES) is True
            for n, unit in enumerate(scene.units):
                hard = not n and (chapter_start or not continues)
                found.append(Standing(unit, at, scene, chapter_start, hard, not n))
                chapter_start = False
    return found


def repack(old: Sequence[Standing], gap: range, new: Sequence[Standing], language: str) -> list[Placed]:
    """The units between two that are the same on both sides: `old` in `gap` became `new`."""
    if not new:
        return []
    if not gap:
        return [Placed(_nameless(item.unit), -1, item, item.chapter_start, item.hard) for item in new]
    adopted = _adopted(old, gap, new)
    if adopted is not None:
        return adopted
    sentences = list(_sentences(new, language))
    owners = _owners(old, gap, sentences, language)
    return list(_made(_groups(sentences, owners), old))


def _adopted(old: Sequence[Standing], gap: range, new: Sequence[Standing]) -> list[Placed] | None:
    """The stored units, when only borders between units differ; None when the text does, or a fixed border."""
    old_ends = list(accumulate(_size(old[i].unit) for i in gap))
    new_starts = [0, *accumulate(_size(item.unit) for item in new)]
    if old_ends[-1] != new_starts[-1] or _squeezed(old[i].unit for i in gap) != _squeezed(item.unit for item in new):
        return None
    starts = dict(zip(new_starts[:-1], new, strict=True))
    fixed = {start for start, item in starts.items() if item.hard or item.is_heading}
    if not fixed <= {0, *old_ends}:
        return None
    placed = []
    for i, start in zip(gap, [0, *old_ends], strict=False):
        at = max(place for place in starts if place <= start)
        hard = start in fixed and starts[start].hard
        placed.append(Placed(old[i].unit, i, starts[at], hard and starts[at].chapter_start, hard))
    return placed


def _size(unit: Unit) -> int:
    return len("".join(unit.text.split()))


def _squeezed(units: Iterator[Unit]) -> str:
    """The text of units without white space."""
    return "".join("".join(unit.text.split()) for unit in units)


def _sentences(new: Sequence[Standing], language: str) -> Iterator[_Sentence]:
    """The incoming units' atoms; headings stay as they are."""
    for item in new:
        atoms = [Atom(item.unit.text)] if item.is_heading else atoms_of_unit(item.unit, language)
        for n, atom in enumerate(atoms):
            yield _Sentence(replace(atom, opens=False), item, not n, not n and (item.hard or item.is_heading))


def _owners(old: Sequence[Standing], gap: range, sentences: Sequence[_Sentence], language: str) -> list[int]:
    """For each sentence the stored unit that it belongs to, -1 when it is new."""
    before: list[tuple[str, int]] = []
    for i in gap:
        atoms = [Atom(old[i].unit.text)] if old[i].is_heading else atoms_of_unit(old[i].unit, language)
        before.extend((plain(atom.text), i) for atom in atoms)
    after = [plain(sentence.atom.text) for sentence in sentences]
    pairs = lcs.common([text for text, _ in before], after)
    owners = [-1] * len(sentences)
    for i, j in pairs:
        owners[j] = before[i][1]
    bags = [Counter(text.split()) for text, _ in before], [Counter(text.split()) for text in after]

    def likeness(i: int, j: int) -> float:
        both = (bags[0][i] & bags[1][j]).total()
        return 2 * both / max(1, bags[0][i].total() + bags[1][j].total())

    for left, right in lcs.gaps(pairs, len(before), len(after)):
        for i, j in lcs.by_position(left, right, likeness):
            owners[j] = before[i][1]
    return owners


def _groups(sentences: Sequence[_Sentence], owners: Sequence[int]) -> list[tuple[list[_Sentence], int]]:
    """Sentences grouped into units, each with its owner: the borders of stored units are kept."""
    groups: list[tuple[list[_Sentence], int]] = []
    for at, sentence in enumerate(sentences):
        owner = owners[at]
        if groups and _joins(groups[-1], sentences, owners, at):
            group, held = groups[-1]
            group.append(sentence)
            groups[-1] = (group, held if held >= 0 else owner)
        else:
            groups.append(([sentence], owner))
    return groups


def _joins(group: tuple[list[_Sentence], int], sentences: Sequence[_Sentence], owners: Sequence[int], at: int) -> bool:
    """Whether a sentence goes on with the unit before it."""
    members, held = group
    sentence, owner = sentences[at], owners[at]
    atoms = [member.atom for member in members]
    if sentence.fixed or not same_voice(atoms[-1], sentence.atom):
        return False
    if held < 0:
        return owner < 0 and not sentence.first and may_join(atoms, sentence.atom)
    if owner < 0:
        ahead = [owners[n] for n in range(at + 1, min(at + 1 + AHEAD, len(sentences))) if not sentences[n].fixed]
        owner = held if held in ahead else -1
    longest = UNIT_LIMIT + UNIT_LIMIT // 2
    fits = len(atoms) <= SENTENCES and length(atoms) + len(sentence.atom.text) <= longest
    return owner == held and (fits or owners[at] == held)


def _made(groups: Sequence[tuple[list[_Sentence], int]], old: Sequence[Standing]) -> Iterator[Placed]:
    """The units of groups; each stored unit goes on in the group that has most of its sentences."""
    heirs: dict[int, int] = {}
    for at, (members, owner) in enumerate(groups):
        if owner >= 0 and (owner not in heirs or len(members) > len(groups[heirs[owner]][0])):
            heirs[owner] = at
    for at, (members, owner) in enumerate(groups):
        first = members[0]
        heir = owner if heirs.get(owner) == at else -1
        unit = _unit(members, old[heir].unit if heir >= 0 else None)
        chapter_start = first.first and first.source.chapter_start
        yield Placed(unit, heir, first.source, chapter_start, first.first and first.source.hard)


def _unit(members: Sequence[_Sentence], stored: Unit | None) -> Unit:
    """The unit of these sentences: the stored one where it says the same, else as the incoming text has it."""
    made = unit_of([member.atom for member in members])
    source = members[0].source.unit
    if made.text == source.text:
        made = source
    return _nameless(made) if stored is None else continued(stored, made)


def continued(stored: Unit, made: Unit) -> Unit:
    """The stored unit if it says the same; else the new text with its id, and what a text cannot say."""
    if plain(made.text) == plain(stored.text):
        return stored
    return replace(made, unit_id=stored.unit_id, image=stored.image, action=stored.action, extra=stored.extra)


def _nameless(unit: Unit) -> Unit:
    """A new unit: its id is given when all ids that are kept are known."""
    return replace(unit, unit_id=UnitId(""))
