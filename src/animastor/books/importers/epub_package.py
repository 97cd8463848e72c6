"""What an EPUB says of itself: container, package document, metadata, reading order, protection."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from lxml import etree

from animastor.books.errors import BookError, Reason
from animastor.books.importers.files import Files
from animastor.books.importers.markup import local, parse_xml
from animastor.books.languages import normalize

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
_DOCUMENTS = frozenset(
    {"application/xhtml+xml", "text/html", "application/xml", "text/x-oeb1-document", "image/svg+xml"}
)
# Obfuscated fonts are no protection of the text.
_FONT_ALGORITHMS = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})


@dataclass(frozen=True, slots=True)
class Item:
    """A file of the manifest; `path` is its name in the archive."""

    id: str
    path: str
    media_type: str
    properties: frozenset[str]
    fallback: str = ""

    @property
    def is_document(self) -> bool:
        """Whether it is a text that can be read."""
        return self.media_type in _DOCUMENTS


@dataclass(frozen=True, slots=True)
class Package:
    """The package document. `spine` holds the items in reading order that are read aloud, by their fallbacks."""

    path: str
    title: str
    author: str
    language: str
    identifier: str
    items: Mapping[str, Item]
    spine: Sequence[Item]
    toc: Item | None
    cover_id: str
    references: Mapping[str, str]  # of the guide: type -> path

    def nav(self) -> Item | None:
        """The navigation document of EPUB 3."""
        return next((item for item in self.items.values() if "nav" in item.properties), None)


def read_package(files: Files, source: str) -> Package:
    """The package document of an EPUB. Raises BookError."""
    path = _package_path(files, source)
    where = files.where(path)
    if path not in files.names():
        raise BookError(Reason.PACKAGE_MISSING, f"{source} names the package document {path}, which is not in it.")
    root = parse_xml(files.read(path), where)
    if root is None or local(root.tag) != "package":
        raise BookError(Reason.PACKAGE_BROKEN, f"{where} is no package document: it is not well-formed.")
    items = {item.id: item for item in _items(root, path)}
    spine = next(_children(root, "spine"), None)
    if spine is None:
        raise BookError(Reason.SPINE_MISSING, f"{where} has no spine, so that no reading order is known.")
    metadata = next(_children(root, "metadata"), etree.Element("metadata"))
    return Package(
        path=path,
        title=_title(metadata),
        author=_author(metadata),
        language=next(filter(None, (normalize(_text(tag)) for tag in _named(metadata, "language"))), ""),
        identifier=_identifier(metadata, root.get("unique-identifier", "")),
        items=items,
        spine=_spine(spine, items, where),
        toc=items.get(spine.get("toc", "")) or _ncx(items),
        cover_id=_cover_id(metadata, items),
        references=_references(root, path),
    )


def check_protection(files: Files, needed: frozenset[str], source: str) -> None:
    """Raises BookError (`drm`) when a file that is needed is encrypted."""
    if ENCRYPTION not in files.names():
        return
    root = parse_xml(files.read(ENCRYPTION), files.where(ENCRYPTION))
    for data in () if root is None else root.iter("{*}EncryptedData"):
        method = next(data.iter("{*}EncryptionMethod"), None)
        if method is not None and method.get("Algorithm") in _FONT_ALGORITHMS:
            continue
        for reference in data.iter("{*}CipherReference"):
            name = unquote(reference.get("URI", ""))
            if name in needed:
                message = f"{source} is protected by DRM: {name} is encrypted, so that it cannot be read."
                raise BookError(Reason.DRM, message)


def resolve(base: str, href: str) -> tuple[str, str]:
    """The name in the archive and the fragment that a reference in the file `base` points to."""
    path, _, fragment = href.strip().partition("#")
    path = unquote(path)
    name = posixpath.normpath(posixpath.join(posixpath.dirname(base), path)) if path else base
    return name, unquote(fragment)


def _package_path(files: Files, source: str) -> str:
    """The package document's name, by the container; an archive without one may hold a single package document."""
    if CONTAINER not in files.names():
        packages = [name for name in files.names() if name.endswith(".opf")]
        if len(packages) == 1:
            return packages[0]
        message = f"{source} has no {CONTAINER}, and {len(packages)} package documents (.opf), so that it is no EPUB."
        raise BookError(Reason.CONTAINER_MISSING, message)
    root = parse_xml(files.read(CONTAINER), files.where(CONTAINER))
    rootfiles = [] if root is None else [element.get("full-path", "") for element in root.iter("{*}rootfile")]
    path = next(filter(None, rootfiles), "")
    if not path:
        raise BookError(Reason.CONTAINER_BROKEN, f"{files.where(CONTAINER)} names no package document.")
    return posixpath.normpath(unquote(path))


def _items(root: etree._Element, path: str) -> Iterator[Item]:
    for manifest in _children(root, "manifest"):
        for element in _children(manifest, "item"):
            name, _ = resolve(path, element.get("href", ""))
            properties = frozenset(element.get("properties", "").split())
            kind = element.get("media-type", "").strip().lower()
            yield Item(element.get("id", ""), name, kind, properties, element.get("fallback", ""))


def _spine(spine: etree._Element, items: Mapping[str, Item], where: str) -> list[Item]:
    """The items that are read aloud: those that are not marked as beside the reading order, unless all are."""
    references = list(_children(spine, "itemref"))
    if not references:
        raise BookError(Reason.SPINE_EMPTY, f"{where} has an empty spine: no document is in the reading order.")
    found: list[tuple[Item, bool]] = []
    seen: set[str] = set()
    for reference in references:
        name = reference.get("idref", "")
        if name in seen:
            raise BookError(Reason.SPINE_REPEATS, f"{where} lists {name} twice in its spine.")
        if name not in items:
            message = f"{where} lists {name} in its spine, which is not in its manifest."
            raise BookError(Reason.SPINE_UNKNOWN_ITEM, message)
        seen.add(name)
        found.append((_readable(items[name], items, where), reference.get("linear", "yes") != "no"))
    linear = [item for item, is_linear in found if is_linear]
    return linear or [item for item, _ in found]


def _readable(item: Item, items: Mapping[str, Item], where: str) -> Item:
    """The item, or the document that it falls back to."""
    seen: set[str] = set()
    at = item
    while not at.is_document and at.fallback in items:
        if at.id in seen:
            raise BookError(Reason.FALLBACK_CYCLE, f"{where}: the fallbacks of {item.id} lead in a circle.")
        seen.add(at.id)
        at = items[at.fallback]
    return at if at.is_document else item


def _ncx(items: Mapping[str, Item]) -> Item | None:
    return next((item for item in items.values() if item.media_type == "application/x-dtbncx+xml"), None)


def _title(metadata: etree._Element) -> str:
    """The main title: the one that is said to be, else the first."""
    titles = list(_named(metadata, "title"))
    for title in titles:
        if _refinement(metadata, title, "title-type") == "main":
            return _text(title)
    return next(filter(None, map(_text, titles)), "")


def _author(metadata: etree._Element) -> str:
    """The creators who are authors, or of whom nothing else is said; else all of them."""
    creators = list(_named(metadata, "creator"))
    roles = [_refinement(metadata, creator, "role") or _attribute(creator, "role") for creator in creators]
    authors = [creator for creator, role in zip(creators, roles, strict=True) if role in ("", "aut")]
    return ", ".join(filter(None, map(_text, authors or creators)))


def _identifier(metadata: etree._Element, unique: str) -> str:
    """The identifier that the package calls its own, else the first."""
    identifiers = list(_named(metadata, "identifier"))
    own = [element for element in identifiers if element.get("id") == unique]
    return next(filter(None, map(_text, own + identifiers)), "")


def _cover_id(metadata: etree._Element, items: Mapping[str, Item]) -> str:
    """The id of the cover's picture: by its property in EPUB 3, by a meta element in EPUB 2."""
    for item in items.values():
        if "cover-image" in item.properties:
            return item.id
    named = (meta.get("content", "") for meta in _named(metadata, "meta") if meta.get("name") == "cover")
    return next(filter(None, named), "")


def _references(root: etree._Element, path: str) -> dict[str, str]:
    """The guide of EPUB 2: what kind of page is where."""
    found: dict[str, str] = {}
    for guide in _children(root, "guide"):
        for reference in _children(guide, "reference"):
            found.setdefault(reference.get("type", "").lower(), resolve(path, reference.get("href", ""))[0])
    return found


def _refinement(metadata: etree._Element, element: etree._Element, name: str) -> str:
    """What a meta element adds to another one."""
    wanted = "#" + element.get("id", "\x00")
    for meta in _named(metadata, "meta"):
        if meta.get("refines") == wanted and meta.get("property") == name:
            return _text(meta)
    return ""


def _attribute(element: etree._Element, name: str) -> str:
    """An attribute's value, whatever its namespace."""
    return next((str(value).strip() for key, value in element.attrib.items() if local(key) == name), "")


def _children(element: etree._Element, name: str) -> Iterator[etree._Element]:
    return (child for child in element if isinstance(child.tag, str) and local(child.tag) == name)


def _named(element: etree._Element, name: str) -> Iterator[etree._Element]:
    return (child for child in element.iter() if isinstance(child.tag, str) and local(child.tag) == name)


def _text(element: etree._Element) -> str:
    return " ".join("".join(element.itertext()).split())
