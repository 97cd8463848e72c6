"""Taking an attempt back: its dispatch is cancelled, its asset PENDING again, or DIRTY (CONTRACT 3, 8)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection

from animastor.engine.ports import Ended, RollBack
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import State, Wait
from animastor.media.registry import Registry
from animastor.protocol import AssetId, DispatchId
from animastor.storage import journal
from animastor.storage.given import unfix_lost
from animastor.storage.locking import lock_assets
from animastor.storage.rows import Statement, fetch, tell
from animastor.storage.tally import refresh_tally
from animastor.storage.waiting import StepBack, step_back

_CANCELLED_SO = Statement(
    "cancelled_so",
    "Dispatches that ended by this very call before.",
    """
    SELECT d.asset, d.id FROM {ends} AS e
    JOIN dispatch d ON d.asset = e.of_asset AND d.id = e.of_dispatch AND d.outcome = 'cancelled' AND d.reason = e.why
    """,
    ends={"of_asset": int, "of_dispatch": str, "why": str},
)
_FORGET_ATTEMPTS = Statement(
    "forget_attempts",
    "Attempts start anew; what was given up is missing.",
    """
    UPDATE part SET attempts = 0, infra_attempts = 0, vanished = 0, corrupt = 0, not_before = 0,
        state = CASE WHEN state = {PART_LOST} THEN {PART_MISSING} ELSE state END
    FROM {assets} AS one
    WHERE part.asset = one.of_asset AND part.state <> {PART_READY}
      AND (part.attempts > 0 OR part.infra_attempts > 0 OR part.state = {PART_LOST})
      AND (part.code <> :uncertain OR :accept_charge = 1)
    """,
    assets={"of_asset": int},
)
_WITHDRAW = Statement(
    "withdraw_parts",
    "Wanted parts whose bytes do not decode: missing again, one attempt counted.",
    """
    UPDATE part SET attempts = attempts + 1, corrupt = corrupt + 1, failure = 'transient', code = 'corrupt_artifact',
        state = CASE WHEN attempts + 1 >= :limit THEN {PART_LOST} ELSE {PART_MISSING} END
    FROM {sums} AS one
    WHERE part.asset = :asset AND part.artifact = one.sum AND part.wanted = 1 AND part.state = {PART_READY}
    RETURNING part.hash
    """,
    sums={"sum": str},
)
_PLACE = Statement(
    "place_of", "Where an asset belongs.",
    "SELECT a.id, a.book_key, a.media, a.state, a.dispatch_id FROM asset a WHERE a.id = :asset",
)  # fmt: skip


def roll_back(connection: Connection, registry: Registry, endings: Sequence[RollBack]) -> list[Ended | None]:
    """Cancel current dispatches. None where the dispatch had ended otherwise: `already_finalized`."""
    lock_assets(connection, (one.asset for one in endings))
    moved = step_back(connection, registry, [_step(one) for one in endings])
    ended = {one.asset: one.ended for one in moved}
    forced = {one.asset for one in endings if one.reason == Reason.FORCED}
    forget_attempts(connection, forced & ended.keys())
    repeated = [one for one in endings if one.asset not in ended]
    if repeated:
        keys = [(one.asset, one.dispatch_id, one.reason) for one in repeated]
        found = fetch(connection, _CANCELLED_SO, ends=keys)
        ended |= {row.asset: Ended(AssetId(row.asset), DispatchId(row.id)) for row in found}
    return [_matching(ended.get(one.asset), one) for one in endings]


def _matching(ended: Ended | None, one: RollBack) -> Ended | None:
    return ended if ended is not None and ended.dispatch_id == one.dispatch_id else None


def _step(one: RollBack) -> StepBack:
    bits = one.wait | (Wait.BACKOFF if one.delay_s > 0 else Wait(0))
    return StepBack(one.asset, one.dispatch_id, one.reason, int(bits), one.delay_s)


def forget_attempts(connection: Connection, assets: Collection[int], *, accept_charge: bool = False) -> None:
    """A person asks for these again: their attempts are 0.

    A part whose paid call may have been carried out is sent again only when the person accepts that it is paid twice.
    """
    if assets:
        given = {"uncertain": Reason.UNCERTAIN.value, "accept_charge": int(accept_charge)}
        tell(connection, _FORGET_ATTEMPTS, assets=sorted(assets), **given)


def withdraw(connection: Connection, registry: Registry, asset: AssetId, artifacts: Collection[str]) -> None:
    """Parts of an asset that do not decode are made again; each counts an attempt (CONTRACT 7, bad_input)."""
    lock_assets(connection, [asset])
    place = fetch(connection, _PLACE, asset=asset)
    if not place or not artifacts:
        return
    row = place[0]
    limit = registry[row.media].retry_limit
    gone = fetch(connection, _WITHDRAW, asset=asset, limit=limit, sums=sorted(artifacts))
    unfix_lost(connection, [asset])
    members = [(asset, row.dispatch_id or None, journal.details(hash=part.hash)) for part in gone]
    journal.record(connection, JournalType.PART_FAILED, State(row.state), Reason.BAD_INPUT, members)
    refresh_tally(connection, [(row.book_key, row.media, asset)])
