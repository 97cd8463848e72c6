"""Orders for speech as a plan makes them, and what was made of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from animastor.books.model import BookHead, BookId, Character, Scene, SceneId, Unit, UnitAudio, UnitId, UnitType
from animastor.media.audio import plan_audio
from animastor.media.types import ContentSettings, PlanInput, Planned, Profile
from animastor.workers.backend import Order
from animastor.workers.speech import flac, speak

RATE = 24_000
PROSE = "The man at the gate said nothing; but his dog, a large and shaggy animal, barked twice."


def plan_of(
    *units: Unit, language: str = "en", profiles: Mapping[str, Profile] | None = None, voice: str = ""
) -> Planned:
    head = BookHead(BookId("b"), language=language, characters=(Character(id="anna", voice=voice),))
    settings = ContentSettings(profiles=profiles or {})
    return plan_audio(PlanInput(head, Scene(SceneId("s"), units), settings))


def order_of(text: str, *, language: str = "en", voice: str = "", profile: str = "", take: int = 0) -> Order:
    """The order of the first chunk of a text; with a voice it is said by a character of that voice."""
    audio = UnitAudio("anna", text) if voice else UnitAudio()
    unit = Unit(UnitId(f"u{take}"), text, UnitType.DIALOGUE, audio=audio)
    profiles = {"speech": Profile(profile)} if profile else {}
    part = plan_of(unit, language=language, profiles=profiles, voice=voice).parts[0]
    return Order("audio", part.kind, part.structure)


def made(order: Order, workdir: Path) -> NDArray[np.float32]:
    return sound_of(speak(order, workdir, lambda _: None).path)


def sound_of(path: Path) -> NDArray[np.float32]:
    return np.concatenate(list(flac.read(path)))


def seconds(sound: NDArray[Any]) -> float:
    return len(sound) / RATE
