"""From paragraphs to units, and from units to scenes (CONTRACT 2).

Sentences are packed one to three to a unit; a unit of dialogue holds one stretch of one speaker's words. Packing
starts again at each paragraph; importing a changed file keeps the borders that were there (`align`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from animastor.books.model import Unit, UnitAudio, UnitId, UnitType
from animastor.books.sentences import clauses, split
from animastor.books.speech import Speaker, Speech, speeches

CONTINUES = "continues"  # in a scene's extra: only the length bound divides it from the scene before
UNNAMED = UnitId("")  # a unit that has no id yet
SENTENCES = 3  # of a unit, at most
UNIT_SIZE = 150  # characters that a unit should have: about ten seconds of speech
UNIT_LIMIT = 300  # characters of a unit of several sentences
SENTENCE_LIMIT = 400  # a longer sentence is cut behind its clauses
SHORT = 100  # paragraphs up to this length may share a unit: exchanges of single words
_CLOSERS = "\"'”’»“)]」』"
_ENDS = frozenset(".!?…。！？؟۔।")
SCENE_LEAST = 1200  # characters, before a scene may end at a paragraph
SCENE_LIMIT = 2000  # characters of a scene
SCENE_UNITS = 16  # units of a scene
SCENE_UNITS_LEAST = 12  # units, before a scene may end at a paragraph however short they are
SCENE_REST = 400  # a shorter rest joins the scene before it


@dataclass(frozen=True, slots=True)
class Atom:
    """A sentence, or a part of one: what units are packed from.

    `gap` is the white space after it, `spoken` the place of what its speaker says in `text`, `opens` whether it
    begins a paragraph.
    """

    text: str
    gap: str = " "
    speaker: str = ""
    spoken: tuple[int, int] = (0, 0)
    opens: bool = False


def atoms_of_paragraph(text: str, language: str) -> tuple[list[Atom], list[Speaker]]:
    """A paragraph's sentences with their speakers, and the speakers in order of appearance."""
    told = speeches(text, language)
    atoms = _cut(text, told, language)
    return atoms, [speech.speaker for speech in told if speech.speaker]


def atoms_of_unit(unit: Unit, language: str) -> list[Atom]:
    """The atoms that a unit could have been packed from."""
    told: list[Speech] = []
    at = unit.text.find(unit.audio.text) if unit.audio.text else -1
    if at >= 0 and unit.audio.speaker:
        end = at + len(unit.audio.text)
        told = [Speech(at, at, end, end, Speaker(unit.audio.speaker, ""))]
    return _cut(unit.text, told, language)


def _cut(text: str, told: Sequence[Speech], language: str) -> list[Atom]:
    """The text cut behind sentences, before each further quotation of a sentence, and at the length bound."""
    cuts = _cut_places(text, told, language)
    atoms: list[Atom] = []
    at = 0
    for start, end in pairwise(cuts):
        for piece in clauses(text[start:end], SENTENCE_LIMIT):
            bare = piece.rstrip()
            if bare:
                first = start + len(piece) - len(piece.lstrip())
                speaker, spoken = _spoken(told, first, start + len(bare))
                gap = piece[len(bare) :]
                atoms.append(Atom(bare.lstrip(), "\n" if "\n" in gap else gap[:1], speaker, spoken, not at))
                at += 1
            start += len(piece)  # noqa: PLW2901
    if atoms:
        atoms[-1] = replace(atoms[-1], gap="\n")
    return atoms


def _cut_places(text: str, told: Sequence[Speech], language: str) -> list[int]:
    """Where atoms begin, and the end of the text."""
    cuts = [0]
    for sentence in split(text, language):
        start, end = cuts[-1], cuts[-1] + len(sentence)
        inside = _overlapping(told, start, end)
        cuts.extend(speech.opens for speech in inside[1:] if speech.opens > start)
        cuts.append(end)
    return cuts


def _spoken(told: Sequence[Speech], start: int, end: int) -> tuple[str, tuple[int, int]]:
    """Who speaks in `text[start:end]`, and where in it; "" for narration."""
    for speech in _overlapping(told, start, end):
        first, last = max(speech.start, start), min(speech.end, end)
        if first < last and speech.speaker:
            return speech.speaker.id, (first - start, last - start)
    return "", (0, 0)


def _overlapping(told: Sequence[Speech], start: int, end: int) -> Sequence[Speech]:
    """The speeches, given in order, that share characters with `text[start:end]`."""
    first = bisect_right(told, start, key=lambda speech: speech.closes)
    return told[first : bisect_left(told, end, key=lambda speech: speech.opens)]


def pack_units(atoms: Sequence[Atom]) -> list[list[Atom]]:
    """Atoms grouped into units: runs of one voice in one paragraph evenly, then short paragraphs together."""
    units: list[list[Atom]] = []
    run: list[Atom] = []
    for atom in atoms:
        if run and (atom.opens or not same_voice(run[-1], atom)):
            units.extend(_evenly(run))
            run = []
        run.append(atom)
    units.extend(_evenly(run))
    return _with_short_paragraphs(units)


def _evenly(run: Sequence[Atom]) -> list[list[Atom]]:
    """A run divided into units of about `UNIT_SIZE` characters, none of them left with a word or two."""
    best: list[tuple[float, int]] = [(0.0, 0)]  # by atoms taken: the least cost, and where the last unit begins
    for end in range(1, len(run) + 1):
        options = []
        size = 0
        for start in range(end - 1, max(end - 1 - SENTENCES, -1), -1):
            size += len(run[start].text) + len(run[start].gap)
            if start < end - 1 and size > UNIT_LIMIT:
                break
            options.append((best[start][0] + (size - UNIT_SIZE) ** 2, start))
        best.append(min(options))
    bounds = [len(run)]
    while bounds[-1]:
        bounds.append(best[bounds[-1]][1])
    return [list(run[start:end]) for start, end in pairwise(reversed(bounds))]


def _with_short_paragraphs(units: Sequence[list[Atom]]) -> list[list[Atom]]:
    """Whole short paragraphs of narration, sentences at their ends, together in units: exchanges of single words."""
    joined: list[list[Atom]] = []
    whole = False  # whether the last unit consists of whole paragraphs
    for at, unit in enumerate(units):
        is_whole = unit[0].opens and (at + 1 == len(units) or units[at + 1][0].opens)
        if joined and whole and is_whole and _may_share(joined[-1], unit):
            joined[-1] = [*joined[-1], *unit]
        else:
            joined.append(unit)
            whole = is_whole
    return joined


def _may_share(before: Sequence[Atom], unit: Sequence[Atom]) -> bool:
    """Whether two units of whole paragraphs are short enough to be one, and are both narrated."""
    if before[-1].speaker or unit[0].speaker or before[-1].text.rstrip(_CLOSERS)[-1:] not in _ENDS:
        return False
    return len(before) + len(unit) <= SENTENCES and length(before) + length(unit) <= SHORT


def may_join(unit: Sequence[Atom], atom: Atom) -> bool:
    """Whether an atom of the same paragraph may follow the others of a unit."""
    return len(unit) < SENTENCES and length(unit) + len(atom.text) <= UNIT_LIMIT and same_voice(unit[-1], atom)


def same_voice(before: Atom, atom: Atom) -> bool:
    """Whether both are narrated, or the second goes on with the first one's speech."""
    if not before.speaker or not atom.speaker:
        return before.speaker == atom.speaker
    return before.speaker == atom.speaker and before.spoken[1] == len(before.text) and atom.spoken[0] == 0


def length(unit: Sequence[Atom]) -> int:
    """The characters of a unit with its white space."""
    return sum(len(atom.text) + len(atom.gap) for atom in unit)


def unit_of(atoms: Sequence[Atom], unit_id: UnitId = UNNAMED) -> Unit:
    """The unit that these atoms make."""
    text = "".join(atom.text + atom.gap for atom in atoms).rstrip()
    first, last = atoms[0], atoms[-1]
    if not first.speaker:
        return Unit(unit_id, text)
    end = len(text) - len(last.text) + last.spoken[1]
    audio = UnitAudio(first.speaker, text[first.spoken[0] : end])
    return Unit(unit_id, text, UnitType.DIALOGUE, first.speaker, audio)


@dataclass(frozen=True, slots=True)
class Measure:
    """What the length bound of scenes looks at: a unit's characters, and whether it begins a paragraph."""

    characters: int
    opens: bool


def scene_starts(units: Sequence[Measure]) -> list[int]:
    """Where scenes begin in a run of units that nothing else divides; the first is 0.

    A scene ends at a paragraph once it is long enough, and before any unit that would exceed its bounds.
    """
    starts, characters = [0], 0
    for at, unit in enumerate(units):
        count = at - starts[-1]
        full = characters + unit.characters > SCENE_LIMIT or count >= SCENE_UNITS
        long_enough = characters >= SCENE_LEAST or count >= SCENE_UNITS_LEAST
        if count and (full or (unit.opens and long_enough)):
            starts.append(at)
            characters = 0
        characters += unit.characters
    if len(starts) > 1 and characters < SCENE_REST:
        starts.pop()
    return starts
