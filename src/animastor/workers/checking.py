"""Whether bytes are what was ordered: decoded and measured in a child process, compared with the order here.

Decoding is real work and can hang or crash, so it is never done in the process that keeps time. What arrives while a
child is busy is looked at together, as one piece of work. Nothing is remembered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from animastor.media.registry import Registry
from animastor.media.types import Facts, Structure
from animastor.workers import failures
from animastor.workers.backend import BackendError, Order, Produced, Progress
from animastor.workers.work import Limits, Runner, Work

MOST = 32  # files in one piece of work
LIMITS = Limits(idle_s=300.0, hard_s=3600.0, output_bytes=2**26)  # it writes nothing; a film of an hour takes minutes
_BLAMED = {failures.KILLED, failures.ENDED, failures.JOB_TIMEOUT, failures.OUT_OF_MEMORY}  # may be the file's doing
_TRIES = 2  # a child may also be ended by somebody else


class ChildChecker:
    """The engine's `Checker`, with children of its own: a check never waits behind the making of something.

    In `folder` a folder is made where the children would write, did they write anything.
    """

    def __init__(self, children: Runner, media: Registry, folder: Path) -> None:
        self._children, self._media, self._folder = children, media, folder / "checks"
        self._waiting: list[tuple[Path, asyncio.Future[tuple[Facts, str | None]]]] = []
        self._lookers: set[asyncio.Task[None] | None] = set()

    async def check(self, media: str, kind: str, structure: Structure, path: Path) -> tuple[Facts, str | None]:
        """The probed facts, and one sentence when the bytes are not what was ordered.

        Raises `BackendError` when it cannot be found out, which is nobody's fault but this machine's.
        """
        found: asyncio.Future[tuple[Facts, str | None]] = asyncio.get_running_loop().create_future()
        self._waiting.append((path, found))
        if len(self._lookers) < self._children.count:
            self._lookers.add(asyncio.create_task(self._look()))
        facts, problem = await found
        return facts, problem or self._media[media].check(structure, facts)

    async def _look(self) -> None:
        """Look at what waits, as one batch after another, until nothing waits."""
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            try:
                answers = await self._answers([path for path, _ in batch])
            except Exception as error:  # noqa: BLE001 - the boundary of this task: told to everybody who asked
                for _, found in batch:
                    _settle(found, error)
            else:
                for (_, found), answer in zip(batch, answers, strict=True):
                    _settle(found, answer)
        self._lookers.discard(asyncio.current_task())  # here, so that who comes after this looks for himself

    async def _answers(self, paths: Sequence[Path], tries: int = 1) -> Sequence[tuple[Facts, str | None]]:
        try:
            return await self._probe(paths)
        except BackendError as error:
            if error.code not in _BLAMED:
                raise
            if len(paths) > 1:  # one of them ended the child: which?
                return [one for path in paths for one in await self._answers([path])]
            if tries < _TRIES:
                return await self._answers(paths, tries + 1)
            return [(Facts(), f"the decoder did not survive it: {error.message}")]

    async def _probe(self, paths: Sequence[Path]) -> list[tuple[Facts, str | None]]:
        order = Order("", "probe", {"paths": [str(path) for path in paths]})
        work = Work("animastor.workers.checking:probe_all", order, self._folder, "probe", LIMITS)
        made = await self._children.run(work, lambda _: None)
        return [_read(told) for told in made.notes["found"]]


def probe_all(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Runs in the child: probe each file. Notes: `found`, a list of {facts} or {problem}, in order."""
    from animastor.media.probe import UndecodableError, probe

    found: list[dict[str, Any]] = []
    for done, path in enumerate(order.structure["paths"], 1):
        try:
            found.append({"facts": probe(Path(path))})
        except UndecodableError as error:
            found.append({"problem": str(error)})
        except FileNotFoundError:
            found.append({"problem": "the file is not there"})
        progress(done / len(order.structure["paths"]))
    return Produced(workdir, {"found": found})


def _read(told: dict[str, Any]) -> tuple[Facts, str | None]:
    if "problem" in told:
        return Facts(), told["problem"]
    return Facts(**told["facts"]), None


def _settle(found: asyncio.Future[tuple[Facts, str | None]], answer: tuple[Facts, str | None] | Exception) -> None:
    if found.done():  # whoever asked has gone away
        return
    if isinstance(answer, Exception):
        found.set_exception(answer)
    else:
        found.set_result(answer)
