"""Fog is a bank that hides what is far: the denser it is told to be, the less is left of stars, moon and houses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from animastor.workers.storyboard.board import board_of
from animastor.workers.storyboard.compose import paint
from animastor.workers.storyboard.light import FOGS, MOODS, TIMES, Fog, light_of

HARBOUR = {"id": "q", "description": "a harbour with cottages", "cinematic_space": None}


def structure(weather: str, wish: str = "the harbour", text: str = "", time: str = "dusk") -> dict[str, Any]:
    return {
        "subject": wish, "place": HARBOUR, "environment": {"time": time, "weather": weather}, "people": [],
        "shot": "establishing", "size": [320, 180], "seed": 5, "text": text,
    }  # fmt: skip


def far_contrast(weather: str) -> float:
    """How much the pixels of the houses differ."""
    picture = np.asarray(paint(board_of(structure(weather))).convert("L"), np.float32)
    return float(picture[40:105, 10:140].std())


@pytest.mark.parametrize("weather", FOGS)
@pytest.mark.parametrize("mood", MOODS)
@pytest.mark.parametrize("time", TIMES)
def test_no_star_is_seen_through_fog(weather: str, mood: str, time: str) -> None:
    assert light_of(time, weather, mood).stars == 0


def test_the_denser_the_fog_the_less_contrast_has_what_is_far() -> None:
    told = ("clear", "thin mist", "mist", "fog", "thick fog")
    seen = [far_contrast(weather) for weather in told]
    assert seen == sorted(seen, reverse=True), dict(zip(told, seen, strict=True))
    assert seen[-1] < seen[0] / 3


def test_fog_takes_more_from_what_is_farther_and_nothing_from_what_is_at_hand() -> None:
    light = light_of("night", "fog", fog=Fog(1.0))
    hidden = [light.hidden(depth / 10) for depth in range(11)]
    assert hidden[0] == 0
    assert hidden == sorted(hidden)
    assert hidden[4] > 1.8 * light_of("night").hidden(0.4)


@pytest.mark.parametrize(
    ("weather", "wish", "text", "density", "torn"),
    [
        ("fog", "the harbour", "", FOGS["fog"], False),
        ("thick fog", "the harbour", "", 1.0, False),
        ("fog", "fog and a faint moon", "", FOGS["fog"], False),
        ("mist", "a thin scarf of mist over the roofs", "", FOGS["mist"] * 0.7, False),
        ("clear", "thick fog falling behind", "", 1.0, False),
        ("mist", "a boat coming in", "Morning was pulling the fog apart.", 0.6, True),
        ("clear", "the harbour", "", 0.0, False),
    ],
)
def test_how_dense_fog_is_stands_beside_its_word(
    weather: str, wish: str, text: str, density: float, torn: bool
) -> None:
    light = board_of(structure(weather, wish, text)).light
    assert light.bank == pytest.approx(min(1.0, density))
    assert light.torn == torn


def test_there_is_no_bank_of_fog_in_a_room() -> None:
    kitchen = {"id": "k", "description": "a kitchen", "cinematic_space": None}
    clear, foggy = (
        np.asarray(paint(board_of({**structure(weather), "place": kitchen})), np.float32)
        for weather in ("clear", "thick fog")
    )
    assert np.abs(clear - foggy)[100:].mean() < 6
