"""A home that lives for months: its journal stays short, and what is left of it still tells the tables' states."""

from __future__ import annotations

from invariants import at_rest, rows
from stage import Stage
from toys import book as book_of
from toys import plain_book, scene, unit

from animastor.engine.reasons import JournalType

DAY = 86_400.0


def test_reconciliation_prunes_what_is_old_and_forgets_the_dispatches_of_what_is_gone() -> None:
    async def play(stage: Stage) -> None:
        engine = stage.engine()
        key = await stage.save(plain_book("b", 3))
        async with stage.playing(engine):
            opened = await stage.ask(engine, key)
            await stage.until_ended(opened.request.request_id)
            await stage.save(book_of("b", scene("sc-0", unit("b-iu-0-0", "new words"))))
            await engine.edited()
            await engine.planned()
            made = len(await stage.journal())
        stage.clock.jump(31 * DAY)
        for _ in range(2):  # collected artifacts are forgotten a round after their bytes
            await engine.reconciliation.reconcile()
        kept = await stage.journal()
        assert len(kept) < made / 4
        assert {row.type for row in kept if row.asset} == {JournalType.SNAPSHOT}
        known = "SELECT asset FROM dispatch WHERE asset NOT IN (SELECT id FROM asset)"
        assert not await rows(stage, known), "dispatches of scenes that left are forgotten with their rows"
        await at_rest(stage)

    Stage().run(play)
