"""One content document of an EPUB as blocks of text, with the places that its ids name.

What a listener should not hear is left out: page numbers and note references that are marked as such, the reading of
ruby characters, titles and descriptions of drawings, what a media player shows when it cannot play, and hidden parts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from animastor.books.importers.markup import Event
from animastor.books.importers.structure import Block, block_of

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCK_NAMES = (
    "html body address article aside blockquote caption center dd details dialog dir div dl dt fieldset figcaption "
    "figure footer form header hgroup hr li main menu nav ol p pre section summary table tbody text thead tfoot tr ul"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split()) | frozenset(_HEADINGS)
_SILENT_NAMES = "head script style template rt rp rtc audio video canvas iframe"
_SILENT = frozenset(_SILENT_NAMES.split())
_NO_LINES = frozenset({"li", "tr", "dt", "dd"})
_SENTENCE_ENDS = frozenset(".!?…:。！？")
_SILENT_IN_DRAWINGS = frozenset({"title", "desc", "metadata", "defs", "annotation", "annotation-xml"})
_PAGE_MARKS = frozenset({"pagebreak", "doc-pagebreak"})
_NOTE_MARKS = frozenset({"noteref", "doc-noteref"})
_LINE = "\u2028"  # stands for a line break that the document orders, until a block is complete
_SPACES = re.compile("[ \t\r\n\f]+")
_PARAGRAPHS = re.compile(rf"{_LINE}(?:[ \t\r\n\f\u00a0]*{_LINE})+")
_VERSE_LINE = 80  # characters; longer lines are no verse
_VERSE_LEAST = 3  # lines


@dataclass(frozen=True, slots=True)
class Document:
    """The blocks of a document, and for each id the block that it stands before or in.

    `linked` is the share of the text that is links, `pictures` how many pictures it shows, `title` what its head says.
    """

    blocks: Sequence[Block]
    anchors: Mapping[str, int]
    linked: float = 0.0
    pictures: int = 0
    title: str = ""
    language: str = ""


@dataclass(slots=True)
class _Open:
    """A block element that is open. `level` is that of the heading it belongs to, `owner` tells headings apart."""

    tag: str
    look: str
    serial: int
    level: int
    owner: int


@dataclass(frozen=True, slots=True)
class _Line:
    """A block with what tells verse from prose: the element that holds it and how it is marked."""

    block: Block
    parent: int
    look: str
    owner: int


def read_document(events: Iterable[Event], targets: Collection[str] = ()) -> Document:
    """The document that these events make; `targets` are the ids that the navigation points to."""
    known = list(events)
    reader = _Reader()
    for event in heard(known):
        reader.take(event)
    blocks, anchors = reader.finish(targets)
    pictures = sum(event.kind == "open" and event.tag in ("img", "image", "svg", "object") for event in known)
    language = next((event.attributes.get("lang", "") for event in known if event.tag == "html"), "")
    return Document(blocks, anchors, reader.linked_share(), pictures, _head_title(known), language)


def heard(events: Iterable[Event]) -> Iterator[Event]:
    """The events without the parts that are not read aloud; of those, only the elements themselves are left."""
    drawing = 0
    pending = iter(events)
    for event in pending:
        drawing += (event.tag in ("svg", "math")) * (1 if event.kind == "open" else -1 if event.kind == "close" else 0)
        if event.kind != "open":
            yield event
        elif _is_silent(event, in_drawing=drawing > 0):
            yield event._replace(tag="span")
            _rest(pending)
            drawing -= event.tag in ("svg", "math")
            yield Event("close", "span")
        elif _roles(event) & _NOTE_MARKS:
            yield event
            inner = _rest(pending)
            if any(char.isalpha() for item in inner for char in item.text):
                yield from inner[:-1]
            yield inner[-1]
        else:
            yield event


def _rest(events: Iterator[Event]) -> list[Event]:
    """The events of an element that has opened, up to its end."""
    taken, depth = [], 1
    for event in events:
        taken.append(event)
        depth += 1 if event.kind == "open" else -1 if event.kind == "close" else 0
        if not depth:
            break
    return taken


def _is_silent(event: Event, *, in_drawing: bool) -> bool:
    """Whether an element, with all that is in it, is not read aloud."""
    if event.tag in _SILENT or (in_drawing and event.tag in _SILENT_IN_DRAWINGS):
        return True
    return "hidden" in event.attributes or bool(_roles(event) & _PAGE_MARKS)


def _roles(event: Event) -> set[str]:
    """What an element is marked to be, by `epub:type` and `role`."""
    attributes = event.attributes
    if "role" not in attributes and "type" not in attributes:
        return set()
    return {*attributes.get("type", "").lower().split(), *attributes.get("role", "").lower().split()}


def _head_title(events: Sequence[Event]) -> str:
    """The text of the title element in the head."""
    inside = ""
    for event in events:
        if event.tag == "body":
            break
        if event.tag == "title":
            inside = "title" if event.kind == "open" else ""
        elif event.kind == "text" and inside:
            return " ".join(event.text.split())
    return ""


class _Reader:
    """Collects blocks from the events that are heard."""

    def __init__(self) -> None:
        self._lines: list[_Line] = []
        self._anchors: dict[str, int] = {}
        self._buffer: list[str] = []
        self._open = [_Open("", "", 0, 0, 0)]
        self._serial = 0
        self._links = self._preformatted = 0
        self._heard = self._linked = 0

    def take(self, event: Event) -> None:
        """One event more."""
        if event.kind == "text":
            self._take_text(event.text)
        elif event.kind == "open":
            self._enter(event)
        else:
            self._leave(event.tag)

    def linked_share(self) -> float:
        """The share of the text that is links."""
        return self._linked / self._heard if self._heard else 0.0

    def finish(self, targets: Collection[str]) -> tuple[list[Block], dict[str, int]]:
        """The blocks, and for each id the index of the block it stands before or in."""
        self._flush()
        blocks, places = _with_verse(self._lines, {at for name, at in self._anchors.items() if name in targets})
        return blocks, {name: places[at] for name, at in self._anchors.items()}

    def _take_text(self, text: str) -> None:
        self._buffer.append(text.replace("\r\n", "\n").replace("\n", _LINE) if self._preformatted else text)
        size = len(text.strip())
        self._heard += size
        self._linked += size if self._links else 0

    def _enter(self, event: Event) -> None:
        tag = event.tag
        if tag in _BLOCKS:
            self._enter_block(event)
        elif tag == "br":
            self._buffer.append(_LINE)
        elif tag in ("td", "th"):
            self._buffer.append(" ")
        self._links += tag == "a" and "href" in event.attributes
        self._preformatted += tag == "pre"
        for name in ("id", "name"):
            if name in event.attributes and (name == "id" or tag == "a"):
                self._anchors.setdefault(event.attributes[name], len(self._lines))

    def _enter_block(self, event: Event) -> None:
        self._flush()
        self._serial += 1
        tag, parent = event.tag, self._open[-1]
        level = _HEADINGS.get(tag, 0) or _aria_level(event) or parent.level
        inherits = parent.level or parent.tag == "hgroup"
        owner = parent.owner if inherits else self._serial
        if parent.tag == "hgroup":
            parent.level = level
        self._open.append(_Open(tag, f"{tag} {event.attributes.get('class', '')}", self._serial, level, owner))

    def _leave(self, tag: str) -> None:
        self._links -= tag == "a" and self._links > 0
        self._preformatted -= tag == "pre" and self._preformatted > 0
        if tag in ("td", "th"):
            self._buffer.append(" ")
        if tag in _BLOCKS:
            self._flush()
            if tag == "hr":
                self._lines.append(_Line(Block("break"), 0, "hr", 0))
            if len(self._open) > 1:
                self._open.pop()

    def _flush(self) -> None:
        """Ends the block that has been collected."""
        text, self._buffer = "".join(self._buffer), []
        here = self._open[-1]
        parent = self._open[-2].serial if len(self._open) > 1 else 0
        for part in _PARAGRAPHS.split(text):
            lines = [_SPACES.sub(" ", line).strip() for line in part.split(_LINE)]
            content = "\n".join(lines).strip()
            if not content:
                continue
            joins = (
                bool(self._lines) and self._lines[-1].block.kind == "heading" and self._lines[-1].owner == here.owner
            )
            block = Block("heading", content, here.level, joins) if here.level else block_of(content)
            self._lines.append(_Line(block, parent, here.look, here.owner))


def _aria_level(event: Event) -> int:
    """The level of an element that is a heading by its role; 0 if it is none."""
    if event.attributes.get("role") != "heading":
        return 0
    level = event.attributes.get("aria-level", "2")
    return int(level) if level in "123456" and level else 2


def _with_verse(lines: Sequence[_Line], stops: Collection[int]) -> tuple[list[Block], list[int]]:
    """The blocks with each stanza as one, and where each line went (one place more than there are lines).

    No stanza goes across a line in `stops`.
    """
    blocks: list[Block] = []
    places: list[int] = []
    passed = list(accumulate(at in stops for at in range(len(lines))))
    numbered = zip(lines, passed, strict=True)
    for _, group in groupby(numbered, key=lambda pair: (pair[0].parent, pair[0].look, pair[0].block.kind, pair[1])):
        run = [line for line, _ in group]
        if _is_verse(run):
            places.extend([len(blocks)] * len(run))
            blocks.append(Block("paragraph", "\n".join(line.block.text for line in run)))
        else:
            places.extend(range(len(blocks), len(blocks) + len(run)))
            blocks.extend(line.block for line in run)
    return blocks, [*places, len(blocks)]


def _is_verse(run: Sequence[_Line]) -> bool:
    """Whether lines of one element that are marked alike are a stanza: short, and few of them end a sentence."""
    if len(run) < _VERSE_LEAST or run[0].block.kind != "paragraph" or run[0].look.split(" ", 1)[0] in _NO_LINES:
        return False
    texts = [line.block.text for line in run]
    if any(len(text) > _VERSE_LINE for text in texts):
        return False
    ended = sum(text.rstrip("\"'”’»)")[-1:] in _SENTENCE_ENDS for text in texts)
    return ended * 10 <= len(texts) * 7
