"""Parsing XML and HTML that is not trusted into one stream of events: lxml where it is well-formed, else selectolax.

No entity of a document's own is resolved, no DTD is loaded, nothing is fetched. Names are local and in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from html.entities import html5
from typing import NamedTuple

from lxml import etree
from selectolax.lexbor import LexborHTMLParser, LexborNode

from animastor.books.errors import BookError, Reason
from animastor.books.importers.encoding import decode_markup

_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*(?:\[[^\]]*\]\s*)?>", re.IGNORECASE)
_OWN_ENTITIES = re.compile(r"<!ENTITY", re.IGNORECASE)
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_EMPTY_TAG = re.compile(r"<([A-Za-z][\w:-]*)((?:\s[^<>]*?)?)/>")
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())  # noqa: SIM905
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


_NONE: Mapping[str, str] = {}


class Event(NamedTuple):
    """One step through a document: an element opens (`tag`, `attributes`), text, or an element closes (`tag`).

    A tuple, because a large book has a million of them.
    """

    kind: str  # "open", "text", "close"
    tag: str = ""
    text: str = ""
    attributes: Mapping[str, str] = _NONE


def parse_xml(data: bytes, where: str) -> etree._Element | None:
    """The root element of a document, or None when it is not well-formed.

    Raises BookError (`encoding_broken`, `encoding_unknown`, `xml_entities`).
    """
    return _parse(_prepared(decode_markup(data, where), where))


def events(data: bytes, where: str) -> Iterator[Event]:
    """The events of an XHTML or HTML document, read as XML if it is, else as browsers read HTML.

    Raises BookError (`encoding_broken`, `encoding_unknown`, `xml_entities`).
    """
    text = _prepared(decode_markup(data, where), where)
    root = _parse(text)
    if root is not None:
        return _xml_events(root)
    return _html_events(LexborHTMLParser(_EMPTY_TAG.sub(_closed, _DECLARATION.sub("", text))))


@cache
def local(name: str) -> str:
    """A name without its namespace, in lower case."""
    return name.rpartition("}")[2].rpartition(":")[2].lower()


def _prepared(text: str, where: str) -> str:
    """The document without declaration and document type, with the named characters of HTML in place."""
    doctype = _DOCTYPE.search(text)
    if _OWN_ENTITIES.search(_COMMENT.sub("", text[:100_000])):
        message = f"{where} declares entities of its own, which are not read from a book."
        raise BookError(Reason.XML_ENTITIES, message)
    if doctype:
        text = text[: doctype.start()] + text[doctype.end() :]
    return _ENTITY.sub(_character, _DECLARATION.sub("", text).lstrip())


def _character(match: re.Match[str]) -> str:
    """What a named entity of HTML stands for; XML's own stay."""
    name = match[1]
    if name in _XML_ENTITIES or f"{name};" not in html5:
        return match[0]
    return escape(html5[f"{name};"], quote=False)


def _closed(match: re.Match[str]) -> str:
    """An empty element written so that an HTML parser closes it."""
    return match[0] if match[1].lower() in _VOID else f"<{match[1]}{match[2]}></{match[1]}>"


def _parse(text: str) -> etree._Element | None:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True, huge_tree=False
    )
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None


def _xml_events(root: etree._Element) -> Iterator[Event]:
    for action, element in etree.iterwalk(root, events=("start", "end")):
        tag = local(element.tag)
        if action == "start":
            held = element.attrib
            yield Event("open", tag, "", {local(key): value for key, value in held.items()} if held else _NONE)
            if element.text:
                yield Event("text", "", element.text)
            continue
        yield Event("close", tag)
        if element.tail and element is not root:
            yield Event("text", "", element.tail)


def _html_events(parser: LexborHTMLParser) -> Iterator[Event]:
    """Walks with a stack of its own: documents may be nested as deeply as they like."""
    stack: list[LexborNode | str] = [parser.root] if parser.root is not None else []
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield Event("close", node)
        elif node.is_text_node:
            yield Event("text", text=node.text_content or "")
        elif node.is_element_node:
            tag = local(node.tag or "")
            yield Event("open", tag, attributes={local(key): value or "" for key, value in node.attributes.items()})
            children = []
            child = node.first_child
            while child is not None:
                children.append(child)
                child = child.next
            stack.append(tag)
            stack.extend(reversed(children))
