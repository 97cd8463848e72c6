"""The table of contents of an EPUB: the navigation document of version 3, or the NCX of version 2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from animastor.books.identifiers import plain
from animastor.books.importers.epub_package import Package, resolve
from animastor.books.importers.files import Files
from animastor.books.importers.markup import Event, events


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the table of contents: where it leads, what it says, how deep it stands (from 1)."""

    path: str
    fragment: str
    label: str
    depth: int


@dataclass(frozen=True, slots=True)
class Navigation:
    """The table of contents, and the pages that only show one."""

    entries: Sequence[Entry]
    toc_pages: frozenset[str]


def read_navigation(files: Files, package: Package) -> Navigation:
    """The book's navigation. A missing or broken one has no entries: the headings then tell the chapters."""
    entries: list[Entry] = []
    pages = {package.references.get("toc", "")}
    nav = package.nav()
    if nav is not None and nav.path in files.names():
        steps = list(events(files.read(nav.path), files.where(nav.path)))
        entries = _nav_entries(steps, nav.path)
        pages |= {path for kind, path in _landmarks(steps, nav.path) if kind == "toc"}
    toc = package.toc
    if not entries and toc is not None and toc.path in files.names():
        entries = _ncx_entries(events(files.read(toc.path), files.where(toc.path)), toc.path)
    return Navigation(entries, frozenset(filter(None, pages)))


def _nav_entries(steps: Sequence[Event], base: str) -> list[Entry]:
    """The links of the table of contents that are not hidden: hidden ones are for going to, not for reading."""
    inside = _navs(steps, base, "toc") or _navs(steps, base, "")
    return [entry for entry in inside if entry.path]


def _navs(steps: Sequence[Event], base: str, wanted: str) -> list[Entry]:
    """The links of the first nav element of a type ("": of any), with labels and depths."""
    entries: list[Entry] = []
    depth = hidden = 0
    href, label = "", [""]
    for step in _inside(steps, wanted):
        opens = 1 if step.kind == "open" else -1
        if step.kind == "text":
            label.append(step.text)
        elif step.tag in ("ol", "ul"):
            depth += opens
            hidden += opens if hidden or (opens > 0 and "hidden" in step.attributes) else 0
        elif step.tag == "a" and opens > 0:
            href, label = step.attributes.get("href", ""), []
        elif step.tag == "a" and href and not hidden:
            entries.append(Entry(*resolve(base, href), plain("".join(label)), depth))
    return entries


def _inside(steps: Sequence[Event], wanted: str) -> Iterator[Event]:
    """What is inside the first nav element of a type ("": of any)."""
    inside = False
    for step in steps:
        if step.tag != "nav":
            if inside:
                yield step
        elif inside:
            return
        elif step.kind == "open":
            attributes = step.attributes
            types = {*attributes.get("type", "").split(), attributes.get("role", "").removeprefix("doc-")}
            inside = not wanted or wanted in types


def _landmarks(steps: Iterable[Event], base: str) -> list[tuple[str, str]]:
    """The kinds of pages that links are marked with, and where these lead."""
    found: list[tuple[str, str]] = []
    for step in steps:
        if step.kind == "open" and step.tag == "a" and step.attributes.get("href"):
            path, _ = resolve(base, step.attributes["href"])
            found.extend((kind, path) for kind in step.attributes.get("type", "").split())
    return found


def _ncx_entries(steps: Iterable[Event], base: str) -> list[Entry]:
    """The points of an NCX, in the order of the file."""
    entries: list[Entry] = []
    labels: list[str] = []
    in_label = False
    for step in steps:
        if step.kind == "text":
            if in_label and labels:
                labels[-1] += step.text
        elif step.tag == "navpoint":
            labels = [*labels, ""] if step.kind == "open" else labels[:-1]
        elif step.tag == "navlabel":
            in_label = step.kind == "open"
        elif step.tag == "content" and step.kind == "open" and labels and step.attributes.get("src"):
            path, fragment = resolve(base, step.attributes["src"])
            entries.append(Entry(path, fragment, plain(labels[-1]), len(labels)))
    return entries
