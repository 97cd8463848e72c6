"""What must hold after whatever was done to a fleet, by the database, the files and the backends' own log.

Nothing here asks the engine. From the backends' log come the runs (claim, hash, start, end); from the road between
workers and hub, which claims were given to whom and heard of when; from the test, whom it killed and paused.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from chaos_fleet import Deeds, Fleet
from toys import REGISTRY, content_of

from animastor.engine.states import State
from animastor.protocol import MERGE

ACCEPTED: Final = ("accepted", "late_accept")
HELD: Final = ("busy", "slots", "permit", "job", "body", "ready", "delayed", "short", "seen", "begun", "progressed")
CLOCK_S: Final = 1.0  # between what processes of one machine write down and what has happened


@dataclass
class Run:
    """One run of a backend. `end` is None where it was never written down."""

    hash: str
    kind: str
    claim: int
    pid: int
    start: float
    end: float | None = None
    member: int = 0  # the process that held the claim
    heard: list[float] = field(default_factory=list)  # when the claim was given, and its heartbeats
    stopped: float | None = None  # when it was told to stop, or handed back

    @property
    def given(self) -> float:
        """When its claim was given; a child that has to be started first begins later."""
        return min(self.heard, default=self.start)


def runs(fleet: Fleet) -> list[Run]:
    """Every run of a backend, in the order in which they began."""
    found: dict[tuple[int, int, str], Run] = {}
    for line in _lines(fleet.backend_log):
        key = (line["pid"], line["claim"], line["hash"])
        if line["event"] == "start":
            found[key] = Run(line["hash"], line["kind"], line["claim"], line["pid"], line["time"])
        elif key in found:
            found[key].end = line["time"]
    by_claim: dict[int, list[Run]] = defaultdict(list)
    for run in found.values():
        by_claim[run.claim].append(run)
    for line in _lines(fleet.road_log):
        for run in (run for claim in line["claims"] for run in by_claim[claim]):
            if line["event"] == "claimed":
                run.member = line["pid"]
            if line["event"] in ("stop", "handed_back"):
                run.stopped = line["time"] if run.stopped is None else run.stopped
            else:
                run.heard.append(line["time"])
    return sorted(found.values(), key=lambda run: run.start)


def check(fleet: Fleet) -> dict[str, int]:
    """Everything; what was found, to be printed. Raises `AssertionError`."""
    everything = runs(fleet)
    check_runs(fleet, everything)
    check_ready(fleet)
    check_dispatches(fleet)
    check_journal(fleet)
    check_nothing_is_left(fleet)
    repeated = len(everything) - len({run.hash for run in everything})
    return {"runs": len(everything), "repeated": repeated, "ready": fleet.ready()}


# CONTRACT 17: 11, 12, 13, 15 -----------------------------------------------------------------------------------------


def check_runs(fleet: Fleet, everything: Sequence[Run]) -> None:
    """No part runs twice at once, or again, but after its claim was lost; and never after it was accepted."""
    accepted = {
        row["hash"]: row["at"]
        for row in fleet.rows(
            "SELECT (details::json ->> 'hash') AS hash, min(at) AS at FROM journal"
            " WHERE type IN ('PART_ACCEPTED', 'MERGED') AND reason = ANY($1) GROUP BY 1",
            list(ACCEPTED),
        )
    }
    by_hash: dict[str, list[Run]] = defaultdict(list)
    for run in everything:
        by_hash[run.hash].append(run)
    for hash_, of in by_hash.items():
        of.sort(key=lambda run: run.given)
        for later in of:
            told = accepted.get(hash_)
            assert told is None or later.given <= told + CLOCK_S, f"accepted at {told}, and run again: {_told(of)}"
        for one, two in ((one, two) for at, one in enumerate(of) for two in of[at + 1 :]):
            assert _lost(one, two.given, fleet), f"run again although nothing was lost: {_told(of)}"


def _lost(run: Run, at: float, fleet: Fleet) -> bool:
    """Whether the claim of a run was lost by then: its process died or ended, it was told to stop, or was silent."""
    deeds = fleet.deeds
    dead = min((when for pid, when in _over(deeds).items() if pid == run.member), default=None)
    if dead is not None and dead <= at:
        return True
    if run.stopped is not None and run.stopped <= at + CLOCK_S:
        return True
    heard = [when for when in run.heard if when <= at]
    return bool(heard) and at - max(heard) >= fleet.silent_s - CLOCK_S


def _over(deeds: Deeds) -> Mapping[int, float]:
    return {**deeds.ended, **deeds.killed}


def _told(of: Sequence[Run]) -> str:
    return "; ".join(
        f"claim {run.claim:x} of {run.member} by {run.pid} from {run.start:.2f} to {run.end or 0:.2f}"
        f" heard {[round(when, 2) for when in run.heard[-3:]]} stopped {run.stopped}"
        for run in of
    )


# CONTRACT 17: 8 -------------------------------------------------------------------------------------------------------


def check_cancelled(fleet: Fleet, book: int, at: float) -> dict[str, int]:
    """Of a book whose cancelling was over at a time, nothing is claimed after that, and nothing is at work."""
    hashes = {row["hash"] for row in fleet.rows(
        "SELECT p.hash FROM part p JOIN asset a ON a.id = p.asset WHERE a.book_key = $1", book
    )}  # fmt: skip
    of = [run for run in runs(fleet) if run.hash in hashes]
    late = [run for run in of if run.given > at + CLOCK_S]
    assert not late, f"claimed after cancel had returned at {at}: {_told(late)}"
    left = fleet.rows("SELECT id FROM asset WHERE book_key = $1 AND state IN (1, 2)", book)
    assert not left, f"{len(left)} assets of a cancelled book wait or are at work"
    return {"cancelled after runs": len(of)}


# CONTRACT 17: 2 -------------------------------------------------------------------------------------------------------


def check_ready(fleet: Fleet) -> None:
    """What is READY is what is wanted, and its bytes are those that were ordered, to the last one."""
    wrong = fleet.rows(
        "SELECT id, media, state, planned_seq, plan_seq, wanted_hash, artifact_hash FROM asset WHERE state = 4"
        " AND planned_seq >= plan_seq AND (wanted_hash <> artifact_hash OR wanted_hash = '')"
    )
    assert not wrong, wrong
    parts = fleet.rows(
        "SELECT p.asset, p.kind, p.hash, p.state, p.artifact, p.params, p.inputs, p.ordinal"
        " FROM part p JOIN asset a ON a.id = p.asset WHERE p.wanted = 1 AND a.state = 4 ORDER BY p.asset, p.ordinal"
    )
    content = _contents(fleet.artifacts)
    by_asset: dict[int, list[Any]] = defaultdict(list)
    for part in parts:
        assert part["state"] == 1, f"part {part['hash']} of READY asset {part['asset']} is not there"
        by_asset[part["asset"]].append(part)
    for of in by_asset.values():
        made = [part for part in of if part["kind"] != MERGE]
        for part in of:
            inputs = [one["artifact"] for one in made] if part["kind"] == MERGE else json.loads(part["inputs"] or "[]")
            right = content_of(part["kind"], json.loads(part["params"]), [content[one] for one in inputs])
            assert content[part["artifact"]] == right, f"other bytes than were ordered: {part}"


def _contents(folder: Path) -> dict[str, bytes]:
    """Bytes by checksum, of every file that holds what its name says."""
    found = {}
    for parent, _, files in os.walk(folder):
        for name in files:
            content = Path(parent, name).read_bytes()
            if name.partition(".")[0] == sha256(content).hexdigest():
                found[name.partition(".")[0]] = content
    return found


# CONTRACT 17: 3, 5 ----------------------------------------------------------------------------------------------------


def check_dispatches(fleet: Fleet) -> None:
    """Each dispatch has one outcome and is released; fences have no gap; one dispatch at most made each asset."""
    rows = fleet.rows(
        "SELECT a.id, a.state, a.fence, a.made_by, count(d.id) AS begun, count(DISTINCT d.id) AS ids,"
        " max(d.fence) AS last, count(d.outcome) AS ended, count(d.released_at) AS released,"
        " count(*) FILTER (WHERE d.outcome = 'success') AS made, min(d.id) FILTER (WHERE d.outcome = 'success') AS by"
        " FROM asset a LEFT JOIN dispatch d ON d.asset = a.id GROUP BY a.id"
    )
    for row in rows:
        assert row["begun"] == row["ids"] == row["ended"] == row["released"] == row["fence"], dict(row)
        assert row["begun"] == 0 or row["last"] == row["fence"], dict(row)
        assert row["made"] <= 1, dict(row)
        if row["state"] == State.READY:
            assert row["made_by"] == (row["by"] or ""), dict(row)  # restored when all came in after its dispatch
        assert row["state"] != State.GENERATING, dict(row)


# CONTRACT 17: 6 -------------------------------------------------------------------------------------------------------


def check_journal(fleet: Fleet) -> None:
    """A part is accepted once, a dispatch begun once; the last state that the journal tells is that of the table."""
    accepted: Counter[tuple[int, str]] = Counter()
    begun: Counter[str] = Counter()
    states: dict[int, int] = {}
    after = 0
    while page := fleet.loop.run(fleet.storage.journal(after=after, limit=5000)):
        after = page[-1].row_id
        for row in page:
            if row.type in ("PART_ACCEPTED", "MERGED") and row.reason in ACCEPTED:
                accepted[row.asset or 0, row.details["hash"]] += 1
            if row.type == "DISPATCHED":
                begun[row.dispatch_id or ""] += 1
            if row.asset is not None and row.state is not None and not row.observed:
                states[row.asset] = row.state
    assert max(accepted.values(), default=1) == 1, [key for key, count in accepted.items() if count > 1]
    assert max(begun.values(), default=1) == 1, [key for key, count in begun.items() if count > 1]
    table = {row["id"]: row["state"] for row in fleet.rows("SELECT id, state FROM asset WHERE state <> 0")}
    different = {asset: (states.get(asset), state) for asset, state in table.items() if states.get(asset) != state}
    assert not different, f"the journal tells other states (journal, table): {dict(list(different.items())[:5])}"


# CONTRACT 17: 3, 4 ----------------------------------------------------------------------------------------------------


def check_nothing_is_left(fleet: Fleet) -> None:
    """No lease, slot, permit or job in the coordination store, by its own keys."""
    from redis import Redis

    with Redis(unix_socket_path=str(fleet.valkey.socket)) as client:
        names = {name.decode(errors="replace") for name in client.scan_iter("*")}
    kinds = {name.partition("}:")[2].partition("\0")[0]: name for name in names}
    left = [name for kind, name in kinds.items() if kind.partition(":")[0] in HELD]
    assert not left, left


def _lines(log: Path) -> Iterator[Mapping[str, Any]]:
    if log.exists():
        yield from map(json.loads, log.read_text().splitlines())


assert REGISTRY.names, "the toys are here"
