"""The words by which a language tells who speaks: verbs of saying, pronouns, titles. Tables only.

A language that is missing here is narrated throughout; nothing else depends on these tables.
"""

from __future__ import annotations

import re
from functools import cache

VERBS: dict[str, str] = {
    "en": (
        "said says say asked asks replied answered cried exclaimed shouted whispered murmured muttered "
        "continued added  began remarked observed returned called screamed growled snapped sighed laughed "
        "gasped declared announced explained  suggested inquired enquired demanded protested repeated "
        "responded retorted yelled groaned moaned grumbled agreed  admitted insisted begged pleaded warned "
        "ordered commanded roared bellowed hissed stammered interrupted ventured  thundered sobbed wailed "
        "chuckled croaked squeaked whined rejoined ejaculated pursued resumed quoth sang thought"
    ),
    "de": (
        "sagte sagt fragte rief antwortete erwiderte flüsterte murmelte schrie meinte sprach entgegnete "
        "brummte seufzte  lachte bat befahl erklärte versetzte begann fügte"
    ),
    "fr": (
        "dit demanda répondit cria murmura ajouta reprit répliqua continua s'écria s'exclama chuchota déclara "
        "observa fit  soupira interrompit hurla gronda supplia ordonna"
    ),
    "es": (
        "dijo preguntó respondió contestó gritó exclamó murmuró susurró añadió replicó repuso continuó ordenó suspiró"
    ),
    "it": ("disse chiese domandò rispose gridò esclamò mormorò sussurrò aggiunse replicò continuò ordinò sospirò fece"),
    "pt": (
        "disse perguntou respondeu gritou exclamou murmurou sussurrou acrescentou replicou continuou ordenou suspirou"
    ),
    "nl": "zei vroeg antwoordde riep fluisterde mompelde schreeuwde zuchtte vervolgde",
    "sv": "sade sa frågade svarade ropade viskade mumlade skrek fortsatte",
    "da": "sagde spurgte svarede råbte hviskede mumlede skreg fortsatte",
    "ru": (
        "сказал сказала спросил спросила ответил ответила крикнул крикнула воскликнул воскликнула прошептал "
        "прошептала  пробормотал пробормотала произнёс произнесла добавил добавила закричал закричала"
    ),
}

PRONOUNS: dict[str, str] = {
    "en": "I He She They We You It Who That This One Someone Somebody Everybody Everyone Nobody The Then And But",
    "de": "Ich Er Sie Wir Ihr Es Man Wer Das Der Die Dann Und Aber",
    "fr": "Je Il Elle Ils Elles Nous Vous On Qui Cela Ce Puis Et Mais",
    "es": "Yo Él Ella Ellos Ellas Usted Ustedes Nosotros Quien Y Pero",
    "it": "Io Lui Lei Egli Ella Essi Loro Noi Voi Chi E Ma",
    "pt": "Eu Ele Ela Eles Elas Você Nós Quem E Mas",
    "nl": "Ik Hij Zij Ze Wij We Jij U Het Wie En Maar",
    "sv": "Jag Han Hon De Vi Ni Det Man Vem Och Men",
    "da": "Jeg Han Hun De Vi I Det Man Hvem Og Men",
    "ru": "Я Он Она Они Мы Вы Ты Кто И Но",
}

_TITLES_TEXT = (
    "Mr Mrs Ms Miss Dr Sir Lady Lord Master Madam Madame Mme Mlle Monsieur Uncle Aunt Father Mother "
    "Brother Sister  Captain Capt Colonel Col Major General Gen Professor Prof King Queen Prince Princess "
    "Herr Frau Fräulein Don Doña  Señor Señora Sr Sra Signor Signora Rev St Old Little"
)
TITLES = tuple(_TITLES_TEXT.split())

ARTICLES: dict[str, str] = {
    "en": "the",
    "de": "der die das",
    "fr": "le la",
    "es": "el la",
    "it": "il la lo",
    "pt": "o a",
    "nl": "de het",
}

# Descriptions that name nobody in particular.
_VAGUE_TEXT = (
    "other others latter former first second third last voice whole rest same next one two three andere "
    "otro outro altro  autre altra otra outra ander"
)
VAGUE = frozenset(_VAGUE_TEXT.split())


# Words that end a description: `the old man | with a beard`.
_BREAKING_TEXT = (
    "aloud rather quite almost suddenly with in to and as who at from of on when after before but for by "
    "again then he she it they i we you  had was  which that while laughing smiling looking turning "
    "shaking nodding pointing holding rising  having coming going  speaking trying taking sitting "
    "standing mit und als der die das zu qui et avec  en à que y con e che di"
)
BREAKING = frozenset(_BREAKING_TEXT.split())


@cache
def verbs(language: str) -> str:
    """An alternation of a language's verbs of saying; "" when the language is not in the table."""
    return "|".join(map(re.escape, sorted(VERBS.get(language, "").split(), key=len, reverse=True)))


@cache
def pronouns(language: str) -> frozenset[str]:
    """A language's pronouns and the like, in lower case: they name nobody."""
    return frozenset(PRONOUNS.get(language, "").lower().split())


@cache
def proper_name() -> str:
    """A pattern for a name of up to three capitalized words or initials, with or without a title."""
    titles = "|".join(TITLES)
    word = r"(?:[^\W\d_a-zß-öø-ÿа-яё]\.|[^\W\d_a-zß-öø-ÿа-яё][\w’'-]*)"
    return rf"(?:(?:{titles})\.?\s+)?{word}(?:\s+(?:(?:de|von|van|of|la|du)\s+)?{word}){{0,2}}"


@cache
def description(language: str) -> str:
    """A pattern for `the old king`: an article and up to three words; "" for a language without such articles."""
    articles = "|".join(ARTICLES.get(language, "").split())
    return rf"(?i:{articles})(?:\s+[\w’'-]+){{1,3}}" if articles else ""


@cache
def follows_speech(language: str) -> re.Pattern[str] | None:
    """Matches, right after a closing quote, what continues the sentence by naming who spoke: `I said`, `Bill cried`."""
    said = verbs(language)
    if not said:
        return None
    named = "|".join(filter(None, [*PRONOUNS.get(language, "").split(), description(language), proper_name()]))
    return re.compile(rf"\s+(?:{named})\s+(?:\w+ly\s+)?(?:{said})\b")
