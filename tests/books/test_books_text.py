"""Plain text and Markdown: chapters by headings, scenes by breaks and length, and every word once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from animastor.books.identifiers import is_valid
from animastor.books.importers import load
from animastor.books.importers.structure import Block, Builder, divide, is_break
from animastor.books.importers.text import parse_text
from animastor.books.languages import guess
from animastor.books.model import Book, SceneType
from animastor.books.packing import CONTINUES, SCENE_LIMIT, SCENE_REST

PARAGRAPH = "It was a long way to the sea, and nobody knew the road. They went all the same. "


def read(tmp_path: Path, text: str, name: str = "tale.txt") -> Book:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return load(tmp_path / name)


def titles(book: Book) -> list[str]:
    return [chapter.title for chapter in book.chapters]


def squeezed(text: str) -> str:
    return "".join(text.split())


def heard(book: Book) -> str:
    return squeezed("".join(unit.text for unit in book.units()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Tale\n\nCHAPTER ONE\n\n{p}\n\nCHAPTER TWO\n\n{p}", ["CHAPTER ONE", "CHAPTER TWO"]),
        ("I\n\n{p}\n\nII\n\n{p}", ["I", "II"]),
        ("Kapitel 1: Anfang\n\n{p}\n\nKapitel 2: Ende\n\n{p}", ["Kapitel 1: Anfang", "Kapitel 2: Ende"]),
        ("Chapter 1\n{p}\n\nChapter 2\n{p}", ["Chapter 1", "Chapter 2"]),
        (
            "CHAPTER I\n\nTHE ROAD\n\n{p}\n\nCHAPTER II\n\nTHE SEA\n\n{p}",
            ["CHAPTER I: THE ROAD", "CHAPTER II: THE SEA"],
        ),
        ("Dawn\n====\n\n{p}\n\nDusk\n====\n\n{p}", ["Dawn", "Dusk"]),
        ("A Tale\n\n\nThe road\n\n{p}\n\n\nThe sea\n\n{p}", ["The road", "The sea"]),
        ("第一章　道\n\n山路を登る。\n\n第二章　海\n\n海だ。", ["第一章 道", "第二章 海"]),
        ("{p}\n\n{p}", [""]),
        ("A Tale\n\n{p}", ["A Tale"]),
    ],
)
def test_headings_of_plain_text_are_told_by_their_shape(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert titles(read(tmp_path, text.replace("{p}", PARAGRAPH))) == expected


def test_text_with_a_paragraph_a_line_and_no_blank_lines_has_its_paragraphs(tmp_path: Path) -> None:
    book = read(tmp_path, f"Chapter 1\n{PARAGRAPH * 2}\n“Sir?” he said.\n{PARAGRAPH * 2}\nChapter 2\n{PARAGRAPH * 2}")
    assert titles(book) == ["Chapter 1", "Chapter 2"]


def test_wrapped_lines_are_joined_and_lines_of_verse_are_kept(tmp_path: Path) -> None:
    wrapped = "It was a long way to the sea, and nobody of them knew the road,\nbut they went all the same."
    book = read(tmp_path, f"{wrapped}\n\nOver the water\nUnder the tree\n")
    assert [unit.text for unit in book.units()] == [wrapped.replace("\n", " "), "Over the water\nUnder the tree"]


def test_markdown_is_read_without_its_marks(tmp_path: Path) -> None:
    text = (
        "---\ntitle: A Road\nauthor: Ann Other\nlang: en-gb\n---\n# One\n\nIt *was* a **long** [way](x.html) to `go`,\n"
        "and ![a picture](p.png) she\\*went. &amp; so on<br>here\n\n---\n\n> A quote.\n\n* a\n* b\n\n"
        "Two\n===\n\n<i>End.</i>\n"
    )
    book = read(tmp_path, text, "tale.md")
    assert (book.head.title, book.head.author, book.head.language) == ("A Road", "Ann Other", "en-GB")
    assert titles(book) == ["One", "Two"]
    assert [unit.text for unit in book.units()] == [
        "One",
        "It was a long way to go, and she*went. & so on\nhere",
        "A quote.\na",
        "b",
        "Two",
        "End.",
    ]


def test_a_single_first_heading_of_markdown_is_the_title_and_is_spoken_first(tmp_path: Path) -> None:
    book = read(tmp_path, "# The Tale\n\n## One\n\nA.\n\n## Two\n\nB.\n", "tale.md")
    assert (book.head.title, titles(book)) == ("The Tale", ["One", "Two"])
    first = book.chapters[0].scenes[0]
    assert (first.type, [unit.text for unit in first.units]) == (SceneType.CHAPTER_INTRO, ["The Tale", "One"])


def test_parts_are_not_chapters_when_chapters_follow_them_at_once(tmp_path: Path) -> None:
    text = "# Part 1\n\n## A\n\nA.\n\n## B\n\nB.\n\n# Part 2\n\n## C\n\nC.\n\n## D\n\nD.\n"
    assert titles(read(tmp_path, text, "tale.md")) == ["A", "B", "C", "D"]


def test_sections_within_chapters_are_spoken_headings(tmp_path: Path) -> None:
    book = read(tmp_path, "# A\n\nA.\n\n## Within\n\nB.\n\n# C\n\nC.\n", "tale.md")
    assert titles(book) == ["A", "C"]
    assert [scene.title for scene in book.chapters[0].scenes] == ["A", "", "Within", ""]


@pytest.mark.parametrize("mark", ["***", "* * *", "---", "— — —", "⁂", "❦", "~~~", "•", "___"])
def test_scene_breaks_divide_scenes_and_are_not_spoken(tmp_path: Path, mark: str) -> None:
    book = read(tmp_path, f"{PARAGRAPH}\n\n{mark}\n\n{PARAGRAPH}")
    assert [len(chapter.scenes) for chapter in book.chapters] == [2]
    assert heard(book) == squeezed(PARAGRAPH * 2)


@pytest.mark.parametrize("line", ["…", "?", "-", "“!”", "a * b", "§ 1", "..."])
def test_what_is_said_is_no_scene_break(line: str) -> None:
    assert not is_break(line)


def test_scenes_are_bounded_in_length(tmp_path: Path) -> None:
    book = read(tmp_path, "\n\n".join([PARAGRAPH * 3] * 100))
    lengths = [sum(len(unit.text) for unit in scene.units) for _, scene in book.scenes()]
    assert len(lengths) > 10
    assert max(lengths) <= SCENE_LIMIT + SCENE_REST
    assert [CONTINUES in scene.extra for _, scene in book.scenes()] == [False] + [True] * (len(lengths) - 1)


def test_the_id_of_a_file_is_its_name_where_that_may_be_one(tmp_path: Path) -> None:
    assert read(tmp_path, PARAGRAPH, "a-tale.txt").head.book_id == "a-tale.txt"
    odd = read(tmp_path, PARAGRAPH, "une étoile (2).txt").head.book_id
    assert is_valid(odd)
    assert odd.startswith("une-etoile-2-")


def test_ids_count_equal_texts_over_the_whole_book(tmp_path: Path) -> None:
    book = read(tmp_path, "# A\n\nYes, they went.\n\n---\n\nYes, they went.\n\n# B\n\nYes, they went.\n", "tale.md")
    ids = [unit.unit_id for unit in book.units()]
    assert len(set(ids)) == len(ids)
    assert read(tmp_path, "# B\n\nYes, they went.\n", "b.md").chapters[0].scenes[1].units[0].unit_id == ids[1]


def test_the_language_of_a_text_is_guessed(tmp_path: Path) -> None:
    texts = {
        "en": PARAGRAPH,
        "de": "Es war ein langer Weg und sie kannten ihn nicht.",
        "ar": "ما هذا؟",
        "ja": "これは本だ。",
    }
    for language, text in texts.items():
        assert read(tmp_path, text).head.language == language


words = st.sampled_from(
    ["a", "Bill", "said", "“Yes,”", "sea.", "Why?", "***", "I", "1", "THE", "…", "wort", "。", "x" * 90]
)
lines = st.lists(words, min_size=1, max_size=12).map(" ".join)
paragraphs = st.lists(lines, min_size=1, max_size=4).map("\n".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(paragraphs, min_size=1, max_size=8), st.integers(1, 3))
def test_every_word_of_a_text_is_heard_once(groups: list[str], blank: int) -> None:
    text = ("\n" * (blank + 1)).join(groups)
    spoken = [line for line in text.split("\n") if not is_break(line)]
    chapters = Builder("en").chapters(divide(parse_text(text)))
    units = [unit.text for chapter in chapters for scene in chapter.scenes for unit in scene.units]
    assert squeezed("".join(units)) == squeezed("".join(spoken))


blocks = st.one_of(
    st.just(Block("break")),
    st.builds(lambda text: Block("paragraph", text), lines),
    st.builds(lambda text, level, joins: Block("heading", text, level, joins), lines, st.integers(1, 3), st.booleans()),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(blocks, max_size=20))
def test_every_block_is_heard_once_in_order_with_valid_unique_ids(made: list[Block]) -> None:
    chapters = Builder("en").chapters(divide(made))
    scenes = [scene for chapter in chapters for scene in chapter.scenes]
    units = [unit for scene in scenes for unit in scene.units]
    assert squeezed("".join(unit.text for unit in units)) == squeezed("".join(block.text for block in made))
    ids = [*(c.chapter_id for c in chapters), *(s.scene_id for s in scenes), *(u.unit_id for u in units)]
    assert len(set(ids)) == len(ids)
    assert all(map(is_valid, ids))
    assert all(scene.units for scene in scenes)


def test_a_short_english_word_that_other_languages_have_does_not_change_the_language() -> None:
    text = "Paragraph nine has sentence four, which tells a little of what happened then. " * 9
    assert guess(text) == "en"
    assert guess("A new sentence stands here. " + text) == "en"
