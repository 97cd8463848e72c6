"""The declaration of pictures: one for each unit, planned from what a person who paints it would have to know.

The structure of a picture is built here and nowhere else. It holds exactly what its backend receives, and only what
affects this one picture: a change of a character's passport reaches the pictures that show that character, and no
other. Who is shown in a unit is decided by `animastor.media.cast`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from animastor.books.model import BookHead, Json, Location, Scene, SceneType, Unit, UnitType
from animastor.media.cast import Shown, shot_of, shown
from animastor.media.giving import with_given
from animastor.media.hashing import FORMAT, digest, seed_of
from animastor.media.types import Facts, MadePart, MediaType, PartPlan, PlanInput, Planned, Profile, Structure

KIND = "picture"
DEFAULT_PROFILE = Profile("storyboard", 2)
_NOWHERE = Location(id="")


@dataclass(frozen=True, slots=True)
class _Setting:
    """What all pictures of a scene share. The scene's environment overrides its location's field by field.

    `words`: place and environment as the prompt says them.
    """

    style: str
    place: Mapping[str, Any]
    environment: Mapping[str, Json]
    words: tuple[str, ...]


def plan_image(wanted: PlanInput) -> Planned:
    """One part for each unit of the scene, in order; the manifest of unit and hash is what is wanted as a whole."""
    setting = _setting_of(wanted)
    parts = with_given([_part(wanted, setting, unit) for unit in wanted.scene.units], wanted.previous)
    manifest = {"format": FORMAT, "kind": "manifest", "units": [[p.unit_ids[0], p.hash] for p in parts]}
    return Planned(parts=parts, merge=manifest, wanted_hash=digest(manifest))


def check_image(structure: Structure, facts: Facts) -> str | None:
    """Why a picture is not as ordered, or None: it must have the ordered size, to the pixel."""
    width, height = structure["size"]
    if (facts.width, facts.height) == (width, height):
        return None
    return f"the picture is {facts.width}x{facts.height} pixels, ordered were {width}x{height}"


def image_facts(parts: Sequence[MadePart], merged: Facts | None) -> dict[str, Any]:
    """The manifest: `{"units": {unit_id: {"artifact", "width", "height"}}}`; pictures have no merged artifact."""
    return {
        "units": {
            unit_id: {"artifact": part.artifact, "width": part.facts.width, "height": part.facts.height}
            for part in parts
            for unit_id in part.plan.unit_ids
        }
    }


def structure_of(wanted: PlanInput, unit: Unit) -> dict[str, Any]:
    """The structure of a unit's picture: what is hashed, and what the worker receives.

    `subject` is the unit's own wish, or its text where it has none; `prompt` and `negative` are complete sentences
    for a model. `text` and `lettering` (caption, speech, title, chapter) are there only when text is drawn.
    """
    return _structure(wanted, _setting_of(wanted), unit)


def _structure(wanted: PlanInput, setting: _Setting, unit: Unit) -> dict[str, Any]:
    head, scene, shot = wanted.head, wanted.scene, shot_of(unit)
    profile = wanted.settings.profiles.get(KIND, DEFAULT_PROFILE)
    structure: dict[str, Any] = {
        "format": FORMAT,
        "kind": KIND,
        "profile": [profile.name, profile.revision],
        "size": [wanted.settings.width, wanted.settings.height],
        "seed": seed_of(unit.unit_id, KIND, 0, wanted.takes.get(unit.unit_id, 0)),
        "shot": shot,
        "subject": unit.image.prompt or unit.text,
        "style": setting.style,
        "camera": scene.visual.camera,
        "place": setting.place,
        "environment": setting.environment,
        "people": [_person(one) for one in shown(head, scene, unit)],
        "negative": _sentence(scene.visual.negative, unit.image.negative),
        **_lettering(head, scene, unit),
    }
    structure["prompt"] = _prompt(structure, setting, unit.image.quality or scene.visual.quality)
    return structure


def _prompt(structure: Structure, setting: _Setting, quality: str) -> str:
    """The one place where a picture's prompt is put together, from style, shot, subject, place, people, quality."""
    return _sentence(
        setting.style,
        f"{structure['shot']} shot" if structure["shot"] else "",
        structure["subject"],
        *setting.words,
        *map(_described, structure["people"]),
        quality,
    )


def _part(wanted: PlanInput, setting: _Setting, unit: Unit) -> PartPlan:
    structure = _structure(wanted, setting, unit)
    return PartPlan(
        kind=KIND,
        hash=digest(structure),
        unit_ids=(unit.unit_id,),
        structure=structure,
        profile=structure["profile"][0],
    )


def _setting_of(wanted: PlanInput) -> _Setting:
    head, scene = wanted.head, wanted.scene
    location = _location(head, scene)
    place = _place(location, scene)
    environment = {**_fields(location.environment), **_fields(scene.location.environment)}
    words = (location.description, _flat(location.cinematic_space), _flat(environment))
    style = ", ".join(filter(None, (head.render_mode, head.style, scene.visual.style)))
    return _Setting(style, place, environment, words)


def _location(head: BookHead, scene: Scene) -> Location:
    wanted = scene.location.id
    for location in head.locations:
        if location.id == wanted:
            return location
    return _NOWHERE if not wanted else Location(id=wanted)


def _place(location: Location, scene: Scene) -> dict[str, Any]:
    """Where it is. A scene without a location is its own place, so that its pictures stay in one place."""
    return {
        "id": location.id or scene.scene_id,
        "description": location.description,
        "cinematic_space": location.cinematic_space,
    }


def _fields(environment: Json) -> dict[str, Json]:
    """An environment field by field; free text is the field `note`."""
    if not environment:
        return {}
    return dict(environment) if isinstance(environment, Mapping) else {"note": environment}


def _person(one: Shown) -> dict[str, Any]:
    person = one.character
    return {
        "id": person.id,
        "name": person.name,
        "appearance": person.appearance,
        "clothes": person.clothes,
        "anchor": one.anchor,
        "speaking": one.speaking,
    }


def _described(person: Mapping[str, Any]) -> str:
    wearing = f"wearing {person['clothes']}" if person["clothes"] else ""
    details = _sentence(
        person["appearance"], wearing, _flat(person["anchor"]), "speaking" if person["speaking"] else ""
    )
    return f"{person['name']} ({details})" if details else str(person["name"])


def _lettering(head: BookHead, scene: Scene, unit: Unit) -> dict[str, str]:
    """The drawn text and its role; nothing when the book says that it is not drawn, or when there is none."""
    if not _is_drawn(unit.image.text_render):
        return {}
    if scene.type is SceneType.COVER:
        return {"text": unit.text or head.title, "lettering": "title", "byline": head.author}
    if not unit.text.strip():
        return {}
    if unit.type is UnitType.TYPOGRAPHY or scene.type is SceneType.CHAPTER_INTRO:
        return {"text": unit.text, "lettering": "chapter"}
    if unit.type is UnitType.DIALOGUE:
        return {"text": _quote(unit), "lettering": "speech"}
    return {"text": unit.text, "lettering": "caption"}


def _quote(unit: Unit) -> str:
    """What is said, without the narration about it; the comma before "said Ada" becomes a full stop."""
    quote = unit.audio.text.strip()
    if not quote or quote not in unit.text:
        return unit.text
    return quote[:-1] + "." if quote[-1] in ",،" else quote


def _is_drawn(text_render: Json) -> bool:
    """`text_render` of a unit: text is drawn unless it is false, "none", or an object that says `enabled: false`."""
    if isinstance(text_render, Mapping):
        return text_render.get("enabled") is not False
    return text_render is None or text_render not in (False, "none", "off", "false")


def _flat(value: Json) -> str:
    """The words of a JSON value, in a stable order."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, Mapping):
        return _sentence(*(_flat(value[key]) for key in sorted(value)))
    if isinstance(value, list):
        return _sentence(*(_flat(item) for item in value))
    return "" if isinstance(value, bool) else str(value)


def _sentence(*pieces: str) -> str:
    return ", ".join([stripped for piece in pieces if (stripped := piece.strip())])


IMAGE = MediaType(
    name="image",
    part_name="picture",
    profiles={KIND: DEFAULT_PROFILE},
    plan=plan_image,
    check=check_image,
    facts_of=image_facts,
    suffixes={KIND: ".png"},
    merges=False,
    facts_of_structures=False,
    retry_limit=10,
    min_quota=4,
)
