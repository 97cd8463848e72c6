"""A worker whose every step a test decides."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from stage import HEARTBEAT_S, Fate, Stage
from toys import content_of

from animastor.engine.engine import Engine
from animastor.protocol import Answer, Claim, FailureType, Running, Uploaded, Worker


class Hand:
    """A worker whose every step the test decides. `taken` counts what it was given, by input hash."""

    def __init__(self, stage: Stage, engine: Engine, name: str = "hand", slots: int = 32) -> None:
        self.stage = stage
        self.hub = stage.hub(engine)
        self.worker = Worker("wrk", name, dict.fromkeys(stage.profiles, slots))
        self.taken: Counter[str] = Counter()

    async def register(self) -> None:
        """Be there, with free hands."""
        await self.hub.register(self.worker)

    async def take(self, *kinds: str, wait: float = 3.0, at_most: int = 0) -> list[Claim]:
        """Everything that can be claimed of some kinds (of all, when none is named), or so many of each."""
        await self.register()
        wanted = {
            name: at_most or slots
            for name, slots in self.worker.profiles.items()
            if not kinds or name in kinds or name.removeprefix("make-") in kinds
        }
        claims = list(await self.hub.claim(self.worker, wanted, timedelta(seconds=wait)))
        while claims and not at_most and (more := await self.hub.claim(self.worker, wanted, timedelta(0))):
            claims += more
        self.taken.update(claim.job.input_hash for claim in claims)
        return sorted(claims, key=lambda claim: claim.job.input_hash)

    async def done(self, claim: Claim, *, spoiled: bool = False) -> str:
        """Deliver a result."""
        return await self.stage.crew._tell(self.hub, claim, Fate(spoiled=spoiled))

    async def deliver(self, claim: Claim, content: bytes) -> str:
        """Deliver other bytes than were ordered."""
        return await self.hub.finish(claim, Uploaded(self.stage.bytes.keep(content), len(content), ".x"))

    async def upload(self, claim: Claim) -> Uploaded:
        """Only the bytes."""
        inputs = [self.stage.bytes.content[one] for one in claim.job.inputs]
        content = content_of(claim.job.kind, claim.job.params, inputs)
        return Uploaded(self.stage.bytes.keep(content), len(content), ".x")

    async def failed(self, claim: Claim, failure: FailureType = FailureType.TRANSIENT, code: str = "made_up") -> str:
        """Report a failure."""
        return await self.hub.fail(claim, failure, code, "as it was told")

    async def beat(self, *claims: Claim, progress: float | None = None) -> list[Answer]:
        """A heartbeat that lists claims; their progress grows with the time unless it is given."""
        reached = self.stage.clock.elapsed if progress is None else progress
        lines = [Running(claim.job.job_id, claim.claim_no, reached) for claim in claims]
        return list(await self.hub.heartbeat(self.worker, lines))

    async def keep(self, seconds: float, *claims: Claim) -> None:
        """Let time pass while these claims are worked on."""
        left = seconds
        while left > 0:
            step = min(left, HEARTBEAT_S)
            await self.stage.clock.sleep(step)
            left -= step
            await self.beat(*claims)

    async def finish_all(self, seconds: float = 600.0) -> None:
        """Do whatever comes, at once, until nothing has come for a while."""
        until = self.stage.clock.now() + seconds
        while self.stage.clock.now() < until:
            claims = await self.take(wait=45.0)
            if not claims:
                return
            for claim in claims:
                await self.done(claim)
