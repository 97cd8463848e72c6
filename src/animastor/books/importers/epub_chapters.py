"""From the documents of an EPUB and its navigation to chapters.

Each visible entry of the table of contents opens a chapter where it leads. A document that no entry leads to opens one
when it begins with a heading like those of the chapters, else it goes on with the chapter before. Without a table of
contents, the headings divide the book.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from animastor.books.importers.epub_document import Document
from animastor.books.importers.epub_navigation import Entry
from animastor.books.importers.structure import Block, Section, divide, sections, title_of
from animastor.books.languages import script

_LABEL_PARAGRAPHS = 4  # paragraphs at the start of a chapter that may together be what the navigation calls it


@dataclass(slots=True)
class _Flat:
    """All blocks of a book in a row, and where each document has its part."""

    blocks: list[Block] = field(default_factory=list)
    parts: dict[str, tuple[int, int]] = field(default_factory=dict)


def divide_documents(documents: Mapping[str, Document], entries: Sequence[Entry]) -> list[Section]:
    """The chapters of documents that are given in reading order, by name."""
    flat = _Flat()
    for path, document in documents.items():
        start = len(flat.blocks)
        flat.blocks.extend(document.blocks)
        flat.parts[path] = (start, len(flat.blocks))
    leading = [entry for entry in entries if entry.path in documents]
    by_headings = divide(flat.blocks, [start for start, end in flat.parts.values() if end > start])
    one_place = len({(entry.path, entry.fragment) for entry in leading}) < 2
    if not leading or (one_place and len(by_headings) > 1):
        return _titled(by_headings, documents, flat)
    labels = _places(leading, documents, flat)
    _mark_headings(flat, labels)
    starts = labels | _uncovered(flat, labels)
    titles = {at: _title(label, flat.blocks[at:]) for at, label in starts.items()}
    return sections(flat.blocks, titles)


def _places(entries: Sequence[Entry], documents: Mapping[str, Document], flat: _Flat) -> dict[int, str]:
    """The block at which each entry opens a chapter, with its label. Of entries for one place the deepest counts."""
    found: dict[int, tuple[str, Entry]] = {}
    for entry in entries:
        start, end = flat.parts[entry.path]
        known = documents[entry.path].anchors
        at = start + (known.get(entry.fragment, 0) if entry.fragment else 0)
        if start == end or at >= len(flat.blocks):
            continue  # a page without text, or a place behind all text
        at = _before_headings(flat.blocks, at, start, found)
        missing = bool(entry.fragment) and entry.fragment not in known
        held = found.get(at)
        if held is None or (not missing and entry.depth > held[1].depth):
            found[at] = (entry.label, entry)
    return {at: label for at, (label, _) in sorted(found.items())}


def _before_headings(blocks: Sequence[Block], at: int, start: int, taken: Mapping[int, object]) -> int:
    """The start of the headings directly before a place, which belong to it; as far as no other entry has them."""
    while at > start and at not in taken and at - 1 not in taken and blocks[at - 1].kind == "heading":
        at -= 1
    return at


def _uncovered(flat: _Flat, labels: Mapping[int, str]) -> dict[int, str]:
    """Chapters that the navigation does not name: documents that begin with a heading as the named ones do."""
    levels = [flat.blocks[at].level for at in labels if flat.blocks[at].kind == "heading"]
    first = min(labels, default=0)
    starts: dict[int, str] = {}
    for start, end in flat.parts.values():
        if start == end or start in labels or flat.blocks[start].kind != "heading":
            continue
        if start < first or flat.blocks[start].level <= max(levels, default=0):
            starts[start] = ""
    return starts


def _mark_headings(flat: _Flat, labels: Mapping[int, str]) -> None:
    """Makes headings of paragraphs that say at the start of a chapter just what the navigation calls it."""
    for at, label in labels.items():
        wanted = _letters(label)
        said = ""
        for count, block in enumerate(flat.blocks[at : at + _LABEL_PARAGRAPHS], 1):
            said += _letters(block.text)
            if block.kind != "paragraph" or not wanted.startswith(said):
                break
            if said == wanted:
                for place in range(at, at + count):
                    flat.blocks[place] = replace(flat.blocks[place], kind="heading", level=2, joins=place > at)
                break


def _title(label: str, blocks: Sequence[Block]) -> str:
    """A chapter's title: the navigation's label, unless the text's own heading is in another script."""
    heading = title_of(blocks)
    if label and heading and script(label) != script(heading) and script(label) and script(heading):
        return heading
    return label or heading


def _titled(found: list[Section], documents: Mapping[str, Document], flat: _Flat) -> list[Section]:
    """Chapters without a heading, called as their documents' heads call them where these differ."""
    if any(block.kind == "heading" for block in flat.blocks):
        return found
    titles = [document.title for document in documents.values() if document.blocks]
    if len(titles) != len(found) or len(set(titles)) != len(titles):
        return found
    return [Section(title, section.blocks) for title, section in zip(titles, found, strict=True)]


def _letters(text: str) -> str:
    """The letters and digits of a text, in one case."""
    return "".join(char for char in text.casefold() if char.isalnum())
