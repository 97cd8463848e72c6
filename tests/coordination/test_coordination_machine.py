"""Any sequence of operations, over hours of virtual time, against an independent model (CONTRACT 5, 6, 8, 9, 17)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from coordination_model import Model
from coordination_world import NO_WAIT, job
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from animastor.coordination import Limits, MemoryCoordination
from animastor.engine.ports import Candidate, Circuit, Ended, Held, JobState, Selection, Verdict
from animastor.engine.reasons import Reason
from animastor.protocol import (
    MERGE,
    AssetId,
    BookKey,
    Claim,
    DispatchId,
    FailureType,
    Job,
    JobId,
    Pair,
    Running,
    Worker,
)
from virtual_clock import VirtualClock, now

LIMITS = Limits(
    min_quota={"audio": 2, "image": 1},
    least_quota=1,
    breaker_failures=3,
    budget_per_type=4,
    budget_type_period=100.0,
    budget_all=6,
    budget_all_period=60.0,
    quarantine_failures=3,
)
PAIRS = [Pair("audio", "system"), Pair("audio", "alice"), Pair("image", "system")]
ASSETS = range(1, 7)
WORKERS = [
    Worker("c", "1", {"speech": 1, "merge": 1}),
    Worker("c", "2", {"speech": 1, "picture": 1}, ("system", "alice")),
    Worker("c", "3", {"picture": 0, "merge": 2}, ("alice", "system")),
]
TIMES = [1.0, 5.0, 9.0, 10.0, 11.0, 15.0, 20.0, 29.0, 30.0, 31.0, 40.0, 59.0, 60.0, 61.0, 100.0, 120.0]

assets = st.sampled_from(ASSETS)
workers = st.sampled_from(WORKERS)
failures = st.sampled_from([None, None, *FailureType, FailureType.TRANSIENT, FailureType.TRANSIENT])


def book_of(asset: int) -> BookKey:
    return BookKey(asset % 2 + 1)


def pair_of(asset: int) -> Pair:
    return PAIRS[asset % 3] if asset < 6 else PAIRS[0]


class CoordinationMachine(RuleBasedStateMachine):
    """Drives the implementation and the model with the same operations and compares every answer and all that shows."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = VirtualClock()
        self.dispatches: dict[int, list[str]] = {asset: [] for asset in ASSETS}
        self.given: list[tuple[Claim, Worker]] = []  # every claim that was ever given
        self.last_number = 0
        self.numbers = 0
        self.told_to_stop: set[tuple[str, int]] = set()

    def make(self, clock: VirtualClock, limits: Limits, *, window: bool) -> Any:
        """The store that is tested."""
        return MemoryCoordination(clock, limits, window=window)

    @initialize(window=st.booleans())
    def begin(self, window: bool) -> None:
        self.store = self.make(self.clock, LIMITS, window=window)
        self.model = Model(LIMITS, LIMITS.era_window if window else 0.0)
        self.step()
        self.raise_era()
        if window:
            self.clock.jump(40.0)
        self.serve()

    def step(self) -> None:
        self.model.step(self.clock.now())

    def dispatch(self, asset: int, choice: int) -> DispatchId:
        """The dispatch that holds the asset (1, if there is one), one of its last ones, or (0) a new one."""
        known = self.dispatches[asset]
        lease = self.model.leases.get(asset)
        if choice == 1 and lease is not None:
            return DispatchId(lease.dispatch)
        if choice == 0 or not known:
            self.numbers += 1
            known.append(f"d{asset}-{self.numbers}")
            choice = 1
        return DispatchId(known[-min(choice, len(known))])

    def claim_at(self, pick: int) -> tuple[Claim, Worker]:
        """A claim that was given: mostly (0 to 5) one that the store knows, else one of the last."""
        known = [one for one in self.given if self.model.present(one[0].job.job_id, one[0].claim_no, one[1].key)]
        if pick < 6 and known:
            return known[pick % len(known)]
        return self.given[-1 - pick % min(4, len(self.given))]

    @rule(new=st.lists(assets, min_size=1, max_size=4, unique=True), parts=st.sampled_from([1, 1, 2, 3]))
    def start(self, new: list[int], parts: int) -> None:
        """The ordinary way in."""
        self.step()
        for asset in new:
            dispatch = self.dispatch(asset, 0)
            candidate = Candidate(AssetId(asset), book_of(asset), pair_of(asset), dispatch)
            reason = now(self.store.admit([candidate]))[0].reason
            assert reason is self.model.admit(candidate, reason)
            orders = [self.order(asset, dispatch, f"p{part}", 0.0, None) for part in range(1, parts + 1)]
            answers = list(now(self.store.enqueue(orders)))
            assert answers == [self.model.enqueue(one) for one in orders]

    # --- what ordinarily happens, in one rule each, so that rare states are reached ---

    @rule(book=st.sampled_from([None, None, 1, 2]), calls=st.integers(3, 6))
    def a_backend_is_down(self, book: int | None, calls: int) -> None:
        """Everything of pair 0 (or what one book has there) fails: its breaker may open."""
        for asset in [asset for asset in (3, 6, 3, 6, 3, 6) if book in (None, book_of(asset))][:calls]:
            self.start([asset], 1)
            self.claim(WORKERS[0], "speech", 4)
            for claim, by in [one for one in self.given if self.is_present(*one)]:
                if claim.job.asset == asset:
                    self.settle_one(Verdict(claim.job.job_id, claim.claim_no, by.key, FailureType.TRANSIENT))
            self.end_all([asset])

    @rule(seconds=st.sampled_from([59.0, 60.0, 60.0]), works=st.sampled_from([True, False, None]))
    def it_is_tested(self, seconds: float, works: bool | None) -> None:
        """Time to cool, a test, and its verdict (or none)."""
        self.time_passes_with_a_server(seconds)
        self.start([3, 6], 1)
        self.claim(WORKERS[0], "speech", 4)
        failure = None if works else FailureType.INFRASTRUCTURE
        for claim, by in [one for one in self.given if self.is_present(*one)][:3]:
            if works is not None:
                self.settle_one(Verdict(claim.job.job_id, claim.claim_no, by.key, failure))

    @rule(ended=st.lists(assets, min_size=1, unique=True))
    def end_all(self, ended: list[int]) -> None:
        """The present dispatches of assets end."""
        for asset in ended:
            self.release(asset, 1, twice=False)

    @rule(asset=assets, carried=st.booleans(), settled=st.booleans())
    def stop_and_enter_again(self, asset: int, carried: bool, settled: bool) -> None:
        """A dispatch ends while its jobs run; the next one wants the same jobs."""
        self.start([asset], 2)
        self.claim_everything(WORKERS[0], 9)
        self.claim_everything(WORKERS[1], 9)
        self.end_all([asset])
        if carried:
            self.heartbeat_of_all(WORKERS[0], 1)
            self.heartbeat_of_all(WORKERS[1], 1)
        self.start([asset], 2)
        for claim, by in [one for one in self.given if self.is_present(*one)][:2]:
            if settled:
                self.settle_one(Verdict(claim.job.job_id, claim.claim_no, by.key))

    @rule(who=st.lists(workers, max_size=2), beats=st.booleans())
    def workers_fall_silent(self, who: list[Worker], beats: bool) -> None:
        """Half a minute in which only some are heard."""
        for _ in range(6):
            self.time_passes_with_a_server(5.0)
            for one in WORKERS:
                if one not in who and beats:
                    self.heartbeat_of_all(one, 0)
        self.sweep()

    @rule(retries=st.integers(2, 6), kind=st.sampled_from(FailureType))
    def many_retry_at_once(self, retries: int, kind: FailureType) -> None:
        """Each present claim fails and is to be tried again at once."""
        self.start(list(ASSETS), 3)
        self.claim_everything(WORKERS[1], 9)
        self.claim_everything(WORKERS[0], 9)
        at = self.clock.now()
        for claim, by in [one for one in self.given if self.is_present(*one)][:retries]:
            self.settle_one(
                Verdict(claim.job.job_id, claim.claim_no, by.key, kind, called_backend=False, requeue_at=at)
            )
        self.claim_everything(WORKERS[0], 9)

    # --- leases ---

    @rule(
        picks=st.lists(st.tuples(assets, st.integers(0, 2), st.sampled_from([(), ("transient",)])), max_size=3),
        kind=st.sampled_from(FailureType),
    )
    def admit(self, picks: list[tuple[int, int, tuple[str, ...]]], kind: FailureType) -> None:
        self.step()
        candidates = [
            Candidate(
                AssetId(asset),
                book_of(asset),
                pair_of(asset),
                self.dispatch(asset, choice),
                frozenset({kind, FailureType.TRANSIENT}) if retrying else frozenset(),
            )
            for asset, choice, retrying in picks
        ]
        before = {one.asset: one.dispatch_id for one in now(self.store.leases(Selection()))}
        answers = now(self.store.admit(candidates))
        for candidate, answer in zip(candidates, answers, strict=True):
            assert answer.granted == (answer.reason is Reason.GRANTED)
            assert answer.reason is self.model.admit(candidate, answer.reason)
        self.admission_kept_the_rules(before)

    def admission_kept_the_rules(self, before: dict[AssetId, DispatchId]) -> None:
        """Said once more, without the model: no quota was exceeded, no lease replaced, no third permit given."""
        after = now(self.store.leases(Selection()))
        for status in now(self.store.pairs(PAIRS)):
            new = [one for one in after if one.pair == status.pair and one.asset not in before]
            assert not new or status.leases <= status.quota
            assert sum(one.permit for one in after if one.pair == status.pair) <= 2
        assert len({one.asset for one in after}) == len(after)
        assert all(before.get(one.asset, one.dispatch_id) == one.dispatch_id for one in after)

    @rule(asset=assets, choice=st.integers(1, 3), merge=st.booleans())
    def renew(self, asset: int, choice: int, merge: bool) -> None:
        self.step()
        held = Held(AssetId(asset), book_of(asset), pair_of(asset), self.dispatch(asset, choice))
        answer = now(self.store.grant([held]) if merge else self.store.renew([held]))[0]
        assert answer is self.model.renew(held, merge=merge)

    @rule(asset=assets, choice=st.integers(1, 3), twice=st.booleans())
    def release(self, asset: int, choice: int, twice: bool) -> None:
        self.step()
        ended = Ended(AssetId(asset), self.dispatch(asset, choice))
        assert now(self.store.release([ended])) == [self.model.release(asset, ended.dispatch_id)]
        if twice:
            assert now(self.store.release([ended])) == [False]

    # --- jobs ---

    @rule(
        asset=assets,
        choice=st.integers(1, 2),
        parts=st.lists(st.sampled_from(["p1", "p2", "p3", "merge"]), min_size=1, max_size=3),
        delay=st.sampled_from([0.0, 0.0, 0.0, 5.0, 30.0]),
        retry=st.sampled_from([None, None, FailureType.TRANSIENT, FailureType.INFRASTRUCTURE]),
        moved=st.booleans(),
    )
    def enqueue(
        self, asset: int, choice: int, parts: list[str], delay: float, retry: FailureType | None, moved: bool
    ) -> None:
        self.step()
        orders = [self.order(asset, self.dispatch(asset, choice), part, delay, retry) for part in parts]
        if moved and asset == 6:  # its book was moved to another lane
            orders = [replace(one, lane="alice") for one in orders]
        answers = now(self.store.enqueue(orders))
        assert list(answers) == [self.model.enqueue(one) for one in orders]

    def order(self, asset: int, dispatch: str, part: str, delay: float, retry: FailureType | None) -> Job:
        profile = "merge" if part == MERGE else "picture" if pair_of(asset).media == "image" else "speech"
        return job(
            asset,
            dispatch,
            part,
            fence=self.dispatches[asset].index(dispatch),
            book=book_of(asset),
            kind=MERGE if part == MERGE else "part",
            profile=profile,
            pair=pair_of(asset),
            timeout_s=30.0 if part == "p1" else 20.0,
            not_before=self.clock.now() + delay if delay else 0.0,
            retry_of=retry,
        )

    @rule(by=workers, limit=st.integers(1, 9))
    def claim_everything(self, by: Worker, limit: int) -> None:
        for profile in ("speech", "picture", "merge"):
            self.claim(by, profile, limit)

    @rule(by=workers, profile=st.sampled_from(["speech", "picture", "merge"]), limit=st.integers(0, 3))
    def claim(self, by: Worker, profile: str, limit: int) -> None:
        self.step()
        claims = list(now(self.store.claim(by, {profile: limit}, NO_WAIT)))
        self.model.see(by)
        if not self.model.closed and self.clock.now() >= self.model.workers[by.key].held_until:
            self.follow_due_jobs()
        self.model.claim(by, profile, limit, claims)
        for claim in claims:
            assert claim.claim_no > self.last_number
            assert claim.job.dispatch_id not in self.model.released
            self.last_number = claim.claim_no
            self.given.append((claim, by))

    def follow_due_jobs(self) -> None:
        states = {status.job_id: status.state for status in now(self.store.jobs(Selection()))}
        self.model.move_due({name for name, state in states.items() if state is not JobState.DELAYED})

    @precondition(lambda self: self.given)
    @rule(
        picks=st.lists(st.integers(0, 8), min_size=1, max_size=3),
        other=st.sampled_from([None, None, None, WORKERS[0]]),
        progress=st.integers(0, 9),
    )
    def heartbeat(self, picks: list[int], other: Worker | None, progress: int) -> None:
        self.step()
        by = other or self.claim_at(picks[0])[1]
        claims = [self.claim_at(pick)[0] for pick in picks]
        running = [Running(claim.job.job_id, claim.claim_no, float(progress)) for claim in claims]
        answers = now(self.store.heartbeat(by, running))
        self.model.beat(by)
        assert list(answers) == [self.model.heartbeat(by, one) for one in running]

    @rule(by=workers, progress=st.integers(0, 9))
    def heartbeat_of_all(self, by: Worker, progress: int) -> None:
        """What a worker does every few seconds."""
        self.step()
        mine = [(name, known.claim_no) for name, known in self.model.jobs.items() if known.worker == by.key]
        running = [Running(JobId(name), number, float(progress)) for name, number in mine]
        answers = now(self.store.heartbeat(by, running))
        self.model.beat(by)
        assert list(answers) == [self.model.heartbeat(by, one) for one in running]

    @precondition(lambda self: self.model.jobs)
    @rule(by=workers, failure=st.sampled_from([None, FailureType.TRANSIENT, FailureType.TRANSIENT]))
    def settle_all(self, by: Worker, failure: FailureType | None) -> None:
        """A worker whose backend works, or does not."""
        for _ in range(6):
            mine = [claim for claim in self.given if claim[1] is by and self.is_present(*claim)]
            if mine:
                self.settle_one(Verdict(mine[0][0].job.job_id, mine[0][0].claim_no, by.key, failure))

    def is_present(self, claim: Claim, by: Worker) -> bool:
        return self.model.present(claim.job.job_id, claim.claim_no, by.key) is not None

    @precondition(lambda self: self.given)
    @rule(
        pick=st.integers(0, 8),
        other=st.sampled_from([None, None, None, None, None, WORKERS[1]]),
        failure=failures,
        called=st.sampled_from([True, True, True, False]),
        counted=st.sampled_from([True, True, True, False]),
        requeue=st.sampled_from([None, None, 0.0, 3.0, 20.0]),
    )
    def settle(
        self,
        pick: int,
        other: Worker | None,
        failure: FailureType | None,
        called: bool,
        counted: bool,
        requeue: float | None,
    ) -> None:
        claim, by = self.claim_at(pick)
        at = None if requeue is None else self.clock.now() + requeue
        verdict = Verdict(claim.job.job_id, claim.claim_no, (other or by).key, failure, called, counted, at)
        self.settle_one(verdict)

    def settle_one(self, verdict: Verdict) -> None:
        self.step()
        circuit = self.circuits()
        settled = now(self.store.settle([verdict]))[0]
        assert (settled.present, settled.dispatch_id) == self.model.settle(verdict)
        changed = {pair: (before, self.circuits()[pair]) for pair, before in circuit.items()}
        moved = [(pair, *both) for pair, both in changed.items() if both[0] is not both[1]]
        change = settled.circuit
        assert moved == ([] if change is None else [(change.pair, change.before, change.after)])
        assert not any(after is Circuit.HALF_OPEN for _, _, after in moved)

    def circuits(self) -> dict[Pair, Circuit]:
        return {status.pair: status.circuit for status in now(self.store.pairs(PAIRS))}

    @rule(asset=assets, choice=st.integers(1, 3), by=st.sampled_from(["asset", "dispatch", "book", "pair", "jobs"]))
    def discard(self, asset: int, choice: int, by: str) -> None:
        self.step()
        dispatch, book, pair = self.dispatch(asset, choice), book_of(asset), pair_of(asset)
        if by == "jobs":
            known = [status.job_id for status in now(self.store.jobs(Selection(assets=[AssetId(asset)])))]
            chosen = list(dict.fromkeys(known))[:2]
            assert now(self.store.discard_jobs(chosen)) == self.model.discard(lambda job: job.job_id in chosen)
            return
        selection, matches = {
            "asset": (Selection(assets=[AssetId(asset)]), lambda job: job.asset == asset),
            "dispatch": (Selection(dispatches=[dispatch]), lambda job: job.dispatch_id == dispatch),
            "book": (Selection(book_key=book), lambda job: job.book_key == book),
            "pair": (Selection(pair=pair, book_key=book), lambda job: (job.pair, job.book_key) == (pair, book)),
        }[by]
        assert now(self.store.discard(selection)) == self.model.discard(matches)

    # --- workers, time, loss ---

    @rule(by=workers, leaves=st.sampled_from([False, False, True]))
    def register(self, by: Worker, leaves: bool) -> None:
        self.step()
        if leaves:
            now(self.store.deregister(by))
            self.model.deregister(by)
        else:
            assert now(self.store.register(by)) == self.model.register(by)

    @rule(seconds=st.sampled_from(TIMES))
    def time_passes_with_a_server(self, seconds: float) -> None:
        while seconds > 0:
            self.clock.jump(min(8.0, seconds))
            seconds -= min(8.0, seconds)
            self.serve()

    @rule(seconds=st.sampled_from(TIMES[1:8]))
    def time_passes_without_one(self, seconds: float) -> None:
        self.clock.jump(seconds)

    @rule()
    def serve(self) -> None:
        self.step()
        now(self.store.serving())
        self.model.serving()

    @rule()
    def sweep(self) -> None:
        self.step()
        silent = now(self.store.silent(1000))
        lost = now(self.store.sweep())
        assert {(one.claim_no, one.reason.value, one.requeued) for one in lost} == self.model.sweep()
        assert [one.claim_no for one in silent] == [one.claim_no for one in lost if one.reason == "worker_silent"]
        if not self.model.closed:
            self.follow_due_jobs()

    @precondition(lambda self: len(self.given) > 3)
    @rule(loses=st.sampled_from([False] * 9 + [True]))
    def the_store_is_lost(self, loses: bool) -> None:
        if loses:
            self.store.lose()
            self.model.lose()
            self.serve()

    @rule()
    def raise_era(self) -> None:
        self.step()
        if now(self.store.era()) is None:
            self.numbers += 1
            now(self.store.set_era(self.numbers))
            self.model.set_era(self.numbers)

    @precondition(lambda self: len(self.given) > 3)
    @rule(picks=st.lists(st.integers(0, 8), max_size=4), renewed=st.booleans(), waits=st.booleans())
    def it_is_lost_and_found_again(self, picks: list[int], renewed: bool, waits: bool) -> None:
        """The store is emptied in the middle of a run; the next era begins, and tickets make claims known."""
        running = [self.claim_at(pick) for pick in picks]
        self.the_store_is_lost(True)
        self.raise_era()
        for claim, by in running:
            now(self.store.reregister([(claim, by.key)]))
            self.model.reregister(claim, by.key)
        for asset in ASSETS if renewed else ():
            self.renew(asset, 2, merge=False)
            self.enqueue(asset, 1, ["p1", "p3"], 0.0, None, moved=False)
        self.settle_all(running[0][1] if running else WORKERS[0], FailureType.TRANSIENT)
        self.claim_everything(WORKERS[0], 3)
        self.time_passes_with_a_server(40.0 if waits else 8.0)

    @precondition(lambda self: self.given)
    @rule(pick=st.integers(0, 8))
    def reregister(self, pick: int) -> None:
        self.step()
        claim, by = self.claim_at(pick)
        now(self.store.reregister([(claim, by.key)]))
        self.model.reregister(claim, by.key)

    # --- what must show after each of them ---

    @invariant()
    def everything_that_shows_is_as_the_model_says(self) -> None:
        self.step()
        shown = {
            one.asset: (one.dispatch_id, one.book_key, one.pair, one.remaining, one.permit)
            for one in now(self.store.leases(Selection()))
        }
        assert shown == {
            asset: (one.dispatch, one.book, one.pair, one.until - self.clock.now(), one.permit)
            for asset, one in self.model.leases.items()
        }
        for status in now(self.store.pairs(PAIRS)):
            breaker = self.model.breaker(status.pair)
            assert (status.quota, status.leases) == (
                self.model.quota(status.pair),
                len(self.model.in_pair(status.pair)),
            )
            assert status.circuit is breaker.state
            assert status.profiles == self.model.served(status.pair.lane)

    @invariant()
    def every_job_is_where_the_model_says(self) -> None:
        shown = {
            (one.job_id, one.dispatch_id): (one.state, one.live, one.stopping, one.claim_no, one.worker, one.progress)
            for one in now(self.store.jobs(Selection()))
        }
        expected = {}
        for known in self.model.jobs.values():
            claim = (known.claim_no, known.worker, known.progress) if known.claim_no else (0, "", 0.0)
            if known.held is not None:
                expected[known.job.job_id, known.held.dispatch_id] = (JobState.DELAYED, True, False, 0, "", 0.0)
            key = (known.job.job_id, known.job.dispatch_id)
            expected.setdefault(key, (known.state, known.live, known.stop, *claim))
        if all(one.held is None or one.held.dispatch_id != one.job.dispatch_id for one in self.model.jobs.values()):
            assert shown == expected

    @invariant()
    def no_job_of_an_ended_dispatch_waits_or_goes_on(self) -> None:
        for one in now(self.store.jobs(Selection())):
            assert one.dispatch_id not in self.model.released or one.stopping

    @invariant()
    def every_index_finds_what_it_should(self) -> None:
        for asset in ASSETS:
            of = Selection(assets=[AssetId(asset)])
            everything = [one for one in now(self.store.jobs(Selection())) if one.asset == asset]
            assert sorted(map(repr, now(self.store.jobs(of)))) == sorted(map(repr, everything))

    def teardown(self) -> None:
        """Once every dispatch has ended and every worker is silent, nothing is left."""
        if not hasattr(self, "store"):
            return
        self.raise_era()
        everything = {(AssetId(a), DispatchId(d)) for a, known in self.dispatches.items() for d in known}
        now(self.store.release([Ended(*one) for one in everything]))
        for _ in range(20):
            self.clock.jump(5.0)
            now(self.store.serving())
        now(self.store.sweep())
        assert now(self.store.jobs(Selection())) == []
        assert now(self.store.leases(Selection())) == []
        assert [status.leases for status in now(self.store.pairs(PAIRS))] == [0, 0, 0]


# Few: `test_stores_in_step.py` drives the store in memory by this machine too.
CoordinationMachine.TestCase.settings = settings(max_examples=25, stateful_step_count=60)
TestAnySequenceOfOperations = CoordinationMachine.TestCase
