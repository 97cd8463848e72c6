"""Three toy media types with known bytes: `voice` merges, `sketch` does not, `clip` requires one and follows the other.

What a worker makes is a pure function of what it was ordered, so that any artifact can be checked against its order
by whoever has both: `content_of`.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from animastor.books.model import Book, BookHead, BookId, Chapter, ChapterId, Scene, SceneId, Unit, UnitId, UnitImage
from animastor.media.giving import with_given
from animastor.media.hashing import digest
from animastor.media.registry import Registry
from animastor.media.types import Facts, MadePart, MediaType, PartPlan, PlanInput, Planned, Structure, Waiting
from animastor.protocol import MERGE

RAISES = "this text cannot be planned"


def content_of(kind: str, structure: Structure, inputs: Sequence[bytes]) -> bytes:
    """The only right bytes for an order."""
    seed = digest({"kind": kind, "structure": dict(structure)}).encode()
    return b"|".join((kind.encode(), sha256(b"\0".join((seed, *inputs))).hexdigest().encode()))


def _planned(
    kind: str, structures: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]], wanted: PlanInput
) -> Planned:
    made = tuple(
        PartPlan(
            kind=kind,
            hash=digest(structure),
            unit_ids=(unit_id,),
            structure=structure,
            inputs=inputs,
            profile=f"make-{kind}",
            estimate_s=1.0,
            work=float(len(unit_id)),
        )
        for unit_id, structure, inputs in structures
    )
    parts = with_given(made, wanted.previous)
    merge = {"kind": f"join-{kind}", "parts": [part.hash for part in parts]}
    return Planned(parts=parts, merge=merge, wanted_hash=digest(merge))


def _take(wanted: PlanInput, unit: Unit) -> dict[str, int]:
    take = wanted.takes.get(unit.unit_id, 0)
    return {"take": take} if take else {}


def plan_voice(wanted: PlanInput) -> Planned:
    """A chunk for each unit that says something."""
    if any(unit.text == RAISES for unit in wanted.scene.units):
        raise ValueError("the planner stumbled")
    voice = wanted.settings.narrator
    return _planned(
        "chunk",
        [
            (unit.unit_id, {"unit": unit.unit_id, "text": unit.text, "voice": voice, **_take(wanted, unit)}, ())
            for unit in wanted.scene.units
            if unit.text
        ],
        wanted,
    )


def plan_sketch(wanted: PlanInput) -> Planned:
    """A picture for each unit."""
    return _planned(
        "picture",
        [
            (unit.unit_id, {"unit": unit.unit_id, "prompt": unit.image.prompt, **_take(wanted, unit)}, ())
            for unit in wanted.scene.units
        ],
        wanted,
    )


def plan_clip(wanted: PlanInput) -> Planned | Waiting:
    """A shot for each unit, made from its picture, as long as the voice says."""
    sketch, voice = wanted.dependencies["sketch"], wanted.dependencies["voice"]
    if sketch.status != "ready":
        return Waiting(("sketch",))
    if voice.status == "awaited":
        return Waiting(("voice",))
    pictures = sketch.facts["units"]
    length = voice.facts.get("length", 0) if voice.facts else 0
    shots = []
    for one in wanted.scene.units:
        picture = pictures[one.unit_id]
        shots.append(
            (one.unit_id, {"unit": one.unit_id, "from": picture, "of": length, **_take(wanted, one)}, (picture,))
        )
    return _planned("shot", shots, wanted)


def _check(structure: Structure, facts: Facts) -> str | None:
    return None if facts.codec == "right" else "these are other bytes than were ordered"


def _length(parts: Sequence[MadePart], merged: Facts | None) -> dict[str, Any]:
    return {"length": len(parts), "by": sorted(part.plan.hash for part in parts)}


def _pictures(parts: Sequence[MadePart], merged: Facts | None) -> dict[str, Any]:
    return {"units": {unit_id: part.artifact for part in parts for unit_id in part.plan.unit_ids}}


VOICE = MediaType(
    name="voice",
    plan=plan_voice,
    check=_check,
    facts_of=_length,
    suffixes={"chunk": ".a", MERGE: ".aa"},
    retry_limit=4,
    min_quota=3,
)
SKETCH = MediaType(
    name="sketch",
    plan=plan_sketch,
    check=_check,
    facts_of=_pictures,
    suffixes={"picture": ".b"},
    merges=False,
    retry_limit=4,
    min_quota=2,
)
CLIP = MediaType(
    name="clip",
    plan=plan_clip,
    check=_check,
    facts_of=_length,
    suffixes={"shot": ".c", MERGE: ".cc"},
    requires=("sketch",),
    follows=("voice",),
    retry_limit=4,
    min_quota=2,
)
REGISTRY = Registry((VOICE, SKETCH, CLIP))
PROFILES = ("make-chunk", "make-picture", "make-shot", MERGE)


def unit(name: str, text: str = "said", prompt: str = "seen") -> Unit:
    """A unit with an id, what is said and what is seen."""
    return Unit(unit_id=UnitId(name), text=text, image=UnitImage(prompt=prompt))


def scene(name: str, *units: Unit) -> Scene:
    """A scene."""
    return Scene(scene_id=SceneId(name), units=units)


def book(name: str, *scenes: Scene, title: str = "") -> Book:
    """A book of one chapter."""
    chapter = Chapter(chapter_id=ChapterId("ch-1"), scenes=scenes)
    return Book(head=BookHead(book_id=BookId(name), title=title), chapters=(chapter,))


def plain_book(name: str, scenes: int, units: int = 2) -> Book:
    """A book of so many scenes with so many units each; every text is another one."""
    return book(
        name,
        *(
            scene(
                f"sc-{s}",
                *(unit(f"{name}-iu-{s}-{u}", f"{name} says {s} {u}", f"{name} shows {s} {u}") for u in range(units)),
            )
            for s in range(scenes)
        ),
    )
