"""From bytes to characters: byte order marks, declared encodings, and a clear refusal of what is broken."""

from __future__ import annotations

import codecs
import re

from animastor.books.errors import BookError, Reason

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_XML_DECLARED = re.compile(rb"^\s*<\?xml[^>]*?\bencoding\s*=\s*[\"']([A-Za-z0-9._:-]+)[\"']")
_META_DECLARED = re.compile(rb"<meta[^>]*?\bcharset\s*=\s*[\"']?([A-Za-z0-9._:-]+)", re.IGNORECASE)
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def decode_text(data: bytes, where: str) -> str:
    """The characters of a text file: by its byte order mark, else UTF-8.

    Control characters are read as white space. Raises BookError (`encoding_broken`, `not_text`).
    """
    encoding, skip = _marked(data) or ("utf-8", 0)
    if encoding == "utf-8" and b"\x00" in data:
        raise BookError(Reason.NOT_TEXT, f"{where} is not a text file: byte {data.index(0)} is zero.")
    return without_controls(_decode(data, encoding, skip, where))


def decode_markup(data: bytes, where: str) -> str:
    """The characters of an XML or HTML document: by its byte order mark, its declaration, else UTF-8.

    Raises BookError (`encoding_broken`, `encoding_unknown`).
    """
    marked = _marked(data)
    if marked:
        return without_controls(_decode(data, *marked, where))
    head = data[:2048]
    if head[:2] in (b"<\x00", b"\x00<"):
        return without_controls(_decode(data, "utf-16-le" if head[0] else "utf-16-be", 0, where))
    declared = _XML_DECLARED.search(head) or _META_DECLARED.search(head)
    name = declared[1].decode("ascii") if declared else "utf-8"
    try:
        encoding = codecs.lookup(name).name
    except LookupError:
        message = f"{where} declares the encoding {name}, which is not known."
        raise BookError(Reason.ENCODING_UNKNOWN, message) from None
    return without_controls(_decode(data, "cp1252" if encoding in ("iso8859-1", "ascii") else encoding, 0, where))


def without_controls(text: str) -> str:
    """The text with control characters, which nobody can read, as spaces; line ends are kept."""
    return _CONTROLS.sub(" ", text)


def _marked(data: bytes) -> tuple[str, int] | None:
    """The encoding that a byte order mark tells, and the mark's length."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding, len(mark)
    return None


def _decode(data: bytes, encoding: str, skip: int, where: str) -> str:
    try:
        return data[skip:].decode(encoding)
    except UnicodeDecodeError as error:
        name = encoding.upper()
        message = f"{where} is not valid {name}: byte {skip + error.start} cannot be read."
        raise BookError(Reason.ENCODING_BROKEN, message) from None
    except (ValueError, LookupError):
        message = f"{where} declares the encoding {encoding}, which is not one of text."
        raise BookError(Reason.ENCODING_UNKNOWN, message) from None
