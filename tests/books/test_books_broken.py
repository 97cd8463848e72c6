"""Broken and strange sources: each gives one clear sentence with a stable reason, and leaves nothing behind."""

from __future__ import annotations

import os
import struct
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest
from epub_making import Epub, link, nav, page
from hypothesis import given, settings
from hypothesis import strategies as st

from animastor.books.errors import BookError, Reason
from animastor.books.importers import load

Make = Callable[[Path], Path]
TEXT = "<p>It was late.</p>"
IDS = "an id has 1 to 128 of A-Z a-z 0-9 . _ - and no dot first."


@dataclass(frozen=True)
class Case:
    """A source that is no book, and what is said of it."""

    name: str
    make: Make
    reason: Reason
    message: str


def raw(name: str, data: bytes) -> Make:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return make


def zipped(name: str, files: dict[str, bytes | str]) -> Make:
    def make(folder: Path) -> Path:
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in files.items():
                archive.writestr(path, data)
        return folder / name

    return make


def epub(**changes: object) -> Make:
    def make(folder: Path) -> Path:
        return Epub(**({"docs": {"a.xhtml": page(TEXT)}} | changes)).write(folder / "b.epub")  # type: ignore[arg-type]

    return make


UNIT = {"id": "u1", "text": "It was late."}
SCENE = {"scene_id": "s1", "units": [UNIT]}
FILES: dict[str, object] = {
    "manifest.json": {"book_id": "b"},
    "book.json": {"structure": {"chapters_order": ["c1"]}},
    "chapters/c1.json": {"chapter_id": "c1", "scenes": [SCENE]},
}


def vbook(changes: dict[str, object]) -> Make:
    """A vbook folder `v` with changed files; None leaves a file out, bytes are written as they are."""

    def make(folder: Path) -> Path:
        for name, value in {**FILES, **changes}.items():
            if value is not None:
                path = folder / "v" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(value if isinstance(value, bytes) else orjson.dumps(value))
        return folder / "v"

    return make


def order(*ids: object) -> dict[str, object]:
    return {"book.json": {"structure": {"chapters_order": list(ids)}}}


def chapter(*scenes: object, **fields: object) -> dict[str, object]:
    return {"chapters/c1.json": {"chapter_id": "c1", "scenes": list(scenes), **fields}}


def truncated(folder: Path) -> Path:
    path = epub()(folder)
    path.write_bytes(path.read_bytes()[:300])
    return path


def damaged(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "b.epub", "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("book.opf", "<package/>" + " " * 90)
    data = (folder / "b.epub").read_bytes()
    (folder / "b.epub").write_bytes(data.replace(b"<package/>", b"<pockage/>"))
    return folder / "b.epub"


def encrypted(folder: Path) -> Path:
    path = epub()(folder)
    data = bytearray(path.read_bytes())
    for signature, at in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        place = data.find(signature)
        while place >= 0:
            flags = struct.unpack_from("<H", data, place + at)[0]
            struct.pack_into("<H", data, place + at, flags | 1)
            place = data.find(signature, place + 4)
    path.write_bytes(bytes(data))
    return path


def lying(folder: Path) -> Path:
    """A member that is longer than the archive says."""
    path = zipped("b.epub", {"mimetype": "x", "book.opf": "a" * 5000})(folder)
    path.write_bytes(path.read_bytes().replace(struct.pack("<I", 5000), struct.pack("<I", 50)))
    return path


def twice(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "b.epub", "w") as archive:
        archive.writestr("mimetype", "a")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("mimetype", "b")
    return folder / "b.epub"


def many(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "b.zip", "w") as archive:
        for at in range(20_001):
            archive.writestr(str(at), b"")
    return folder / "b.zip"


def linked_zip(folder: Path) -> Path:
    info = zipfile.ZipInfo("book.opf")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(folder / "b.epub", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return folder / "b.epub"


def linked_folder(folder: Path) -> Path:
    made = vbook({"manifest.json": None})(folder)
    (folder / "outside.json").write_bytes(orjson.dumps({"book_id": "b"}))
    (made / "manifest.json").symlink_to(folder / "outside.json")
    return made


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "b.txt")
    return folder / "b.txt"


def empty_folder(folder: Path) -> Path:
    (folder / "v").mkdir()
    return folder / "v"


DRM = (
    '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
    '<e:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>'
    '<e:CipherData><e:CipherReference URI="OPS/a.xhtml"/></e:CipherData></e:EncryptedData></encryption>'
)
CYCLE = '<item id="x" href="x.pdf" media-type="application/pdf" fallback="y"/>' + (
    '<item id="y" href="y.pdf" media-type="application/pdf" fallback="x"/>'
)
R = Reason
OPF = "OPS/book.opf"
CASES = [
    Case("no such file", lambda folder: folder / "b.txt", R.SOURCE_MISSING, "{folder}/b.txt does not exist."),
    Case("a pipe", pipe, R.SOURCE_UNREADABLE, "b.txt is neither a file nor a folder."),
    Case("no bytes", raw("b.txt", b""), R.SOURCE_EMPTY, "b.txt is empty."),
    Case("only white space", raw("b.txt", b" \n\t\n"), R.SOURCE_EMPTY, "b.txt is empty."),
    Case("only white space in Markdown", raw("b.md", b"\n\n"), R.SOURCE_EMPTY, "b.md is empty."),
    Case(
        "another kind of file",
        raw("b.pdf", b"%PDF-1.7"),
        R.SOURCE_UNKNOWN,
        "b.pdf is no kind of book that is read: "
        "give a vbook folder or zip, an EPUB, Markdown (.md) or plain text (.txt).",
    ),
    Case(
        "a folder of nothing",
        empty_folder,
        R.SOURCE_UNKNOWN,
        "v is a folder without manifest.json, so that it is no vbook.",
    ),
    Case(
        "a zip of something else",
        zipped("b.zip", {"notes.txt": "hello"}),
        R.SOURCE_UNKNOWN,
        "b.zip is a zip with neither manifest.json nor META-INF/container.xml, so that it is no book.",
    ),
    Case("only scene breaks", raw("b.txt", b"***\n\n* * *\n"), R.BOOK_WITHOUT_TEXT, "b.txt has no text to read aloud."),
    Case("only comments", raw("b.md", b"<!-- nothing -->\n"), R.BOOK_WITHOUT_TEXT, "b.md has no text to read aloud."),
    Case(
        "broken UTF-8",
        raw("b.txt", b"caf\xe9 au lait"),
        R.ENCODING_BROKEN,
        "b.txt is not valid UTF-8: byte 3 cannot be read.",
    ),
    Case(
        "broken UTF-8 in Markdown",
        raw("b.md", b"# A\n\n\xff"),
        R.ENCODING_BROKEN,
        "b.md is not valid UTF-8: byte 5 cannot be read.",
    ),
    Case(
        "half a UTF-16 character",
        raw("b.txt", b"\xff\xfea\x00b"),
        R.ENCODING_BROKEN,
        "b.txt is not valid UTF-16-LE: byte 4 cannot be read.",
    ),
    Case("a zero byte", raw("b.txt", b"ab\x00cd"), R.NOT_TEXT, "b.txt is not a text file: byte 2 is zero."),
    Case(
        "a long text",
        raw("b.txt", b"a" * (64 * 2**20 + 1)),
        R.SOURCE_TOO_LARGE,
        "b.txt is longer than the 64 MiB that are read.",
    ),
    Case("no zip", raw("b.epub", b"hello"), R.ZIP_INVALID, "b.epub is no zip file, or its end is missing."),
    Case("a truncated zip", truncated, R.ZIP_INVALID, "b.epub is no zip file, or its end is missing."),
    Case("a damaged member", damaged, R.ZIP_DAMAGED, "b.epub/book.opf is damaged: Bad CRC-32 for file 'book.opf'."),
    Case(
        "a member longer than declared",
        lying,
        R.ZIP_DAMAGED,
        "b.epub/book.opf is damaged: Bad CRC-32 for file 'book.opf'.",
    ),
    Case(
        "a path that leads out",
        zipped("b.epub", {"../evil.txt": "x"}),
        R.ZIP_SLIP,
        "b.epub holds a file named ../evil.txt, which leads out of the archive.",
    ),
    Case(
        "an absolute path",
        zipped("b.zip", {"/etc/passwd": "x"}),
        R.ZIP_SLIP,
        "b.zip holds a file named /etc/passwd, which leads out of the archive.",
    ),
    Case(
        "a path with backslashes",
        zipped("b.zip", {"a\\..\\b.txt": "x"}),
        R.ZIP_SLIP,
        "b.zip holds a file named a\\..\\b.txt, which leads out of the archive.",
    ),
    Case(
        "a zip bomb",
        zipped("b.epub", {"mimetype": "x", "bomb.xhtml": b"\x00" * 4 * 2**20}),
        R.ZIP_BOMB,
        "b.epub/bomb.xhtml unpacks to more than 200 times its size.",
    ),
    Case("an encrypted zip", encrypted, R.ZIP_ENCRYPTED, "b.epub/META-INF/container.xml is encrypted with a password."),
    Case("a name twice", twice, R.ZIP_DUPLICATE, "b.epub holds the file mimetype twice."),
    Case("too many files", many, R.ZIP_TOO_MANY_FILES, "b.zip holds 20001 files; a book has at most 20000."),
    Case("a link in a zip", linked_zip, R.PATH_ESCAPES, "b.epub/book.opf is a link; a book holds files only."),
    Case(
        "a link out of a folder",
        linked_folder,
        R.PATH_ESCAPES,
        "v/manifest.json is a link that leads out of the folder.",
    ),
    # vbook
    Case("no book.json", vbook({"book.json": None}), R.FILE_MISSING, "v has no file book.json."),
    Case(
        "broken JSON",
        vbook({"characters.json": b'[{"id": 1,}]'}),
        R.JSON_BROKEN,
        "v/characters.json is not valid JSON: line 1, column 10.",
    ),
    Case(
        "broken UTF-8 in JSON",
        vbook({"bible.json": b'{"a": "\xe9"}'}),
        R.ENCODING_BROKEN,
        "v/bible.json is not valid UTF-8: byte 7 cannot be read.",
    ),
    Case("a list for an object", vbook({"book.json": []}), R.FIELD_TYPE, "v/book.json must be an object, not a list."),
    Case(
        "a number for text",
        vbook(chapter({"scene_id": "s1", "units": [{"id": "u1", "text": 5}]})),
        R.FIELD_TYPE,
        "v/chapters/c1.json, scene 1, unit 1: text must be text, not a number.",
    ),
    Case(
        "no order",
        vbook({"book.json": {"title": "T"}}),
        R.ORDER_MISSING,
        "v/book.json has no structure.chapters_order.",
    ),
    Case("an empty order", vbook(order()), R.ORDER_EMPTY, "v/book.json: structure.chapters_order names no chapter."),
    Case(
        "a chapter ordered twice",
        vbook(order("c1", "c1")),
        R.ORDER_REPEATS,
        "v/book.json: structure.chapters_order names c1 twice.",
    ),
    Case(
        "a chapter file that is absent",
        vbook(order("c1", "c2")),
        R.CHAPTER_FILE_MISSING,
        "v/chapters/c2.json is absent, but structure.chapters_order names the chapter c2.",
    ),
    Case(
        "a chapter file of another chapter",
        vbook({"chapters/c1.json": {"chapter_id": "c9", "scenes": []}}),
        R.CHAPTER_MISMATCH,
        "v/chapters/c1.json calls itself c9, not c1.",
    ),
    Case("no book id", vbook({"manifest.json": {}}), R.ID_MISSING, "v/manifest.json has no book_id."),
    Case(
        "a unit without id",
        vbook(chapter({"scene_id": "s1", "units": [{"text": "A."}]})),
        R.ID_MISSING,
        "v/chapters/c1.json, scene 1, unit 1 has no id.",
    ),
    Case(
        "an id that begins with a dot",
        vbook({"manifest.json": {"book_id": ".b"}}),
        R.ID_INVALID,
        f"v/manifest.json: book_id is '.b'; {IDS}",
    ),
    Case(
        "an id that is a path",
        vbook(order("../c1")),
        R.ID_INVALID,
        f"v/book.json: structure.chapters_order is '../c1'; {IDS}",
    ),
    Case(
        "a unit id twice",
        vbook(chapter(SCENE, {"scene_id": "s2", "units": [UNIT]})),
        R.ID_DUPLICATE,
        "v/chapters/c1.json, scene 2, unit 1 has the id u1, as v/chapters/c1.json, scene 1, unit 1 has.",
    ),
    Case(
        "a scene id twice",
        vbook(chapter(SCENE, {**SCENE, "units": []})),
        R.ID_DUPLICATE,
        "v/chapters/c1.json has two scenes with the id s1.",
    ),
    Case(
        "a chapter id twice",
        vbook({"chapters/c1.json": {"chapter_id": "c1"}, "chapters/c1-old.json": {"chapter": "c1"}}),
        R.ID_DUPLICATE,
        "v/chapters/c1-old.json and v/chapters/c1.json both have the chapter id c1.",
    ),
    Case(
        "a character twice",
        vbook({"characters.json": [{"id": "x"}, {"id": "x"}]}),
        R.ID_DUPLICATE,
        "v/characters.json has two entries with the id x.",
    ),
    Case(
        "an unknown type",
        vbook(chapter({**SCENE, "type": "song"})),
        R.VALUE_UNKNOWN,
        "v/chapters/c1.json, scene 1: type is 'song', which is none of narration, dialogue, chapter_intro, cover.",
    ),
    Case("no unit", vbook(chapter()), R.BOOK_WITHOUT_TEXT, "v has no unit in any scene, so that there is no book."),
    # EPUB
    Case(
        "no container",
        zipped("b.epub", {"mimetype": "application/epub+zip"}),
        R.CONTAINER_MISSING,
        "b.epub has no META-INF/container.xml, and 0 package documents (.opf), so that it is no EPUB.",
    ),
    Case(
        "a container that names nothing",
        epub(container="<container/>"),
        R.CONTAINER_BROKEN,
        "b.epub/META-INF/container.xml names no package document.",
    ),
    Case(
        "no package", epub(opf=""), R.PACKAGE_MISSING, f"b.epub names the package document {OPF}, which is not in it."
    ),
    Case(
        "a broken package",
        epub(opf="<package><"),
        R.PACKAGE_BROKEN,
        f"b.epub/{OPF} is no package document: it is not well-formed.",
    ),
    Case(
        "no spine",
        epub(opf="<package/>"),
        R.SPINE_MISSING,
        f"b.epub/{OPF} has no spine, so that no reading order is known.",
    ),
    Case(
        "an empty spine",
        epub(spine=[]),
        R.SPINE_EMPTY,
        f"b.epub/{OPF} has an empty spine: no document is in the reading order.",
    ),
    Case(
        "a cyclic spine",
        epub(spine=["a.xhtml", "a.xhtml"]),
        R.SPINE_REPEATS,
        f"b.epub/{OPF} lists a.xhtml twice in its spine.",
    ),
    Case(
        "a spine of nothing known",
        epub(spine=["z"]),
        R.SPINE_UNKNOWN_ITEM,
        f"b.epub/{OPF} lists z in its spine, which is not in its manifest.",
    ),
    Case(
        "cyclic fallbacks",
        epub(items=CYCLE, spine=["x"]),
        R.FALLBACK_CYCLE,
        f"b.epub/{OPF}: the fallbacks of x lead in a circle.",
    ),
    Case(
        "a document that is absent",
        epub(items='<item id="m" href="m.xhtml" media-type="application/xhtml+xml"/>', spine=["m"]),
        R.DOCUMENT_MISSING,
        f"b.epub/{OPF} lists OPS/m.xhtml in its spine, which is not in the archive.",
    ),
    Case(
        "entities of its own",
        epub(docs={"a.xhtml": '<!DOCTYPE html [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><html><body>&b;</body></html>'}),
        R.XML_ENTITIES,
        "b.epub/OPS/a.xhtml declares entities of its own, which are not read from a book.",
    ),
    Case(
        "broken UTF-8 in a document",
        epub(docs={"a.xhtml": b"<html><body><p>\xe9</p></body></html>"}),
        R.ENCODING_BROKEN,
        "b.epub/OPS/a.xhtml is not valid UTF-8: byte 15 cannot be read.",
    ),
    Case(
        "an unknown encoding",
        epub(docs={"a.xhtml": '<?xml version="1.0" encoding="klingon"?><html/>'}),
        R.ENCODING_UNKNOWN,
        "b.epub/OPS/a.xhtml declares the encoding klingon, which is not known.",
    ),
    Case(
        "protected by DRM",
        epub(files={"META-INF/encryption.xml": DRM}),
        R.DRM,
        "b.epub is protected by DRM: OPS/a.xhtml is encrypted, so that it cannot be read.",
    ),
    Case(
        "pictures without text",
        epub(docs={"a.xhtml": page('<img src="1.png" alt="A hat"/>'), "b.xhtml": page("<svg/>")}),
        R.PICTURES_ONLY,
        "b.epub consists of pictures (2) without text, so that nothing can be read aloud.",
    ),
    Case(
        "empty documents",
        epub(docs={"a.xhtml": page("<p> </p>")}),
        R.BOOK_WITHOUT_TEXT,
        "b.epub has no text to read aloud.",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_broken_source_gives_one_clear_sentence_and_leaves_nothing(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    folder = tmp_path / "source"
    folder.mkdir()
    source = case.make(folder)
    before = sorted(folder.rglob("*"))
    with pytest.raises(BookError) as caught:
        load(source)
    assert (caught.value.reason, caught.value.message) == (case.reason, case.message.replace("{folder}", str(folder)))
    assert str(caught.value) == caught.value.message
    assert sorted(folder.rglob("*")) == before
    assert not list(temporary.iterdir())


def test_the_table_covers_many_inputs_and_reasons() -> None:
    assert len(CASES) >= 40
    assert len({case.reason for case in CASES}) >= 30


def test_every_reason_is_shown_by_an_input_and_explained_to_users() -> None:
    elsewhere = {Reason.FILE_TOO_LARGE, Reason.TARGET_EXISTS}
    assert {case.reason for case in CASES} | elsewhere == set(Reason)
    page_for_users = (Path(__file__).parents[2] / "docs" / "books.md").read_text(encoding="utf-8")
    assert [reason for reason in Reason if f"`{reason.value}`" not in page_for_users] == []


def test_a_file_inside_a_vbook_may_not_be_endless(tmp_path: Path) -> None:
    source = vbook({})(tmp_path)
    with (source / "bible.json").open("wb") as file:
        file.truncate(64 * 2**20 + 1)
    with pytest.raises(BookError) as caught:
        load(source)
    assert caught.value.reason is Reason.FILE_TOO_LARGE
    assert caught.value.message == "v/bible.json is longer than the 64 MiB that are read."


STRANGE = {
    "characters of one": "a\n\nb\n\nc\n",
    "right to left and combining": "\u202bقال: «نعم.» ثم ذهب.\u202c é e\u0301 a\u0308 \u200d\n",
    "control characters": "One\x07two \x1b[31mthree.\x0c\n\nFour\x00".replace("\x00", ""),
    "only punctuation": "?!\n\n…\n\n“!”\n",
    "lines of Windows and old Macintosh": "One.\r\n\r\nTwo.\r\rThree.\r",
    "emoji": "👩‍👩‍👧 came. 🏳️‍🌈!\n",
}


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE.keys())
def test_strange_text_is_read_without_loss(text: str, tmp_path: Path) -> None:
    source = raw("b.txt", text.encode())(tmp_path)
    heard = "".join(unit.text for unit in load(source).units())
    readable = "".join(char if char.isprintable() or ord(char) > 159 else " " for char in text)
    assert "".join(heard.split()) == "".join(readable.split())


def test_text_in_utf_16_and_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    for encoding in ("utf-16", "utf-8-sig", "utf-32"):
        source = raw("b.txt", "Café.".encode(encoding))(tmp_path)
        assert [unit.text for unit in load(source).units()] == ["Café."]


def test_two_megabytes_in_one_paragraph_are_read_in_seconds(tmp_path: Path) -> None:
    sentence = "The quick brown fox jumped over the lazy dog, and “nothing” happened. "
    source = raw("b.txt", (sentence * 30_000).encode())(tmp_path)
    book = load(source)
    units = list(book.units())
    assert sum(len(unit.text) + 1 for unit in units) == len(sentence) * 30_000
    assert max(len(unit.text) for unit in units) <= 400


def refusal(source: Path) -> str:
    """What is said of a source; the empty text when it is a book."""
    try:
        assert load(source).chapters
    except BookError as error:
        return error.message
    return ""


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["b.txt", "b.md", "b.epub", "b.zip", "b"]))
def test_any_bytes_give_a_book_or_a_sentence(data: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / name
        source.write_bytes(data)
        assert refusal(source)[-1:] in ("", ".")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_damaged_epub_gives_a_book_or_a_sentence(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        docs = {"a.xhtml": page(f"<h1>A</h1>{TEXT}")}
        source = Epub(docs, nav=nav(link("a.xhtml", "A"))).write(Path(folder) / "b.epub")
        content = bytearray(source.read_bytes())
        for _ in range(data.draw(st.integers(1, 8))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        source.write_bytes(bytes(content[: data.draw(st.integers(1, len(content)))]))
        assert refusal(source)[-1:] in ("", ".")
