"""What the incidents need beside the engine's stage: workers with bad habits, and short ways to ask the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from invariants import rows
from stage import HEARTBEAT_S, MEDIA, Fate, Stage
from toys import PROFILES, content_of

from animastor.books.model import Book, Unit
from animastor.engine.engine import Engine
from animastor.engine.ports import RequestProgress
from animastor.engine.reasons import JournalType
from animastor.engine.states import State
from animastor.protocol import Answer, BookKey, Claim, FailureType, Running, Uploaded, Worker

Choose = Callable[[Claim, int], Fate]


async def made(stage: Stage, engine: Engine, key: BookKey, media: Sequence[str] = MEDIA) -> RequestProgress:
    """Ask for a book and wait for the end."""
    return await stage.until_ended((await stage.ask(engine, key, media)).request.request_id)


async def states(stage: Stage) -> Mapping[str, Counter[str]]:
    """How many assets of each media type are in which state."""
    found: dict[str, Counter[str]] = {}
    for row in await rows(stage, "SELECT media, state FROM asset"):
        found.setdefault(row.media, Counter())[State(row.state).name] += 1
    return found


async def ready_artifacts(stage: Stage, media: str) -> dict[str, str]:
    """Scene id → artifact of what is READY."""
    found = await rows(
        stage,
        "SELECT s.scene_id, a.artifact FROM asset a JOIN scene s ON s.scene_key = a.scene_key"
        " WHERE a.state = 4 AND a.media = :media",
        media=media,
    )
    return {row.scene_id: row.artifact for row in found}


async def dispatches(stage: Stage, where: str = "1 = 1") -> list[tuple[int, str, str | None, str | None]]:
    """(asset, dispatch, outcome, reason), oldest first."""
    found = await rows(stage, f"SELECT asset, id, outcome, reason FROM dispatch WHERE {where} ORDER BY asset, fence")
    return [(row.asset, row.id, row.outcome, row.reason) for row in found]


async def journal_types(stage: Stage) -> Counter[JournalType]:
    """How often each type of row was written."""
    return Counter(row.type for row in await stage.journal())


def of_kind(kind: str, fate: Fate, first: int = 10**9) -> Choose:
    """The fate of the first so many attempts of each job of a kind; everything else succeeds in a second."""
    return lambda claim, times: fate if claim.job.kind == kind and times < first else Fate()


def lasting(seconds: float) -> Choose:
    """Every job takes so long."""
    return lambda claim, times: Fate(seconds=seconds)


def changed(book: Book, scene_id: str, change: Callable[[Sequence[Unit]], Sequence[Unit]]) -> Book:
    """The book with the units of one scene changed."""
    (chapter,) = book.chapters
    scenes = tuple(
        replace(one, units=tuple(change(one.units))) if one.scene_id == scene_id else one for one in chapter.scenes
    )
    return replace(book, chapters=(replace(chapter, scenes=scenes),))


def reworded(book: Book, scene_id: str, word: str = "edited") -> Book:
    """The book with another first text in one scene."""
    return changed(book, scene_id, lambda units: (replace(units[0], text=f"{word} {units[0].text}"), *units[1:]))


class Hands:
    """A worker that does nothing by itself: a test claims, beats and delivers for it."""

    def __init__(self, stage: Stage, engine: Engine, instance: str = "by-hand", slots: int = 4) -> None:
        self.stage = stage
        self.hub = stage.hub(engine)
        self.worker = Worker("wrk", instance, dict.fromkeys(PROFILES, slots))

    async def claim(self, count: int = 1, **limit: int) -> Sequence[Claim]:
        """Exactly so many claims, of the profiles that are named (`make_chunk=1`) or of any."""
        await self.hub.register(self.worker)
        wanted = {name.replace("_", "-"): slots for name, slots in limit.items()} or dict(self.worker.profiles)
        taken: list[Claim] = []
        while len(taken) < count:
            taken += await self.hub.claim(self.worker, wanted, timedelta(seconds=30))
        return taken

    async def beat(self, claims: Sequence[Claim], progress: float = 0.5) -> Sequence[Answer]:
        """A heartbeat."""
        running = [Running(claim.job.job_id, claim.claim_no, progress) for claim in claims]
        return await self.hub.heartbeat(self.worker, running)

    async def beating(self, claims: Sequence[Claim], seconds: float, progress: float = 0.99) -> None:
        """Heartbeats that report the same progress again and again, as a backend does that hangs."""
        for _ in range(int(seconds / HEARTBEAT_S)):
            await self.stage.clock.sleep(HEARTBEAT_S)
            if Answer.STOP in await self.beat(claims, progress):
                return

    def content(self, claim: Claim) -> bytes:
        """What was ordered."""
        inputs = [self.stage.bytes.content[one] for one in claim.job.inputs]
        return content_of(claim.job.kind, claim.job.params, inputs)

    async def finish(self, claim: Claim, content: bytes | None = None) -> str:
        """Deliver what was ordered, or other bytes."""
        given = self.content(claim) if content is None else content
        return await self.hub.finish(claim, Uploaded(self.stage.bytes.keep(given), len(given), ".x"))

    async def fail(self, claim: Claim, failure: FailureType, code: str = "made_up") -> str:
        """Report a failure."""
        return await self.hub.fail(claim, failure, code, "made to fail")
