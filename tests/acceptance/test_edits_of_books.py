"""An edit makes again exactly what it touches: the real media types, planner, database, queue and hub.

Only bytes are doubles: a worker that knows what it was ordered, and a check that says how long such sound would be.
What is expected of an edit stands in a table here; it is not asked of the planner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import at_rest
from stage import Stage
from studio import BOOK, MEDIA, SCENES, SPOKEN, UNITS, Studio

from animastor.books.align import align
from animastor.books.importers import load
from animastor.books.model import Book, UnitImage
from animastor.media.hashing import digest
from animastor.media.types import Structure


def with_unit(book: Book, unit_id: str, **changes: object) -> Book:
    """The book with one unit changed."""
    chapters = tuple(
        replace(
            chapter,
            scenes=tuple(
                replace(
                    each,
                    units=tuple(replace(u, **changes) if u.unit_id == unit_id else u for u in each.units),  # type: ignore[arg-type]
                )
                for each in chapter.scenes
            ),
        )
        for chapter in book.chapters
    )
    return replace(book, chapters=chapters)


def with_character(book: Book, who: str, **changes: object) -> Book:
    """The book with one character changed."""
    people = tuple(
        replace(person, **changes) if person.id == who else person  # type: ignore[arg-type]
        for person in book.head.characters
    )
    return replace(book, head=replace(book.head, characters=people))


@dataclass(frozen=True)
class Edit:
    """An edit, and the table's word for what it makes: (kind, unit) of parts, and (media, scene) of merges.

    A shot is named by a unit that it must contain: groups are not the test's business, but which one is.
    """

    name: str
    book: Book
    parts: frozenset[tuple[str, str]]
    merges: frozenset[tuple[str, str]]


def text_edit(scene_name: str, number: int, text: str) -> Edit:
    """One unit says something else: its chunk, the shot that lasts as long as it, both merges. Its picture stays."""
    unit_id = f"{scene_name}-{number}"
    old = next(u for u in BOOK.units() if u.unit_id == unit_id)
    audio = replace(old.audio, text=text) if old.audio.text else old.audio
    return Edit(
        f"text of {unit_id}",
        with_unit(BOOK, unit_id, text=text, audio=audio),
        frozenset({("speech", unit_id), ("shot", unit_id)}),
        frozenset({("audio", scene_name), ("video", scene_name)}),
    )


def prompt_edit(scene_name: str, number: int, prompt: str) -> Edit:
    """One unit looks different: its picture, the shot made from it, the scene's video. Nothing that is heard."""
    unit_id = f"{scene_name}-{number}"
    image = UnitImage(shot="medium", prompt=prompt, text_render=False)
    return Edit(
        f"prompt of {unit_id}",
        with_unit(BOOK, unit_id, image=image),
        frozenset({("picture", unit_id), ("shot", unit_id)}),
        frozenset({("video", scene_name)}),
    )


def voice_edit(who: str, voice: str) -> Edit:
    """A character sounds different: exactly what it says, wherever; no picture."""
    said = [f"{name}-{number}" for name in SCENES for number, speaker in SPOKEN.items() if speaker == who]
    return Edit(
        f"voice of {who}",
        with_character(BOOK, who, voice=voice),
        frozenset(("speech", unit_id) for unit_id in said),
        frozenset(("audio", name) for name in SCENES),
    )


def passport_edit(who: str, appearance: str) -> Edit:
    """A character looks different: the pictures that show it and the shots made from them; nothing that is heard."""
    shown = [f"{name}-{number}" for name in SCENES for number, speaker in SPOKEN.items() if speaker == who]
    return Edit(
        f"passport of {who}",
        with_character(BOOK, who, appearance=appearance),
        frozenset((kind, unit_id) for unit_id in shown for kind in ("picture", "shot")),
        frozenset(("video", name) for name in SCENES),
    )


def no_edit() -> Edit:
    """The same book again."""
    return Edit("nothing", BOOK, frozenset(), frozenset())


words = st.text("abcdefghij", min_size=3, max_size=8)
sentences = st.lists(words, min_size=12, max_size=16).map(lambda found: " ".join(found).capitalize() + ".")
places = st.tuples(st.sampled_from(SCENES), st.integers(0, UNITS - 1))
edits = st.one_of(
    st.builds(lambda place, text: text_edit(*place, text), places, sentences),
    st.builds(lambda place, prompt: prompt_edit(*place, prompt), places, sentences),
    st.builds(passport_edit, st.sampled_from(["ann", "bob"]), sentences),
    st.just(voice_edit("ann", "an old, slow, very deep voice")),
    st.just(voice_edit("bob", "a young child's bright voice")),
    st.just(no_edit()),
)


def _started(
    made: Mapping[str, int], parts: Mapping[str, tuple[str, str, tuple[str, ...], str]], edit: Edit
) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """What was started, in the words of the table: a shot by those of its units that the table names, else by all."""
    seen: set[tuple[str, str]] = set()
    merges: set[tuple[str, str]] = set()
    for hash_, times in made.items():
        assert times == 1, "nothing is made twice"
        media, kind, units, scene_name = parts[hash_]
        if kind == "merge":
            merges.add((media, scene_name))
            continue
        named = [u for u in units if (kind, u) in edit.parts] if kind == "shot" else list(units)
        seen.update((kind, u) for u in (named or units))
    return seen, merges


@settings(max_examples=15)
@given(edits)
def test_an_edit_makes_exactly_what_the_table_says(edit: Edit) -> None:
    async def play(stage: Stage) -> None:
        assert isinstance(stage, Studio)
        key = await stage.save(BOOK)
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key, MEDIA)).request.request_id)
            stage.crew.by_hash.clear()
            await stage.save(edit.book)
            await stage.until_ended((await stage.ask(engine, key, MEDIA)).request.request_id)
            started, merges = _started(stage.crew.by_hash, await stage.parts(), edit)
            assert (started, merges) == (edit.parts, edit.merges), edit.name
            stage.crew.by_hash.clear()
            await stage.save(BOOK)
            await stage.until_ended((await stage.ask(engine, key, MEDIA)).request.request_id)
        assert not stage.crew.by_hash, "an edit that is undone costs nothing"
        await at_rest(stage)

    Studio().run(play)


def test_a_worker_receives_exactly_what_was_hashed_and_every_field_of_it_counts() -> None:
    received: dict[str, Structure] = {}

    async def play(stage: Stage) -> None:
        original = stage.crew.fate

        def noting(claim, times):  # type: ignore[no-untyped-def]
            received[claim.job.input_hash] = claim.job.params
            return original(claim, times)

        stage.crew.fate = noting
        key = await stage.save(BOOK)
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key, MEDIA)).request.request_id)

    Studio().run(play)
    assert {structure["kind"] for structure in received.values()} >= {"speech", "picture", "shot", "merge"}
    for input_hash, structure in received.items():
        assert digest(structure) == input_hash
        for field in structure:
            assert digest({**structure, field: [structure[field], "changed"]}) != input_hash
            assert digest({name: value for name, value in structure.items() if name != field}) != input_hash


PARAGRAPHS = [
    " ".join(f"Paragraph {n} has sentence {k}, which tells a little of what happened then." for k in range(4))
    for n in range(40)
]


def _text(folder: Path, paragraphs: Sequence[str]) -> Book:
    path = folder / "story.txt"
    path.write_text("\n\n".join(paragraphs), encoding="utf-8")
    return load(path)


@pytest.fixture
def imported(tmp_path: Path) -> Book:
    return _text(tmp_path, PARAGRAPHS)


def _made_after(before: Book, after: Book, media: Sequence[str]) -> tuple[int, int]:
    """(speech chunks made for the first book, made again for the second)."""
    counts: list[int] = []

    async def play(stage: Stage) -> None:
        assert isinstance(stage, Studio)
        for book in (before, after):
            stage.crew.by_hash.clear()
            key = await stage.save(book)
            async with stage.playing() as engine:
                await stage.until_ended((await stage.ask(engine, key, media)).request.request_id)
            parts = await stage.parts()
            counts.append(sum(1 for hash_ in stage.crew.by_hash if parts[hash_][1] == "speech"))

    Studio().run(play)
    return counts[0], counts[1]


def test_a_sentence_inserted_into_a_text_file_keeps_everything_else(tmp_path: Path, imported: Book) -> None:
    edited = [*PARAGRAPHS]
    edited[20] = "A new sentence stands here. " + edited[20]
    again = align(imported, _text(tmp_path, edited))
    made, remade = _made_after(imported, again, ("audio",))
    assert made >= 40
    assert 1 <= remade <= 2  # the unit that has the new sentence, and no other


def test_importing_the_same_file_again_makes_nothing(tmp_path: Path, imported: Book) -> None:
    again = align(imported, _text(tmp_path, PARAGRAPHS))
    assert again == imported
    assert _made_after(imported, again, ("audio",))[1] == 0
