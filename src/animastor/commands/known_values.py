"""Whether a value that a person gives a field names something that there is: a speaker, a shot, people of a scene."""

from __future__ import annotations

from collections.abc import Sequence

from animastor.books.fields import FieldError
from animastor.books.model import BookHead
from animastor.media.cast import NARRATOR, SHOTS, shot_named
from animastor.media.voices import is_narrator

CHECKED = frozenset({"speaker", "audio.speaker", "participants", "image.shot"})


def require_known(head: BookHead, field: str, value: str) -> None:
    """Raises `FieldError` that lists what there is. An empty value takes the field back."""
    people = [one.id for one in head.characters]
    if field in ("speaker", "audio.speaker") and not is_narrator(value):
        _require([value], [*dict.fromkeys([*people, *head.voices]), NARRATOR], "speaker")
    elif field == "participants":
        _require([one.strip() for one in value.split(",") if one.strip()], people, "character")
    elif field == "image.shot" and value.strip() and not shot_named(value):
        raise FieldError(f"there is no shot {value!r}: there are {', '.join(SHOTS)}")


def _require(named: Sequence[str], known: Sequence[str], what: str) -> None:
    for one in named:
        if one not in known:
            there = f"it has {', '.join(known)}" if known else "it has none"
            raise FieldError(f"the book has no {what} {one!r}: {there}")
