"""What the incidents need beside the engine's stage: workers with bad habits, and short ways to ask the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from invariants import rows
from stage import MEDIA, Fate, Stage

from animastor.books.model import Book, Unit
from animastor.engine.engine import Engine
from animastor.engine.ports import RequestProgress
from animastor.engine.states import State
from animastor.protocol import BookKey, Claim

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
