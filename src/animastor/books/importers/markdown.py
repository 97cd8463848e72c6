"""Markdown (CommonMark with tables): its headings and rules are the structure, its marks are not read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from animastor.books.errors import BookError, Reason
from animastor.books.importers.encoding import decode_text
from animastor.books.importers.files import TEXT_LIMIT, read_file
from animastor.books.importers.structure import Block, block_of
from animastor.books.importers.text import assemble, file_book_id
from animastor.books.languages import guess, normalize
from animastor.books.model import Book, BookHead, BookId

_FRONT = re.compile(r"\A---[ \t]*\n((?:[A-Za-z][\w -]*:.*\n|[ \t#-].*\n|\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_FIELD = re.compile(r"^([A-Za-z][\w -]*):[ \t]*(.*)$", re.MULTILINE)
_TAG = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^>]*>", re.DOTALL | re.IGNORECASE)
_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
_RULE_TAG = re.compile(r"<hr\b[^>]*>", re.IGNORECASE)


def load_markdown(path: Path) -> Book:
    """The book in a Markdown file. Raises BookError."""
    text = decode_text(read_file(path, TEXT_LIMIT, path.name), path.name)
    if not text.strip():
        raise BookError(Reason.SOURCE_EMPTY, f"{path.name} is empty.")
    fields, body = front_matter(text.replace("\r\n", "\n").replace("\r", "\n"))
    blocks = parse_markdown(body)
    title = fields.get("title") or _only_title(blocks) or path.stem
    language = normalize(fields.get("language") or fields.get("lang", "")) or guess(body)
    head = BookHead(BookId(file_book_id(path)), title, fields.get("author", ""), language)
    return assemble(path, blocks, head, "markdown")


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """The `key: value` lines between `---` at the start of a file, by key in lower case, and the text behind them."""
    match = _FRONT.match(text)
    if match is None or not _FIELD.search(match[1]):
        return {}, text
    fields = {key.strip().lower(): value.strip().strip("\"'") for key, value in _FIELD.findall(match[1])}
    return fields, text[match.end() :]


def parse_markdown(text: str) -> list[Block]:
    """The blocks of a Markdown text."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    blocks: list[Block] = []
    row: list[str] = []
    for at, token in enumerate(tokens):
        if token.type == "hr":
            blocks.append(Block("break"))
        elif token.type == "inline":
            opened = tokens[at - 1]
            content = _inline(token.children or [])
            if opened.type in ("td_open", "th_open"):
                row.append(content)
            elif content:
                heading = opened.type == "heading_open"
                blocks.append(Block("heading", content, int(opened.tag[1])) if heading else block_of(content))
        elif token.type == "tr_close":
            blocks.extend(block_of(line) for line in [" ".join(filter(None, row))] if line)
            row = []
        else:
            blocks.extend(_literal(token))
    return blocks


def _literal(token: Token) -> Iterator[Block]:
    """The blocks of code, and of HTML without its tags."""
    if token.type in ("fence", "code_block") and token.content.strip():
        yield block_of(token.content.strip("\n"))
    if token.type == "html_block":
        for at, part in enumerate(_RULE_TAG.split(token.content)):
            if at:
                yield Block("break")
            text = _TAG.sub(" ", _BREAK_TAG.sub("\n", part)).strip()
            if text:
                yield block_of(text)


def _inline(children: Sequence[Token]) -> str:
    """The text of a line of Markdown: emphasis and links without their marks; pictures have none."""
    parts: list[str] = []
    for child in children:
        if child.type in ("text", "code_inline", "text_special"):
            parts.append(child.content)
        elif child.type == "hardbreak" or (child.type == "html_inline" and _BREAK_TAG.fullmatch(child.content)):
            parts.append("\n")
        elif child.type == "softbreak":
            parts.append(" ")
    return "\n".join(" ".join(line.split()) for line in "".join(parts).split("\n")).strip()


def _only_title(blocks: Sequence[Block]) -> str:
    """The one heading of the first level, if there is one."""
    titles = [block.text for block in blocks if block.kind == "heading" and block.level == 1]
    return titles[0] if len(titles) == 1 else ""
