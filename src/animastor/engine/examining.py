"""What reconciliation would repair now, looked for without repairing it (CONTRACT 11): what `doctor` tells.

Everything here only reads. Missing and damaged bytes are looked for in the artifact store itself, all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from animastor.engine.losses import give_up, too_many
from animastor.engine.ports import ArtifactStore, ArtifactStoreUnavailableError, Storage
from animastor.engine.reasons import Reason
from animastor.engine.replaying import Replayed, replay
from animastor.engine.states import State

PAGE = 500
JOURNAL_PAGE = 1000
# The names of what is found, or was found and put right.
INTERRUPTED, PREPARING, SWEEPING, DELETIONS = "interrupted", "preparing", "sweeping", "deletions"
WAIT_DRIFT, MISSING, DAMAGED = "wait_drift", "missing", "damaged"
_AGAIN = "`animastor make` makes again what is needed"
_MENDED = {
    MISSING: (
        "finished part that was missing is given up: " + _AGAIN,
        "finished parts that were missing are given up: " + _AGAIN,
    ),
    DAMAGED: (
        "finished part that was damaged is given up: " + _AGAIN,
        "finished parts that were damaged are given up: " + _AGAIN,
    ),
    INTERRUPTED: ("interrupted attempt was rolled back", "interrupted attempts were rolled back"),
    PREPARING: (
        "request that was entered only in part is entered",
        "requests that were entered only in part are entered",
    ),
    SWEEPING: ("interrupted cancel was finished", "interrupted cancels were finished"),
    DELETIONS: ("interrupted deletion was finished", "interrupted deletions were finished"),
    WAIT_DRIFT: ("asset that waited for nothing is planned again", "assets that waited for nothing are planned again"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be, or is still to be done: a stable name, how many, and one sentence."""

    name: str
    count: int
    sentence: str


@dataclass(slots=True)
class Artifacts:
    """A look at all artifacts: (checksum, suffix) of those that are gone, and of those with other bytes."""

    looked: int = 0
    missing: list[tuple[str, str]] = field(default_factory=list)
    damaged: list[tuple[str, str]] = field(default_factory=list)

    @property
    def lost(self) -> list[str]:
        """The checksums of both."""
        return [checksum for checksum, _ in (*self.missing, *self.damaged)]

    @property
    def too_many(self) -> bool:
        """Whether reconciliation would ask instead of giving them up by itself."""
        return too_many(len(self.missing), self.looked) or too_many(len(self.damaged), self.looked)


async def look_at_artifacts(
    storage: Storage, artifacts: ArtifactStore, tell: Callable[[int], None] = lambda looked: None
) -> Artifacts:
    """Read every artifact. Raises `ArtifactStoreUnavailableError`; `tell` is told how many were read so far."""
    if await artifacts.check() is Reason.ARTIFACT_STORE_UNAVAILABLE:
        raise ArtifactStoreUnavailableError(
            f"the artifact store {artifacts.where} cannot be read (is the disk mounted?): nothing was changed"
        )
    found, after = Artifacts(), ""
    while rows := await storage.artifacts_after(after, PAGE):
        after = rows[-1][0]
        here = [(checksum, suffix) for checksum, suffix, _ in rows]
        gone = set(await artifacts.missing(here))
        found.missing += [one for one in here if one in gone]
        for checksum, suffix in (one for one in here if one not in gone):
            if not await artifacts.whole(checksum, suffix):
                found.damaged.append((checksum, suffix))
        found.looked += len(rows)
        tell(found.looked)
    return found


async def give_up_found(storage: Storage, artifacts: ArtifactStore, found: Artifacts) -> int:
    """Give up what was found lost and still is: looking at all of them takes long, and meanwhile some may have been
    made again. How many assets have to be made again. Raises `ArtifactStoreUnavailableError`.
    """
    missing = await artifacts.missing(found.missing)
    damaged = [one for one in found.damaged if await artifacts.whole(*one) is False]
    return await give_up(storage, artifacts, missing, damaged)


def mended(counts: Mapping[str, int]) -> Sequence[Finding]:
    """What reconciliation has put right already, by these names of findings."""
    return [
        Finding(name, counts[name], f"{counts[name]} {one if counts[name] == 1 else many}")
        for name, (one, many) in _MENDED.items()
        if counts.get(name)
    ]


async def findings(storage: Storage, *, worked_on: bool) -> Sequence[Finding]:
    """What the database says is still to be done. While somebody works on it, attempts in work are no finding."""
    standings = await storage.asset_standings()
    running = 0 if worked_on else sum(one.state is State.GENERATING for one in standings)
    differing, refused = await _told(storage)
    counted = (
        (INTERRUPTED, running, "{n} attempts were interrupted: they are rolled back, nothing is counted"),
        (PREPARING, len(await storage.preparing()), "{n} requests are entered only in part: the rest follows"),
        (SWEEPING, len(await storage.uncovered()), "{n} cancels were interrupted: they go on"),
        (DELETIONS, len(await storage.deletions()), "{n} deletions were interrupted: they go on"),
        ("unreleased", len(await storage.unreleased(PAGE)), "{n} ended attempts are still to be released"),
        (WAIT_DRIFT, await _drifted(storage), "{n} assets wait for nothing: they are planned again"),
        ("journal", differing, "{n} assets are not as the journal tells: please report this"),
        ("refused", refused, "{n} refused transitions are in the journal: please report this"),
    )
    return [Finding(name, count, _singular(told, count)) for name, count, told in counted if count]


def _singular(told: str, count: int) -> str:
    """A sentence for one, where there is one."""
    if count != 1:
        return told.replace("{n}", str(count))
    for many, one in (
        ("attempts were", "attempt was"), ("they are rolled", "it is rolled"), ("requests are", "request is"),
        ("cancels were", "cancel was"), ("they go on", "it goes on"), ("deletions were", "deletion was"),
        ("attempts are", "attempt is"), ("assets wait", "asset waits"), ("they are planned", "it is planned"),
        ("assets are", "asset is"), ("transitions are", "transition is"),
    ):  # fmt: skip
        told = told.replace(many, one)
    return told.replace("{n}", "1")


async def _drifted(storage: Storage) -> int:
    count, after = 0, 0
    while True:
        found, behind = await storage.drifted_waits(after)
        count += found
        if behind is None:
            return count
        after = behind


async def _told(storage: Storage) -> tuple[int, int]:
    """Where the journal and the tables differ, looked at once more if somebody may just have written; and how many
    transitions it tells of that were refused.
    """
    count = refused = 0
    for _ in range(2):
        replayed = Replayed()
        while page := await storage.journal(after=replayed.last_row, limit=JOURNAL_PAGE):
            replay(page, replayed)
        count = len(replayed.faults) + len(replayed.differences(await storage.asset_standings()))
        refused = replayed.refused
        if not count:
            break
    return count, refused
