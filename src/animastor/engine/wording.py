"""Reasons in plain words, with figures, as phrases without a full stop: what `explain` says. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from animastor.engine.details import AssetDetail, PartDetail, SceneDetail
from animastor.engine.gate import SENTENCES
from animastor.engine.ports import JobState, JobStatus, PairStatus
from animastor.engine.reasons import Reason
from animastor.engine.states import State, standing

REFUSED: Final = {
    Reason.BACKPRESSURE: "all slots were in use when it was last looked at",
    Reason.HALF_OPEN_LIMIT: "after failures in a row only two tests at a time may start, and both are under way",
    Reason.CIRCUIT_OPEN: "after failures in a row nothing of its kind was let through when it was last looked at",
    Reason.BACKOFF: "the fleet has retried too much in the last minutes: retries wait, first attempts do not",
    Reason.DUPLICATE: "an earlier attempt at it still holds its lease, for a minute at most",
    Reason.ERA_WINDOW: "the coordination store was lost, and what still runs is being heard first",
}
UNASKED: Final = "nobody has asked for it"
_TIMES: Final = {1: "once", 2: "twice"}
_LONGEST: Final = 200  # characters of an error's text


def name(media: str, scene: SceneDetail) -> str:
    """An asset as people name it."""
    return f"{media} of scene {scene.place}"


def plural(noun: str) -> str:
    """More than one of them."""
    return f"{noun}s"


def span(seconds: float) -> str:
    """A time from now: `40 s`, `5 min`, `2 h`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{round(seconds / 3600)} h"


def times(count: int) -> str:
    """How often."""
    return _TIMES.get(count, f"{count} times")


def resting(asset: AssetDetail) -> str:
    """How something stands that is asked of nobody."""
    return f"is {standing(asset.state, current=asset.current, made=asset.made).word}"


def rests(asset: AssetDetail, scene: SceneDetail) -> Iterator[str]:
    """Why something that is asked of nobody is no further, and what would make it."""
    if asset.current:
        return
    if asset.state is State.READY:
        yield "it was edited since and is looked at again"
        return
    if asset.disabled:
        yield f"its layer is switched off in this book (`animastor layers {scene.book_id}`)"
        return
    if asset.state is State.NEW:
        yield UNASKED
    else:
        yield "what is there is an older version" if asset.made else "nobody asks for it any more"
    yield makes(scene)


def makes(scene: SceneDetail) -> str:
    """What a person does about something that is missing or stale."""
    return f"`animastor regenerate {scene.book_id}` makes what is missing or stale"


def backed_off(asset: AssetDetail, now: float) -> str:
    """It waits for a time."""
    left = (asset.due_at or now) - now
    why = " after failures" if any(part.tries for part in asset.parts) else ""
    return f"it is tried again in {span(left)}{why}" if left > 0 else f"it is tried again{why} at the next look"


def unserved(profiles: Sequence[str]) -> str:
    """Nobody could do any of it."""
    named = f" for {', '.join(profiles)}" if profiles else ""
    return f"there is no worker{named}"


def uncarried(asset: AssetDetail) -> str:
    """The request under which it was to be made does not let it start."""
    if asset.request_state is None:
        return "no request covers it any more: it rests at the next look"
    return f"request {asset.request_id}, which asked for it, is {asset.request_state}: it rests at the next look"


def closed(reason: Reason) -> str:
    """Nothing at all may start."""
    return SENTENCES.get(reason) or REFUSED.get(reason) or f"nothing may start ({reason})"


def pair_closed(reason: Reason, status: PairStatus) -> str:
    """Nothing of its kind may start."""
    if reason is Reason.NO_WORKER:
        return f"there is no worker for {status.pair.media}"
    if reason is Reason.CIRCUIT_OPEN:
        left = span(status.circuit_left)
        return f"{status.pair.media} failed many times in a row: a test is let through in {left}"
    return slots(status)


def slots(status: PairStatus) -> str:
    """How many of its kind are in work."""
    return f"{status.pair.media} has {status.leases} of {status.quota} slots in use"


def in_line(asset: AssetDetail) -> str:
    """Its place in the line."""
    scenes = "1 scene of this book comes" if asset.ahead == 1 else f"{asset.ahead} scenes of this book come"
    return f"{scenes} before it"


def parts_in(there: int, count: int, noun: str) -> str:
    """How far it is."""
    return f"{there} of {count} {noun if count == 1 else plural(noun)} {'is' if count == 1 else 'are'} in"


def merging(job: JobStatus | None) -> str:
    """All parts are in."""
    return "they are being put together" if job is not None else "they are to be put together"


def trouble(part: PartDetail, noun: str, scene: SceneDetail, job: JobStatus | None) -> str:
    """A part that failed and is tried again."""
    failed = f"{_called(part, noun, scene)} failed {times(part.tries)}{_error(part)}"
    if job is not None and job.state is JobState.CLAIMED:
        return f"{failed} and is being tried again now"
    left = part.not_before - scene.now
    if job is not None and job.state is JobState.DELAYED and left <= -1.0:
        return f"{failed}; {REFUSED[Reason.BACKOFF]}"  # its time has come: a budget holds it
    return f"{failed} and is tried again in {span(left)}" if left > 0 else f"{failed} and is tried again"


def given_up(part: PartDetail, noun: str, scene: SceneDetail) -> str:
    """A part that is lost."""
    tried = f" after {part.tries} attempts" if part.tries > 1 else ""
    return f"{_called(part, noun, scene)} was given up{tried}{_error(part)}"


def queued(jobs: Sequence[JobStatus | None], noun: str) -> Iterator[str]:
    """What runs and what waits for a worker."""
    there = [job for job in jobs if job is not None]
    running = [job for job in there if job.state is JobState.CLAIMED]
    waiting = len([job for job in there if job.state is JobState.QUEUED])
    if running:
        yield f"{len(running)} {noun if len(running) == 1 else plural(noun)} in work"
    if waiting:
        yield f"{waiting} {noun if waiting == 1 else plural(noun)} in the queue"


def _called(part: PartDetail, noun: str, scene: SceneDetail) -> str:
    """Unit 3 is the third of its scene; a unit that is not there any more keeps its id."""
    if part.is_merge:
        return "putting it together"
    if not part.unit_ids:
        return f"a {noun}"
    first = part.unit_ids[0]
    return f"the {noun} of unit {scene.units.index(first) + 1 if first in scene.units else first}"


def _error(part: PartDetail) -> str:
    told = " ".join(part.message.split()).rstrip(".")[:_LONGEST]
    return f" ({told})" if told else ""
