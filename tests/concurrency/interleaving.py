"""What makes interleavings exact: hands that take and deliver jobs when the test says so, calls that are held up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from invariants import rows
from stage import HEARTBEAT_S, Fate, Stage
from toys import content_of

from animastor.engine.engine import Engine
from animastor.engine.reasons import JournalType
from animastor.engine.states import State
from animastor.protocol import Answer, AssetId, Claim, FailureType, Running, Uploaded, Worker

Action = Callable[[], Awaitable[None]]


class Hand:
    """A worker whose every step the test decides. `taken` counts what it was given, by input hash."""

    def __init__(self, stage: Stage, engine: Engine, name: str = "hand", slots: int = 32) -> None:
        self.stage = stage
        self.hub = stage.hub(engine)
        self.worker = Worker("wrk", name, dict.fromkeys(stage.profiles, slots))
        self.taken: Counter[str] = Counter()

    async def take(self, *kinds: str, wait: float = 3.0) -> list[Claim]:
        """Everything that can be claimed of some kinds (of all, when none is named)."""
        await self.hub.register(self.worker)
        wanted = {
            name: slots
            for name, slots in self.worker.profiles.items()
            if not kinds or name in kinds or name.removeprefix("make-") in kinds
        }
        claims = list(await self.hub.claim(self.worker, wanted, timedelta(seconds=wait)))
        while claims and (more := await self.hub.claim(self.worker, wanted, timedelta(0))):
            claims += more
        self.taken.update(claim.job.input_hash for claim in claims)
        return sorted(claims, key=lambda claim: claim.job.input_hash)

    async def done(self, claim: Claim, *, spoiled: bool = False) -> str:
        """Deliver a result."""
        return await self.stage.crew._tell(self.hub, claim, Fate(spoiled=spoiled))

    async def upload(self, claim: Claim) -> Uploaded:
        """Only the bytes."""
        inputs = [self.stage.bytes.content[one] for one in claim.job.inputs]
        content = content_of(claim.job.kind, claim.job.params, inputs)
        return Uploaded(self.stage.bytes.keep(content), len(content), ".x")

    async def failed(self, claim: Claim, failure: FailureType = FailureType.TRANSIENT, code: str = "made_up") -> str:
        """Report a failure."""
        return await self.hub.fail(claim, failure, code, "as it was told")

    async def beat(self, *claims: Claim) -> list[Answer]:
        """A heartbeat that lists claims."""
        lines = [Running(claim.job.job_id, claim.claim_no, self.stage.clock.elapsed) for claim in claims]
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


def once_before(target: Any, name: str, action: Action, when: Callable[..., bool] = lambda *_: True) -> None:
    """Do something just before the next call of a method (for which `when` holds); all other calls go through."""
    _once(target, name, action, when, before=True)


def once_after(target: Any, name: str, action: Action, when: Callable[..., bool] = lambda *_: True) -> None:
    """The same between the end of that call and its answer."""
    _once(target, name, action, when, before=False)


@dataclass
class Hook:
    """Something to be done at one call."""

    name: str
    has_come: bool = False
    error: Exception | None = None

    async def do(self, action: Action) -> None:
        """Do it; what goes wrong is kept, as the code that is called may catch it."""
        self.has_come = True
        try:
            await action()
        except Exception as error:
            self.error = error
            raise


HOOKS: list[Hook] = []  # of the test that runs: each must come, and none may fail


def _once(target: Any, name: str, action: Action, when: Callable[..., bool], *, before: bool) -> None:
    call, hook = getattr(target, name), Hook(name)
    HOOKS.append(hook)

    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        comes = not hook.has_come and when(*args)
        if comes and before:
            await hook.do(action)
        hook.has_come = hook.has_come or comes
        answer = await call(*args, **kwargs)
        if comes and not before:
            await hook.do(action)
        return answer

    setattr(target, name, wrapped)


def of_kind(kind: str) -> Callable[[Sequence[Any]], bool]:
    """Whether a batch of jobs or results holds one of a kind."""
    return lambda batch: any(one.kind == kind for one in batch)


async def states(stage: Stage, media: str) -> list[State]:
    """The states of the assets of a media type, in order."""
    found = await rows(stage, "SELECT state FROM asset WHERE media = :media ORDER BY id", media=media)
    return [State(row.state) for row in found]


async def reasons(stage: Stage) -> set[str]:
    """Why dispatches ended."""
    return {row.reason for row in await rows(stage, "SELECT reason FROM dispatch WHERE outcome IS NOT NULL")}


async def told(stage: Stage, asset: AssetId | None = None) -> Counter[JournalType]:
    """How often the journal tells of what."""
    return Counter(row.type for row in await stage.journal() if asset in (None, row.asset))
