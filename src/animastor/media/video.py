"""The declaration of moving pictures: shots of one to four units each, and their merge into a scene (CONTRACT 14).

A shot knows how many frames each of its units may need, never where it stands in the scene: the merge takes from each
unit the frames that the timeline has room for, counted from borders that are cumulative over the whole scene.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import accumulate, pairwise
from typing import Any

from animastor.books.model import Unit
from animastor.media.audio_alignment import narrated
from animastor.media.cast import shot_of
from animastor.media.giving import with_given
from animastor.media.hashing import FORMAT, digest, seed_of
from animastor.media.timing import Timing, border, frame_counts, in_order, last_known_s, room
from animastor.media.types import (
    Dependency,
    Facts,
    MadePart,
    MediaType,
    PartPlan,
    PlanInput,
    Planned,
    Profile,
    Structure,
    Waiting,
)
from animastor.media.video_groups import Length, grouped, render_frames
from animastor.media.video_moves import move_of

KIND = "shot"
DEFAULT_PROFILE = Profile("motion", 1)

_ABSENT = Dependency("absent")


def plan_video(wanted: PlanInput) -> Planned | Waiting:
    """The shots of a scene in order, and how many frames of each unit the merged scene holds."""
    waiting = _waiting_on(wanted)
    if waiting:
        return Waiting(waiting)
    timings, fps = timings_of(wanted), wanted.settings.fps
    takes = dict(zip((unit_id for unit_id, _, _ in timings), frame_counts(timings, fps), strict=True))
    lengths = [Length(unit_id, end - start) for unit_id, start, end in timings]
    groups = grouped(lengths, fps, [one for one in wanted.previous if one.kind == KIND])
    made = [_part(wanted, group, sum(takes[unit.unit_id] for unit in group)) for group in groups]
    parts = with_given(made, wanted.previous, lambda part, given: _has_room(part, given, takes))
    merge = {
        "format": FORMAT,
        "kind": "merge",
        "media": "video",
        "size": [wanted.settings.width, wanted.settings.height],
        "fps": fps,
        "shots": [
            {"hash": part.hash, "rendered": _rendered(part.structure), "taken": [takes[unit] for unit in part.unit_ids]}
            for part in parts
        ],
    }
    return Planned(parts=parts, merge=merge, wanted_hash=digest(merge))


def _has_room(part: PartPlan, given: Structure, takes: Mapping[str, int]) -> bool:
    """Whether a given shot has as many frames of each unit as the scene takes now, at the scene's rate and size."""
    if any(given[name] != part.structure[name] for name in ("fps", "size")):
        return False
    return all(takes[unit] <= frames for unit, frames in zip(part.unit_ids, _rendered(given), strict=True))


def timings_of(wanted: PlanInput) -> tuple[Timing, ...]:
    """When each unit begins and ends: as measured in the sound; without one, as last measured or estimated."""
    facts = wanted.dependencies.get("audio", _ABSENT).facts
    ready = wanted.dependencies.get("audio", _ABSENT).status == "ready"
    measured = {unit_id: end - start for unit_id, start, end in facts.get("timings", ())} if ready else {}
    language = wanted.head.language
    return in_order(
        (unit.unit_id, measured[unit.unit_id] if unit.unit_id in measured else last_known_s(unit, facts, language))
        for unit in narrated(wanted.scene, language)
    )


def check_video(structure: Structure, facts: Facts) -> str | None:
    """Why a shot or a merged scene is not as ordered, or None: size, rate, and the number of frames to the frame."""
    width, height = structure["size"]
    if (facts.width, facts.height) != (width, height):
        return f"the video is {facts.width}x{facts.height} pixels, ordered were {width}x{height}"
    if abs(facts.fps - structure["fps"]) > 0.001:
        return f"the video has {facts.fps:g} frames a second, ordered were {structure['fps']}"
    frames = _ordered_frames(structure)
    if facts.frames != frames:
        return f"the video has {facts.frames} frames, ordered were {frames}"
    return None


def video_facts(parts: Sequence[MadePart], merged: Facts | None) -> dict[str, Any]:
    """`{"duration", "frames", "fps", "cuts", "timings"}` of a scene.

    `cuts` are the frames at which its shots begin. `timings` are those of the units, for a scene without sound: their
    borders inside a shot are right within two frames.
    """
    if not parts:
        return {"duration": 0.0, "frames": 0, "fps": 0, "cuts": [], "timings": []}
    fps = int(parts[0].plan.structure["fps"])
    cuts, timings, at = [], [], 0
    for part in parts:
        cuts.append(at)
        end = at + border(part.plan.estimate_s, fps)
        borders = _shared_out(at, end, part.plan.structure["frames"])
        units = zip(part.plan.unit_ids, pairwise(borders), strict=True)
        timings += [[unit_id, start / fps, stop / fps] for unit_id, (start, stop) in units]
        at = end
    frames = merged.frames if merged is not None else at
    return {"duration": frames / fps, "frames": frames, "fps": fps, "cuts": cuts, "timings": timings}


def _shared_out(start: int, end: int, rooms: Sequence[int]) -> list[int]:
    """The frames from `start` to `end` among units that have room for so many: the borders, both ends included."""
    needs = list(accumulate((frames - 0.5 for frames in rooms), initial=0.0))  # right within half a frame each
    return [start + round((end - start) * need / needs[-1]) for need in needs]


def estimate_video(wanted: PlanInput) -> tuple[int, float]:
    """How many shots a scene will have and how many frames they will be, before anything is measured."""
    fps = wanted.settings.fps
    groups = grouped([Length(unit_id, end - start) for unit_id, start, end in timings_of(wanted)], fps)
    return len(groups), float(sum(render_frames(sum(_rooms(group, fps))) for group in groups))


def _waiting_on(wanted: PlanInput) -> tuple[str, ...]:
    image = wanted.dependencies.get("image", _ABSENT)
    pictures = _pictures(image)
    is_there = image.status == "ready" and all(unit.unit_id in pictures for unit in wanted.scene.units)
    waiting = () if is_there else ("image",)
    if wanted.dependencies.get("audio", _ABSENT).status == "awaited":
        waiting = (*waiting, "audio")
    return waiting


def _pictures(image: Dependency) -> Mapping[str, Mapping[str, Any]]:
    units: Mapping[str, Mapping[str, Any]] = image.facts.get("units", {})
    return units


def _part(wanted: PlanInput, group: Sequence[Length], frames: int) -> PartPlan:
    structure = structure_of(wanted, group)
    return PartPlan(
        kind=KIND,
        hash=digest(structure),
        unit_ids=tuple(unit.unit_id for unit in group),
        structure=structure,
        inputs=tuple(dict.fromkeys(structure["pictures"])),
        profile=structure["profile"][0],
        estimate_s=frames / wanted.settings.fps,
        work=float(structure["render_frames"]),
    )


def structure_of(wanted: PlanInput, group: Sequence[Length]) -> dict[str, Any]:
    """The structure of a shot: what is hashed, and what the worker receives.

    `frames` says how many each unit may need; `render_frames` how many are rendered, the surplus being the last
    unit's. `pictures` are checksums, one for each unit, as are `moves`.
    """
    settings = wanted.settings
    profile = settings.profiles.get(KIND, DEFAULT_PROFILE)
    pictures = _pictures(wanted.dependencies["image"])
    units: dict[str, Unit] = {unit.unit_id: unit for unit in wanted.scene.units}
    takes = [wanted.takes.get(unit.unit_id, 0) for unit in group]
    frames = _rooms(group, settings.fps)
    return {
        "format": FORMAT,
        "kind": KIND,
        "profile": [profile.name, profile.revision],
        "size": [settings.width, settings.height],
        "fps": settings.fps,
        "frames": frames,
        "render_frames": render_frames(sum(frames)),
        "pictures": [pictures[unit.unit_id]["artifact"] for unit in group],
        "moves": [
            _move(units[one.unit_id], count / settings.fps, take)
            for one, count, take in zip(group, frames, takes, strict=True)
        ],
        "seed": seed_of(group[0].unit_id, KIND, 0, sum(takes)),
    }


def _move(unit: Unit, seconds: float, take: int) -> dict[str, Any]:
    return move_of(unit.unit_id, shot_of(unit), unit.action, seconds, take)


def _rooms(group: Sequence[Length], fps: int) -> list[int]:
    return [room(unit.seconds, fps) for unit in group]


def _rendered(structure: Structure) -> list[int]:
    """The rendered frames of each unit of a shot: those that it may need, and the surplus for the last."""
    *before, _ = structure["frames"]
    return [*before, structure["render_frames"] - sum(before)]


def _ordered_frames(structure: Structure) -> int:
    if structure["kind"] == KIND:
        return int(structure["render_frames"])
    return sum(sum(shot["taken"]) for shot in structure["shots"])


VIDEO = MediaType(
    name="video",
    part_name="shot",
    profiles={KIND: DEFAULT_PROFILE},
    plan=plan_video,
    check=check_video,
    facts_of=video_facts,
    suffixes={KIND: ".mp4", "merge": ".mp4"},
    requires=("image",),
    follows=("audio",),
    merges=True,
    retry_limit=5,
    min_quota=2,
    job_timeout=timedelta(minutes=60),
    timeout_minutes=(60, 10, 720),
    estimate=estimate_video,
)
