"""Are the bytes of artifacts still the right ones? A rotating look at their checksums (CONTRACT 11).

At most 20 MB a second are read, also while a look lasts, so that it disturbs nobody. Processes that live for seconds
begin at a random place each time: so all bytes are looked at sooner or later, without a stored cursor. Damaged bytes
are deleted and made again while they are few; many look like a failing disk or a wrong mount, and a person is asked.
"""

from __future__ import annotations

from random import Random

from animastor.engine.alarms import Alarm, Report
from animastor.engine.losses import MOST_LOST, give_up, too_many
from animastor.engine.observing import Observer
from animastor.engine.ports import ArtifactStore, Storage
from animastor.engine.reasons import Reason
from animastor.protocol import Clock

RATE = 20e6  # bytes a second (CONTRACT 11)
AT_ONCE_S = 1.0  # the allowance of the first look, which comes right at the start; and what is read in one burst
MOST_S = 15.0  # allowance that has not been used is not saved up beyond this: so long a look may last
PAGE = 50


class Verification:
    """Reads as many artifacts as its allowance permits each time it is asked; few damaged ones are given up."""

    def __init__(
        self,
        *,
        storage: Storage,
        artifacts: ArtifactStore,
        observer: Observer,
        report: Report,
        clock: Clock,
        rng: Random,
    ) -> None:
        self._storage = storage
        self._artifacts = artifacts
        self._observer = observer
        self._report = report
        self._clock = clock
        self._after = f"{rng.getrandbits(256):064x}"
        self._looked_at: float | None = None
        self._left = 0.0  # bytes of the last allowance; negative when the last file was larger
        self._burst, self._paced_at = RATE * AT_ONCE_S, clock.now()  # bytes that may be read at once, as of then
        self._start_cycle()

    def _start_cycle(self) -> None:
        self._began, self._turned = self._after, False
        self._looked = self._given_up = 0
        self._damaged: list[tuple[str, str, int]] = []
        self._asked = False

    async def look(self) -> int:
        """How many damaged artifacts were given up. Raises `ArtifactStoreUnavailableError`."""
        now = self._clock.now()
        seconds = AT_ONCE_S if self._looked_at is None else now - self._looked_at
        self._looked_at = now
        self._left = min(self._left + RATE * seconds, RATE * MOST_S)
        ended = False
        while self._left > 0 and not ended:
            ended = await self._page()
        given_up = await self._give_up(ended=ended)
        if ended:
            self._start_cycle()
        return given_up

    async def _page(self) -> bool:
        """Look at the next artifacts; whether that was the last of the cycle."""
        rows = await self._storage.artifacts_after(self._after, PAGE)
        for checksum, suffix, size in rows:
            if self._turned and checksum > self._began:
                return True
            self._after = checksum
            self._looked += 1
            if not await self._is_whole(checksum, suffix, size):
                self._damaged.append((checksum, suffix, size))
            if self._left <= 0:
                return False
        if len(rows) == PAGE:
            return False
        if self._turned:
            return True
        self._after, self._turned = "", True
        return False

    async def _is_whole(self, checksum: str, suffix: str, size: int) -> bool:
        """Whether the bytes are right. Those that are missing are somebody else's to find."""
        self._left -= size
        await self._pace(size)
        try:
            return await self._artifacts.whole(checksum, suffix) is not False
        except OSError:  # what cannot be read proves nothing
            return True

    async def _pace(self, size: int) -> None:
        """Wait until so many bytes may be read; for a file of more than a second, the next one waits longer."""
        self._refill()
        lacking = min(size, RATE * AT_ONCE_S) - self._burst
        if lacking > 0:
            await self._clock.sleep(lacking / RATE)
            self._refill()
        self._burst -= size

    def _refill(self) -> None:
        now = self._clock.now()
        self._burst = min(RATE * AT_ONCE_S, self._burst + RATE * max(0.0, now - self._paced_at))
        self._paced_at = now

    async def _give_up(self, *, ended: bool) -> int:
        """Delete what is damaged while it is little for what was looked at in this cycle; else ask, once in a cycle."""
        if too_many(self._given_up + len(self._damaged), self._looked):
            if ended or len(self._damaged) > MOST_LOST:
                self._ask()
            return 0
        damaged = [one for one in self._damaged if not await self._is_whole(*one)]  # some may be back
        self._damaged = []
        if not damaged:
            return 0
        self._given_up += len(damaged)
        bytes_of = [(checksum, suffix) for checksum, suffix, _ in damaged]
        assets = await give_up(self._storage, self._artifacts, damaged=bytes_of)
        await self._observer.recovered(Reason.CORRUPT_ARTIFACT, artifacts=len(damaged), assets=assets)
        return len(damaged)

    def _ask(self) -> None:
        if self._asked:
            return
        self._asked = True
        self._report(
            Alarm(
                Reason.CORRUPT_ARTIFACT,
                f"{len(self._damaged)} of {self._looked} artifacts have other bytes than were kept: nothing was "
                "changed; look after the disk, or let them be made again with `animastor doctor --repair`",
            )
        )
