"""The sound of a scene: its chunks of speech, their merge, and when each unit is heard (CONTRACT 14, Audio). Pure.

A chunk's structure is the whole of what a worker needs to speak it, and holds no position: text, voice, language,
seed and the pause behind it. A unit without sound is a part of silence, so that a scene's sound is always the sum of
its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from animastor.books.languages import primary
from animastor.books.model import SceneType, Unit, UnitType
from animastor.media.audio_alignment import narrated
from animastor.media.audio_chunks import Chunk, chunks_of
from animastor.media.audio_language import speech_language
from animastor.media.giving import with_given
from animastor.media.hashing import digest, seed_of
from animastor.media.timing import SILENT_S, estimated_s, text_mark
from animastor.media.types import Facts, MadePart, MediaType, PartPlan, PlanInput, Planned, Profile, Structure
from animastor.media.voices import speaker_voice

FORMAT = 1
SPEECH = "speech"
SILENCE = "silence"
SAMPLE_RATE = 24_000  # of all sound that is kept; the neural voice's own

ENGLISH = Profile("hibari", 1)
OTHERS = Profile("espeak", 1)

LOUDNESS_LUFS = -18.0
MOST_GAIN_DB = 12.0
TRUE_PEAK_DB = -1.5
SCENE_TAIL_S = 0.6  # what is left of the silence behind the last word of a scene
FIXED_GAIN_DB = {"hibari": 4.5, "espeak": 5.0}  # what their plain voices need; see docs/voices.md

# A spoken text is plausible between these: seconds per character, and seconds for the least and most text.
_LEAST_PER_CHARACTER, _MOST_PER_CHARACTER, _MOST_EXTRA_S = 0.01, 1.2, 3.0
_TOLERANCE = 0.02  # of a duration (CONTRACT 7)
_FRAME_S = 1 / 24


def plan_audio(wanted: PlanInput) -> Planned:
    """The chunks of a scene in order, and their merge. A scene without units has no parts."""
    parts: list[PartPlan] = []
    for unit in narrated(wanted.scene, wanted.head.language):
        parts.extend(_parts_of(wanted, unit))
    given = with_given(parts, wanted.previous)
    merge = _merge(given)
    return Planned(parts=given, merge=merge, wanted_hash=digest(merge))


def profile_of(wanted: PlanInput, language: str) -> Profile:
    """The profile that speaks a language: a stored one for it, for its primary part, for all speech; else our own."""
    profiles = wanted.settings.profiles
    for key in (f"speech:{language}", f"speech:{primary(language)}", SPEECH):
        if key in profiles:
            return profiles[key]
    return ENGLISH if primary(language) == "en" else OTHERS


def _parts_of(wanted: PlanInput, unit: Unit) -> list[PartPlan]:
    language = wanted.head.language
    heading = wanted.scene.type is SceneType.CHAPTER_INTRO
    chunks = [] if unit.type is UnitType.TYPOGRAPHY else chunks_of(unit, language, heading=heading)
    if not chunks:
        return [_silence(wanted, unit)]
    return [_speech(wanted, unit, chunk, ordinal) for ordinal, chunk in enumerate(chunks)]


def _speech(wanted: PlanInput, unit: Unit, chunk: Chunk, ordinal: int) -> PartPlan:
    language = speech_language(chunk.text, wanted.head.language)
    profile = profile_of(wanted, language)
    narrator = wanted.settings.narrator
    structure = {
        "format": FORMAT,
        "kind": SPEECH,
        "profile": [profile.name, profile.revision],
        "text": chunk.text,
        "language": language,
        "voice": speaker_voice(wanted.head, wanted.scene, narrator, chunk.speaker, profile.name),
        "pause": chunk.pause,
        "seed": seed_of(unit.unit_id, SPEECH, ordinal, wanted.takes.get(unit.unit_id, 0)),
    }
    return PartPlan(
        kind=SPEECH,
        hash=digest(structure),
        unit_ids=(unit.unit_id,),
        structure=structure,
        profile=profile.name,
        estimate_s=estimated_s(chunk.text, language),
        work=float(len(chunk.text)),
    )


def _silence(wanted: PlanInput, unit: Unit) -> PartPlan:
    """A part of silence. The seed makes it this unit's own: no two parts of an asset have one hash."""
    structure = {
        "format": FORMAT,
        "kind": SILENCE,
        "seconds": SILENT_S,
        "seed": seed_of(unit.unit_id, SILENCE, 0, 0),
    }
    return PartPlan(
        kind=SILENCE,
        hash=digest(structure),
        unit_ids=(unit.unit_id,),
        structure=structure,
        profile=profile_of(wanted, wanted.head.language or "en").name,
        estimate_s=SILENT_S,
        work=1.0,
    )


def _merge(parts: Sequence[PartPlan]) -> dict[str, Any]:
    spoken = next((part.profile for part in parts if part.kind == SPEECH), "")
    return {
        "format": FORMAT,
        "kind": "merge",
        "media": "audio",
        "parts": [part.hash for part in parts],
        "sample_rate": SAMPLE_RATE,
        "loudness": LOUDNESS_LUFS,
        "most_gain": MOST_GAIN_DB,
        "fixed_gain": FIXED_GAIN_DB.get(spoken, 0.0),
        "true_peak": TRUE_PEAK_DB,
        # only silence behind speech is trimmed: that of a last unit without sound is the unit
        "tail": SCENE_TAIL_S if parts and parts[-1].kind == SPEECH else None,
    }


def check_audio(structure: Structure, facts: Facts) -> str | None:
    """Why a chunk or a merged scene is not as ordered, or None."""
    if facts.samples < 1 or facts.sample_rate < 1:
        return "there is no sound in it"
    if structure["kind"] == SILENCE:
        return _off(facts.duration, structure["seconds"])
    if structure["kind"] == SPEECH:
        return _implausible(facts.duration, structure["text"], structure["pause"])
    if facts.sample_rate != structure["sample_rate"]:
        return f"the sound has {facts.sample_rate} samples a second, ordered were {structure['sample_rate']}"
    return None


def check_merged(structure: Structure, parts: Sequence[Facts], merged: Facts) -> str | None:
    """Why a merged scene is not as long as its parts together, or None (CONTRACT 7).

    Only the end of the last part may be missing: its silence, and never the tail that is to be left.
    """
    ordered = sum(part.duration for part in parts)
    trimmed = last_kept_s(parts[-1].duration, structure["tail"]) - parts[-1].duration if parts else 0.0
    least = ordered + trimmed
    if merged.duration < least and (_off(merged.duration, least) is not None):
        return f"the sound is {merged.duration:.2f} s long, its parts give at least {least:.2f} s"
    return _off(merged.duration, ordered) if merged.duration > ordered else None


def last_kept_s(length: float, tail: float | None) -> float:
    """How much of its last part a merge keeps at least, in seconds: the tail of silence; all, if nothing is trimmed."""
    return length if tail is None else min(length, tail)


def audio_facts(parts: Sequence[MadePart], merged: Facts | None) -> dict[str, Any]:
    """`{"duration", "samples", "sample_rate", "timings", "texts"}` of a scene (seconds; timings as in media.timing).

    `texts` maps a unit to the mark of what was spoken in it. Timings are contiguous and cover [0, duration]: what the
    merge trimmed from the tail is the last unit's. Never raises: it is called where many scenes are completed at once.
    """
    if not parts or merged is None:
        return {"duration": 0.0, "samples": 0, "sample_rate": SAMPLE_RATE, "timings": [], "texts": {}}
    samples: dict[str, int] = {}
    texts: dict[str, str] = {}
    for part in parts:
        unit_id = part.plan.unit_ids[0]
        samples[unit_id] = samples.get(unit_id, 0) + _samples(part.facts)
        texts[unit_id] = texts.get(unit_id, "") + str(part.plan.structure.get("text", ""))
    return {
        "duration": merged.samples / SAMPLE_RATE,
        "samples": merged.samples,
        "sample_rate": SAMPLE_RATE,
        "timings": _timings(samples, merged.samples),
        "texts": {unit_id: text_mark(text) for unit_id, text in texts.items()},
    }


def _samples(facts: Facts) -> int:
    """A part's length in samples of the merge, as the merge resamples it."""
    return round(facts.samples * SAMPLE_RATE / max(1, facts.sample_rate))


def _timings(samples: dict[str, int], total: int) -> list[list[Any]]:
    """Timings in seconds from counts of samples: one number for an end and the next start, the last one the total."""
    rows: list[list[Any]] = []
    at = 0
    for unit_id, count in samples.items():
        end = min(at + count, total)
        rows.append([unit_id, at / SAMPLE_RATE, end / SAMPLE_RATE])
        at = end
    rows[-1][2] = total / SAMPLE_RATE
    return rows


def _off(duration: float, ordered: float) -> str | None:
    if abs(duration - ordered) <= max(_TOLERANCE * ordered, _FRAME_S):
        return None
    return f"the sound is {duration:.2f} s long, ordered were {ordered:.2f} s"


def _implausible(duration: float, text: str, pause: float) -> str | None:
    least = _LEAST_PER_CHARACTER * len(text)
    most = _MOST_EXTRA_S + pause + _MOST_PER_CHARACTER * len(text)
    if least <= duration <= most:
        return None
    return f"{len(text)} characters are spoken in {duration:.2f} s, expected were {least:.2f} to {most:.2f} s"


AUDIO = MediaType(
    name="audio",
    part_name="chunk",
    profiles={"speech:en": ENGLISH, SPEECH: OTHERS},
    plan=plan_audio,
    check=check_audio,
    check_merge=check_merged,
    facts_of=audio_facts,
    suffixes={SPEECH: ".flac", SILENCE: ".flac", "merge": ".flac"},
    retry_limit=10,
    min_quota=8,
    job_timeout=timedelta(minutes=30),
)
