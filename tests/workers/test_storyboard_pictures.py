"""Storyboard pictures: what an order says is what is painted, the same each time, with text that can be read."""

from __future__ import annotations

from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order
from animastor.workers.storyboard import contact_sheet, picture, preview
from animastor.workers.storyboard.board import board_of
from animastor.workers.storyboard.colour import RGB, contrast
from animastor.workers.storyboard.compose import composed, paint
from animastor.workers.storyboard.lettering.card import INK, NIGHT_INK, draw_card, lay_out
from animastor.workers.storyboard.lexicon import SETTINGS as SETTING_WORDS
from animastor.workers.storyboard.scenery import SETTINGS

SMALL = (320, 180)


def person(name: str, speaking: bool = False, looks: str = "", clothes: str = "") -> dict[str, Any]:
    known = {"id": name.casefold(), "name": name, "appearance": looks, "clothes": clothes}
    return {**known, "anchor": None, "speaking": speaking}


def structure(**changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "subject": "a walk",
        "place": {"id": "p", "description": "a village street", "cinematic_space": None},
        "environment": {"time": "day"},
        "people": [],
        "shot": "wide",
        "size": list(SMALL),
        "seed": 5,
    }
    return {**base, **changes}


def made(workdir: Path, **changes: Any) -> Path:
    return picture(Order("image", "picture", structure(**changes)), workdir, lambda done: None).path


def pixels(**changes: Any) -> np.ndarray:
    return np.asarray(paint(board_of(structure(**changes))), dtype=np.float32)


def test_the_same_order_gives_the_same_bytes_and_another_seed_another_picture(tmp_path: Path) -> None:
    people = [person("Ada", speaking=True), person("Ben")]
    digests = []
    for index, seed in enumerate((5, 5, 7)):
        workdir = tmp_path / str(index)
        workdir.mkdir()
        path = made(workdir, people=people, text="Hello!", lettering="speech", seed=seed)
        digests.append(sha256(path.read_bytes()).hexdigest())
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("size", [(320, 240), (640, 360), (180, 320), (64, 64), (401, 223)])
def test_a_picture_has_the_ordered_size(tmp_path: Path, size: tuple[int, int]) -> None:
    path = made(tmp_path, size=list(size), people=[person("Ada")], text="A word.", lettering="caption")
    with Image.open(path) as image:
        assert (image.format, image.mode, image.size) == ("PNG", "RGB", size)


def test_progress_only_grows_and_one_file_is_written(tmp_path: Path) -> None:
    seen: list[float] = []
    made_file = picture(Order("image", "picture", structure()), tmp_path, seen.append).path
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert list(tmp_path.iterdir()) == [made_file]


@pytest.mark.parametrize("size", [(0, 100), (8, 8), (100_000, 100_000)])
def test_a_size_that_cannot_be_painted_is_a_permanent_failure(tmp_path: Path, size: tuple[int, int]) -> None:
    with pytest.raises(BackendError, match=f"{size[0]}x{size[1]}") as caught:
        made(tmp_path, size=list(size))
    assert caught.value.type is FailureType.PERMANENT
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_every_setting_can_be_painted_and_is_its_own(name: str) -> None:
    image = pixels(place={"id": "x", "description": name, "cinematic_space": None}, size=[160, 90])
    assert image.std() > 12, "a picture is not one flat colour"


def test_every_setting_of_the_lexicon_has_its_painter() -> None:
    assert set(SETTING_WORDS) == set(SETTINGS)


@pytest.mark.parametrize(
    ("time", "other"), [("dawn", "night"), ("day", "night"), ("day", "dusk"), ("golden", "day"), ("dusk", "night")]
)
def test_the_time_of_day_is_seen_in_the_light(time: str, other: str) -> None:
    first, second = (pixels(environment={"time": one}).mean(axis=(0, 1)) for one in (time, other))
    assert np.abs(first - second).max() > 25


@pytest.mark.parametrize("weather", ["rain", "snow", "fog", "storm", "mist", "wind", "cloudy"])
def test_the_weather_is_seen(weather: str) -> None:
    clear, changed = pixels(), pixels(environment={"time": "day", "weather": weather})
    assert np.abs(clear - changed).mean() > 3


def test_a_passport_changes_the_picture() -> None:
    first, second = (pixels(people=[person("Ada", clothes=c)]) for c in ("a yellow coat", "a blue dress"))
    assert np.abs(first - second).max() > 60


def test_who_speaks_is_marked() -> None:
    quiet, loud = (pixels(people=[person("Ada", s), person("Ben")], shot="medium") for s in (False, True))
    assert np.abs(quiet - loud).max() > 60


ROLES = [("caption", ""), ("speech", "Ada"), ("title", ""), ("chapter", "")]


@pytest.mark.parametrize(("role", "name"), ROLES)
@pytest.mark.parametrize("size", [(1280, 720), (320, 240), (720, 1280), (1920, 1080)])
@pytest.mark.parametrize("text", ["Word.", "It was a long story and it went on and on. " * 7])
def test_text_stays_in_the_part_that_survives_a_zoom_of_twelve_percent(
    role: str, name: str, size: tuple[int, int], text: str
) -> None:
    plain = Image.new("RGB", size, (128, 128, 128))
    card = lay_out(text, role, size, name)
    assert card
    image = plain.copy()
    draw_card(image, card, night=False, mouth=None, colour=(200, 40, 40))
    ys, xs = np.nonzero(np.abs(np.asarray(image, np.int16) - 128).max(axis=2) > 70)  # letters and paper, not the shadow
    assert 0.10 * size[0] - 2 <= xs.min()
    assert xs.max() <= 0.90 * size[0] + 2
    assert 0.10 * size[1] - 2 <= ys.min()
    assert ys.max() <= 0.90 * size[1] + 2


@pytest.mark.parametrize("time", ["day", "night"])
@pytest.mark.parametrize("weather", ["clear", "snow"])
@pytest.mark.parametrize(("role", "name"), ROLES)
def test_text_has_a_contrast_of_at_least_four_and_a_half(time: str, weather: str, role: str, name: str) -> None:
    environment = {"time": time, "weather": weather}
    size, text = (640, 360), "Every word of this can be read by everybody."
    people = [person("Ada", speaking=bool(name))]
    board = board_of(structure(environment=environment, size=list(size), text=text, lettering=role, people=people))
    made = composed(board)
    card = made.card
    assert card
    box = card.box
    image = np.asarray(made.image)[int(box.top) + 3 : int(box.bottom) - 3, int(box.left) + 3 : int(box.right) - 3]
    flat = image.reshape(-1, 3)
    ink: RGB = NIGHT_INK if board.light.dark or role in ("title", "chapter") else INK
    inked = np.abs(flat.astype(int) - ink).max(axis=1) < 12
    assert inked.mean() > 0.01, "the letters are there, in their full colour"
    paper = flat[np.abs(flat.astype(int) - np.median(flat, axis=0)).max(axis=1) < 30]
    worst = min(contrast(ink, (int(r), int(g), int(b))) for r, g, b in (paper.min(axis=0), paper.max(axis=0)))
    assert worst >= 4.5


def test_a_preview_is_a_small_webp(tmp_path: Path) -> None:
    data = preview(made(tmp_path, size=[640, 360]))
    with Image.open(BytesIO(data)) as image:
        assert (image.format, image.size) == ("WEBP", (320, 180))
    assert len(data) < 40_000


def test_a_contact_sheet_has_a_place_for_every_picture(tmp_path: Path) -> None:
    path = made(tmp_path)
    sheet = contact_sheet([(path, f"unit {k}") for k in range(5)], columns=2, width=160)
    assert sheet.width > 2 * 160
    assert sheet.height > 3 * 90
