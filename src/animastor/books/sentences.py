"""Sentences, without losing a character, and the packing of text into chunks of whole sentences.

Full stops are judged by sentencex, which knows the abbreviations of many languages. It is asked with quotes and
brackets blanked out, because it takes a quotation for one sentence and its time grows with the square of unclosed ones.
Everything else (question and exclamation marks, ellipses, closing quotes, other scripts) is decided here, each place
by what stands around it. All of it is linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

import sentencex  # type: ignore[import-untyped]

from animastor.books.languages import primary
from animastor.books.speech_words import follows_speech

_WIDE = "。！？｡．"  # end a sentence without white space after them
_JOINED = "؟۔।॥።៕။"  # usually have white space after them, but need none
_TERMINATOR = rf"[.!?…‼⁇⁈⁉{_WIDE}{_JOINED}]+"
_CLOSERS = r"[\"'”’»›」』）)\]】》〉＂〟]*(?:[\u00a0\u202f][»”])?(?:[“‘«](?=\s|$))?"
_CANDIDATE = re.compile(rf"(?P<term>{_TERMINATOR})(?P<close>{_CLOSERS})")
_GAP = re.compile(r"\s*[—–\-\"'“‘«„‚(\[¿¡]*\s*")
_PARAGRAPH = re.compile(r"\n\s*\n\s*")
_BLANKED = re.compile("[\"'“”‘’„‚«»‹›()\\[\\]「」『』（）【】《》〈〉\n\t\r]")
_QUOTES = frozenset("\"'”’»›」』“‘«＂〟")
_QUOTATION_PARTICLE = re.compile("(?:と|って|などと|なんて)")
_SPEECH_VERB_ZH = re.compile(r"[^，。！？；：“”「」\s]{0,10}[说說道问問喊叫答笑想嚷叹嘆]")

_STRONG = re.compile(r"[;:—–…؛；：][\"'”’»)\]]*\s+")
_WEAK = re.compile(r"[,،、，][\"'”’»)\]]*\s+")
_SPACE = re.compile(r"\s+")
_UNSPACED = re.compile(r"[、。，；：！？…—」』）】》”]+")
_NOT_FIRST = frozenset("、。，；：！？…」』）】》”’ー々ゝゞぁぃぅぇぉっゃゅょァィゥェォッャュョ\u200d\u200c")

LIMIT = 250  # characters of a chunk to be spoken (CONTRACT 14)

_ABBREVIATIONS = {
    "": "mr mrs ms dr prof st messrs vol vols approx fig figs ca cf viz pp p ch chap ed eds al hon rev capt lt col sgt",
    "fr": "m mm mme mmes mlle mlles mgr me vve cie art env",
    "es": "sr sra sres srta d dña dr dra ud uds vd vds pág núm",
    "it": "sig sigg dott prof ing avv pag",
    "pt": "sr sra dr dra exmo pág",
    "de": "hr fr bzw z.b d.h u.a v.a nr s abb evtl ggf inkl",
    "nl": "dhr mevr mw drs ir bijv blz",
    "ru": "т.е т.д т.п г гг ул им стр проф",
    "ar": "د أ م ص",
}
_ONLY_BEFORE_DIGIT = frozenset(
    {"no", "nos", "nr", "art", "sec", "op", "p", "pp", "vol", "fig", "ch", "s", "núm", "стр"}
)


def split(text: str, language: str = "") -> list[str]:
    """The sentences of a text with the white space after them; joined, they are the text.

    A blank line always ends a sentence. Without any letter the text is one sentence. `language` is a BCP 47 tag.
    """
    ends = [*_ends(text, primary(language)), len(text)]
    starts = [0, *ends]
    return [text[start:end] for start, end in zip(starts, ends, strict=False) if end > start]


def _ends(text: str, language: str) -> list[int]:
    """Where each sentence but the last ends: behind its white space, before the end of the text."""
    ends = {match.end() for match in _PARAGRAPH.finditer(text)}
    full_stops = _full_stops(text, language)
    for match in _CANDIDATE.finditer(text):
        end = match.end()
        if language != "de" and text.startswith(" »", end):
            end += 2
        if end < len(text) and _Place(text, language, match["term"], match.start(), end).ends_sentence(full_stops):
            ends.add(_behind_space(text, end))
    return sorted(end for end in ends if end < len(text))


def _full_stops(text: str, language: str) -> frozenset[int]:
    """The places behind the full stops that sentencex takes for ends of sentences."""
    if "." not in text:
        return frozenset()
    ends, at = set(), 0
    for sentence in sentencex.segment(language or "en", _BLANKED.sub(" ", text)):
        at += len(sentence)
        ends.add(at - len(sentence) + len(sentence.rstrip()))
    return frozenset(ends)


@dataclass(frozen=True, slots=True)
class _Place:
    """A terminator at `start` that might end a sentence; `end` is behind its closing quotes and brackets."""

    text: str
    language: str
    term: str
    start: int
    end: int

    def ends_sentence(self, full_stops: frozenset[int]) -> bool:
        """The decision, by what kind of terminator it is."""
        text, term, end = self.text, self.term, self.end
        quoted = any(char in _QUOTES for char in text[self.start + len(term) : end])
        ellipsis = _is_ellipsis(text, term, self.start)
        if any(char in _WIDE for char in term):
            return not ellipsis and not (quoted and _continues_wide(text, end))
        if not text[end].isspace():
            return term[-1] in _JOINED and not ellipsis and text[end].isalpha()
        if quoted and _is_attribution(text, end, self.language):
            return False
        return self._before_space(full_stops, quoted=quoted, ellipsis=ellipsis)

    def _before_space(self, full_stops: frozenset[int], *, quoted: bool, ellipsis: bool) -> bool:
        """The decision where white space follows, and no words that name a speaker."""
        following = _next_letter(self.text, self.end)
        if self.term[-1] == "." and not ellipsis and not quoted:
            known = self.start + len(self.term) in full_stops
            return known and not _is_abbreviation(self.text, self.start, following, self.language)
        if following.islower() or following in ",;:":
            return False
        return quoted or not ellipsis


def _is_ellipsis(text: str, term: str, start: int) -> bool:
    """Dots that leave something out: `...`, `…`, `. . .`; they do not end a sentence."""
    if term.strip(".…"):
        return "……" in term
    return len(term) > 1 or term == "…" or text[max(0, start - 1)].isspace() or text.startswith(" .", start + 1)


def _continues_wide(text: str, end: int) -> bool:
    """Whether words directly behind a closing quote belong to the sentence: `」と彼は言った`, `”他说`."""
    return _QUOTATION_PARTICLE.match(text, end) is not None or _SPEECH_VERB_ZH.match(text, end) is not None


def _is_attribution(text: str, end: int, language: str) -> bool:
    """Whether a closing quote is followed by who spoke, also when that begins with a capital: `“Yes?” I said`."""
    pattern = follows_speech(language)
    return pattern is not None and pattern.match(text, end) is not None


def _is_abbreviation(text: str, start: int, following: str, language: str) -> bool:
    """Whether the word before a full stop is one that sentencex does not know to be abbreviated."""
    word = text[max(0, start - 12) : start].split()[-1:] or [""]
    bare = word[0].lstrip("(\"'“‘[«").lower()
    if bare in _ONLY_BEFORE_DIGIT and following.isdigit():
        return True
    known = f" {_ABBREVIATIONS['']} {_ABBREVIATIONS.get(language, '')} "
    return bool(bare) and f" {bare} " in known and bare not in _ONLY_BEFORE_DIGIT


def _behind_space(text: str, at: int) -> int:
    """The place behind the white space that starts at `at`."""
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _next_letter(text: str, at: int) -> str:
    """The character that a reader sees next, behind white space, dashes and opening quotes; "" at the end."""
    gap = _GAP.match(text, at)
    at = gap.end() if gap else at
    return text[at] if at < len(text) else ""


def pack(text: str, limit: int = LIMIT, language: str = "") -> list[str]:
    """Chunks of at most `limit` characters of whole sentences; joined, they are the text up to white space.

    A longer sentence is cut behind its clauses, else between words. Only a single word that is longer than the limit,
    and text that is written without spaces, is cut elsewhere: behind its punctuation, else between characters.
    """
    chunks: list[str] = []
    current = ""
    for sentence in split(text.strip(), language):
        for piece in clauses(sentence, limit):
            if len(current) + len(piece.rstrip()) > limit:
                chunks.append(current.strip())
                current = ""
            current += piece
    return [chunk for chunk in (*chunks, current.strip()) if chunk]


def clauses(sentence: str, limit: int) -> list[str]:
    """A sentence in pieces of at most `limit` characters (white space after a piece not counted), without loss."""
    pieces, at, end = [], 0, len(sentence.rstrip())
    while end - at > limit:
        left = end - at
        even = left / -(-left // limit)  # pieces of about one size sound better than a long one and a rest
        cut = _cut(sentence, at, at + min(limit, int(even * 1.3) + 1), at + limit)
        pieces.append(sentence[at:cut])
        at = cut
    return [*pieces, sentence[at:]] if at < len(sentence) else pieces


def _cut(text: str, start: int, wanted: int, stop: int) -> int:
    """The best place to cut `text[start:]`: before `wanted` if there is one, and before `stop`, white space apart."""
    middle = start + (wanted - start) * 2 // 5
    tries = ((_STRONG, middle, wanted), (_WEAK, middle, wanted), (_SPACE, start, wanted), (_SPACE, start, stop))
    for pattern, since, until in tries:
        found = [match.end() for match in pattern.finditer(text, since, until + 1) if match.start() > start]
        if found:
            return _behind_space(text, found[-1])
    found = [match.end() for match in _UNSPACED.finditer(text, middle, stop)]
    return found[-1] if found else _between_characters(text, start, stop)


def _between_characters(text: str, start: int, stop: int) -> int:
    """The last place up to `stop` that separates no combining mark from its letter, near it; else `stop`."""
    for at in range(stop, max(start, stop - 16), -1):
        if unicodedata.category(text[at])[0] != "M" and text[at] not in _NOT_FIRST and text[at - 1] != "\u200d":
            return at
    return stop
