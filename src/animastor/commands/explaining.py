"""`animastor explain`: why something is not there yet, told by whoever works on the home; else by what is stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from animastor.app import Driving
from animastor.commands import messages
from animastor.commands.errors import Exit
from animastor.commands.homes import looking
from animastor.commands.importing import stored_book
from animastor.commands.messages import Tell
from animastor.commands.naming import called
from animastor.commands.places import scene_of
from animastor.display import Display
from animastor.engine.details import MediaCount
from animastor.engine.explaining import NOBODY, Explainer, Explanation
from animastor.engine.home import Message
from animastor.engine.ports import Storage
from animastor.engine.states import Standing


@dataclass(frozen=True, slots=True)
class Explaining:
    """What `animastor explain` was asked for. Without a scene: the book as a whole."""

    book: str
    scene: str = ""
    media: str = ""


async def explain(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """The errand, done by whoever works on the home. Raises `CommandError`."""
    asked = Explaining(**told)
    tell(messages.result(**await _found(drive.reading.storage, drive.engine.explainer, asked), worked_on=True))


async def explain_unheld(settings: Any, asked: Explaining) -> Message:
    """What is stored tells, when nobody works on the home. Raises `CommandError`."""
    async with looking(settings) as opened:
        explainer = Explainer(storage=opened.storage, registry=opened.registry)
        return {**await _found(opened.storage, explainer, asked), "worked_on": False}


async def _found(storage: Storage, explainer: Explainer, asked: Explaining) -> dict[str, Any]:
    row = await stored_book(storage, asked.book)
    if asked.scene:
        chapter_id, scene_id = await scene_of(storage, row, asked.scene)
        told: Sequence[Explanation] = await explainer.scene(row.book_key, chapter_id, scene_id, asked.media)
        counts: Sequence[MediaCount] = ()
    else:
        whole = await explainer.book(row.book_key)
        told, counts = whole.assets, whole.counts
    wanted = [one for one in told if asked.media in ("", one.media)]
    return {
        "book": row.book_id,
        "called": called(row),
        "assets": [_asset(one) for one in wanted],
        "counts": _counts([one for one in counts if asked.media in ("", one.media)]),
    }


def _asset(one: Explanation) -> dict[str, Any]:
    return {
        "chapter": one.chapter_id,
        "scene": one.scene_id,
        "media": one.media,
        "state": one.state.name.lower(),
        "standing": str(one.standing),
        "summary": one.summary,
        "causes": list(one.causes),
        "sentence": one.sentence,
    }


def _counts(counts: Sequence[MediaCount]) -> dict[str, dict[str, int]]:
    by_media: dict[str, dict[str, int]] = defaultdict(dict)
    for one in counts:
        by_media[one.media][str(one.standing)] = one.assets
    return by_media


def say_explained(result: Mapping[str, Any], display: Display) -> int:
    """Show what was found."""
    display.close()
    for media, counts in result["counts"].items():
        told = _counted(counts)
        display.note(
            f"{result['called']}, {media}: {told}.", event="counts", book=result["book"], media=media, **counts
        )
    for one in result["assets"]:
        sentence = one["sentence"]
        fields = {name: value for name, value in one.items() if name != "sentence"}
        display.note(f"{sentence[:1].upper()}{sentence[1:]}", event="explained", book=result["book"], **fields)
    if not result["worked_on"]:
        asked = any(one["state"] in ("pending", "generating") for one in result["assets"])
        then = ": `animastor make` goes on with what was asked for" if asked else ""
        display.note(f"{NOBODY[:1].upper()}{NOBODY[1:]}{then}.", "unheld")
    if not result["assets"] and not result["counts"]:
        display.note(f"{result['called']} has no scenes.")
    if not display.wants_tables:
        display.note("Explained.", event="done", exit_code=0)
    return Exit.OK


def _counted(counts: Mapping[str, int]) -> str:
    """`12 of 40 scenes ready, 3 in work, 25 waiting`."""
    ready, every = counts.get(Standing.READY, 0), sum(counts.values())
    told = [f"{ready} of {every} scene{'s' * (every != 1)} ready"]
    told += [f"{counts[each]} {each.word}" for each in Standing if each is not Standing.READY and counts.get(each)]
    return ", ".join(told)
