"""English text in the form that the neural voice reads well. Pure text to text.

The voice's own front end reads numbers, money, dates and most abbreviations. Here is what it does not: other scripts,
shouting, numerals that stand alone, old money, and words so long that it would take time without end.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

MOST_WORD = 30  # letters and marks of one word; the front end's time grows with the cube of its parts

_SOUNDS = (
    "α=a β=v γ=g δ=th ε=e ζ=z η=i θ=th ι=i κ=k λ=l μ=m ν=n ξ=x ο=o π=p ρ=r σ=s ς=s τ=t υ=i φ=f χ=kh ψ=ps ω=o "
    "ά=a έ=e ή=i ί=i ό=o ύ=i ώ=o "
    "а=a б=b в=v г=g д=d е=e ж=zh з=z и=i й=y к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f х=kh ц=ts ч=ch ш=sh "
    "щ=shch ъ= ы=y ь= э=e ю=yu я=ya ё=yo і=i ї=yi є=ye ґ=g"
)
_GREEK_AND_CYRILLIC = str.maketrans({pair[0]: pair[2:] for pair in _SOUNDS.split()})
_BY_NAME = re.compile(r"(?:HIRAGANA|KATAKANA) LETTER (?:SMALL )?(\w+)|HANGUL SYLLABLE (\w+)")
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), said)
    for pattern, said in (
        (r"\bNo\. ?(?=\d)", "Number "),
        (r"№ ?(?=\d)", "Number "),
        (r"\bNos\. ?(?=\d)", "Numbers "),
        (r"\bviz\.", "namely"),
        (r"\bMessrs\.", "Messieurs"),
        (r"\bEsq\.", "Esquire"),
        (r"\bMme\.?(?= )", "Madame"),
        (r"\bMlle\.?(?= )", "Mademoiselle"),
        (r"\betc\.", "et cetera"),
        (r"£(\d[\d,]*) (\d{1,2})s\. (\d{1,2})d\.", r"\1 pounds \2 shillings and \3 pence"),
        (r"£(\d[\d,]*) (\d{1,2})s\.", r"\1 pounds \2 shillings"),
        (r"\b(\d{1,2})s\. (\d{1,2})d\.", r"\1 shillings and \2 pence"),
        (r"\b(\d{1,2})s\.(?!\w)", r"\1 shillings"),
        (r"\b(\d{1,2})d\.(?!\w)", r"\1 pence"),
        (r"⅓", " one third "),
        (r"⅔", " two thirds "),
        (r"⅛", " one eighth "),
        (r"\]\(", "] ("),  # would be taken for a transcription
        (r"[<>|~^\\{}#=*_]+", " "),  # marks of layout, not words
        (r"-{2,}|―|⸺|⸻", "—"),
        (r"([!?])[!?]+", r"\1"),
        (r"([^\w\s])\1{3,}", r"\1\1\1"),
    )
)
_SHOUTED = re.compile(r"\b[A-Z][A-Z'’]{4,}\b")
_ROMAN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_MANY_DIGITS = re.compile(r"\d[\d,]{14,}")
_LONG = re.compile(rf"\S{{{MOST_WORD + 1},}}")


def spoken(text: str) -> str:
    """The text as the voice should get it: one line, composed characters, no word longer than `MOST_WORD`."""
    text = unicodedata.normalize("NFC", text)
    number, line, title = text.partition("\n")
    if line and (said := _numeral(number)):
        text = f"{said}\n{title}"  # a heading: its number, then its title
    if not (text.isascii() and text.isprintable()):
        text = "".join(_said(char) for char in text)
    text = " ".join(text.split())
    alone = _numeral(text)
    if alone:
        return alone
    for pattern, said in _WORDS:
        text = pattern.sub(said, text)
    text = _SHOUTED.sub(lambda match: match[0].capitalize(), text)
    text = _MANY_DIGITS.sub(lambda match: " ".join(match[0].replace(",", "")), text)
    return " ".join(_LONG.sub(lambda match: _divided(match[0]), text).split())


def _numeral(text: str) -> str:
    """The number of a text that is nothing but a Roman numeral, as headings are; else ""."""
    bare = text.strip(" .—–-[]()")
    if not bare or not _ROMAN.fullmatch(bare):
        return ""
    values = [_ROMAN_DIGITS[digit] for digit in bare]
    total = sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))
    return f"{total}."


@lru_cache(maxsize=8192)
def _said(char: str) -> str:
    """A character, or what stands for it: letters of other scripts by their sound, what has none by a space."""
    code = ord(char)
    if code < 0x250 and unicodedata.category(char) not in ("Cf", "Cc", "So"):
        return char
    if unicodedata.category(char) == "Cf":
        return ""  # soft hyphens and joiners stand inside words
    lower = char.lower().translate(_GREEK_AND_CYRILLIC)
    if lower != char.lower():
        return lower
    named = _BY_NAME.match(unicodedata.name(char, ""))
    if named:
        return (named[1] or named[2]).lower()
    return char if code < 0x2000 and char.isalpha() and _latin(char) else _plain(char)


def _latin(char: str) -> bool:
    return unicodedata.name(char, "").startswith("LATIN")


def _plain(char: str) -> str:
    """Punctuation and numbers as they are; marks gone; any other sign is a space."""
    parts = "".join(part for part in unicodedata.normalize("NFKD", char) if unicodedata.category(part)[0] != "M")
    category = unicodedata.category(char)
    if category[0] in "PNZ" or category in ("Sc", "Sm"):
        return char
    if category[0] == "M":
        return ""
    return parts if parts.isascii() and parts.isalnum() else " "


def _divided(word: str) -> str:
    """A word without end, in words that can be read."""
    return " ".join(word[at : at + MOST_WORD] for at in range(0, len(word), MOST_WORD))
