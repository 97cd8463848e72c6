"""`animastor doctor`: is everything installed, can the stores be used, is everything finished there, what is undone?"""

from __future__ import annotations

import asyncio
import platform
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from animastor.app import Driving, Reading
from animastor.commands import messages
from animastor.commands.errors import CommandError, Exit
from animastor.commands.homes import looking, sentence
from animastor.commands.messages import Tell
from animastor.config import Settings
from animastor.display import Display
from animastor.engine.examining import Artifacts, Finding, findings, give_up_found, look_at_artifacts, mended
from animastor.engine.gate import SENTENCES
from animastor.engine.home import Message
from animastor.engine.ports import ArtifactStoreUnavailableError, CoordinationUnavailableError
from animastor.stores import coordination_server, names_of
from animastor.workers.backends import Backends, cpu_backends


@dataclass(frozen=True, slots=True)
class Examining:
    """What `animastor doctor` was asked for."""

    repair: bool = False


async def look(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """The errand, done by whoever works on the home; with `repair`, what is lost is given up and made again.

    Raises `ArtifactStoreUnavailableError` and `StorageUnavailableError`.
    """
    asked = Examining(**told)
    async for said in installation(drive.reading, drive.backends):
        tell(said)
    if asked.repair:
        await drive.engine.looked()  # what reconciliation puts right by itself is put right
    found = await look_at_artifacts(drive.reading.storage, drive.reading.artifacts)
    given_up = await _repaired(drive, found) if asked.repair else 0
    undone = await findings(drive.reading.storage, worked_on=True)
    for one in mended(drive.engine.reconciliation.mended):
        text = f"Put right since work began: {one.sentence}."
        tell(messages.note(text, event="mended", name=one.name, count=one.count))
    tell(messages.result(**_result(found, undone), given_up=given_up, repaired=asked.repair))


async def examine_unheld(settings: Settings, display: Display) -> Message:
    """The same without changing anything, when nobody works on the home. Raises `CommandError`."""
    async with looking(settings) as opened, _store_errors():
        backends = Backends(cpu_backends(piper=settings.piper, piper_voices=settings.piper_voices), opened.clock)
        async for said in installation(opened, backends):
            display.note(said["note"], said["event"], **said["fields"])
        found = await look_at_artifacts(opened.storage, opened.artifacts)
        undone = await findings(opened.storage, worked_on=False)
        return {**_result(found, undone), "given_up": 0, "repaired": False}


@asynccontextmanager
async def _store_errors() -> AsyncIterator[None]:
    """An artifact store that is away is one sentence. Raises `CommandError`."""
    try:
        yield
    except ArtifactStoreUnavailableError as error:
        raise CommandError(Exit.HOME, "artifact_store_unavailable", sentence(error)) from error


async def installation(opened: Reading, backends: Backends) -> AsyncIterator[Message]:
    """What is installed, and what is wrong with it, as notes."""
    yield _checked("program", f"Animastor {version('animastor')} on Python {platform.python_version()}")
    yield _checked("ffmpeg", await asyncio.to_thread(_ffmpeg))
    able = await backends.able()
    yield _checked("backends", ", ".join(able) or "none is able to work")
    for profile, why in backends.complaints.items():
        yield messages.note(f"{profile} cannot work: {why}.", event="alarm", reason="backend_unable")
    room = shutil.disk_usage(opened.settings.home)
    yield _checked("disk", f"{room.free / 1e9:.1f} GB of {room.total / 1e9:.1f} GB are free at {opened.settings.home}")
    async for said in _coordination(opened.settings):
        yield said
    reason = await opened.artifacts.check()
    if reason is None:
        yield _checked("artifacts", f"{opened.artifacts.where} can be used")
    else:
        told = SENTENCES[reason]
        yield messages.note(f"{told[:1].upper()}{told[1:]}.", event="alarm", reason=str(reason))


async def _coordination(settings: Settings) -> AsyncIterator[Message]:
    """What the coordination server is, and whether it keeps what it is given."""
    try:
        server = await coordination_server(settings)
    except CoordinationUnavailableError as error:
        yield messages.note(sentence(error), event="alarm", reason="coordination_unavailable")
        return
    if server is None:
        return
    yield _checked("coordination", f"{server.name} {server.version} at {names_of(settings)[1]}")
    if server.evicts:
        told = (
            f"The coordination server may remove queued jobs and leases (maxmemory-policy {server.policy}): "
            "set maxmemory-policy noeviction (docs/operating.md)."
        )
        yield messages.note(told, event="alarm", reason="coordination_evicts")


def _checked(name: str, told: str) -> Message:
    return messages.note(f"{name}: {told}.", event="checked", name=name)


def _ffmpeg() -> str:
    from animastor.media import ffmpeg

    try:
        return ffmpeg.program()
    except ffmpeg.FfmpegMissingError as error:
        return f"none ({error})"


async def _repaired(drive: Driving, found: Artifacts) -> int:
    """Give up what is lost, and do what reconciliation does; how many assets have to be made again."""
    given_up = await give_up_found(drive.reading.storage, drive.reading.artifacts, found)
    await drive.engine.reconciliation.reconcile()
    drive.engine.wake()
    return given_up


def _result(found: Artifacts, undone: Sequence[Finding]) -> dict[str, Any]:
    return {
        "looked": found.looked,
        "lost": len(found.lost),
        "missing": len(found.missing),
        "damaged": len(found.damaged),
        "asks": found.too_many,
        "undone": [asdict(one) for one in undone],
    }
