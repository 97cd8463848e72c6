"""Why a running `make` stands still, when only a person can help: then it ends with one sentence instead of waiting.

A fleet waits until its cause is gone; somebody at a terminal is told, and runs the same command again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from time import monotonic

from animastor.app import Driving
from animastor.commands.errors import CommandError, Exit
from animastor.engine.gate import SENTENCES as GATE
from animastor.engine.reasons import Reason
from animastor.engine.requests import RequestEvent
from animastor.storage.bucket import SCHEME

PATIENCE_S = 5.0  # nothing was made for so long, and there is a cause


class Standstill:
    """Looks at a run now and then."""

    def __init__(self, drive: Driving, now: Callable[[], float] = monotonic) -> None:
        self._drive = drive
        self._now = now
        self._still_since: float | None = None
        self._ready = -1

    def look(self, event: RequestEvent) -> None:
        """Raises `CommandError` when nothing has moved for a while for a cause that does not go away by itself."""
        ready = sum(one.parts_ready for one in event.progress.media)
        if self._drive.jobs.busy or ready != self._ready or event.ended:
            self._ready, self._still_since = ready, None
            return
        if self._still_since is None:
            self._still_since = self._now()
        if self._drive.engine.gate.reason is Reason.DISK_LOW or self._now() - self._still_since >= PATIENCE_S:
            self._give_up()

    def _give_up(self) -> None:
        reason = self._drive.engine.gate.reason
        if reason is Reason.DISK_LOW:
            raise CommandError(Exit.DISK_FULL, "disk_low", f"{self._room()} Run the same command again to go on.")
        if reason is Reason.ARTIFACT_STORE_UNAVAILABLE:
            raise CommandError(Exit.HOME, reason, self._store())
        if not self._drive.engine.gate.may_plan:
            raise CommandError(Exit.HOME, Reason.OTHER_PLANNER, f"{GATE[Reason.OTHER_PLANNER].capitalize()}.")
        for profile, why in self._drive.backends.complaints.items():
            raise CommandError(Exit.MISSING_TOOL, "backend_unable", f"{profile} cannot work: {why}.")

    def _store(self) -> str:
        if told := self._drive.engine.gate.told:
            return f"{told[:1].upper()}{told[1:]}. Nothing was changed."
        return (
            f"The artifact store {self._drive.reading.artifacts.where} cannot be read (is {self._suspect()}?): "
            "nothing was changed; run the same command again when it is back."
        )

    def _suspect(self) -> str:
        remote = self._drive.reading.artifacts.where.startswith(SCHEME)
        return "its server there, and are its credentials right" if remote else "its disk mounted"

    def _room(self) -> str:
        settings = self._drive.reading.settings
        where = self._drive.reading.artifacts.where
        place = settings.home if where.startswith(SCHEME) else where
        usage = shutil.disk_usage(place)
        least = max(settings.disk_low_bytes, settings.disk_low_fraction * usage.total)
        return (
            f"The disk of {place} has {usage.free / 1e9:.1f} GB left and nothing is started below "
            f"{least / 1e9:.1f} GB: free some space, or set ANIMASTOR_DISK_LOW_BYTES and ANIMASTOR_DISK_LOW_FRACTION."
        )
