"""`engine.ports.Coordination` on Redis or Valkey: each operation is one script call for its whole batch.

The rules are in `lua/`, and are those of `coordination.memory`, which tests drive in step with these. What lives here:
turning values into arguments and answers into values, and the waiting of a claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import uuid4

import orjson

from animastor.coordination.bell import Bell
from animastor.coordination.limits import Limits
from animastor.coordination.redis import codec
from animastor.coordination.redis.doorbell import Doorbell
from animastor.coordination.redis.link import Abandoned, Link, RedisLink, connect
from animastor.coordination.redis.scripts import load_scripts
from animastor.engine.ports import (
    Admission,
    Candidate,
    Ended,
    Enqueued,
    Held,
    JobStatus,
    Lease,
    LostClaim,
    PairStatus,
    Renewal,
    Selection,
    Settled,
    Verdict,
)
from animastor.protocol import Answer, Claim, Clock, Job, JobId, Pair, Running, Worker

ROOT = "{animastor}"
PAGE = 2_000  # jobs read in one step


def root_of(installation: int) -> str:
    """The root of an installation's keys, by the number of its database; 0: of one that has none."""
    return f"{{animastor:{installation:016x}}}" if installation else ROOT


class RedisCoordination:
    """Leases, quotas, breakers, budgets and the queue, shared by all processes that use the same server and root.

    `root`: the beginning of every key, with its hash tag; another root is another store. `window`: the first era opens
    the era window of 40 s (CONTRACT 11). `clock` only measures how long a claim waits; all else goes by the server's
    time. `clock_is_time`, for tests in virtual time: the clock's time is sent along and used instead.

    Every method raises `CoordinationUnavailableError` when the server cannot be reached; repeating it is harmless.
    """

    look_every = 5.0  # seconds after which a waiting claim looks again though no bell rang

    def __init__(
        self,
        link: Link,
        clock: Clock,
        limits: Limits | None = None,
        *,
        root: str = ROOT,
        window: bool = True,
        clock_is_time: bool = False,
    ) -> None:
        self._link = link
        self._clock = clock
        self._limits = limits or Limits()
        self._scripts = load_scripts(self._limits)
        self._keys = (root,)
        self._window = self._limits.era_window if window else 0.0
        self._clock_is_time = clock_is_time
        self._me = uuid4().hex
        self._calls = count(1)
        self._bell = Bell(clock)
        self._woken: list[Callable[[], None]] = []
        self._doorbell: Doorbell | None = None

    @classmethod
    def connect(cls, url: str, clock: Clock, limits: Limits | None = None, *, root: str = ROOT) -> RedisCoordination:
        """For the server at this URL (see `link.connect`). Nothing is sent before the first call."""
        made = cls(RedisLink(connect(url)), clock, limits, root=root)
        bells = {f"{root}:bell": made._bell.ring, f"{root}:wake": made._wake}
        made._doorbell = Doorbell(connect(url, connections=2), made._me, bells)
        return made

    async def close(self) -> None:
        """Let the connections go."""
        if self._doorbell is not None:
            await self._doorbell.close()
        await self._link.close()

    async def _run(self, name: str, *args: Any, lost: Abandoned | None = None) -> Any:
        time = repr(self._clock.now()) if self._clock_is_time else ""
        return await self._link.run(self._scripts[name], self._keys, (time, self._me, *args), lost)

    def _call_id(self) -> str:
        """For a call whose answer the server keeps for a while, for the case that it is repeated."""
        return f"{self._me}-{next(self._calls)}"

    # --- admission and leases ---

    async def admit(self, candidates: Sequence[Candidate]) -> Sequence[Admission]:
        """Breaker, duplicate, quota, budget, lease: one atomic step, in the order of CONTRACT 5."""
        answer = await self._run("admit", codec.encode_candidates(candidates))
        return codec.decode_admissions(answer, candidates)

    async def renew(self, held: Sequence[Held]) -> Sequence[Renewal]:
        """Re-pin the leases of current dispatches with a live job; grant again what was lost (CONTRACT 6)."""
        return codec.letters(await self._run("renew", "renew", codec.encode_held(held)), codec.RENEWALS)

    async def grant(self, held: Sequence[Held]) -> Sequence[Renewal]:
        """As `renew`, for a current dispatch without any job that is about to enter its merge (CONTRACT 6)."""
        return codec.letters(await self._run("renew", "grant", codec.encode_held(held)), codec.RENEWALS)

    async def release(self, ended: Sequence[Ended]) -> Sequence[bool]:
        """Free lease, slot and permit; drop queued and delayed jobs, mark running ones stop. True: found something."""
        return codec.decode_released(await self._run("release", codec.encode_ended(ended)), ended)

    async def leases(self, of: Selection) -> Sequence[Lease]:
        """The live leases of a selection, from an index."""
        return codec.decode_leases(await self._run("leases", codec.encode_selection(of)))

    async def jobs(self, of: Selection) -> Sequence[JobStatus]:
        """The jobs of a selection, from an index; many of them in several steps, of which the last one counts."""
        found: dict[JobId, list[JobStatus]] = {}
        page = "0"
        while page:
            page, rows = orjson.loads(await self._run("jobs", codec.encode_selection(of), page, PAGE))
            jobs = codec.decode_jobs(rows)
            found.update({one.job_id: [] for one in jobs})
            for one in jobs:
                found[one.job_id].append(one)
        return [one for labels in found.values() for one in labels]

    async def pairs(self, pairs: Sequence[Pair]) -> Sequence[PairStatus]:
        """Quota, leases, breaker and served profiles of pairs."""
        names = codec.encode([(pair.media, pair.lane) for pair in pairs])
        return codec.decode_pairs(await self._run("pairs", names), pairs)

    # --- jobs ---

    async def enqueue(self, jobs: Sequence[Job]) -> Sequence[Enqueued]:
        """Store or re-label jobs; pins the dispatch's lease to its full length; refused without a live lease."""
        heads = codec.encode([codec.encode_head(job) for job in jobs])
        answer = await self._run("enqueue", heads, *map(codec.encode, jobs))
        answers = codec.letters(answer, codec.ENQUEUED)
        if any(one is not Enqueued.NO_ACTIVE_DISPATCH for one in answers):
            self._bell.ring()
        return answers

    async def discard(self, of: Selection) -> int:
        """Drop queued and delayed jobs of a selection and mark running ones stop; how many were touched."""
        return int(await self._run("discard", codec.encode_selection(of)))

    async def discard_jobs(self, jobs: Sequence[JobId]) -> int:
        """The same for exact jobs."""
        return int(await self._run("discard", codec.encode({"jobs": list(jobs)})))

    # --- workers ---

    async def register(self, worker: Worker) -> Sequence[str]:
        """Make a worker known, or known again. Gives the profiles that nobody served before."""
        served = orjson.loads(await self._run("register", worker.key, codec.encode_worker(worker)))
        return tuple(profile for profile in worker.profiles if profile not in served)

    async def deregister(self, worker: Worker) -> None:
        """The worker is gone. Its claims stay until they are handed back, settled or swept; it gets no new ones."""
        await self._run("deregister", worker.key)
        self._bell.ring()

    async def claim(self, worker: Worker, limit: Mapping[str, int], wait: timedelta) -> Sequence[Claim]:
        """Up to `limit[profile]` jobs of each profile, book by book; waits for the first (tickets are empty here).

        A caller that gives up loses nothing: what a look still brings goes back to the queue.
        """
        until = self._clock.now() + wait.total_seconds()
        if self._doorbell is not None and wait:
            self._doorbell.start()
        wishes = codec.encode(list(limit.items()))
        first = "1"
        while True:
            heard = self._bell.rings
            answer = await self._look(worker, first, wishes)
            if not answer:
                return []
            look, rows = orjson.loads(answer)
            left = until - self._clock.now()
            if rows or left <= 0:
                return codec.decode_claims(rows)
            first = "0"
            if heard == self._bell.rings:
                await self._bell.wait(min(left, max(float(look), 0.0), self.look_every))

    async def _look(self, worker: Worker, first: str, wishes: bytes) -> bytes:
        async def give_back(answer: bytes) -> None:
            claims = codec.decode_claims(orjson.loads(answer)[1]) if answer else []
            if claims:
                await self.settle([_handed_back(claim, worker) for claim in claims])

        text = codec.encode_worker(worker)
        found: bytes = await self._run("claim", self._call_id(), first, worker.key, text, wishes, lost=give_back)
        return found

    async def heartbeat(self, worker: Worker, running: Sequence[Running]) -> Sequence[Answer]:
        """Keep claims alive; told `stop` by label, whatever the worker holds.

        A claim that is not known is told to stop, unless the store has just lost what it knew: then it goes on, and
        its ticket makes it known again.
        """
        text = codec.encode_worker(worker)
        answer = await self._run("heartbeat", worker.key, text, codec.encode_running(running))
        return codec.letters(answer, codec.ANSWERS)

    async def settle(self, verdicts: Sequence[Verdict]) -> Sequence[Settled]:
        """End claims, feed breaker, budgets and quarantine, queue again where the verdict says so."""
        answer = await self._run("settle", self._call_id(), codec.encode_verdicts(verdicts))
        return codec.decode_settled(self._rung(answer))

    async def reregister(self, claims: Sequence[tuple[Claim, str]]) -> None:
        """Make claims (with their worker's key) known again after the store was lost; known ones stay as they are."""
        heads = codec.encode([codec.encode_head(claim.job) for claim, _ in claims])
        flat = [text for claim, worker in claims for text in (codec.encode_number(claim.claim_no), worker)]
        await self._run("reregister", heads, codec.encode(flat), *(codec.encode(claim.job) for claim, _ in claims))

    # --- time ---

    async def silent(self, limit: int) -> Sequence[JobStatus]:
        """Up to so many of the claims that the next sweep ends because their workers are silent; nothing changes."""
        return codec.decode_jobs(orjson.loads(await self._run("silent", limit)))

    async def sweep(self) -> Sequence[LostClaim]:
        """End silent and overdue claims; move due delayed jobs; forget what has expired."""
        return codec.decode_lost(self._rung(await self._run("sweep", self._call_id())))

    def _rung(self, answer: bytes) -> Iterable[Any]:
        """The rows of an answer that also says whether the bell rang."""
        rung, rows = orjson.loads(answer)
        if rung:
            self._bell.ring()
        found: Iterable[Any] = rows
        return found

    async def era(self) -> int | None:
        """The era that the store holds, or None when it has lost it."""
        return codec.decode_era(await self._run("era"))

    async def set_era(self, era: int, *, window: bool = True) -> None:
        """Write the era that the database gave; claim numbers start behind it. A lower one than is held is ignored."""
        await self._run("set_era", str(era), repr(self._window if window else 0.0))
        self._bell.ring()

    async def serving(self) -> int | None:
        """Say that a server is there; whoever finds the mark too old starts every claim's silence anew."""
        return codec.decode_era(await self._run("serving"))

    async def take_turns(self, names: Sequence[str], who: str, seconds: float) -> Sequence[float]:
        """Take what one process at a time does: 0, or the seconds until another's turn is over."""
        return [float(left) for left in await self._turns("take", names, who, seconds)]

    async def keep_turns(self, names: Sequence[str], who: str, seconds: float) -> Sequence[bool]:
        """Whether they still are this one's; then for so long from now on."""
        return [kept == "1" for kept in await self._turns("keep", names, who, seconds)]

    async def end_turns(self, names: Sequence[str], who: str) -> Sequence[bool]:
        """Let go; whether somebody asked for it meanwhile."""
        return [asked == "1" for asked in await self._turns("end", names, who, 0.0)]

    async def _turns(self, mode: str, names: Sequence[str], who: str, seconds: float) -> Sequence[str]:
        answers: Sequence[str] = orjson.loads(
            await self._run("turns", mode, who, repr(seconds), codec.encode(list(names)))
        )
        return answers

    def listen(self, ring: Callable[[], None]) -> None:
        """From now on call `ring` at each `wake` of any process, and after each time that it could not be heard."""
        self._woken.append(ring)
        if self._doorbell is not None:
            self._doorbell.start()

    def wake(self) -> None:
        """Something may be claimed or dispatched now: here at once, in other processes soon. Within a running loop."""
        self._wake()
        if self._doorbell is not None:
            self._doorbell.ring(f"{self._keys[0]}:wake")

    def _wake(self) -> None:
        self._bell.ring()
        for ring in self._woken:
            ring()


def _handed_back(claim: Claim, worker: Worker) -> Verdict:
    return Verdict(claim.job.job_id, claim.claim_no, worker.key, called_backend=False, counted=False, requeue_at=0.0)
