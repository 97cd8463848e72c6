"""Plain text: paragraphs, headings and scene breaks from the shape of lines.

A heading is a short line by itself: numbered, in capitals, underlined, or set off by two blank lines. Which words
it has is not looked at. The first line of the file, by itself, is the title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from animastor.books.errors import BookError, Reason
from animastor.books.identifiers import is_valid, short_hash, slug
from animastor.books.importers.encoding import decode_text
from animastor.books.importers.files import TEXT_LIMIT, read_file
from animastor.books.importers.structure import Block, Builder, block_of, divide, is_break
from animastor.books.languages import guess
from animastor.books.model import Book, BookHead, BookId

UNWRAPPED = 100  # characters; files with longer lines have one paragraph a line
VERSE = 45  # characters; paragraphs of shorter lines keep them
HEADING = 80  # characters of a heading at most
_NUMBER = r"(?:\d{1,4}|[IVXLCDM]{1,8})"
_NUMBERED = re.compile(rf"(?:[^\W\d_]+\s+)?{_NUMBER}(?:\s*[.:—–-]+\s*\S.{{0,60}}|\.)?")
_NUMBERED_CJK = re.compile(
    r"(?:第[\d０-９一二三四五六七八九十百千〇零]+[^\s。]{1,2}(?:\s.*)?|[一二三四五六七八九十百]+)"
)
_RULE = re.compile(r"(=|-){3,}\s*")
_ENDS_SENTENCE = re.compile(r"[.!?,;:…。！？、，；：\"”’»」』]$")
_QUOTED = re.compile(r"[\"“‘'„«「『—–-]")
_CJK = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class _Group:
    """Lines between blank lines, and how many of those stand before and whether one stands after."""

    lines: list[str]
    before: int
    first: bool


def load_text(path: Path) -> Book:
    """The book in a plain text file. Raises BookError."""
    text = decode_text(read_file(path, TEXT_LIMIT, path.name), path.name)
    if not text.strip():
        raise BookError(Reason.SOURCE_EMPTY, f"{path.name} is empty.")
    blocks = parse_text(text)
    title = next((block.text for block in blocks if block.kind == "heading" and block.level == 1), "")
    head = BookHead(BookId(file_book_id(path)), title or path.stem, language=guess(text))
    return assemble(path, blocks, head, "text")


def assemble(path: Path, blocks: list[Block], head: BookHead, source: str) -> Book:
    """The book of a file that consists of blocks. Raises BookError (`book_without_text`)."""
    builder = Builder(head.language)
    chapters = builder.chapters(divide(blocks))
    if not chapters:
        raise BookError(Reason.BOOK_WITHOUT_TEXT, f"{path.name} has no text to read aloud.")
    head = replace(head, title=" ".join(head.title.split()), characters=builder.characters())
    return Book(head, chapters, source=source)


def file_book_id(path: Path) -> str:
    """The id of a book that is known by its file's name: the name itself where that is a valid id."""
    if is_valid(path.name):
        return path.name
    return f"{slug(path.stem) or 'book'}-{short_hash(path.name)}"


def parse_text(text: str) -> list[Block]:
    """The blocks of a plain text."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    filled = [line for line in lines if line]
    unwrapped = 20 * sum(len(line) > UNWRAPPED for line in filled) >= len(filled)
    blocks: list[Block] = []
    for group in _groups(lines):
        blocks.extend(_blocks(group, unwrapped=unwrapped))
    return _joined_headings(blocks)


def _groups(lines: list[str]) -> Iterator[_Group]:
    """Runs of lines that are not blank; a scene break is a run of its own."""
    run: list[str] = []
    blank, before, first = 0, 0, True
    for line in [*lines, ""]:
        separates = not line.strip() or (is_break(line) and not (run and _RULE.fullmatch(line)))
        if run and separates:
            yield _Group(run, before, first)
            run, first, blank = [], False, 0
        if not line.strip():
            blank += 1
        elif separates:
            yield _Group([line], blank, first)
            blank = 0
        else:
            before = before if run else blank
            run.append(line)


def _blocks(group: _Group, *, unwrapped: bool) -> Iterator[Block]:
    """The blocks of one run of lines."""
    lines = group.lines
    if len(lines) >= 2 and _RULE.fullmatch(lines[1]) and len(lines[0]) <= HEADING:
        yield Block("heading", lines[0].strip(), 1 if lines[1][0] == "=" else 2)
        lines = lines[2:]
    elif len(lines) == 1 and (level := _heading_level(lines[0].strip(), group)):
        yield Block("heading", lines[0].strip(), level)
        return
    elif len(lines) > 1 and _is_numbered(lines[0].strip()):
        yield Block("heading", lines[0].strip(), 2)
        lines = lines[1:]
    for paragraph in _paragraphs(lines, unwrapped=unwrapped):
        yield Block("heading", paragraph, 2) if unwrapped and _is_numbered(paragraph) else block_of(paragraph)


def _is_numbered(line: str) -> bool:
    """Whether a line is a number, or a word and a number, with or without a title behind it."""
    return len(line) <= HEADING and (_NUMBERED.fullmatch(line) or _NUMBERED_CJK.fullmatch(line)) is not None


def _heading_level(line: str, group: _Group) -> int:
    """1 for the title, 2 for another heading, 0 for a line of text."""
    if len(line) > HEADING or is_break(line) or not any(char.isalnum() for char in line):
        return 0
    if _is_numbered(line):
        return 2
    if _ENDS_SENTENCE.search(line) or _QUOTED.match(line):
        return 0
    if group.first:
        return 1
    capitals = sum(char.isupper() for char in line) > 1 and not any(char.islower() for char in line)
    return 2 if capitals or (group.before >= 2 and not line[0].islower()) else 0


def _paragraphs(lines: list[str], *, unwrapped: bool) -> Iterator[str]:
    """The paragraphs of a run: a line each, or lines up to the next indented one."""
    if unwrapped:
        yield from (line.strip() for line in lines)
        return
    indented = [line[:1] in " \t\u3000" for line in lines]
    run: list[str] = []
    for line, is_indented in zip(lines, indented, strict=True):
        if run and is_indented and not all(indented):
            yield _joined(run)
            run = []
        run.append(line.strip())
    if run:
        yield _joined(run)


def _joined(lines: list[str]) -> str:
    """The lines of a paragraph: kept where they are verse, else as one."""
    if len(lines) > 1 and max(map(len, lines)) <= VERSE and not _CJK.match(lines[0]):
        return "\n".join(lines)
    text = lines[0]
    for line in lines[1:]:
        text += line if _CJK.match(text[-1]) and _CJK.match(line) else f" {line}"
    return text


def _joined_headings(blocks: list[Block]) -> list[Block]:
    """Headings of one level that follow one another are one heading and its subtitle: text has no levels of its own."""
    out: list[Block] = []
    for block in blocks:
        joins = bool(out) and block.kind == "heading" == out[-1].kind and block.level == out[-1].level
        out.append(Block("heading", block.text, block.level, joins=True) if joins else block)
    return out
