"""Three media types whose artifacts can be read: `voice` merges, `sketch` does not, `clip` requires and follows.

What a backend makes is text that says what it was made from, such as `say(a|v)`, and, where a seed wants no two runs
to give the same bytes, the number of the run. So an oracle can say of any bytes what they are, from the book alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

from animastor.media.hashing import digest
from animastor.media.registry import Registry
from animastor.media.types import Facts, MadePart, MediaType, PartPlan, PlanInput, Planned, Structure, Waiting
from animastor.protocol import MERGE

PLANNER: ContextVar[Mapping[str, int]] = ContextVar("planner")  # what a process' version puts into plans
RAISES = "!"  # a text that no plan can be made of
SPOILED = "~"
RUN = re.compile(rb"#\d+")
MEDIA = ("voice", "sketch", "clip")
PROFILES = ("speech", "drawing", "camera", MERGE)
PATIENCE = (1, 1, 2)  # minutes without progress: by default, at least, at most


def made(kind: str, params: Structure, inputs: Sequence[bytes]) -> bytes:
    """What a backend makes of an order, without the number of the run."""
    if kind == MERGE:
        return b"[" + b"+".join(RUN.sub(b"", one) for one in inputs) + b"]"
    if kind == "say":
        return f"say({params['text']}|{params['voice']})".encode()
    if kind == "draw":
        return f"draw({params['prompt']})".encode()
    return b"shoot(" + RUN.sub(b"", inputs[0]) + f"|{params['length']})".encode()


def _planned(kind: str, profile: str, parts: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> Planned:
    orders = [(unit, {"kind": kind, **given, **PLANNER.get({})}, inputs) for unit, given, inputs in parts]
    plans = tuple(PartPlan(kind, digest(order), (unit,), order, inputs, profile, 1.0) for unit, order, inputs in orders)
    merge = {"kind": f"join {kind}", "parts": [part.hash for part in plans]}
    return Planned(plans, merge, digest(merge))


def plan_voice(wanted: PlanInput) -> Planned:
    """A sentence for each unit that says something."""
    if any(unit.text == RAISES for unit in wanted.scene.units):
        raise ValueError("simulated: this text cannot be planned")
    voice = wanted.settings.narrator
    said = [(unit.unit_id, unit.text, wanted.takes.get(unit.unit_id, 0)) for unit in wanted.scene.units if unit.text]
    return _planned(
        "say", "speech", [(unit, {"text": text, "voice": voice, "take": take}, ()) for unit, text, take in said]
    )


def plan_sketch(wanted: PlanInput) -> Planned:
    """A picture for each unit."""
    takes = wanted.takes
    return _planned(
        "draw",
        "drawing",
        [
            (unit.unit_id, {"prompt": unit.image.prompt, "take": takes.get(unit.unit_id, 0)}, ())
            for unit in wanted.scene.units
        ],
    )


def plan_clip(wanted: PlanInput) -> Planned | Waiting:
    """A shot for each unit, from its picture, as long as the voice says."""
    sketch, voice = wanted.dependencies["sketch"], wanted.dependencies["voice"]
    if sketch.status != "ready":
        return Waiting(("sketch",))
    if voice.status == "awaited":
        return Waiting(("voice",))
    length = voice.facts.get("length", 0) if voice.facts else 0
    pictures = sketch.facts["units"]
    return _planned(
        "shoot",
        "camera",
        [
            (
                one.unit_id,
                {"picture": pictures[one.unit_id], "length": length, "take": wanted.takes.get(one.unit_id, 0)},
                (pictures[one.unit_id],),
            )
            for one in wanted.scene.units
        ],
    )


def _check(structure: Structure, facts: Facts) -> str | None:
    return None if facts.codec == "whole" else "simulated: these bytes are spoiled"


def _length(parts: Sequence[MadePart], merged: Facts | None) -> dict[str, Any]:
    return {"length": round(sum(part.facts.duration for part in parts))}


def _pictures(parts: Sequence[MadePart], merged: Facts | None) -> dict[str, Any]:
    return {"units": {unit: part.artifact for part in parts for unit in part.plan.unit_ids}}


def facts_of(content: bytes) -> Facts:
    """What looking at bytes tells: whole or not, and how long."""
    whole = bool(content) and not content.endswith(SPOILED.encode())
    return Facts(codec="whole" if whole else "broken", duration=float(len(RUN.sub(b"", content))))


VOICE = MediaType(
    name="voice",
    plan=plan_voice,
    check=_check,
    facts_of=_length,
    suffixes={"say": ".say", MERGE: ".voice"},
    retry_limit=4,
    min_quota=2,
    job_timeout=timedelta(minutes=PATIENCE[0]),
    timeout_minutes=PATIENCE,
)
SKETCH = MediaType(
    name="sketch",
    plan=plan_sketch,
    check=_check,
    facts_of=_pictures,
    suffixes={"draw": ".draw"},
    merges=False,
    retry_limit=8,  # as many as it takes until one waits too long to hold a slot
    min_quota=2,
    job_timeout=timedelta(minutes=PATIENCE[0]),
    timeout_minutes=PATIENCE,
)
CLIP = MediaType(
    name="clip",
    plan=plan_clip,
    check=_check,
    facts_of=_length,
    suffixes={"shoot": ".shoot", MERGE: ".clip"},
    requires=("sketch",),
    follows=("voice",),
    retry_limit=4,
    min_quota=1,
    job_timeout=timedelta(minutes=PATIENCE[0]),
    timeout_minutes=PATIENCE,
)
REGISTRY = Registry((VOICE, SKETCH, CLIP))
FUNCTIONS: Mapping[str, Mapping[str, str]] = {
    "speech": {"voice": "say"},
    "drawing": {"sketch": "draw"},
    "camera": {"clip": "shoot"},
    MERGE: {"voice": MERGE, "clip": MERGE},
}
