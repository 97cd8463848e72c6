"""EPUB 2 and 3: the documents of the spine in order, divided by the navigation (docs/books.md says what is heard)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from animastor.books.errors import BookError, Reason
from animastor.books.identifiers import short_hash, slug
from animastor.books.importers.epub_chapters import divide_documents
from animastor.books.importers.epub_cover import read_cover
from animastor.books.importers.epub_document import Document, read_document
from animastor.books.importers.epub_navigation import Navigation, read_navigation
from animastor.books.importers.epub_package import Package, check_protection, read_package
from animastor.books.importers.files import Files
from animastor.books.importers.markup import events
from animastor.books.importers.structure import Builder, Section
from animastor.books.importers.text import file_book_id
from animastor.books.languages import guess, normalize
from animastor.books.model import Book, BookHead, BookId

_TOC_LINKS = 0.8  # a page that is marked as table of contents and has this share of links is one


def load_epub(files: Files, path: Path) -> Book:
    """The book in an EPUB. Raises BookError."""
    package = read_package(files, path.name)
    nav, toc = package.nav(), package.toc
    needed = {item.path for item in (*package.spine, nav, toc) if item is not None}
    check_protection(files, frozenset(needed | {package.path}), path.name)
    navigation = read_navigation(files, package)
    documents = _documents(files, package, navigation)
    sections = divide_documents(documents, navigation.entries)
    language = package.language or _language(documents, sections)
    builder = Builder(language)
    chapters = builder.chapters(sections)
    if not chapters:
        raise _without_text(path, documents)
    head = BookHead(
        _book_id(package, path),
        package.title or path.stem,
        package.author,
        language,
        characters=builder.characters(),
        identifier=package.identifier,
    )
    return Book(head, chapters, read_cover(files, package), source="epub")


def _documents(files: Files, package: Package, navigation: Navigation) -> dict[str, Document]:
    """The documents that are read aloud, in order; not the navigation, nor a page that only shows contents."""
    nav = package.nav()
    targets = frozenset(entry.fragment for entry in navigation.entries if entry.fragment)
    found: dict[str, Document] = {}
    for item in package.spine:
        if item.media_type.startswith("image/") and not item.is_document:
            found[item.path] = Document((), {}, pictures=1)
        if not item.is_document or item.path in found or (nav is not None and item.path == nav.path):
            continue
        if item.path not in files.names():
            message = f"{files.where(package.path)} lists {item.path} in its spine, which is not in the archive."
            raise BookError(Reason.DOCUMENT_MISSING, message)
        document = read_document(events(files.read(item.path), files.where(item.path)), targets)
        if not (item.path in navigation.toc_pages and document.linked >= _TOC_LINKS):
            found[item.path] = document
    return found


def _language(documents: Mapping[str, Document], sections: list[Section]) -> str:
    """The language when the package does not tell: the documents' own, else a guess from the text."""
    declared = (normalize(document.language) for document in documents.values())
    text = "\n".join(block.text for section in sections for block in section.blocks[:50])
    return next(filter(None, declared), "") or guess(text)


def _book_id(package: Package, path: Path) -> BookId:
    """An id that is readable, and the same for each copy of a book: from its title and its identifier."""
    if not package.identifier:
        return BookId(file_book_id(path))
    return BookId(f"{slug(package.title) or 'book'}-{short_hash(package.identifier)}")


def _without_text(path: Path, documents: Mapping[str, Document]) -> BookError:
    pictures = sum(document.pictures for document in documents.values())
    if pictures:
        message = f"{path.name} consists of pictures ({pictures}) without text, so that nothing can be read aloud."
        return BookError(Reason.PICTURES_ONLY, message)
    return BookError(Reason.BOOK_WITHOUT_TEXT, f"{path.name} has no text to read aloud.")
