"""EPUBs for tests, made in memory: only what a test says differs from a small, valid book."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CONTAINER = (
    '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
    '<rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def page(body: str, title: str = "", head: str = "") -> str:
    """An XHTML document with this body."""
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>{title}</title>{head}</head><body>{body}</body></html>'
    )


def nav(items: str, kind: str = "toc") -> str:
    """A navigation document with these list items."""
    return page(f'<nav epub:type="{kind}"><h1>Contents</h1><ol>{items}</ol></nav>')


def link(href: str, label: str, inner: str = "") -> str:
    """An item of a table of contents."""
    return f'<li><a href="{href}">{label}</a>{f"<ol>{inner}</ol>" if inner else ""}</li>'


def ncx(points: str) -> str:
    """An NCX with these points."""
    return f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{points}</navMap></ncx>'


def point(src: str, label: str, inner: str = "") -> str:
    """A point of an NCX."""
    return f'<navPoint><navLabel><text>{label}</text></navLabel><content src="{src}"/>{inner}</navPoint>'


@dataclass
class Epub:
    """A book to be written. `docs` are XHTML documents by file name, in spine order unless `spine` says otherwise."""

    docs: Mapping[str, str | bytes]
    nav: str = ""
    ncx: str = ""
    spine: Sequence[str] | None = None
    itemrefs: str = ""
    items: str = ""
    guide: str = ""
    metadata: str = (
        "<dc:title>A Book</dc:title><dc:creator>An Author</dc:creator><dc:language>en</dc:language>"
        '<dc:identifier id="uid">urn:test:1</dc:identifier>'
    )
    container: str | None = CONTAINER
    opf: str | None = None
    files: Mapping[str, str | bytes] = field(default_factory=dict)

    def package(self) -> str:
        """The package document."""
        items = "".join(f'<item id="{n}" href="{n}" media-type="application/xhtml+xml"/>' for n in self.docs)
        items += '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>' * bool(
            self.nav
        )
        items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>' * bool(self.ncx)
        refs = "".join(f'<itemref idref="{name}"/>' for name in (self.docs if self.spine is None else self.spine))
        return (
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="uid">'
            f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{self.metadata}</metadata>'
            f'<manifest>{items}{self.items}</manifest><spine toc="ncx">{self.itemrefs or refs}</spine>'
            f"{self.guide}</package>"
        )

    def write(self, path: Path) -> Path:
        """The file, written."""
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
            if self.container is not None:
                archive.writestr("META-INF/container.xml", self.container)
            if self.opf != "":
                archive.writestr("OPS/book.opf", self.opf or self.package())
            for name, text in self.docs.items():
                archive.writestr(f"OPS/{name}", text)
            for name, text in (("OPS/nav.xhtml", self.nav), ("OPS/toc.ncx", self.ncx), *self.files.items()):
                if text:
                    archive.writestr(name, text)
        return path
