"""`animastor takes`: the takes of a unit, and the errand that chooses, pins, lets go or supplies one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import Any

from animastor.app import Driving
from animastor.commands import messages
from animastor.commands.errors import CommandError, Exit
from animastor.commands.homes import looking
from animastor.commands.importing import stored_book
from animastor.commands.messages import Tell
from animastor.commands.naming import listed
from animastor.commands.places import unit_numbers, unit_of, unit_unknown
from animastor.config import Settings
from animastor.display import Display
from animastor.engine.ports import BookRow, Storage, TakeRow
from animastor.engine.taking import TakeError
from animastor.workers.backend import BackendError, Order
from animastor.workers.fitting import FUNCTION, OWN
from animastor.workers.work import Limits, Work

NAME = 8  # characters of its checksum by which a take is called


@dataclass(frozen=True, slots=True)
class Taking:
    """What `animastor takes` was asked to do. One of `choose`, `pin` (a take's name), `unpin`, `supply` (a path)."""

    book: str
    unit: str
    media: str = ""
    part: int = 0  # from 1; 0: the only one
    choose: str = ""
    pin: str = ""
    unpin: bool = False
    supply: str = ""


async def show_takes(settings: Settings, asked: Taking, display: Display) -> int:
    """List the takes of a unit. Raises `CommandError`."""
    async with looking(settings) as opened:
        row = await stored_book(opened.storage, asked.book)
        asked = replace(asked, unit=await unit_of(opened.storage, row, asked.unit))
        takes = await _takes(opened.storage, row, asked)
        called = (await unit_numbers(opened.storage, row)).get(asked.unit, asked.unit)
    if not takes:
        display.note(f"Nothing was planned of unit {called} yet: make it first.", event="takes_empty")
        return Exit.OK
    display.table(
        ("take", "part", "state", "size", "length"),
        [(_name(one), _part_name(one), _state(one), _size(one), _length(one)) for one in takes],
    )
    if not display.wants_tables:
        for one in takes:
            display.note(f"{_name(one)} {_part_name(one)}: {_state(one)}", event="take", **_fields(one))
        display.note("Listed.", event="done", exit_code=0)
    return Exit.OK


async def take(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """Choose, pin, let go or supply; the plans follow. Raises `CommandError`."""
    asked = Taking(**told)
    row = await stored_book(drive.reading.storage, asked.book)
    asked = replace(asked, unit=await unit_of(drive.reading.storage, row, asked.unit))
    takes = await _takes(drive.reading.storage, row, asked)
    numbers = await unit_numbers(drive.reading.storage, row)
    try:
        said, one = await _done(drive, row, asked, takes, numbers)
    except TakeError as error:
        raise CommandError(Exit.BAD_INPUT, "take_refused", _sentence(str(error), asked)) from error
    await drive.engine.planned()
    tell(messages.result(said=said, book=row.book_id, unit=asked.unit, media=one.media, part=one.kind))


async def _done(
    drive: Driving, row: BookRow, asked: Taking, takes: Sequence[TakeRow], numbers: Mapping[str, str]
) -> tuple[str, TakeRow]:
    engine, unit = drive.engine.takes, numbers.get(asked.unit, asked.unit)
    again = "`animastor make` puts together what that changes."
    if asked.choose:
        one = _named(takes, asked.choose)
        await engine.choose(row.book_key, asked.unit, one)
        return f"Take {_name(one)} is wanted again for {_what(one, numbers)}; {again}", one
    if asked.pin:
        one = _named(takes, asked.pin)
        await engine.pin(one, asked.part - 1 if asked.part else None)
        return f"Take {_name(one)} is pinned for {_what(one, numbers)}: edits and rebuilds leave it alone; {again}", one
    if asked.unpin:
        fixed = [each for each in takes if _is_fixed(each, asked)]
        if not fixed:
            place = f"part {asked.part} of " if asked.part else ""
            raise TakeError(f"nothing is pinned or supplied for {place}unit {unit}")
        for each in fixed:
            await engine.unpin(each)
        names = listed(list(dict.fromkeys(map(_part_name, fixed))))
        return f"Nothing is pinned or supplied for {names} of unit {unit} any more; {again}", fixed[0]
    one = _place(takes, asked)
    await engine.supply(one, await _fitted(drive, one, Path(asked.supply)))
    return (
        f"{Path(asked.supply).name} is kept as {_what(one, numbers)}: edits and rebuilds leave it alone; {again}",
        one,
    )


async def _fitted(drive: Driving, one: TakeRow, source: Path) -> Path:
    """A copy of the file in the shape of the part; the file itself stays its owner's. Raises `TakeError`."""
    order = Order(one.media, "own", one.params, {OWN: source}, (OWN,))
    work = Work(FUNCTION, order, drive.scratch / f"own-{token_hex(8)}", "own", Limits(idle_s=120.0, hard_s=1800.0))
    try:
        return (await drive.children.run(work, lambda _: None)).path
    except BackendError as error:
        raise TakeError(error.message) from error


async def _takes(storage: Storage, row: BookRow, asked: Taking) -> list[TakeRow]:
    takes = await storage.takes_of(row.book_key, asked.unit)
    if takes is None:
        raise unit_unknown(row, asked.unit)
    return [one for one in takes if asked.media in ("", one.media)]


def _named(takes: Sequence[TakeRow], name: str) -> TakeRow:
    found = [one for one in takes if one.artifact and one.artifact.startswith(name.lower())]
    if len({one.artifact for one in found}) == 1:
        return found[0]
    names = ", ".join(_name(one) for one in takes if one.artifact) or "none yet"
    raise TakeError(f"{name!r} names {'several takes' if found else 'no take'} of this unit; there are {names}")


def _place(takes: Sequence[TakeRow], asked: Taking) -> TakeRow:
    """The wanted part that a file is to replace."""
    wanted = [one for one in takes if one.wanted]
    if not asked.media and len({one.media for one in wanted}) > 1:
        raise TakeError("say by --media what the file is: audio, image or video")
    if asked.part:
        wanted = [one for one in wanted if one.ordinal == asked.part - 1]
    if len(wanted) == 1:
        return wanted[0]
    if not wanted:
        raise TakeError("there is no such part of this unit: make it first, then replace it")
    raise TakeError(f"this unit has {len(wanted)} parts there: name one by --part 1 to {len(wanted)}")


def _sentence(text: str, asked: Taking) -> str:
    """A phrase as a sentence; the name of a file stays as it is."""
    named = asked.supply and text.startswith(Path(asked.supply).name)
    return f"{text}." if named else f"{text[:1].upper()}{text[1:]}."


def _is_fixed(one: TakeRow, asked: Taking) -> bool:
    """Whether a take is pinned or supplied in the place that was named."""
    return (one.pinned or one.supplied) and asked.part in (0, one.ordinal + 1)


def _name(one: TakeRow) -> str:
    return one.artifact[:NAME] or "-"


def _part_name(one: TakeRow) -> str:
    place = f" {one.ordinal + 1}" if one.ordinal > 0 else ""
    return f"{one.media} {one.kind}{place}"


def _what(one: TakeRow, numbers: Mapping[str, str]) -> str:
    return f"{one.media} {one.kind} of {' and '.join(numbers.get(unit, unit) for unit in one.unit_ids)}"


def _state(one: TakeRow) -> str:
    fixed = "supplied" if one.supplied else "pinned" if one.pinned else ""
    words = ["wanted" if one.wanted else "kept", fixed, "outdated" if one.outdated else ""]
    if one.wanted and not one.ready:
        words.append("not made yet")
    return ", ".join(word for word in words if word)


def _size(one: TakeRow) -> str:
    return f"{one.size / 1000:.0f} KB" if one.size else "·"


def _length(one: TakeRow) -> str:
    if one.facts.duration:
        return f"{one.facts.duration:.1f} s"
    return f"{one.facts.width}x{one.facts.height}" if one.facts.width else "·"


def _fields(one: TakeRow) -> dict[str, Any]:
    return {
        "take": one.artifact,
        "media": one.media,
        "kind": one.kind,
        "part": one.ordinal + 1 if one.ordinal >= 0 else None,
        "units": list(one.unit_ids),
        "wanted": one.wanted,
        "ready": one.ready,
        "pinned": one.pinned,
        "supplied": one.supplied,
        "outdated": one.outdated,
        "bytes": one.size,
        "seconds": round(one.facts.duration, 3),
    }
