"""Languages: the form of a tag, and a guess from the text when the source does not say.

The guess only has to choose rules and a voice: by script, and between languages of one script by their commonest
words. It is "" rather than wrong.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

SAMPLE = 20_000  # characters that are looked at

_COMMON = {
    "en": "the and of to a in was that it he his with her you had for she not but at him is on as said"
    " have has this they what were which from be or an there so if no we by are then my all when who",
    "de": "der die und den das nicht ist sie mit ein dem zu ich sich auf war von eine auch als er es im",
    "fr": "le la les et de des un une il elle dans que qui pas pour sur vous était avec est ce ne se",
    "es": "el la los las de que y en un una no se por con su para como lo pero más había era al del",
    "it": "il la di che e non un una per gli le si con del della era sono come ma più nel lo anche",
    "pt": "o a os as de que e não um uma se com para por da do em ele ela mas era mais na no",
    "nl": "de het een en van ik te dat die in niet is hij zijn op aan met was voor maar er haar",
    "sv": "och att det som en på är han hon inte av för med var den till jag ett om sig så men",
    "da": "og at det som en på er han hun ikke af for med var den til jeg et om sig så men der",
    "pl": "i nie się na w z do że to jest jak po ale co za jej go tak był od przez już",
    "cs": "a se na že v to je s z do jako ale by si jsem jeho co tak byl po za k ve",
    "tr": "bir ve bu da de ne için o ben gibi çok daha ile mi var sonra kadar her ama diye",
    "fi": "ja on ei hän se oli että niin mutta kun hänen joka minä olen ovat kuin nyt siitä mitä",
}
_WORDS = {language: frozenset(words.split()) for language, words in _COMMON.items()}
_LANGUAGES = Counter(word for words in _WORDS.values() for word in words)
_WEIGHTS = {word: 1 / languages for word, languages in _LANGUAGES.items()}  # "a" says little: six languages have it

_SCRIPTS = {
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "HANGUL": "ko",
    "CJK": "zh",
    "ARABIC": "ar",
    "HEBREW": "he",
    "GREEK": "el",
    "DEVANAGARI": "hi",
    "BENGALI": "bn",
    "TAMIL": "ta",
    "THAI": "th",
    "ARMENIAN": "hy",
    "GEORGIAN": "ka",
    "CYRILLIC": "ru",
}


def normalize(tag: str) -> str:
    """A BCP 47 tag with its primary part in lower case and regions in upper case; "" for what is no tag."""
    parts = re.split(r"[-_]", tag.strip())
    if not re.fullmatch(r"[A-Za-z]{2,8}", parts[0]) or parts[0].lower() in ("und", "mul", "zxx"):
        return ""
    rest = [part for part in parts[1:] if re.fullmatch(r"[A-Za-z0-9]{1,8}", part)]
    return "-".join([parts[0].lower(), *(part.upper() if len(part) == 2 else part for part in rest)])


def primary(tag: str) -> str:
    """The primary part of a tag: `en` of `en-GB`."""
    return tag.replace("_", "-").split("-", 1)[0].lower()


def script(text: str) -> str:
    """The script of most of the text's letters, by Unicode name (`LATIN`, `ARABIC`, …); "" without letters."""
    counts: Counter[str] = Counter()
    for char, n in Counter(text[:SAMPLE]).items():
        if char.isalpha():
            counts[unicodedata.name(char, "?").split(" ", 1)[0].split("-", 1)[0]] += n
    if counts["HIRAGANA"] + counts["KATAKANA"] > counts["CJK"] // 20 and counts["HIRAGANA"]:
        return "HIRAGANA"
    return counts.most_common(1)[0][0] if counts else ""


def guess(text: str) -> str:
    """The language that a text is most likely in, as a primary tag; "" when nothing speaks for one."""
    found = script(text)
    if found != "LATIN":
        return _among_letters(text, _SCRIPTS.get(found, ""))
    words = Counter(re.findall(r"[^\W\d_]+", text[:SAMPLE].lower()))
    scores = {language: sum(words[word] * _WEIGHTS[word] for word in common) for language, common in _WORDS.items()}
    best = max(scores, key=lambda language: scores[language])
    return best if scores[best] * 20 >= sum(words.values()) else ""


def _among_letters(text: str, language: str) -> str:
    """Refines a script's commonest language by letters that only another one has."""
    sample = text[:SAMPLE]
    if language == "ar" and re.search("[پچژگ]", sample):
        return "fa"
    if language == "ru" and re.search("[їєґ]", sample):
        return "uk"
    return language
