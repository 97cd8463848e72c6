"""The coordination store of the simulated world: the one in memory, or the real scripts on a real Valkey server.

All nodes share one object of either kind, and with it one bell. A call of the server blocks its step, and the virtual
clock's time goes along with it, so a run on Valkey is as much decided by its seed as one in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from math import inf
from pathlib import Path
from random import Random
from typing import Any, Protocol

from animastor.coordination import Limits, MemoryCoordination
from animastor.engine.ports import CoordinationUnavailableError, Selection
from animastor.protocol import AssetId, Clock, JobId
from coordination_servers import DirectLink, client_of, direct_store, serving

from .dice import Dice
from .stores import Way, at_once
from .watching import Watch

KINDS = ("memory", "valkey")
IN_ANY_ORDER: dict[str, Callable[[Any], tuple[object, ...]]] = {  # what an index finds; sorted, so that a run replays
    "leases": lambda one: (one.asset, one.dispatch_id),
    "jobs": lambda one: (one.job_id, one.dispatch_id, one.state),
}
# Expiry goes by the virtual clock's time, which scripts compare with: the server's own time shall remove nothing.
NO_TIME_OF_ITS_OWN = ("--import-mode", "yes")
REPEATED = 0.1  # how many calls are executed twice
LATE = 0.05  # how many of those whose answers are kept come once more, later
KEPT = ("claim", "settle", "sweep")  # the scripts that keep their answers (once.lua)
NOTHING_KEPT = {"claim": b",[]]", "sweep": b",[]]"}  # how an answer ends that is not


class Kind(Protocol):
    """A kind of store."""

    name: str

    def open(self, clock: Clock, limits: Limits, *, window: bool, seed: int, fail: Callable[..., Any]) -> Any:
        """An empty one. `fail(number, message)`: an invariant does not hold."""
        ...

    def empty(self, store: Any) -> None:
        """It has lost all that it held."""
        ...

    def rests_until(self, store: Any, worker: str) -> float:
        """When the last quarantine of a worker is over, as far as the store knows it; 0 for none."""
        ...


class Memory:
    """The store in memory."""

    name = "memory"

    def open(self, clock: Clock, limits: Limits, *, window: bool, seed: int, fail: Callable[..., Any]) -> Any:
        """A new one."""
        return MemoryCoordination(clock, limits, window=window)

    def empty(self, store: Any) -> None:
        """Forget everything."""
        store.lose()

    def rests_until(self, store: Any, worker: str) -> float:
        """Past every layer: the port does not tell."""
        known = store._fleet._known.get(worker)
        return 0.0 if known is None else float(known.quarantine.until)


MEMORY = Memory()


class Valkey:
    """Real scripts on a server that belongs to this process."""

    name = "valkey"
    _RESTS = (
        "local rest = redis.call('HGET', KEYS[1], ARGV[1])\n"
        "return rest and string.format('%.17g', cmsgpack.unpack(rest).until_) or '0'"
    )

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._client = client_of(socket)
        self._client.execute_command("CLIENT", "IMPORT-SOURCE", "ON")

    def open(self, clock: Clock, limits: Limits, *, window: bool, seed: int, fail: Callable[..., Any]) -> Any:
        """A new one on the emptied server."""
        self._client.flushdb()
        link = partial(RepeatingLink, random=Random(f"{seed}/repeats"), fail=fail)
        store = direct_store(self._socket, clock, limits, window=window, link=link)
        store.look_every = inf  # no bell is missed here
        return store

    def empty(self, store: Any) -> None:
        """Flush the server, with the answers that it kept."""
        store._link.forget()
        store.lose()

    def rests_until(self, store: Any, worker: str) -> float:
        """Past every layer: the port does not tell."""
        return float(self._client.eval(self._RESTS, 1, f"{store._keys[0]}:worker:rest", worker))


@contextmanager
def servers_of(kind: str, processes: int) -> Iterator[list[Path]]:
    """A server for each process; their sockets. None for the kind that needs none. Raises `NoServerError`."""
    with ExitStack() as running:
        number = processes if kind == "valkey" else 0
        yield [running.enter_context(serving(kind, *NO_TIME_OF_ITS_OWN)) for _ in range(number)]


class RepeatingLink(DirectLink):
    """Executes some calls twice, as a link does that got no answer to the first one. The caller hears the first answer.

    The second one comes at once; of a call whose answer the server keeps also later, when others have acted, and then
    it must be the same. What a repeated call does once more than it should, its run shows: by an invariant, or by a
    story that is not the one in memory.
    """

    def __init__(self, client: Any, random: Random, fail: Callable[..., Any]) -> None:
        super().__init__(client)
        self._random, self._fail = random, fail
        self._late: tuple[Any, Sequence[str], Sequence[Any], Any] | None = None

    async def run(self, script: Any, keys: Sequence[str], args: Sequence[Any], lost: object = None) -> Any:
        """The first answer."""
        draw = self._random.random()
        if self._late is not None and draw < REPEATED:
            await self._repeat(*self._late, time=args[0])
            self._late = None
        answer = await super().run(script, keys, args)
        if draw >= 1 - REPEATED:
            again = await super().run(script, keys, args)
            if self._keeps(script, answer):
                self._compare(script, answer, again)
        if self._late is None and self._random.random() < LATE and self._keeps(script, answer):
            self._late = (script, keys, args, answer)
        return answer

    async def _repeat(self, script: Any, keys: Sequence[str], args: Sequence[Any], answer: Any, *, time: Any) -> None:
        self._compare(script, answer, await super().run(script, keys, (time, *args[1:])))

    def _keeps(self, script: Any, answer: bytes) -> bool:
        nothing = NOTHING_KEPT.get(script.name)
        return script.name in KEPT and bool(answer) and not (nothing and answer.endswith(nothing))

    def _compare(self, script: Any, answer: Any, again: Any) -> None:
        if again != answer:
            self._fail(6, f"a repeated {script.name} is answered {again!r} after {answer!r}")

    def forget(self) -> None:
        """The server has lost the answers that it kept."""
        self._late = None


class Coordinator:
    """The coordination store that all nodes share; it can be emptied, or away."""

    def __init__(self, kind: Kind, clock: Clock, limits: Limits, *, window: bool, seed: int, watch: Watch) -> None:
        self._kind, self._clock = kind, clock
        self._open = partial(kind.open, clock, limits, window=window, seed=seed, fail=watch.fail)
        self.away = False
        self.store = self._open()

    def begin(self, era: int) -> None:
        """It holds this era already, and no window is open."""
        at_once(self.store.set_era(era, window=False))

    def empty(self) -> None:
        """It has lost all that it held."""
        self._kind.empty(self.store)

    def replace(self) -> None:
        """The process that held it is gone."""
        self.store = self._open()

    def seen(self, operation: str, *args: Any) -> Any:
        """The answer of an operation that never waits, at once and unseen by anybody."""
        return at_once(getattr(self.store, operation)(*args))

    def has_claim(self, asset: AssetId, job: JobId, claim_no: int, worker: str) -> bool:
        """Whether this is a present claim of that worker."""
        found = self.seen("jobs", Selection(assets=[asset]))
        return any((one.job_id, one.claim_no, one.worker) == (job, claim_no, worker) for one in found)

    def is_quarantined(self, worker: str) -> bool:
        """Whether this worker gets no claims for a while."""
        return self._kind.rests_until(self.store, worker) > self._clock.now()


class NodeCoordination:
    """The coordination store as a node reaches it. `engine.ports.Coordination`."""

    def __init__(self, shared: Coordinator, watch: Watch, dice: Dice) -> None:
        self._shared, self._watch, self._dice = shared, watch, dice
        self._way = Way(dice, "coordination slow")

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **options: Any) -> Any:
            return await self._call(name, *args, **options)

        setattr(self, name, call)
        return call

    async def claim(self, worker: Any, limit: Any, wait: timedelta) -> Any:
        """Jobs for a worker."""
        return await self._call("claim", worker, limit, wait)

    def wake(self) -> None:
        """Something may be claimed or dispatched now."""
        self._shared.store.wake()

    def listen(self, ring: Callable[[], None]) -> None:
        """Be called at each wake."""
        self._shared.store.listen(ring)

    async def _call(self, name: str, *args: Any, **options: Any) -> Any:
        await self._way.go()
        if self._shared.away or self._dice.strikes("coordination away", name):
            raise CoordinationUnavailableError("simulated: the coordination store does not answer")
        before = getattr(self._watch, f"before_{name}", None)
        if before is not None:
            before(*args)
        answer = await getattr(self._shared.store, name)(*args, **options)
        if order := IN_ANY_ORDER.get(name):
            answer = sorted(answer, key=order)
        self._watch.hear(name, answer)
        after = getattr(self._watch, f"after_{name}", None)
        if after is not None:
            after(*args, answer)
        await self._way.go()
        if self._dice.strikes("coordination's answer lost", name):
            raise CoordinationUnavailableError("simulated: the coordination store does not answer any more")
        return answer
