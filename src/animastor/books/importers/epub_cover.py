"""The cover picture of an EPUB; of a drawing that only frames a photograph, the photograph."""

from __future__ import annotations

import base64
import binascii
import re

from animastor.books.errors import BookError
from animastor.books.importers.epub_package import Item, Package, resolve
from animastor.books.importers.files import Files
from animastor.books.importers.markup import Event, events
from animastor.books.model import Cover

_RASTER = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_DATA = re.compile(r"data:(image/[a-z+]+);base64,(.*)", re.DOTALL)


def read_cover(files: Files, package: Package) -> Cover | None:
    """The cover that the package names, or the first picture of the page that it calls the cover; else None.

    A cover that cannot be read is no reason to refuse the book.
    """
    item = package.items.get(package.cover_id)
    page = package.references.get("cover", "")
    try:
        if item is not None and item.media_type in _RASTER:
            return Cover(item.media_type, files.read(item.path))
        if item is not None and (item.media_type == "image/svg+xml" or item.is_document):
            return _of_page(files, package, item.path) or _drawing(files, item)
        return _of_page(files, package, page) if page else None
    except BookError:
        return None


def _drawing(files: Files, item: Item) -> Cover | None:
    """A drawing itself, when it holds no photograph."""
    return Cover(item.media_type, files.read(item.path)) if item.media_type == "image/svg+xml" else None


def _of_page(files: Files, package: Package, path: str) -> Cover | None:
    """The first picture of a page or drawing that can be shown."""
    types = {item.path: item.media_type for item in package.items.values()}
    for event in events(files.read(path), files.where(path)):
        href = _picture(event)
        inside = _DATA.match(href)
        if inside and inside[1] in _RASTER:
            try:
                return Cover(inside[1], base64.b64decode(re.sub(r"\s+", "", inside[2]), validate=True))
            except binascii.Error:
                continue
        name, _ = resolve(path, href)
        if href and types.get(name) in _RASTER:
            return Cover(types[name], files.read(name))
    return None


def _picture(event: Event) -> str:
    """Where a picture element's picture is."""
    if event.kind != "open" or event.tag not in ("img", "image"):
        return ""
    return event.attributes.get("src") or event.attributes.get("href", "")
