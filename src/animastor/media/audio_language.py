"""The language that a text is spoken in: the book's, unless the text is written in a script that it does not use."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache

from animastor.books.languages import primary

# A script (the first word of a letter's Unicode name) -> the languages written in it; the first one speaks it when
# the book's language is none of them.
_SCRIPTS: dict[str, tuple[str, ...]] = {
    "HIRAGANA": ("ja",),
    "KATAKANA": ("ja",),
    "CJK": ("zh", "ja", "yue", "cmn", "ko"),
    "HANGUL": ("ko",),
    "ARABIC": ("ar", "fa", "ur", "ug", "ps", "ku", "sd"),
    "HEBREW": ("he", "yi"),
    "GREEK": ("el", "grc"),
    "CYRILLIC": ("ru", "uk", "bg", "sr", "mk", "be", "kk", "ky", "mn", "tt", "tg", "ba"),
    "DEVANAGARI": ("hi", "mr", "ne", "kok", "sa"),
    "BENGALI": ("bn", "as"),
    "TAMIL": ("ta",),
    "TELUGU": ("te",),
    "THAI": ("th",),
    "ARMENIAN": ("hy",),
    "GEORGIAN": ("ka",),
}
_USUAL = "en"


def speech_language(text: str, declared: str) -> str:
    """The language (BCP 47) in which a text is spoken; English when neither the book nor the letters tell.

    A text counts as written in the script of most of its letters. Latin letters never change the book's language:
    every language is written with them at times.
    """
    declared = declared or _USUAL
    if text.isascii():
        return declared
    script = _main_script(text)
    languages = _SCRIPTS.get(script, ())
    if not languages or primary(declared) in languages:
        return declared
    return languages[0]


def _main_script(text: str) -> str:
    scripts = Counter(_script(char) for char in text if char.isalpha())
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    if kana:  # kanji among kana are Japanese
        scripts["HIRAGANA"] = kana + scripts.pop("CJK", 0)
    return scripts.most_common(1)[0][0] if scripts else ""


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]
