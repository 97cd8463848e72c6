"""The invariants of CONTRACT 17, checked for each transaction and each coordination call over what it touched.

Triggers of the database tell what a transaction changed, so that looking costs as much as there was to change. What
coordination does is compared with a record of its own: claims, who was heard of when, which dispatches were released.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from animastor.engine.ports import (
    Admission,
    Candidate,
    Ended,
    Enqueued,
    Held,
    LostClaim,
    Renewal,
    Selection,
    Settled,
    Verdict,
)
from animastor.protocol import MERGE, Answer, AssetId, Claim, Job, Pair, Running, Worker

from .oracle import Oracle, Place
from .scheduling import Broken

if TYPE_CHECKING:
    from .coordinating import Coordinator
    from .stores import Shelf

NEW, PENDING, GENERATING, DIRTY, READY, FAILED = range(6)
NAMES = ("new", "pending", "generating", "dirty", "ready", "failed")
# CONTRACT 3, written here a second time; to READY from elsewhere than GENERATING is `restore`
ALLOWED = {
    (NEW, DIRTY), (NEW, PENDING), (NEW, READY),
    (DIRTY, PENDING), (DIRTY, READY),
    (PENDING, DIRTY), (PENDING, GENERATING), (PENDING, READY), (PENDING, FAILED),
    (GENERATING, DIRTY), (GENERATING, READY), (GENERATING, FAILED),
    (READY, DIRTY),
    (FAILED, DIRTY), (FAILED, PENDING), (FAILED, READY),
}  # fmt: skip
STEPS = {(GENERATING, PENDING): DIRTY, (READY, PENDING): DIRTY}  # two allowed transitions in one transaction
SILENCE, RELEASED_FOR, WINDOW = 30.0, 120.0, 40.0
MISSING, MADE, LOST = range(3)

TRIGGERS = """
CREATE TEMP TABLE sim_far (v);
INSERT INTO sim_far VALUES (0);
CREATE TEMP TABLE sim_log (
    what TEXT, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o
);
CREATE TEMP TRIGGER sim_asset_new AFTER INSERT ON asset BEGIN
    UPDATE asset SET lane = 'far' WHERE id = NEW.id AND (SELECT v FROM sim_far) > 0
        AND book_key % 2 = 0;
    INSERT INTO sim_log (what, a, b) VALUES ('asset+', NEW.id, NEW.state); END;
CREATE TEMP TRIGGER sim_asset_gone AFTER DELETE ON asset BEGIN
    INSERT INTO sim_log (what, a, b, c) VALUES ('asset-', OLD.id, OLD.state, OLD.dispatch_id); END;
CREATE TEMP TRIGGER sim_asset AFTER UPDATE OF state, fence, dispatch_id, wanted_hash, artifact_hash, planned_seq,
    plan_seq ON asset BEGIN
    INSERT INTO sim_log VALUES ('asset', NEW.id, OLD.state, NEW.state, OLD.fence, NEW.fence, OLD.dispatch_id,
        NEW.dispatch_id, OLD.plan_seq, NEW.plan_seq, NEW.planned_seq, NEW.wanted_hash, NEW.artifact_hash,
        NEW.artifact, NEW.media, NEW.request_id); END;
CREATE TEMP TRIGGER sim_part AFTER UPDATE OF state, attempts, infra_attempts, artifact, last_claim ON part
    WHEN OLD.state <> NEW.state OR OLD.attempts <> NEW.attempts OR OLD.infra_attempts <> NEW.infra_attempts
        OR OLD.artifact <> NEW.artifact OR OLD.last_claim <> NEW.last_claim BEGIN
    INSERT INTO sim_log VALUES ('part', NEW.asset, NEW.hash, NEW.kind, OLD.state, NEW.state, NEW.attempts,
        NEW.infra_attempts, OLD.artifact, NEW.artifact, NEW.wanted, OLD.last_claim, NEW.last_claim, OLD.attempts,
        OLD.infra_attempts, NEW.code); END;
CREATE TEMP TRIGGER sim_part_gone AFTER DELETE ON part WHEN OLD.state = 1 BEGIN
    INSERT INTO sim_log (what, a, b, c, d, e) VALUES ('part-', OLD.asset, OLD.hash, OLD.artifact, OLD.wanted,
        OLD.unwanted_at); END;
CREATE TEMP TRIGGER sim_dispatch_new AFTER INSERT ON dispatch BEGIN
    INSERT INTO sim_log (what, a, b, c) VALUES ('dispatch+', NEW.asset, NEW.id, NEW.fence); END;
CREATE TEMP TRIGGER sim_dispatch AFTER UPDATE OF outcome ON dispatch BEGIN
    INSERT INTO sim_log (what, a, b, c, d, e) VALUES ('dispatch', NEW.asset, NEW.id, OLD.outcome, NEW.outcome,
        NEW.reason); END;
CREATE TEMP TRIGGER sim_request AFTER UPDATE OF state ON request WHEN OLD.state <> NEW.state BEGIN
    INSERT INTO sim_log (what, a, b, c) VALUES ('request', NEW.id, OLD.state, NEW.state); END;
CREATE TEMP TRIGGER sim_journal AFTER INSERT ON journal BEGIN
    INSERT INTO sim_log (what, a, b, c, d) VALUES ('journal', NEW.type, NEW.reason, NEW.asset, NEW.details); END;
"""

Heard: TypeAlias = tuple[int, str, object]  # in which step, which operation, its answer


@dataclass(slots=True)
class Given:
    """A claim that was given: when it was last heard of, in the true time."""

    asset: AssetId
    number: int
    worker: str
    heard: float
    timeout: float
    began: float
    moved: float
    progress: float = 0.0
    over: bool = False


class Watch:
    """Looks at everything that happens. Its errors end the run."""

    def __init__(self, raw: sqlite3.Connection, loop: Any, oracle: Oracle, shelf: Shelf, *, far: bool) -> None:
        self._raw, self._loop, self._oracle, self._shelf = raw, loop, oracle, shelf
        self.coordinator: Coordinator
        self.transitions: Counter[str] = Counter()
        self.endings: Counter[str] = Counter()
        self.told: Counter[str] = Counter()  # what the journal says
        self.answers: Counter[str] = Counter()  # what coordination answered
        self.looks = 0
        self._released: dict[str, float] = {}
        self._claims: dict[str, Given] = {}
        self.newest_claim = 0
        self._for_nobody: dict[int, tuple[int, str]] = {}  # claim number → invariant, why no worker may get it
        self._known: set[int] = set()
        self._dispatches: set[str] = set()
        self._lost_at = float("-inf")
        self._slots: dict[str, dict[str, tuple[int, tuple[str, ...]]]] = {}
        self.trace: list[str] | None = None
        self.heard: list[Heard] = []  # while there is a trace: what coordination answered
        raw.execute("UPDATE sim_far SET v = ?", (int(far),))

    def fail(self, number: int, message: str) -> NoReturn:
        """An invariant does not hold."""
        error = Broken(f"invariant {number}: {message}")
        if self._loop.broken is None:
            self._loop.broken = error
        raise error

    def say(self, line: str) -> None:
        """Something for whoever reads a run."""
        if self.trace is not None:
            self.trace.append(f"{self._loop.steps:7} {self._loop.elapsed:9.2f}s  {line}")

    def hear(self, operation: str, answer: object) -> None:
        """Coordination answers a node."""
        if self.trace is not None:
            plain = tuple(answer) if isinstance(answer, list | tuple) else answer
            self.heard.append((self._loop.steps, operation, plain))

    def rows(self, sql: str, *values: object) -> list[Any]:
        """Rows of the database, read past every layer."""
        return self._raw.execute(sql, values).fetchall()

    # --- the database ---

    def committed(self, name: str) -> None:
        """A transaction is over: look at what it touched."""
        rows = self._raw.execute("SELECT * FROM sim_log").fetchall()
        if not rows:
            return
        self._raw.execute("DELETE FROM sim_log")
        self.looks += 1
        assets: dict[int, Any] = {}
        ended: list[Any] = []
        for row in rows:
            what = row[0]
            if what == "asset":
                assets[row[1]] = self._asset(row, assets.get(row[1]), name)
            elif what == "part":
                self._part(row, name)
            elif what == "dispatch":
                ended.append(self._outcome(row))
            elif what == "dispatch+":
                if row[2] in self._dispatches:
                    self.fail(3, f"dispatch {row[2]} begins a second time")
                self._dispatches.add(row[2])
            elif what == "journal":
                self._journal(row)
            elif what == "request":
                self.transitions[f"request {row[2]} → {row[3]}"] += 1
                self.say(f"{name}: request {row[1]} {row[2]} → {row[3]}")
                for (key,) in self.rows("SELECT idempotency_key FROM request WHERE id = ? AND state = 'open'", row[1]):
                    self._oracle.accept_charge(key)
            elif what == "part-":
                self._part_gone(row)
            elif what == "asset-":
                assets.pop(row[1], None)
        for row in assets.values():
            self._at_commit(row, name)
        for row in ended:
            self._ended(row)

    def _asset(self, row: Any, first: Any, name: str) -> Any:
        _, asset, before, after, old_fence, fence, *_ = row
        if before != after:
            between = STEPS.get((before, after))
            steps = [(before, after)] if between is None else [(before, between), (between, after)]
            for step in steps:
                if step not in ALLOWED:
                    self.fail(3, f"asset {asset}: {NAMES[before]} → {NAMES[after]} in {name}")
            self.transitions[f"{NAMES[before]} → {NAMES[after]}"] += 1
            self.say(f"{name}: asset {asset} ({row[14]}) {NAMES[before]} → {NAMES[after]}")
            if after == GENERATING:
                self._begins(row)
        if fence < old_fence or (fence != old_fence and after != GENERATING):
            self.fail(3, f"the fence of asset {asset} went from {old_fence} to {fence} in {name}")
        return row

    def _begins(self, row: Any) -> None:
        asset, old_fence, fence = row[1], row[4], row[5]
        if fence != old_fence + 1:
            self.fail(3, f"asset {asset} began with fence {fence} after {old_fence}")
        place = self.place(asset)
        if not self._oracle.may_begin(place):
            self.fail(8, f"{place} becomes generating, but nobody asks for it")

    def _at_commit(self, row: Any, name: str) -> None:
        _, asset, _, state, _, _, _, dispatch, _, plan_seq, planned_seq, wanted, hash_, artifact, *_ = row
        if state == READY:
            if hash_ != wanted and planned_seq >= plan_seq:
                self.fail(2, f"asset {asset} is ready with another hash than it wants, after {name}")
            if row[2] != READY and self._is_missing(artifact):
                self.fail(2, f"asset {asset} became ready without its bytes, in {name}")
        outcome = self._raw.execute(
            "SELECT outcome FROM dispatch WHERE asset = ? AND id = ?", (asset, dispatch)
        ).fetchone()
        if state == GENERATING and (outcome is None or outcome[0] is not None):
            self.fail(5, f"asset {asset} is generating, but its dispatch is over, after {name}")
        if state != GENERATING and outcome is not None and outcome[0] is None:
            self.fail(3, f"asset {asset} is {NAMES[state]}, but its dispatch has no outcome, after {name}")

    def _outcome(self, row: Any) -> Any:
        _, asset, dispatch, before, after, reason, *_ = row
        if before is not None:
            self.fail(3, f"dispatch {dispatch} of asset {asset} ends as {after}, but was {before}")
        self.endings[f"{after} {reason.partition(':')[0]}".strip()] += 1
        return row

    def _ended(self, row: Any) -> None:
        """5: a dispatch ends only as its asset's own; or with its asset."""
        _, asset, dispatch, _, outcome, *_ = row
        found = self._raw.execute("SELECT state, dispatch_id, made_by FROM asset WHERE id = ?", (asset,)).fetchone()
        if found is None:
            return
        state, current, made_by = found
        if current != dispatch:
            self.fail(5, f"dispatch {dispatch} of asset {asset} ends as {outcome}, but {current} is current")
        if outcome == "success" and (state != READY or made_by != dispatch):
            self.fail(5, f"dispatch {dispatch} succeeded, but asset {asset} is {NAMES[state]}, made by {made_by}")

    def _part(self, row: Any, name: str) -> None:
        _, asset, hash_, kind, before, after, attempts, infra, old, new, *_ = row
        kept = old and old not in self._shelf.excused and self._shelf.content(old) is not None
        if before == MADE and after != MADE and kept and not (name == "collected" and self._is_unwanted(asset, hash_)):
            self.fail(12, f"the accepted part {hash_} ({kind}) of asset {asset} is gone, in {name}")
        if before != MADE and after == MADE and self._is_missing(new):
            self.fail(2, f"a part of asset {asset} was accepted without its bytes, in {name}")
        counted, claims = attempts + infra, len(self._oracle.claims.get((asset, hash_), ()))
        if counted > row[13] + row[14] and counted > claims + self._withdrawals(asset):
            self.fail(6, f"part {hash_} of asset {asset} counts {counted} failures of {claims} claims, in {name}")

    def _is_unwanted(self, asset: int, hash_: str) -> bool:
        """Of such a part the bytes may be collected; that they are there again is due to another one that was made."""
        sql = "SELECT 1 FROM part WHERE asset = ? AND hash = ? AND wanted = 0"
        return self._raw.execute(sql, (asset, hash_)).fetchone() is not None

    def _is_missing(self, checksum: str) -> bool:
        """Whether bytes that should be there are not, and no fault has taken them."""
        return bool(checksum) and checksum not in self._shelf.excused and self._shelf.content(checksum) is None

    def _withdrawals(self, asset: int) -> int:
        """How often parts of an asset were withdrawn: each counts an attempt without a claim."""
        return int(
            self._raw.execute(
                "SELECT count(*) FROM journal WHERE asset = ? AND reason = 'bad_input'", (asset,)
            ).fetchone()[0]
        )

    def _part_gone(self, row: Any) -> None:
        if self._raw.execute("SELECT 1 FROM asset WHERE id = ?", (row[1],)).fetchone() and row[4]:
            self.fail(12, f"the wanted part {row[2]} of asset {row[1]} was deleted")

    def _journal(self, row: Any) -> None:
        type_, reason = row[1], row[2].partition(":")[0]
        self.told[f"{type_} {reason}".strip()] += 1
        if type_ == "INVALID_TRANSITION" and '"why":"orchestration"' not in row[4]:
            self.fail(3, f"a transition of asset {row[3]} was refused: {row[2]} {row[4]}")
        if reason == "wait_drift":
            self.fail(7, f"a wait bit outlived its cause: {row[4]}")

    def bytes_deleted(self, checksum: str) -> None:
        """The engine removes bytes: nothing that is wanted may name them, unless they are spoiled."""
        content = self._shelf.content(checksum)
        if content is None or checksum in self._shelf.excused or not content or content.endswith(b"~"):
            return
        used = self._raw.execute(
            "SELECT asset FROM part WHERE artifact = ? AND wanted = 1 AND state = 1", (checksum,)
        ).fetchall()
        if used:
            self.fail(12, f"the bytes of a wanted part of asset {used[0][0]} are deleted")

    def place(self, asset: int) -> Place:
        """Where an asset belongs."""
        found = self._raw.execute(
            "SELECT b.book_id, c.chapter_id, s.scene_id, a.media FROM asset a JOIN book b ON b.book_key = a.book_key"
            " JOIN scene s ON s.scene_key = a.scene_key JOIN chapter c ON c.chapter_key = s.chapter_key"
            " WHERE a.id = ?",
            (asset,),
        ).fetchone()
        return Place(*found) if found is not None else Place("", "", "", "")

    # --- coordination ---

    @property
    def now(self) -> float:
        """The true time, from the start of the run."""
        return float(self._loop.elapsed)

    def store_lost(self) -> None:
        """The coordination store was emptied."""
        self._released.clear()
        self._lost_at = self.now

    def worker(self, worker: Worker) -> None:
        """A worker is able from now on."""
        for lane in worker.lanes:
            self._slots.setdefault(lane, {})[worker.key] = dict(worker.profiles)  # type: ignore[assignment]

    def _is_released(self, dispatch: str) -> bool:
        return self.now - self._released.get(dispatch, float("-inf")) < RELEASED_FOR

    def after_admit(self, candidates: Sequence[Candidate], answers: Sequence[Admission]) -> None:
        """1: never above the quota, never twice."""
        pairs: set[Pair] = set()
        for candidate, answer in zip(candidates, answers, strict=True):
            self.answers[f"admit {answer.reason}"] += 1
            if answer.granted:
                pairs.add(candidate.pair)
                if self._is_released(candidate.dispatch_id):
                    self.fail(3, f"the released dispatch {candidate.dispatch_id} is admitted")
        for pair in pairs:
            (status,) = self.coordinator.seen("pairs", [pair])
            leases = self.coordinator.seen("leases", Selection(pair=pair))
            most = max(2 * sum(
                sum(count for name, count in slots.items() if name != MERGE)  # type: ignore[misc]
                for slots in self._slots.get(pair.lane, {}).values()
            ), 2)  # fmt: skip
            if len(leases) > min(status.quota, most):
                self.fail(1, f"{len(leases)} leases in {pair}, whose quota is {status.quota}")
            if len({lease.asset for lease in leases}) != len(leases):
                self.fail(1, f"two leases for one asset in {pair}")

    def after_enqueue(self, jobs: Sequence[Job], answers: Sequence[Enqueued]) -> None:
        """4: only for dispatches that began, hold their lease and are not released. 9: merges with all parts, once."""
        for job, answer in zip(jobs, answers, strict=True):
            self.answers[f"enqueue {answer}"] += 1
            self.say(f"enqueue {job.kind} of asset {job.asset} for {job.dispatch_id[:6]}: {answer}")
            if answer is Enqueued.NO_ACTIVE_DISPATCH:
                continue
            if job.dispatch_id not in self._dispatches:
                self.fail(4, f"a job enters for dispatch {job.dispatch_id}, which never began")
            if self._is_released(job.dispatch_id):
                self.fail(4, f"a job enters for dispatch {job.dispatch_id}, which was released")
            if job.kind == MERGE and not job.inputs:
                self.fail(9, f"a merge of nothing enters for asset {job.asset}")
            of = Selection(assets=[job.asset], dispatches=[job.dispatch_id])
            if not self.coordinator.seen("leases", of):
                self.fail(4, f"a job enters for dispatch {job.dispatch_id}, which holds no lease")
            if not any(one.job_id == job.job_id for one in self.coordinator.seen("jobs", of)):
                self.fail(
                    4, f"a job of asset {job.asset} does not carry the label of {job.dispatch_id}, which entered it"
                )

    def after_renew(self, held: Sequence[Held], answers: Sequence[Renewal]) -> None:
        """3: what was released is never revived."""
        for one, answer in zip(held, answers, strict=True):
            self.answers[f"renew {answer}"] += 1
            if answer in (Renewal.RENEWED, Renewal.REATTACHED) and self._is_released(one.dispatch_id):
                self.fail(3, f"the lease of dispatch {one.dispatch_id} is renewed, which was released")

    after_grant = after_renew

    def after_release(self, ended: Sequence[Ended], answers: Sequence[bool]) -> None:
        """What was released stays so for a while."""
        for one in ended:
            self._released[one.dispatch_id] = self.now
            self.say(f"release of {one.dispatch_id[:6]} of asset {one.asset}")
        left = {lease.dispatch_id for lease in self.coordinator.seen("leases", Selection())}
        for one in ended:
            if one.dispatch_id in left:
                self.fail(3, f"dispatch {one.dispatch_id} keeps its lease after its release")

    def after_claim(self, worker: Worker, _limit: Any, _wait: Any, claims: Sequence[Claim]) -> None:
        """15: one live claim per part. 8: nothing that nobody wants."""
        for claim in claims:
            job = claim.job
            if claim.claim_no <= self.newest_claim:
                self.fail(15, f"claim number {claim.claim_no} after {self.newest_claim}")
            self.newest_claim = claim.claim_no
            before = self._claims.get(job.job_id)
            if before is not None and not before.over:
                self._may_claim_again(job, before)
            now = self.now
            self._claims[job.job_id] = Given(job.asset, claim.claim_no, worker.key, now, job.timeout_s, now, now)
            self._oracle.claimed(claim)
            self.say(f"claim {claim.claim_no & 0xFFFF} of {job.kind} for asset {job.asset} by {worker.key}")
            if wrong := self._why_not(job):
                self._for_nobody[claim.claim_no] = wrong

    def _why_not(self, job: Job) -> tuple[int, str] | None:
        """The queue may hold what nobody asks for any more, what was given up, and what lost its parts with its book:
        the hub asks the database before a worker gets it.
        """
        what, place = f"{job.kind} of asset {job.asset}", self.place(job.asset)
        if self._oracle.may_be_charged_again(job.asset, job.input_hash):
            return 15, f"{what} may be paid for a second time, and nobody has agreed"
        if place.book in self._oracle.books and not self._oracle.covers(place, moved=True):
            return 8, f"{what}, {place}, is given to a worker, but nobody asks for it"
        if job.kind == MERGE and self._lacks_parts(job):
            return 9, f"{what} is given to a worker, but its parts are not there"
        return None

    def given_out(self, claims: Sequence[Claim]) -> None:
        """8, 9, 15: what no worker may get."""
        for claim in claims:
            if wrong := self._for_nobody.get(claim.claim_no):
                self.fail(*wrong)

    def _may_claim_again(self, job: Job, before: Given) -> None:
        """The claim before was neither settled nor swept: then only the store's loss explains it."""
        if self._lost_at < before.began and before.heard > self._lost_at:
            self.fail(15, f"{job.kind} of asset {job.asset} is claimed twice; {before.worker} has it")
        if before.heard > self._lost_at:
            self.fail(15, f"{job.kind} of asset {job.asset} is claimed twice; {before.worker} was heard after the loss")

    def _lacks_parts(self, merge: Job) -> bool:
        return any(self._shelf.content(one) is None and one not in self._shelf.excused for one in merge.inputs)

    def after_heartbeat(self, worker: Worker, running: Sequence[Running], answers: Sequence[Answer]) -> None:
        """Who was heard of."""
        for line, answer in zip(running, answers, strict=True):
            self.answers[f"heartbeat {answer}"] += 1
            given = self._claims.get(line.job_id)
            if given is None or (given.number, given.worker) != (line.claim_no, worker.key):
                continue
            if self.coordinator.has_claim(given.asset, line.job_id, line.claim_no, worker.key):
                given.heard, given.over = self.now, False
                if line.progress > given.progress:
                    given.progress, given.moved = line.progress, self.now

    def before_reregister(self, claims: Sequence[tuple[Claim, str]]) -> None:
        """Which are known already: those stay as they are."""
        self._known = {claim.claim_no for claim, worker in claims if self._present(claim, worker)}

    def after_reregister(self, claims: Sequence[tuple[Claim, str]], _answer: None) -> None:
        """A claim is known again."""
        for claim, worker in claims:
            if self._present(claim, worker) and claim.claim_no not in self._known:
                self.answers["reregistered"] += 1
                self.say(f"claim {claim.claim_no & 0xFFFF} of {worker} is known again")
                job, now = claim.job, self.now
                self._claims[job.job_id] = Given(job.asset, claim.claim_no, worker, now, job.timeout_s, now, now)

    def _present(self, claim: Claim, worker: str) -> bool:
        return self.coordinator.has_claim(claim.job.asset, claim.job.job_id, claim.claim_no, worker)

    def after_settle(self, verdicts: Sequence[Verdict], answers: Sequence[Settled]) -> None:
        """Which claims are over."""
        for verdict, answer in zip(verdicts, answers, strict=True):
            self.answers["settled" if answer.present else "settle stale"] += 1
            now = "present" if answer.present else "stale"
            self.say(f"settle {verdict.claim_no & 0xFFFF} by {verdict.worker}: {now}, {verdict.failure or 'success'}")
            if answer.present:
                given = self._claims[verdict.job_id]
                if (given.number, given.worker) != (verdict.claim_no, verdict.worker):
                    self.fail(
                        15, f"a claim of {given.worker} is ended by the verdict of {verdict.worker} on another one"
                    )
                given.over = True

    def after_sweep(self, lost: Sequence[LostClaim]) -> None:
        """6, 15: only what is silent or overdue is swept."""
        for one in lost:
            self.answers[f"swept {one.reason}"] += 1
            given = self._claims[one.job.job_id]
            given.over = True
            if one.reason == "worker_silent" and self.now - given.heard < SILENCE - 1e-6:
                self.fail(15, f"a claim of {one.worker} is swept, heard of {self.now - given.heard:.1f} s ago")
            idle, whole = self.now - given.moved, self.now - given.began
            if one.reason == "job_timeout" and idle < given.timeout and whole < 4 * given.timeout:
                self.fail(15, f"a claim of {one.worker} is swept as overdue, which moved {idle:.1f} s ago")

    # --- everything ---

    def everything(self) -> None:
        """All that can be said at any moment, over all there is."""
        self.looks += 1
        leases = self.coordinator.seen("leases", Selection())
        if len({lease.asset for lease in leases}) != len(leases):
            self.fail(1, "two leases for one asset")
        jobs = self.coordinator.seen("jobs", Selection())
        known = {row[0] for row in self.rows("SELECT id FROM dispatch")}
        for job in jobs:
            if job.dispatch_id not in known and job.dispatch_id not in self._dispatches:
                self.fail(4, f"a job of dispatch {job.dispatch_id}, which never was")
            if self._is_released(job.dispatch_id) and not job.stopping:
                self.fail(4, f"a job of dispatch {job.dispatch_id} outlives its release")
        self._once([job.asset for job in jobs if job.kind == MERGE and job.live and not job.stopping], "live merge")
        for (asset,) in self.rows(
            "SELECT id FROM asset WHERE state = 4 AND artifact_hash <> wanted_hash AND planned_seq >= plan_seq"
        ):
            self.fail(2, f"asset {asset} is ready with another hash than it wants")
        for (asset,) in self.rows(
            "SELECT a.id FROM asset a LEFT JOIN dispatch d ON d.asset = a.id AND d.id = a.dispatch_id"
            " WHERE a.state = 2 AND (d.id IS NULL OR d.outcome IS NOT NULL)"
        ):
            self.fail(5, f"asset {asset} is generating without a running dispatch")
        for (asset,) in self.rows(
            "SELECT d.asset FROM dispatch d LEFT JOIN asset a ON a.id = d.asset"
            " WHERE d.outcome IS NULL AND (a.state IS NULL OR a.state <> 2 OR a.dispatch_id <> d.id)"
        ):
            self.fail(3, f"a dispatch of asset {asset} has no outcome, but is not current")

    def _once(self, keys: Sequence[object], what: str) -> None:
        twice = [key for key, number in Counter(keys).items() if number > 1]
        if twice:
            self.fail(9, f"more than one {what} of asset {twice[0]}")
