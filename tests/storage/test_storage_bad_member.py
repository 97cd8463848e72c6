"""One member of a batch that the database refuses: split down to it, the others go on (STORAGE, at most 500)."""

from __future__ import annotations

from dataclasses import replace

from world import Driver, large_book

from animastor.engine.batching import Fault, in_halves
from animastor.engine.ports import Begin, PlanStored
from animastor.engine.reasons import Reason
from animastor.engine.states import State
from animastor.protocol import Pair
from animastor.storage.sql import SqlStorage


async def test_the_member_that_the_database_refuses_fails_alone(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(large_book(12, name="tale"))
    await driver.request(key, media=("sound",))
    rows = (await storage.due(Pair("sound", "system"), 20, 20, 0)).rows
    plans = await driver.plans(rows)
    bad = plans[7].asset
    no_number = float("nan")  # JSON has none: the column gets NULL, and refuses it
    plans[7] = replace(plans[7], parts=tuple(replace(part, work=no_number) for part in plans[7].parts))
    answers = await in_halves(storage.store_plans, plans)
    assert [plan.asset for plan, one in zip(plans, answers, strict=True) if isinstance(one, Fault)] == [bad]
    assert all(one.reason is Reason.GRANTED for one in answers if isinstance(one, PlanStored))
    await storage.fail_assets([bad], Reason.ORCHESTRATION, "it cannot be stored")
    begun = await storage.begin([Begin(row.asset, driver.next_id(), row.plan_seq) for row in rows])
    assert [one.asset for one in begun if not one.begun] == [bad]
    states = list((await driver.states(key)).values())
    assert states.count(State.FAILED) == 1
    assert states.count(State.GENERATING) == 11
