"""Who says what: quoted speech in a paragraph, and its speaker when the sentence tells it (CONTRACT 2).

The speaker is told by a verb of saying beside the quotation (`said Bill`, `the old man cried`). A quotation without
one belongs to the only speaker that its paragraph names. Pronouns tell nobody: such speech is narrated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from animastor.books import speech_words as words
from animastor.books.identifiers import short_hash, slug
from animastor.books.languages import primary


@dataclass(frozen=True, slots=True)
class Speaker:
    """Somebody who is named as speaking: the id of a character, and the name as the text has it."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Speech:
    """A quotation: `text[start:end]` without its quotes, which open at `opens` and close before `closes`."""

    opens: int
    start: int
    end: int
    closes: int
    speaker: Speaker | None = None


_ANY = (
    re.compile("„([^„“”]*)(?:[“”]|$)"),
    re.compile("“([^“”]*)(?:”|$)"),
    re.compile("«([^«»]*)(?:»|$)"),
    re.compile(r'(?<!\w)"([^"]*)(?:"|$)'),
    re.compile(r"(?<!\w)‘((?:[^‘’]|’(?=\w))*)’"),
    re.compile(r"(?<!\w)'(?=\w)((?:[^']|'(?=\w))*)'(?!\w)"),
)
_GERMAN = (re.compile("»([^«»]*)(?:«|$)"), *_ANY)
_SPOKEN_END = frozenset(",.!?…—–-:;")
_SENTENCE_END = re.compile(r"[.!?…](?=\s|$)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\b[A-Z]\.)")
_REACH = 160  # characters beside a quotation that may name its speaker


def speeches(text: str, language: str) -> list[Speech]:
    """The quotations of a paragraph whose speaker is told, in order."""
    tag = primary(language)
    if tag not in words.VERBS:
        return []
    found = _quotations(text, tag)
    told = [_attributed(text, found, at, tag) for at in range(len(found))]
    named = {speech.speaker for speech in told if speech.speaker}
    if len(named) == 1:
        only = named.pop()
        told = [s if s.speaker else Speech(s.opens, s.start, s.end, s.closes, only) for s in told]
    return [speech for speech in told if speech.speaker]


def _quotations(text: str, language: str) -> list[Speech]:
    """The quotations that are spoken, in the first style of quotes that the paragraph uses."""
    for pattern in _GERMAN if language in ("de", "da") else _ANY:
        matches = list(pattern.finditer(text))
        if matches:
            spans = [Speech(m.start(), *_inner(m), m.end()) for m in matches]
            return [span for span in spans if span.end > span.start and _is_spoken(text, span)]
    return []


def _inner(match: re.Match[str]) -> tuple[int, int]:
    """The quoted text's place, without white space inside the quotes."""
    start, end = match.span(1)
    inner = match[1]
    return start + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip())


def _is_spoken(text: str, span: Speech) -> bool:
    """Whether a quotation is speech, not a name in quotes: it ends with punctuation, or a comma follows it."""
    return text[span.end - 1] in _SPOKEN_END or text.startswith(",", span.closes)


def _attributed(text: str, spans: list[Speech], at: int, language: str) -> Speech:
    """The quotation with its speaker, looked for behind it and before it, within its sentence."""
    span = spans[at]
    until = min(spans[at + 1].opens if at + 1 < len(spans) else len(text), span.closes + _REACH)
    since = max(spans[at - 1].closes if at else 0, span.opens - _REACH)
    before = text[since : span.opens]
    ends = [match.end() for match in _SENTENCE_END.finditer(before)]
    if ends:
        before = before[ends[-1] :]
    behind, ahead = _patterns(language)
    match = behind.match(text, span.closes, until)
    if match is None and (lead := ahead.search(before)) is not None:
        match = lead
    if match is None:
        return span
    return Speech(span.opens, span.start, span.end, span.closes, _speaker(match, language))


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What tells the speaker behind a quotation (`said Bill`), and before it (`Bill said:`)."""
    said = rf"(?:{words.verbs(language)})"
    who = "|".join(filter(None, [words.description(language), words.proper_name()]))
    behind = rf"\s*,?\s*(?:{said}\s+(?P<after>{who})|(?P<before>{who})\s+(?:\w+ly\s+)?{said}\b)"
    ahead = rf"(?:\b(?P<before>{who})\s+(?:\w+ly\s+)?{said}\b|\b{said}\s+(?P<after>{who}))[^,:“”]{{0,60}}[,:—]\s*$"
    return re.compile(behind), re.compile(ahead)


def _speaker(match: re.Match[str], language: str) -> Speaker | None:
    """Who was matched; None for a pronoun or for `the other`."""
    parts = (match["after"] or match["before"]).split()
    articles = words.ARTICLES.get(language, "").split()
    if parts[0].lower() in articles:
        return _described(parts)
    parts = _named(parts, language)
    if not parts or parts[0].lower() in words.pronouns(language):
        return None
    name = " ".join(parts).rstrip("-’'")
    bare = re.sub(r"^(?:Mr|Sir|Dr)\.?\s+", "", name)
    bare = re.sub(r"[’']s$", "", bare)
    return Speaker(slug(bare) or f"c-{short_hash(bare)}", re.sub(r"[’']s$", "", name)) if bare else None


def _named(parts: list[str], language: str) -> list[str]:
    """A name without pronouns that only happen to follow it: `said Bill | I`."""
    for at, part in enumerate(parts):
        if at and part.lower() in words.pronouns(language) | words.BREAKING - {"of", "von", "de"}:
            return parts[:at]
    return parts


def _described(parts: list[str]) -> Speaker | None:
    """`the old man` out of `the old man angrily`; None when it names nobody in particular."""
    kept = parts[:1]
    for part in parts[1:]:
        if part.lower() in words.BREAKING or (len(kept) > 1 and part.endswith("ly")):
            break
        kept.append(part)
    if len(kept) == 1 or any(part.lower() in words.VAGUE for part in kept[1:]):
        return None
    name = " ".join([kept[0].lower(), *kept[1:]])
    return Speaker(slug(name) or f"c-{short_hash(name)}", name)
