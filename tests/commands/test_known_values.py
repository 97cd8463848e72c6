"""A value that names nobody and nothing of the book is refused, and the sentence lists what there is."""

from __future__ import annotations

import pytest

from animastor.books.fields import FieldError
from animastor.books.model import BookHead, BookId, Character
from animastor.commands.known_values import require_known

HEAD = BookHead(BookId("b"), characters=(Character("ana", "Ana"), Character("tom", "Tom")), voices={"sea": "deep"})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("speaker", "ana"),
        ("speaker", "sea"),  # a voice of the book without a character
        ("audio.speaker", "Narrator"),
        ("speaker", ""),  # takes it back
        ("participants", "ana, tom"),
        ("participants", ""),
        ("image.shot", "a far shot"),
        ("image.shot", ""),
        ("text", "nobody"),
    ],
)
def test_what_the_book_has_may_be_named(field: str, value: str) -> None:
    require_known(HEAD, field, value)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("speaker", "zoe", "the book has no speaker 'zoe': it has ana, tom, sea, narrator"),
        ("participants", "ana,zoe", "the book has no character 'zoe': it has ana, tom"),
        ("image.shot", "sideways", "there is no shot 'sideways': there are over-the-shoulder, detail, close-up,"),
    ],
)
def test_what_it_does_not_have_is_refused_with_what_there_is(field: str, value: str, sentence: str) -> None:
    with pytest.raises(FieldError) as caught:
        require_known(HEAD, field, value)
    assert str(caught.value).startswith(sentence)


def test_a_book_without_people_says_so() -> None:
    with pytest.raises(FieldError, match="the book has no character 'ana': it has none"):
        require_known(BookHead(BookId("b")), "participants", "ana")
