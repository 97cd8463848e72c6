"""vbooks: legacy keys are read and written in the present form, and what is not known survives."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from epub_making import Epub, page
from hypothesis import given, settings
from hypothesis import strategies as st
from test_books_codec import chapters, heads

from animastor.books.errors import BookError, Reason
from animastor.books.identifiers import Names
from animastor.books.importers import load
from animastor.books.importers.vbook_writer import vbook_files, write_vbook
from animastor.books.languages import normalize
from animastor.books.model import (
    Book,
    BookHead,
    Chapter,
    ChapterId,
    Cover,
    Scene,
    SceneId,
    SceneType,
    Unit,
    UnitAudio,
    UnitId,
    UnitType,
)

FILES: dict[str, Any] = {
    "manifest.json": {
        "book_id": "b_1",
        "build_id": 7,
        "title": "Manifest title",
        "render": {"mode": "film", "fps": 24},
    },
    "book.json": {
        "title": "The Tale",
        "author": "Ann",
        "structure": {"chapters_order": ["two", "one"], "parts": 2},
        "defaults": {"narration_voice": "warm", "language": "en_gb", "tempo": 1.5},
        "layer_config": {"video_enabled": False},
        "future": [1, {"a": None}],
    },
    "characters.json": {
        "version": 2,
        "characters": [
            {
                "id": "bill",
                "name": "Bill",
                "passport": {"appearance": "tall", "clothes": "coat", "video_tokens": "b1", "scar": "left"},
                "voice": {"instruction": "deep", "pitch": -2},
                "age": 40,
            }
        ],
    },
    "voices.json": {"bill": {"instruction": "deeper", "engine": "x"}, "ann": {"instruction": ""}},
    "locations.json": {
        "inn": {"description": "an inn", "cinematic_space": {"w": 3}, "environment": "dusk", "map": "m"}
    },
    "bible.json": {"narrator": {"voice": {"instruction": "calm"}}, "render_rules": {"style": "ink", "grain": 1}},
    "chapters/one.json": {
        "chapter": "one",
        "chapter_title": "One",
        "display_number": 1,
        "type": "main",
        "scenes": [
            {
                "scene_id": "s1",
                "scene_title": "At the inn",
                "type": "dialogue",
                "location": {"id": "inn", "environment": {"time": "night"}, "floor": 2},
                "participants": ["bill"],
                "character_anchors": {"bill": "left"},
                "audio": {"voice": "soft", "full_text": "Hello there.", "bed": "rain"},
                "visual": {"style": "ink", "quality": "high", "negative": "hats", "camera": {"lens": 35}, "seed": 4},
                "mood": "calm",
                "units": [
                    {
                        "id": "u1",
                        "type": "dialogue",
                        "text": "Hello there.",
                        "speaker": "bill",
                        "audio": {"speaker": "bill", "text": "Hello", "gain": 1},
                        "image": {
                            "shot": "wide",
                            "prompt": "p",
                            "quality": "q",
                            "negative": "n",
                            "text_render": True,
                            "x": 1,
                        },
                        "video": {"action": "waves", "fps": 12},
                        "note": "kept",
                    }
                ],
                "dialogue_blocks": [{"units": [{"id": "u2", "text": "Bye.", "visual": {"shot": "close", "y": 2}}]}],
            }
        ],
    },
    "chapters/two.json": {"chapter_id": "two", "scenes": []},
}


def folder(tmp_path: Path, files: dict[str, Any]) -> Path:
    for name, value in files.items():
        (tmp_path / "v" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "v" / name).write_bytes(orjson.dumps(value))
    return tmp_path / "v"


def written(book: Book) -> dict[str, Any]:
    return {name: orjson.loads(data) for name, data in vbook_files(book) if name.endswith(".json")}


def test_every_field_that_counts_is_read(tmp_path: Path) -> None:
    book = load(folder(tmp_path, FILES))
    head = book.head
    assert (head.book_id, head.build_id, head.title, head.author) == ("b_1", "7", "The Tale", "Ann")
    assert (head.language, head.render_mode, head.narration_voice) == ("en-GB", "film", "warm")
    assert (head.narrator_voice, head.style, dict(head.voices)) == ("calm", "ink", {"bill": "deeper", "ann": ""})
    assert (head.characters[0].clothes, head.characters[0].voice) == ("coat", "deep")
    assert (head.locations[0].id, head.locations[0].environment) == ("inn", "dusk")
    assert head.layer_config == {"video_enabled": False}
    assert [chapter.chapter_id for chapter in book.chapters] == ["two", "one"]
    scene = book.chapters[1].scenes[0]
    assert (scene.type, scene.location.id, scene.full_text) == (SceneType.DIALOGUE, "inn", "Hello there.")
    assert (scene.visual.camera, scene.participants) == ({"lens": 35}, ("bill",))
    assert [unit.unit_id for unit in scene.units] == ["u1", "u2"]
    assert (scene.units[0].audio, scene.units[0].action) == (UnitAudio("bill", "Hello"), "waves")
    assert (scene.units[0].type, scene.units[1].image.shot) == (UnitType.DIALOGUE, "close")


def test_unknown_fields_survive_and_legacy_keys_take_the_present_form(tmp_path: Path) -> None:
    out = written(load(folder(tmp_path, FILES)))
    chapter = out["chapters/one.json"]
    scene = chapter["scenes"][0]
    assert chapter["chapter_id"] == "one"
    assert "chapter" not in chapter
    assert "dialogue_blocks" not in scene
    assert scene["units"][1] == {"id": "u2", "text": "Bye.", "image": {"shot": "close", "y": 2}}
    assert scene["units"][0] == FILES["chapters/one.json"]["scenes"][0]["units"][0]
    for key in ("location", "audio", "visual", "mood", "character_anchors", "participants"):
        assert scene[key] == FILES["chapters/one.json"]["scenes"][0][key]
    assert out["characters.json"] == FILES["characters.json"]
    assert out["bible.json"] == FILES["bible.json"]
    assert out["voices.json"] == FILES["voices.json"]
    assert out["locations.json"] == {"locations": [{"id": "inn", **FILES["locations.json"]["inn"]}]}
    assert out["manifest.json"] == {**FILES["manifest.json"], "build_id": "7"}
    assert out["book.json"]["future"] == FILES["book.json"]["future"]
    assert out["book.json"]["structure"] == FILES["book.json"]["structure"]
    assert out["book.json"]["defaults"] == {**FILES["book.json"]["defaults"], "language": "en-GB"}


@pytest.mark.parametrize("name", ["copy", "copy.zip"])
def test_what_is_written_is_read_back_equal(tmp_path: Path, name: str) -> None:
    book = load(folder(tmp_path, FILES))
    write_vbook(book, tmp_path / name)
    assert load(tmp_path / name) == book
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["v", name])


def test_a_zip_with_one_folder_inside_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "v.zip", "w") as archive:
        for name, value in FILES.items():
            archive.writestr(f"tale/{name}", orjson.dumps(value))
    assert load(tmp_path / "v.zip") == load(folder(tmp_path, FILES))


def test_an_epub_survives_as_vbook(tmp_path: Path) -> None:
    docs = {"a.xhtml": page("<h1>One</h1><p>“Go,” said Bill.</p><hr/><p>They went.</p>")}
    book = load(Epub(docs).write(tmp_path / "b.epub"))
    write_vbook(book, tmp_path / "copy")
    copy = load(tmp_path / "copy")
    assert (copy.head, copy.chapters, copy.source) == (book.head, book.chapters, "vbook")


def test_an_existing_target_is_refused_unless_it_may_be_replaced(tmp_path: Path) -> None:
    book = load(folder(tmp_path, FILES))
    write_vbook(book, tmp_path / "copy")
    with pytest.raises(BookError) as caught:
        write_vbook(book, tmp_path / "copy")
    assert caught.value.reason is Reason.TARGET_EXISTS
    write_vbook(Book(book.head, book.chapters[:1]), tmp_path / "copy", replace=True)
    assert not (tmp_path / "copy" / "chapters" / "one.json").exists()


def test_a_disk_that_refuses_leaves_the_old_vbook_and_no_rest(tmp_path: Path) -> None:
    book = load(folder(tmp_path, FILES))
    write_vbook(book, tmp_path / "copy")
    broken = Book(BookHead(book.head.book_id, extra={"manifest": {"x": object()}}), book.chapters)  # type: ignore[dict-item]
    for name in ("copy", "other.zip"):
        with pytest.raises(TypeError):
            write_vbook(broken, tmp_path / name, replace=True)
    assert load(tmp_path / "copy") == book
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "v"]


def test_a_cover_is_written_and_read(tmp_path: Path) -> None:
    book = load(folder(tmp_path, FILES))
    write_vbook(Book(book.head, book.chapters, Cover("image/png", b"png")), tmp_path / "copy")
    assert load(tmp_path / "copy").cover == Cover("image/png", b"png")


def named(made: list[Chapter]) -> tuple[Chapter, ...]:
    """The chapters with ids that are unique and without unknown fields, behind one that has a unit."""
    names = Names()

    def scene(old: Scene) -> Scene:
        units = tuple(replace(unit, unit_id=UnitId(names.give("unit", "")), extra={}) for unit in old.units)
        return replace(old, scene_id=SceneId(names.give("scene", "")), units=units, extra={})

    first = Scene(SceneId("opening"), (Unit(UnitId("first"), "A word."),))
    chapters_ = [Chapter(ChapterId("c"), (first,)), *made]
    return tuple(
        replace(old, chapter_id=ChapterId(names.give("chapter", "")), scenes=tuple(map(scene, old.scenes)), extra={})
        for old in chapters_
    )


@settings(max_examples=25, deadline=None)
@given(heads, st.lists(chapters, max_size=2))
def test_any_book_survives_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory, head: BookHead, made: list[Chapter]
) -> None:
    head = replace(
        head,
        characters=tuple({item.id: replace(item, extra={}) for item in head.characters}.values()),
        locations=tuple({item.id: replace(item, extra={}) for item in head.locations}.values()),
        language=normalize(head.language) or "en",
        extra={},
    )
    book = Book(head, named(made), source="vbook")
    target = tmp_path_factory.mktemp("books") / "v.zip"
    write_vbook(book, target)
    assert written(load(target)) == written(book)
