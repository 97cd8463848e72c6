"""A diff names every node and field that differs, and nothing else."""

from __future__ import annotations

from dataclasses import replace

from animastor.books.diff import BookDiff, Change, ChapterChange, Named, SceneChange, UnitChange, diff, diff_heads
from animastor.books.model import (
    Book,
    BookHead,
    BookId,
    Chapter,
    ChapterId,
    Character,
    Cover,
    Location,
    Scene,
    SceneId,
    Unit,
    UnitAudio,
    UnitId,
    UnitImage,
    Visual,
)


def unit(name: str, text: str = "A word.") -> Unit:
    return Unit(UnitId(name), text)


def scene(name: str, *units: Unit) -> Scene:
    return Scene(SceneId(name), units)


def chapter(name: str, *scenes: Scene) -> Chapter:
    return Chapter(ChapterId(name), scenes)


A, B, C = unit("a"), unit("b"), unit("c")
S1, S2 = scene("s1", A, B), scene("s2", C)
HEAD = BookHead(BookId("b"), voices={"bill": "deep"}, characters=(Character("bill", "Bill"), Character("ann")))


def book(*chapters: Chapter) -> Book:
    return Book(HEAD, chapters)


BASE = book(chapter("c1", S1), chapter("c2", S2))


def test_equal_books_differ_in_nothing() -> None:
    assert not diff(BASE, BASE)
    assert diff(BASE, BASE) == BookDiff()


def test_a_changed_unit_is_named_with_its_fields() -> None:
    changed = replace(A, text="Another.", audio=UnitAudio("bill", "An"), image=UnitImage(prompt="p"), action="wave")
    found = diff(BASE, book(chapter("c1", scene("s1", changed, B)), chapter("c2", S2)))
    assert found.units == (
        UnitChange(Change.CHANGED, "c1", "s1", "a", ("text", "action", "audio.speaker", "audio.text", "image.prompt")),
    )
    assert not found.scenes
    assert found.touched_scenes() == {("c1", "s1")}


def test_added_and_removed_nodes_are_named() -> None:
    found = diff(BASE, book(chapter("c1", scene("s1", B)), chapter("c3", scene("s3", unit("d")))))
    assert found.chapters == (ChapterChange(Change.REMOVED, "c2"), ChapterChange(Change.ADDED, "c3"))
    assert found.scenes == (SceneChange(Change.REMOVED, "c2", "s2"), SceneChange(Change.ADDED, "c3", "s3"))
    assert found.units == (
        UnitChange(Change.REMOVED, "c1", "s1", "a"),
        UnitChange(Change.REMOVED, "c2", "s2", "c"),
        UnitChange(Change.ADDED, "c3", "s3", "d"),
    )


def test_only_the_node_that_left_its_place_is_moved() -> None:
    three = [chapter(name) for name in ("x", "y", "z")]
    found = diff(book(*three), book(three[2], three[0], three[1]))
    assert found.chapters == (ChapterChange(Change.MOVED, "z"),)


def test_a_unit_that_went_to_another_scene_touches_both() -> None:
    found = diff(BASE, book(chapter("c1", scene("s1", A)), chapter("c2", scene("s2", B, C))))
    assert found.units == (UnitChange(Change.MOVED, "c2", "s2", "b", before=("c1", "s1")),)
    assert found.touched_scenes() == {("c1", "s1"), ("c2", "s2")}


def test_a_scenes_own_fields_are_named() -> None:
    found = diff(BASE, book(chapter("c1", replace(S1, voice="v", visual=Visual(style="ink"))), chapter("c2", S2)))
    assert found.scenes == (SceneChange(Change.CHANGED, "c1", "s1", ("voice", "visual.style")),)


def test_the_head_is_compared_field_by_field() -> None:
    head = replace(
        HEAD,
        title="T",
        voices={"bill": "soft", "x": ""},
        characters=(Character("bill", "Bill", clothes="coat"),),
        locations=(Location("inn"),),
        layer_config={"window": 3},
    )
    found = diff_heads(HEAD, head)
    assert found.head == ("title",)
    assert found.voices == ("bill", "x")
    assert found.characters == (Named(Change.CHANGED, "bill", ("clothes",)), Named(Change.REMOVED, "ann"))
    assert found.locations == (Named(Change.ADDED, "inn"),)
    assert found.layer_config == ("window",)


def test_another_cover_is_told() -> None:
    assert diff(BASE, replace(BASE, cover=Cover("image/png", b"x"))).cover
