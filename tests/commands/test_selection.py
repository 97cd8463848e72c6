"""What can be named on the command line: sizes, media types, voices, scopes; each mistake names what there is."""

from __future__ import annotations

import pytest

from animastor.books.model import Book, BookHead, BookId, Chapter, ChapterId, Scene, SceneId, Unit, UnitId
from animastor.commands.errors import CommandError, Exit
from animastor.commands.selection import check_scope, parse_media, parse_scope, parse_size, parse_voice
from animastor.engine.ports import Scope, ScopeKind
from animastor.media.registry import installed

HEAD = BookHead(BookId("book"), voices={"teller": "an old man, calm"})


def _scene(name: str) -> Scene:
    return Scene(SceneId(name), (Unit(UnitId(f"{name}-u"), "A sentence."),))


BOOK = Book(
    HEAD,
    (
        Chapter(ChapterId("one"), (_scene("a"), _scene("b"))),
        Chapter(ChapterId("2"), (_scene("c"),)),
    ),
)


@pytest.mark.parametrize(("text", "size"), [("1280x720", (1280, 720)), (" 640X360 ", (640, 360)), ("64x64", (64, 64))])
def test_sizes(text: str, size: tuple[int, int]) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "1280", "1280x", "63x64", "641x360", "4098x720", "-2x2", "1e3x720"])
def test_sizes_that_no_film_can_have(text: str) -> None:
    with pytest.raises(CommandError) as caught:
        parse_size(text)
    assert (caught.value.exit_code, caught.value.reason) == (Exit.USAGE, "size_invalid")


def test_media_types_are_named_once_each_and_all_when_nothing_is_said() -> None:
    registry = installed()
    assert parse_media(None, registry) == ("audio", "image", "video")
    assert parse_media(" video, audio,video", registry) == ("video", "audio")
    for text in ("", ",", "sound", "audio,sound"):
        with pytest.raises(CommandError, match="there are audio, image, video"):
            parse_media(text, registry)


@pytest.mark.parametrize("text", ["oak", "OAK", "teller", "a deep old man", "woman"])
def test_voices_of_the_palette_of_the_book_and_described_ones(text: str) -> None:
    assert parse_voice(text, HEAD) == text


@pytest.mark.parametrize("text", ["nobody", "x", "Teller"])
def test_a_voice_that_nobody_knows_is_told_with_those_there_are(text: str) -> None:
    with pytest.raises(CommandError, match=r"there are oak, slate.*; the book's own are teller; or describe one"):
        parse_voice(text, HEAD)


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("", Scope()),
        ("all", Scope()),
        ("chapter:one", Scope(ScopeKind.CHAPTER, "one")),
        ("chapter:1", Scope(ScopeKind.CHAPTER, "one")),
        ("chapter:2", Scope(ScopeKind.CHAPTER, "2")),  # an id comes before a number
        ("scene:one/b", Scope(ScopeKind.SCENE, "one", "b")),
        ("scene:1/2", Scope(ScopeKind.SCENE, "one", "b")),
        ("from:2", Scope(ScopeKind.FROM_SCENE, "2", "c")),
    ],
)
def test_scopes(text: str, scope: Scope) -> None:
    check_scope(text)
    assert parse_scope(text, BOOK) == scope


@pytest.mark.parametrize("text", ["chapter", "chapter:", "page:1", "all:1", "one"])
def test_what_can_be_no_scope_of_any_book(text: str) -> None:
    with pytest.raises(CommandError) as caught:
        check_scope(text)
    assert caught.value.exit_code is Exit.USAGE


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("chapter:3", "The book has no chapter '3': name it by a number from 1 to 2, or by its id (one, 2)."),
        ("chapter:0", "The book has no chapter '0': name it by a number from 1 to 2, or by its id (one, 2)."),
        ("scene:one/c", "Chapter one has no scene 'c': name it by a number from 1 to 2, or by its id (a, b)."),
        ("from:2/2", "Chapter 2 has no scene '2': name it by 1, or by its id (c)."),
    ],
)
def test_what_this_book_does_not_have(text: str, sentence: str) -> None:
    with pytest.raises(CommandError) as caught:
        parse_scope(text, BOOK)
    assert (caught.value.exit_code, caught.value.message) == (Exit.BAD_INPUT, sentence)
