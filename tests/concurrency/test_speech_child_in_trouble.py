"""The speech child is killed, stopped and made to fail, 20 times in one run; the journal of that run tells the rest.

Everything is real but time and the voice: engine, SQLite file, artifact folder, hub, worker loops, child processes.
"""

from __future__ import annotations

import os
import secrets
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

from children_kit import is_gone
from invariants import at_rest, rows
from stage import Stage
from trouble_kit import Fate, Plan, TroubledHome, later_than_before, told_book

from animastor.engine.ports import JournalRow
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState, State
from animastor.protocol import AssetId

SCENES, UNITS = 3, 5
MUST_BE_TOLD = {
    JournalType.SWEPT,
    JournalType.RELABELLED,
    JournalType.PART_FAILED,
    JournalType.CIRCUIT_OPENED,
    JournalType.CIRCUIT_HALF_OPENED,
    JournalType.CIRCUIT_CLOSED,
}


def _plan(seed: int) -> Plan:
    """20 fates. The first eight are such that they open a breaker: soon over, of two books, with no success between."""
    dice = Random(seed)
    first = [Fate.KILLED] * 4 + [Fate.FAILS] * 4
    unlucky = [Fate.FAILS, Fate.KILLED]
    later = [Fate.KILLED, Fate.FAILS] + [Fate.STOPPED] * 4 + [Fate.CUT_OFF] * 2 + [Fate.ASKED_AGAIN] * 2
    dice.shuffle(first)
    dice.shuffle(later)
    return Plan(dice, first, unlucky, later, parts=2 * SCENES * UNITS)


def _back_offs(journal: list[JournalRow]) -> list[list[float]]:
    """By part: until when it was held back after each failure; anew once it is asked for again.

    What a sweep ended goes on at once, with another worker.
    """
    asked: Counter[AssetId | None] = Counter()
    found: defaultdict[tuple[str, int], list[float]] = defaultdict(list)
    for row in journal:
        if row.type is JournalType.REQUESTED and row.reason == Reason.REQUESTED:
            asked[row.asset] += 1
        if row.type is JournalType.PART_FAILED and row.reason != Reason.WORKER_VANISHED:
            found[row.details["hash"], asked[row.asset]].append(row.details["not_before"])
    return list(found.values())


def test_a_speech_child_in_trouble_twenty_times_costs_nothing_that_was_made(tmp_path: Path) -> None:
    seed = int(os.environ.get("ANIMASTOR_TEST_SEED") or secrets.randbits(32))
    print(f"ANIMASTOR_TEST_SEED={seed}")
    home = TroubledHome(tmp_path, _plan(seed))
    told: list[JournalRow] = []
    most: dict[str, int] = {}

    async def play(stage: Stage) -> None:
        keys = [await home.save(told_book(name, SCENES, UNITS)) for name in ("one", "two")]
        async with home.working(keys):
            for key in keys:
                while (await home.storage.progress(home.requests[key])).request.state is not RequestState.DONE:
                    await home.clock.sleep(5.0)
            await home.clock.sleep(60.0)
        told.extend(await home.journal())
        most.update(await home.most_starts())
        assert {row.state for row in await rows(home, "SELECT state FROM asset")} == {State.READY}
        await at_rest(home)

    home.run(play)
    print({fate.name: count for fate, count in Counter(home.plan.dealt).items()}, f"in {home.clock.elapsed:.0f} s")
    print({type_.name: count for type_, count in Counter(row.type for row in told).items()})
    assert len(home.plan.dealt) == 20
    assert {row.type for row in told} >= MUST_BE_TOLD
    back_offs = _back_offs(told)
    assert max(map(len, back_offs)) > 1
    assert all(map(later_than_before, back_offs)), back_offs
    assert home.made_again == 0, "nothing that was accepted is begun again"
    started = home.started()
    assert len(started) == 2 * SCENES * (UNITS + 1)
    assert {hash_: count for hash_, count in started.items() if count > most[hash_]} == {}
    assert [pid for pid in home.pids if not is_gone(pid)] == []
