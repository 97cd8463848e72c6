"""Japanese as it is read: syllables instead of Chinese characters, which eSpeak would only name.

The readings come from SudachiPy and its small dictionary (both Apache-2.0), a memory-mapped file.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from animastor.protocol import FailureType
from animastor.workers.backend import BackendError

_PARTICLES = {"は": "ワ", "へ": "エ", "を": "オ"}
_KANJI = re.compile(r"[\u3005\u3400-\u9fff\uf900-\ufaff]")
_NOT_BEFORE_SPACE = frozenset({"助詞", "助動詞", "接尾辞", "補助記号"})  # what leans on the word before it


def in_kana(text: str) -> str:
    """The text in kana, with a space before each word and none before what leans on one. Raises `BackendError`."""
    said: list[str] = []
    for word in _tokenizer().tokenize(text):
        surface, kind = word.surface(), word.part_of_speech()[0]
        reading = _PARTICLES.get(surface, surface) if kind == "助詞" else surface
        if _KANJI.search(surface):
            reading = word.reading_form()
        said.append(reading if kind in _NOT_BEFORE_SPACE else f" {reading}")
    return "".join(said).strip()


@cache
def _tokenizer() -> Any:
    try:
        from sudachipy import Dictionary  # type: ignore[import-untyped]

        return Dictionary(dict="small").tokenizer()
    except (ImportError, OSError, RuntimeError) as error:
        message = f"Japanese cannot be read ({error}); install the packages sudachipy and sudachidict-small"
        raise BackendError(FailureType.MISCONFIGURED, "readings_missing", message) from error
