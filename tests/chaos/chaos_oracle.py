"""What must hold after whatever was done to a fleet, by the database, the files and the backends' own log.

`check_meanwhile` looks at a fleet at work, `check` at one that has done all it was asked for. Neither asks the engine.
What ran is judged by `chaos_runs`.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from chaos_fleet import Fleet
from chaos_runs import ACCEPTED, check_none_given_after, check_runs, runs
from toys import REGISTRY, content_of

from animastor.engine.ports import AssetStanding, JournalRow
from animastor.engine.reasons import JournalType
from animastor.engine.replaying import replay
from animastor.engine.states import State
from animastor.protocol import MERGE, AssetId

HELD: Final = ("busy", "slots", "permit", "job", "body", "ready", "delayed", "short", "seen", "begun", "progressed")
ASSETS: Final = (
    "SELECT id, media, state, fence, dispatch_id, planned_seq, plan_seq, wanted_hash, artifact_hash FROM asset"
)
RUNNING: Final = "SELECT asset, id, fence FROM dispatch WHERE outcome IS NULL"
JOURNAL: Final = (
    "SELECT id, at, asset, type, state, reason, dispatch_id, observed, details,"
    " extract(epoch FROM pg_xact_commit_timestamp(xmin))::float8 AS committed FROM journal ORDER BY id"
)  # `at` is when its transaction began: a process may stand still before it commits
Row = Mapping[str, Any]


def check(fleet: Fleet) -> dict[str, int]:
    """Everything; what was found, to be printed. Raises `AssertionError`."""
    found = check_meanwhile(fleet)
    check_bytes(fleet)
    check_ended(fleet)
    check_nothing_is_left(fleet)
    return found


def check_meanwhile(fleet: Fleet) -> dict[str, int]:
    """What holds at every moment; what was found. Raises `AssertionError`."""
    assets, running, journal = fleet.snapshot(ASSETS, RUNNING, JOURNAL)
    check_ready(assets)
    check_running(assets, running)
    accepted = check_journal(assets, journal)
    everything = runs(fleet)
    check_runs(fleet, accepted, everything)
    repeated = len(everything) - len({run.hash for run in everything})
    return {"runs": len(everything), "repeated": repeated, "ready": sum(row["state"] == State.READY for row in assets)}


# CONTRACT 17: 2 -------------------------------------------------------------------------------------------------------


def check_ready(assets: Sequence[Row]) -> None:
    """What is READY is what is wanted, or waits for a look at an edit."""
    for row in assets:
        if row["state"] == State.READY and row["planned_seq"] >= row["plan_seq"]:
            assert row["wanted_hash"] == row["artifact_hash"] != "", dict(row)


def check_bytes(fleet: Fleet) -> None:
    """The bytes of what is READY are those that were ordered, to the last one."""
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


def check_running(assets: Sequence[Row], running: Sequence[Row]) -> None:
    """What is GENERATING has one dispatch without an outcome, the one that its row names; nothing else has any."""
    of: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for row in running:
        of[row["asset"]].append((row["id"], row["fence"]))
    for row in assets:
        named = [(row["dispatch_id"], row["fence"])] if row["state"] == State.GENERATING else []
        assert of.pop(row["id"], []) == named, dict(row)
    assert not of, f"dispatches without an outcome, and without an asset: {dict(of)}"


def check_ended(fleet: Fleet) -> None:
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
        assert row["state"] not in (State.PENDING, State.GENERATING), dict(row)


# CONTRACT 16; 17: 6 ---------------------------------------------------------------------------------------------------


def check_journal(assets: Sequence[Row], journal: Sequence[Row]) -> dict[str, float]:
    """Replayed, it gives the tables of the same moment; a part was accepted once, a dispatch begun once.

    Gives hash → when the first result of it was accepted for good.
    """
    rows = list(map(_journal_row, journal))
    replayed = replay(rows)
    differences = replayed.differences(
        AssetStanding(AssetId(row["id"]), State(row["state"]), row["dispatch_id"]) for row in assets
    )
    wrong = [*replayed.faults, *differences]
    assert not wrong, wrong[:5]
    taken = [row for row in rows if row.type in ("PART_ACCEPTED", "MERGED") and row.reason in ACCEPTED]
    accepted = Counter((row.asset, row.details["hash"]) for row in taken)
    begun = Counter(row.dispatch_id for row in rows if row.type == "DISPATCHED")
    assert max(accepted.values(), default=1) == 1, [key for key, count in accepted.items() if count > 1]
    assert max(begun.values(), default=1) == 1, [key for key, count in begun.items() if count > 1]
    committed = {row["id"]: row["committed"] for row in journal}
    last_first = sorted(taken, key=lambda row: committed[row.row_id], reverse=True)
    return {row.details["hash"]: committed[row.row_id] for row in last_first}


def _journal_row(row: Row) -> JournalRow:
    return JournalRow(
        at=row["at"],
        asset=row["asset"],
        type=JournalType(row["type"]),
        state=None if row["state"] is None else State(row["state"]),
        reason=row["reason"],
        dispatch_id=row["dispatch_id"],
        observed=bool(row["observed"]),
        details=json.loads(row["details"] or "{}"),
        row_id=row["id"],
    )


# CONTRACT 17: 8 -------------------------------------------------------------------------------------------------------


def check_cancelled(fleet: Fleet, book: int, at: float) -> dict[str, int]:
    """Of a book whose cancelling was over at a time, nothing is claimed after that, and nothing is at work."""
    hashes = {row["hash"] for row in fleet.rows(
        "SELECT p.hash FROM part p JOIN asset a ON a.id = p.asset WHERE a.book_key = $1", book
    )}  # fmt: skip
    of = [run for run in runs(fleet) if run.hash in hashes]
    check_none_given_after(fleet, of, at)
    left = fleet.rows("SELECT id FROM asset WHERE book_key = $1 AND state IN (1, 2)", book)
    assert not left, f"{len(left)} assets of a cancelled book wait or are at work"
    return {"cancelled after runs": len(of)}


# CONTRACT 17: 3, 4 ----------------------------------------------------------------------------------------------------


def check_nothing_is_left(fleet: Fleet) -> None:
    """No lease, slot, permit or job in the coordination store, by its own keys."""
    from redis import Redis

    with Redis(unix_socket_path=str(fleet.valkey.socket)) as client:
        names = {name.decode(errors="replace") for name in client.scan_iter("*")}
    kinds = {name.partition("}:")[2].partition("\0")[0]: name for name in names}
    left = [name for kind, name in kinds.items() if kind.partition(":")[0] in HELD]
    assert not left, left


assert REGISTRY.names, "the toys are here"
