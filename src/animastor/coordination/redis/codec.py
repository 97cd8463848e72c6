"""What crosses to the scripts and back: JSON for batches, a letter for each answer, text for ids and exact numbers.

A claim number goes as `era-count`, its two halves: a Lua number could not hold it for every era.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import orjson

from animastor.engine.ports import (
    Admission,
    Candidate,
    Circuit,
    CircuitChange,
    Ended,
    Enqueued,
    Held,
    JobState,
    JobStatus,
    Lease,
    LostClaim,
    PairStatus,
    Renewal,
    Selection,
    Settled,
    Verdict,
)
from animastor.engine.reasons import Reason
from animastor.protocol import (
    ERA_BITS,
    Answer,
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

T = TypeVar("T")

_ADMISSIONS: Mapping[str, Admission] = {
    "G": Admission(granted=True),
    **{
        letter: Admission(granted=False, reason=reason)
        for letter, reason in {
            "E": Reason.ERA_WINDOW,
            "R": Reason.RELEASED,
            "O": Reason.CIRCUIT_OPEN,
            "H": Reason.HALF_OPEN_LIMIT,
            "D": Reason.DUPLICATE,
            "Q": Reason.BACKPRESSURE,
            "B": Reason.BACKOFF,
        }.items()
    },
}
RENEWALS = {
    "R": Renewal.RENEWED,
    "A": Renewal.REATTACHED,
    "L": Renewal.LOST,
    "N": Renewal.NO_JOB,
    "U": Renewal.UNCHANGED,
}
ENQUEUED = {
    "S": Enqueued.STORED,
    "R": Enqueued.RELABELLED,
    "H": Enqueued.HELD,
    "N": Enqueued.NO_ACTIVE_DISPATCH,
}
ANSWERS = {"C": Answer.CONTINUE, "S": Answer.STOP}
FOUND = {"1": True, "0": False}

encode: Callable[[Any], bytes] = orjson.dumps


def letters(answer: bytes, meaning: Mapping[str, T]) -> list[T]:
    """A letter for each member of a batch."""
    return [meaning[letter] for letter in answer.decode()]


# --- admission and leases ---


def encode_candidates(candidates: Sequence[Candidate]) -> bytes:
    """In columns, as `admit.lua` reads them: the members of a batch share a few places, and mostly none is a retry."""
    places: dict[tuple[BookKey, str, str], int] = {}
    numbers = [places.setdefault((one.book_key, one.pair.media, one.pair.lane), len(places) + 1) for one in candidates]
    assets = [str(one.asset) for one in candidates]
    dispatches = [one.dispatch_id for one in candidates]
    return encode(
        (
            assets,
            dispatches,
            numbers,
            [(str(book), media, lane) for book, media, lane in places],
            {str(at): sorted(one.retrying) for at, one in enumerate(candidates, start=1) if one.retrying},
            len(set(assets)) < len(assets) or len(set(dispatches)) < len(dispatches),
        )
    )


def decode_admissions(answer: bytes, candidates: Sequence[Candidate]) -> list[Admission]:
    """`T` is a grant that moved the breaker of its pair."""
    return [
        _tested(candidate.pair) if letter == "T" else _ADMISSIONS[letter]
        for letter, candidate in zip(answer.decode(), candidates, strict=True)
    ]


def _tested(pair: Pair) -> Admission:
    change = CircuitChange(pair, Circuit.OPEN, Circuit.HALF_OPEN, "half_open_test")
    return Admission(granted=True, circuit=change)


def encode_ended(ended: Sequence[Ended]) -> bytes:
    """As `release.lua` reads them: a dispatch tells its asset."""
    return encode(list(dict.fromkeys([one.dispatch_id for one in ended])))


def decode_released(answer: bytes, ended: Sequence[Ended]) -> list[bool]:
    """Whether something was found. Who is named a second time finds nothing."""
    found = letters(answer, FOUND)
    if len(found) == len(ended):
        return found
    first = dict(zip(dict.fromkeys(one.dispatch_id for one in ended), found, strict=True))
    return [first.pop(one.dispatch_id, False) for one in ended]


def encode_held(held: Sequence[Held]) -> bytes:
    """As `renew.lua` reads them."""
    return encode([(str(one.asset), str(one.book_key), one.pair.media, one.pair.lane, one.dispatch_id) for one in held])


def encode_selection(of: Selection) -> bytes:
    """What narrows, as the scripts read it."""
    given: dict[str, Any] = {}
    if of.assets is not None:
        given["assets"] = [str(asset) for asset in of.assets]
    if of.dispatches is not None:
        given["dispatches"] = list(of.dispatches)
    if of.book_key is not None:
        given["book"] = str(of.book_key)
    if of.pair is not None:
        given["media"], given["lane"] = of.pair.media, of.pair.lane
    return encode(given)


def decode_leases(answer: bytes) -> list[Lease]:
    """The rows of `leases.lua`."""
    return [
        Lease(
            AssetId(int(asset)),
            BookKey(int(book)),
            Pair(media, lane),
            DispatchId(dispatch),
            float(left),
            permit=bool(permit),
        )
        for asset, book, media, lane, dispatch, left, permit in orjson.loads(answer)
    ]


def decode_pairs(answer: bytes, pairs: Sequence[Pair]) -> list[PairStatus]:
    """The rows of `pairs.lua`."""
    return [
        PairStatus(pair, quota, leases, Circuit(circuit), frozenset(profiles), float(left))
        for pair, (quota, leases, circuit, left, *profiles) in zip(pairs, orjson.loads(answer), strict=True)
    ]


# --- jobs ---


def encode_head(job: Job) -> tuple[object, ...]:
    """What the rules need of a job."""
    return (
        job.job_id,
        str(job.asset),
        str(job.book_key),
        job.media,
        job.lane,
        job.profile,
        job.kind,
        job.dispatch_id,
        str(job.fence),
        job.input_hash,
        job.timeout_s,
        job.not_before,
        job.retry_of or "",
    )


def decode_job(fields: dict[str, Any]) -> Job:
    """A job from its JSON."""
    retry_of = fields["retry_of"]
    return Job(
        **fields | {"inputs": tuple(fields["inputs"]), "retry_of": None if retry_of is None else FailureType(retry_of)}
    )


def encode_number(claim_no: int) -> str:
    """A claim number as the scripts know it."""
    return f"{claim_no >> ERA_BITS}-{claim_no & ((1 << ERA_BITS) - 1)}"


def decode_era(answer: bytes | None) -> int | None:
    """The era, or None when the store has lost it."""
    return None if answer is None else int(answer)


def decode_number(text: str) -> int:
    """The port's number; 0 for none."""
    era, _, count = text.partition("-")
    return (int(era) << ERA_BITS) + int(count) if text else 0


def decode_jobs(rows: Iterable[Sequence[Any]]) -> list[JobStatus]:
    """The rows of `jobs.lua`."""
    return [
        JobStatus(
            job_id=JobId(job),
            asset=AssetId(int(asset)),
            dispatch_id=DispatchId(dispatch),
            fence=int(fence),
            input_hash=input_hash,
            kind=kind,
            state=JobState(state),
            live=bool(live),
            stopping=bool(stopping),
            claim_no=decode_number(claim_no),
            worker=worker,
            due_at=float(due_at),
            progress=float(progress),
        )
        for (
            job,
            asset,
            dispatch,
            fence,
            input_hash,
            kind,
            state,
            live,
            stopping,
            claim_no,
            worker,
            due_at,
            progress,
        ) in rows
    ]


# --- workers ---


def encode_worker(worker: Worker) -> bytes:
    """The same worker, the same text."""
    return orjson.dumps(
        {
            "credential": worker.credential,
            "instance": worker.instance,
            "profiles": dict(worker.profiles),
            "lanes": worker.lanes,
            "workspace": worker.workspace,
        },
        option=orjson.OPT_SORT_KEYS,
    )


def decode_claims(rows: Iterable[Sequence[Any]]) -> list[Claim]:
    """The claims of `claim.lua`; tickets are empty here."""
    return [Claim(decode_job(job), decode_number(claim_no)) for claim_no, job in rows]


def encode_running(running: Sequence[Running]) -> bytes:
    """As `heartbeat.lua` reads it."""
    return encode([(one.job_id, encode_number(one.claim_no), one.progress) for one in running])


def encode_verdicts(verdicts: Sequence[Verdict]) -> bytes:
    """As `settle.lua` reads them."""
    return encode(
        [
            (
                one.job_id,
                encode_number(one.claim_no),
                one.worker,
                one.failure or "",
                int(one.called_backend),
                int(one.counted),
                False if one.requeue_at is None else one.requeue_at,
            )
            for one in verdicts
        ]
    )


_STALE = Settled(present=False)


def decode_settled(rows: Iterable[Any]) -> list[Settled]:
    """The rows of `settle.lua`."""
    return [
        Settled(True, DispatchId(row[0]), int(row[1]), _change(row[2]) if row[2] else None) if row else _STALE
        for row in rows
    ]


def _change(row: Sequence[str]) -> CircuitChange:
    media, lane, before, after, reason = row
    return CircuitChange(Pair(media, lane), Circuit(before), Circuit(after), reason)


def decode_lost(rows: Iterable[Sequence[Any]]) -> list[LostClaim]:
    """The rows of `sweep.lua`."""
    return [
        LostClaim(decode_job(job), decode_number(claim_no), worker, Reason(reason), requeued=bool(again))
        for claim_no, worker, reason, again, job in rows
    ]
