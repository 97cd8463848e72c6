"""Reading a source: what kind it is, by its content and then its name, and its book."""

from __future__ import annotations

from pathlib import Path

from animastor.books.errors import BookError, Reason
from animastor.books.formats import IMPORT_FORMAT
from animastor.books.importers.epub import load_epub
from animastor.books.importers.epub_package import CONTAINER
from animastor.books.importers.files import Archive, Folder, open_archive, unreadable
from animastor.books.importers.text import load_text
from animastor.books.importers.vbook import MANIFEST, load_vbook
from animastor.books.model import Book

__all__ = ["IMPORT_FORMAT", "load"]

_ZIP_MAGIC = b"PK"
_TEXT = frozenset({"", ".txt", ".text"})
_MARKDOWN = frozenset({".md", ".markdown", ".mdown"})
_KINDS = "a vbook folder or zip, an EPUB, Markdown (.md) or plain text (.txt)"


def load(source: Path) -> Book:
    """The book in a vbook folder or zip, an EPUB, a Markdown or a plain text file.

    Only reads, and only into memory. Raises BookError with a stable reason and one clear sentence.
    """
    try:
        if source.is_dir():
            return _load_folder(source)
        if not source.exists():
            raise BookError(Reason.SOURCE_MISSING, f"{source} does not exist.")
        magic = _read_head(source)
    except OSError as error:
        raise unreadable(source, error) from None
    if not magic:
        raise BookError(Reason.SOURCE_EMPTY, f"{source.name} is empty.")
    suffix = source.suffix.lower()
    if magic == _ZIP_MAGIC or suffix in (".epub", ".zip", ".vbook"):
        with open_archive(source) as archive:
            return _load_archive(archive, source)
    if suffix in _MARKDOWN:
        from animastor.books.importers.markdown import load_markdown

        return load_markdown(source)
    if suffix in _TEXT:
        return load_text(source)
    raise BookError(Reason.SOURCE_UNKNOWN, f"{source.name} is no kind of book that is read: give {_KINDS}.")


def _read_head(source: Path) -> bytes:
    """The first two bytes of a file. Raises BookError when it is no ordinary file."""
    if not source.is_file():
        raise BookError(Reason.SOURCE_UNREADABLE, f"{source.name} is neither a file nor a folder.")
    with source.open("rb") as file:
        return file.read(2)


def _load_folder(source: Path) -> Book:
    folder = Folder(source)
    if not (source / MANIFEST).is_file():
        raise BookError(Reason.SOURCE_UNKNOWN, f"{source.name} is a folder without {MANIFEST}, so that it is no vbook.")
    return load_vbook(folder, source)


def _load_archive(archive: Archive, source: Path) -> Book:
    names = archive.names()
    manifests = sorted((name for name in names if name.rpartition("/")[2] == MANIFEST), key=len)
    is_epub = CONTAINER in names or "mimetype" in names or source.suffix.lower() == ".epub"
    if is_epub or (not manifests and any(name.endswith(".opf") for name in names)):
        return load_epub(archive, source)
    if not manifests:
        message = f"{source.name} is a zip with neither {MANIFEST} nor {CONTAINER}, so that it is no book."
        raise BookError(Reason.SOURCE_UNKNOWN, message)
    return load_vbook(archive, source, manifests[0][: -len(MANIFEST)])
