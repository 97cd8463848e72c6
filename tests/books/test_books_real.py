"""Real books from the folder that ANIMASTOR_BOOKS names (else ../shared/books): right chapters, no word lost."""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest
from lxml import etree

from animastor.books.align import align
from animastor.books.importers import load
from animastor.books.importers.structure import is_break
from animastor.books.model import Book

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("ANIMASTOR_BOOKS", ROOT.parent / "shared" / "books"))
OPF = "{http://www.idpf.org/2007/opf}"
XHTML = "{http://www.w3.org/1999/xhtml}"
TYPE = "{http://www.idpf.org/2007/ops}type"
NAMES = (
    "childrens-literature",
    "kusamakura-preview",
    "love-among-the-chickens",
    "regime-anticancer-arabic",
    "wasteland",
)

pytestmark = [
    pytest.mark.books,
    pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the folder of real books is absent: {FOLDER} (ANIMASTOR_BOOKS)"),
]


def source(name: str) -> Path:
    return FOLDER / f"{name}.epub"


@pytest.fixture(scope="module")
def books() -> dict[str, Book]:
    return {name: load(source(name)) for name in NAMES}


def extracted(path: Path) -> str:
    """The text of the documents in the spine by another way: every text node but navigation, ruby and page numbers."""
    with zipfile.ZipFile(path) as archive:
        opf = next(name for name in archive.namelist() if name.endswith(".opf"))
        package = etree.fromstring(archive.read(opf))
        items = {item.get("id"): item for item in package.iter(f"{OPF}item")}
        parts = []
        for reference in package.iter(f"{OPF}itemref"):
            item = items[reference.get("idref")]
            if reference.get("linear") == "no" or "nav" in (item.get("properties") or "").split():
                continue
            name = posixpath.join(posixpath.dirname(opf), unquote(item.get("href")))
            body = etree.fromstring(archive.read(name)).find(f"{XHTML}body")
            for element in list(body.iter(f"{XHTML}rt", f"{XHTML}rp")):
                etree.strip_elements(element.getparent(), element.tag, with_tail=False)
            for element in body.iter():
                marked = set((element.get(TYPE) or "").split()) if isinstance(element.tag, str) else set()
                if not isinstance(element.tag, str) or marked & {"noteref", "pagebreak"}:
                    element.text = None
            parts.extend(text for text in body.itertext() if not is_break(text))
    return "".join("".join(parts).split())


@pytest.mark.parametrize("name", NAMES)
def test_every_character_of_a_real_book_is_heard_once_and_in_order(books: dict[str, Book], name: str) -> None:
    heard = "".join("".join(unit.text for unit in books[name].units()).split())
    assert heard == extracted(source(name))


def test_the_novel_has_its_chapters(books: dict[str, Book]) -> None:
    titles = [chapter.title for chapter in books["love-among-the-chickens"].chapters]
    assert titles[:4] == ["Titlepage", "Imprint", "Dedication", "Love Among the Chickens"]
    assert [title.split(":")[0] for title in titles[4:27]][:5] == ["I", "II", "III", "IV", "V"]
    assert titles[26:] == ["XXIII: After the Storm", "Colophon", "Uncopyright"]


def test_a_reader_of_stories_has_a_chapter_for_each_story(books: dict[str, Book]) -> None:
    titles = [chapter.title for chapter in books["childrens-literature"].chapters]
    assert len(titles) == 18
    assert titles[:4] == [
        "SECTION IV FAIRY STORIES—MODERN FANTASTIC TALES",
        "BIBLIOGRAPHY",
        "INTRODUCTORY",
        "190 A FOUR-LEAVED CLOVER",
    ]
    sections = [scene.title for scene in books["childrens-literature"].chapters[3].scenes if scene.title]
    assert any("The Rabbi and The Diadem" in title for title in sections)


def test_verse_has_its_parts_and_keeps_its_lines(books: dict[str, Book]) -> None:
    chapters = books["wasteland"].chapters
    assert [chapter.title for chapter in chapters][:3] == [
        "The Waste Land",
        "I. THE BURIAL OF THE DEAD",
        "II. A GAME OF CHESS",
    ]
    assert len(chapters) == 7
    assert "April is the cruellest month, breeding\nLilacs" in chapters[1].scenes[1].units[0].text


def test_japanese_and_arabic_have_their_chapters_and_languages(books: dict[str, Book]) -> None:
    japanese, arabic = books["kusamakura-preview"], books["regime-anticancer-arabic"]
    assert (japanese.head.language, [chapter.title for chapter in japanese.chapters]) == ("ja-JP", ["草枕", "一"])
    assert (arabic.head.language, [chapter.title for chapter in arabic.chapters]) == (
        "ar",
        ["الفصل الثاني: ما هو السرطان؟"],
    )
    assert all(len(unit.text) <= 400 for book in (japanese, arabic) for unit in book.units())


def test_the_novel_is_told_by_its_characters(books: dict[str, Book]) -> None:
    names = {character.id for character in books["love-among-the-chickens"].head.characters}
    assert {"ukridge", "mrs-ukridge", "mrs-medley", "phyllis", "the-professor"} <= names


@pytest.mark.parametrize("name", NAMES)
def test_units_and_scenes_of_real_books_have_sizes_that_can_be_shown(books: dict[str, Book], name: str) -> None:
    for _, scene in books[name].scenes():
        assert sum(len(unit.text) for unit in scene.units) <= 2400
        assert all(0 < len(unit.text) <= 400 for unit in scene.units)


def test_importing_real_books_again_changes_nothing(books: dict[str, Book]) -> None:
    for name in NAMES:
        assert align(books[name], load(source(name))) == books[name]


def test_one_word_changed_in_100_places_of_the_novel_keeps_every_id(books: dict[str, Book], tmp_path: Path) -> None:
    words = [unit.text for unit in books["love-among-the-chickens"].units() if len(unit.text) > 60]
    text = "\n\n".join(word.replace("\n", "\n\n") for word in words)
    (tmp_path / "n.txt").write_text(text, encoding="utf-8")
    before = load(tmp_path / "n.txt")
    places = [match.start() for match in re.finditer(r"\b[a-z]{5,}\b", text)]
    for place in places[:: len(places) // 100][:100][::-1]:
        text = f"{text[:place]}x{text[place:]}"
    (tmp_path / "n.txt").write_text(text, encoding="utf-8")
    incoming = load(tmp_path / "n.txt")
    began = time.process_time()
    after = align(before, incoming)
    assert time.process_time() - began < 3
    assert [unit.unit_id for unit in after.units()] == [unit.unit_id for unit in before.units()]
    assert [scene.scene_id for _, scene in after.scenes()] == [scene.scene_id for _, scene in before.scenes()]


def test_the_novel_is_imported_in_three_seconds_with_the_start_of_the_process() -> None:
    script = (
        "import sys, time; from pathlib import Path; from animastor.books.importers import load; "
        "load(Path(sys.argv[1])); print(time.process_time())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(source("love-among-the-chickens"))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(done.stdout) < 3
