"""Which files an export writes, what it calls missing, and that two at once do not take files from each other."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import pytest

from animastor.app import Driving
from animastor.books.codec import scene_to_json
from animastor.books.model import Book, BookHead, BookId, Chapter, ChapterId, Scene, SceneId, Unit, UnitId
from animastor.commands.exporting import IncompleteError, Wanted, exported, file_name
from animastor.commands.recorded import seen
from animastor.engine.ports import AssetExport, BookContext, BookRow, SceneExport, ScenePlace, Scope
from animastor.engine.states import State
from animastor.exports.container import finished
from animastor.exports.kinds import AUDIOBOOK, FILM, SUBTITLES
from animastor.media.types import ContentSettings
from animastor.protocol import BookKey
from animastor.workers.backend import Produced, Progress
from animastor.workers.work import Work

SCENES = tuple(Scene(SceneId(name), (Unit(UnitId(f"{name}-1"), f"Text of {name}."),)) for name in ("sc-1", "sc-2"))
BOOK = Book(BookHead(BookId("tale"), title="A Tale"), (Chapter(ChapterId("ch-1"), SCENES),))
ROW = BookRow(BookKey(1), "tale", "A Tale", "en", "", "", "", 1, 2)


@dataclass
class Home:
    """A driven home with two finished scenes; a file for an export is made as soon as the runner is let go on."""

    folder: Path
    rows: list[SceneExport] = field(default_factory=list)
    disabled: frozenset[str] = frozenset()
    recorded: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    subtitled: bool = False
    works: list[Work] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    def __post_init__(self) -> None:
        self.rows = [
            SceneExport("ch-1", "One", one.scene_id, "", scene_to_json(one), self._media(one.scene_id))
            for one in SCENES
        ]
        self.exporting, self.scratch = asyncio.Lock(), self.folder / "scratch"
        self.reading = self.storage = self.artifacts = self.children = self

    def _media(self, scene: str) -> dict[str, AssetExport]:
        return {name: self._ready(f"{name} of {scene}") for name in ("audio", "image", "video")}

    def _ready(self, content: str) -> AssetExport:
        checksum = sha256(content.encode()).hexdigest()
        (self.folder / checksum).write_text(content)
        return AssetExport(State.READY, current=True, made=True, artifact=checksum, suffix="", facts={})

    def change(self, scene: int, media: str, **fields: Any) -> None:
        """Another state of an asset."""
        row = self.rows[scene]
        self.rows[scene] = replace(row, media={**row.media, media: replace(row.media[media], **fields)})

    async def load_book(self, key: BookKey) -> Book:
        return BOOK

    async def books(self) -> list[BookRow]:
        return [ROW]

    async def outline(self, key: BookKey) -> list[ScenePlace]:
        return [ScenePlace(one.chapter_id, one.scene_id, f"1/{number}") for number, one in enumerate(self.rows, 1)]

    async def export_rows(self, key: BookKey, scope: Scope) -> list[SceneExport]:
        return self.rows

    async def contexts(self, keys: object) -> list[BookContext]:
        return [BookContext(BookKey(1), "tale", 1, BOOK.head, ContentSettings(), self.disabled)]

    async def export_record(self, path: str) -> tuple[str, int, int] | None:
        return self.recorded.get(path)

    async def record_export(self, path: str, key: str, size: int, modified_ns: int) -> None:
        self.recorded[path] = (key, size, modified_ns)

    async def path(self, checksum: str, suffix: str) -> Path:
        return self.folder / checksum

    async def run(self, work: Work, progress: Progress) -> Produced:
        self.works.append(work)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        target = Path(work.order.structure["target"])
        with finished(target) as folder:
            (folder / target.name).write_text("made")
            if self.subtitled:
                (folder / target.with_suffix(".vtt").name).write_text("of the film")
        self.at_once -= 1
        return Produced(target, {"subtitles": self.subtitled})

    async def export(self, *kinds: str, **more: Any) -> list[str]:
        """The names of the files that are made."""
        wanted = Wanted(kinds, self.folder / "out", **more)
        done = await exported(cast("Driving", self), ROW, wanted, lambda _: None)
        return [path.name for path in done.made]

    def scenes(self, work: int = 0) -> list[Mapping[str, Any]]:
        """The scenes of an order."""
        return cast("list[Mapping[str, Any]]", self.works[work].order.structure["scenes"])


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with everything finished."""
    return Home(tmp_path)


async def test_what_is_finished_is_written_and_then_left_alone(home: Home) -> None:
    assert await home.export(FILM, AUDIOBOOK) == ["a-tale.mp4", "a-tale.m4b"]
    assert [scene["scene_id"] for scene in home.scenes()] == ["sc-1", "sc-2"]
    assert await home.export(FILM, AUDIOBOOK) == []
    assert len(home.works) == 2


async def test_a_file_whose_bytes_are_those_that_are_there_is_left_alone(home: Home) -> None:
    assert await home.export(FILM, AUDIOBOOK, SUBTITLES) == ["a-tale.mp4", "a-tale.m4b", "a-tale.vtt"]
    stood = {path: seen(path) for path in (home.folder / "out").iterdir()}
    home.recorded.clear()  # so that all of them are made once more
    assert await home.export(FILM, AUDIOBOOK, SUBTITLES) == []
    assert {path: seen(path) for path in (home.folder / "out").iterdir()} == stood
    assert len(home.works) == 4
    assert await home.export(FILM, AUDIOBOOK, SUBTITLES) == []
    assert len(home.works) == 4, "what was found is remembered"


async def test_the_subtitles_of_a_film_stay_with_it(home: Home) -> None:
    home.subtitled = True
    assert await home.export(FILM) == ["a-tale.mp4", "a-tale.vtt"]
    assert await home.export(FILM, SUBTITLES) == await home.export(SUBTITLES) == []
    assert (home.folder / "out" / "a-tale.vtt").read_text() == "of the film"
    (home.folder / "out" / "a-tale.mp4").unlink()
    assert await home.export(SUBTITLES) == ["a-tale.vtt"], "there is no film any more that they belong to"


@pytest.mark.parametrize(
    "stale",
    [
        {"current": False},  # an edit was not looked at yet
        {"current": False, "state": State.DIRTY},  # and nobody asked for the new one
        {"current": False, "state": State.PENDING},
        {"current": False, "state": State.GENERATING, "artifact": None},
        {"current": False, "state": State.FAILED, "artifact": None},
    ],
)
async def test_a_film_whose_sound_is_not_that_of_the_book_lacks_a_scene(home: Home, stale: dict[str, Any]) -> None:
    home.change(1, "audio", **stale)
    with pytest.raises(IncompleteError, match=r"The film lacks 1 scene: 1/2 \(its sound\)\. Make"):
        await home.export(FILM)
    assert not home.works
    await home.export(FILM, allow_missing=True)
    assert [scene["audio"] is None for scene in home.scenes()] == [False, True], "never an old sound"


@pytest.mark.parametrize("state", [State.NEW, State.DIRTY])
async def test_a_film_without_any_sound_is_silent(home: Home, state: State) -> None:
    for scene in (0, 1):
        home.change(scene, "audio", current=False, state=state, artifact=None)
    assert await home.export(FILM) == ["a-tale.mp4"]


async def test_subtitles_have_what_is_spoken_where_the_narration_is_that_of_the_scene(home: Home) -> None:
    units = tuple(Unit(UnitId(name), "") for name in ("one", "two"))
    told = scene_to_json(Scene(SceneId("sc-1"), units, full_text="He came in late. She had left early."))
    home.rows = [replace(home.rows[0], scene=told)]
    await home.export(FILM)
    assert home.scenes()[0]["texts"] == {"one": "He came in late. ", "two": "She had left early."}


async def test_the_sound_of_a_book_that_is_switched_off_is_not_missed(home: Home) -> None:
    home.change(0, "audio", current=False, state=State.DIRTY)
    home.disabled = frozenset({"audio"})
    assert await home.export(FILM) == ["a-tale.mp4"]
    assert [scene["audio"] is None for scene in home.scenes()] == [True, False]


async def test_an_incomplete_film_keeps_no_complete_audiobook_from_being_written(home: Home) -> None:
    home.change(0, "video", current=False, state=State.FAILED)
    with pytest.raises(IncompleteError, match=r"The film lacks 1 scene: 1/1 \(stale\)\. Make") as caught:
        await home.export(FILM, AUDIOBOOK)
    assert [path.name for path in caught.value.done.made] == ["a-tale.m4b"]


async def test_all_that_is_incomplete_is_named(home: Home) -> None:
    home.change(0, "audio", current=False, state=State.FAILED)
    with pytest.raises(IncompleteError, match=r"^The film .*; the audiobook lacks 1 scene: 1/1 \(stale\)\. Make"):
        await home.export(FILM, AUDIOBOOK)


async def test_two_exports_at_once_are_written_one_after_the_other_and_each_file_once(home: Home) -> None:
    both = await asyncio.gather(home.export(FILM, AUDIOBOOK), home.export(FILM, AUDIOBOOK))
    assert home.most_at_once == 1
    assert sorted(len(made) for made in both) == [0, 2]


def test_a_book_with_the_title_of_an_older_one_gets_files_of_its_own() -> None:
    twin, other = replace(ROW, book_key=BookKey(2), book_id="twin"), replace(ROW, book_key=BookKey(3), title="Other")
    assert [file_name(row, [ROW, twin, other]) for row in (ROW, twin, other)] == ["a-tale", "a-tale-twin", "other"]
    assert file_name(replace(ROW, title="?"), [ROW]) == "tale"
