"""Any sequence of what engines, workers and people do: the guarded transitions keep what must hold at each commit."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sqlalchemy import Connection, text
from world import ALL, REGISTRY, Driver, Time, Work, book, chapter, migrated, scene, unit

from animastor.books.model import Book
from animastor.engine.ports import Cancel, RollBack, Scope, ScopeKind, Steer
from animastor.engine.reasons import Reason
from animastor.engine.states import RequestState, State, may_move
from animastor.protocol import FailureType
from animastor.storage import sweeping
from animastor.storage.sql import SqlStorage, open_storage

T = TypeVar("T")
WORDS = st.sampled_from(["one", "two", "three"])
SCENES = ("a", "b")
MEDIA = st.sampled_from(ALL)


class Lives(RuleBasedStateMachine):
    """One book of two scenes on an in-place database."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.time = Time()
        self.database = migrated(self.time)
        self.storage: SqlStorage
        self.works: list[Work] = []
        self.texts = dict.fromkeys(("a1", "a2", "b1"), "one")
        self.scenes = list(SCENES)
        self.style = ""

    def do(self, what: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(what)

    def teardown(self) -> None:
        try:
            self.work_everything_off()
        finally:
            self.do(self.database.close())
            self.loop.close()

    def _book(self) -> Book:
        units = {"a": ("a1", "a2"), "b": ("b1",)}
        made = [scene(name, *(unit(u, self.texts[u], self.texts[u]) for u in units[name])) for name in self.scenes]
        return book(chapter("1", *made), style=self.style)

    @initialize(begun=st.sampled_from(["asked for", "made", "in work"]))
    def start(self, begun: str) -> None:
        self.storage = self.do(open_storage(self.database, REGISTRY, create=True))
        self.driver = Driver(self.storage, self.time)
        self.key = self.do(self.driver.save(self._book()))
        self.do(self.driver.request(self.key))
        if begun == "made":
            self.do(self.driver.run())
        elif begun == "in work":
            self.works = [work for media in ("sound", "picture") for work in self.do(self.driver.start(media))]

    @rule(unit_id=st.sampled_from(["a1", "a2", "b1"]), words=WORDS)
    def edit(self, unit_id: str, words: str) -> None:
        self.texts[unit_id] = words
        self.do(self.driver.save(self._book()))

    @rule(scenes=st.sampled_from([("a", "b"), ("b", "a"), ("a",), ("b",)]))
    def rearrange(self, scenes: tuple[str, ...]) -> None:
        self.scenes = list(scenes)
        self.do(self.driver.save(self._book()))

    @rule(style=WORDS)
    def change_head(self, style: str) -> None:
        self.style = style
        self.do(self.driver.save(self._book()))

    @rule(
        media=st.sampled_from([ALL, ("sound",), ("picture",), ("picture", "clip")]),
        kind=st.sampled_from(["make", "read"]),
        ahead=st.integers(0, 1),
    )
    def ask(self, media: tuple[str, ...], kind: str, ahead: int) -> None:
        self.do(self.driver.request(self.key, media=media, kind=kind, ahead=ahead))
        self._sweep()

    @rule(media=st.sampled_from([("sound",), ("picture",)]), units=st.sampled_from([("a1",), ("a1", "a2")]))
    def rebuild(self, media: tuple[str, ...], units: tuple[str, ...]) -> None:
        scope = Scope(ScopeKind.UNITS, "1", "a", units) if "a" in self.scenes else Scope()
        self.do(self.driver.request(self.key, media, scope, kind="regenerate", rebuild=True))

    @rule()
    def ask_for_a_scene(self) -> None:
        scope = Scope(ScopeKind.SCENE, "1", self.scenes[0])
        self.do(self.driver.request(self.key, scope=scope, kind="scene"))

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        if requests := self.do(self.storage.requests()):
            request = data.draw(st.sampled_from(list(requests)))
            self.do(self.storage.close_request(request.request_id, RequestState.CANCELLED))
            self._sweep()

    @rule(
        media=st.sampled_from([(), ("sound",), ("picture",)]),
        kind=st.sampled_from([ScopeKind.WHOLE_BOOK, ScopeKind.SCENE, ScopeKind.FROM_SCENE]),
        nth=st.integers(0, 1),
    )
    def cancel_a_part(self, media: tuple[str, ...], kind: ScopeKind, nth: int) -> None:
        place = ("1", self.scenes[nth % len(self.scenes)]) if kind is not ScopeKind.WHOLE_BOOK else ()
        self.do(self.storage.cancel(Cancel(self.key, scope=Scope(kind, *place), media=media)))

    @rule(
        paused=st.sampled_from([None, True, False]),
        priority=st.sampled_from([None, -1, 0, 1]),
        ahead=st.sampled_from([None, 0, 1]),
        nth=st.integers(-1, 1),
        now=st.booleans(),
    )
    def steer(self, paused: bool | None, priority: int | None, ahead: int | None, nth: int, now: bool) -> None:
        place = Scope(ScopeKind.SCENE, "1", self.scenes[nth % len(self.scenes)])
        position = None if nth < 0 else place
        how = Steer(self.key, None, paused, priority, position, ahead, place if now else None)
        self.do(self.storage.steer(how))

    @rule()
    def sweep(self) -> None:
        self._sweep()

    def _sweep(self) -> None:
        for request in self.do(self.storage.uncovered()):
            while self.do(self.storage.sweep_uncovered(request, 2)):
                pass
        for row in self.do(self.storage.preparing()):
            while not self.do(self.storage.enter(row.request_id, 2)).done:
                pass

    @rule(media=MEDIA)
    def dispatch(self, media: str) -> None:
        self.works += self.do(self.driver.start(media, limit=2))

    @rule()
    def replan(self) -> None:
        self.do(self.driver.replan())

    @rule(data=st.data(), salt=st.sampled_from(["", "other"]))
    def deliver(self, data: st.DataObject, salt: str) -> None:
        if self.works:
            works = data.draw(st.lists(st.sampled_from(self.works), min_size=1, max_size=3))
            results = [self.driver.result(work, source, salt) for work in works for source in work.missing]
            kept = data.draw(st.integers(1, len(results)))
            for answer in self.do(self.storage.accept(results[:kept])):
                if answer.merge is not None and answer.current is not None:
                    self.works.append(Work(answer.asset, answer.current, answer.fence, (answer.merge,)))

    @rule(media=MEDIA)
    def make(self, media: str) -> None:
        for work in self.do(self.driver.start(media, limit=2)):
            self.do(self.driver.finish(work))

    @rule(
        data=st.data(),
        failure=st.sampled_from([FailureType.TRANSIENT, FailureType.PERMANENT]),
        jitter=st.floats(0, 0.99),
    )
    def fail(self, data: st.DataObject, failure: FailureType, jitter: float) -> None:
        if self.works:
            work = data.draw(st.sampled_from(self.works))
            given = self.driver.failure(work, work.missing[0], failure=failure, jitter=jitter)
            self.do(self.storage.count_failures([given]))

    @rule(data=st.data(), delay=st.sampled_from([0.0, 5.0]))
    def roll_back(self, data: st.DataObject, delay: float) -> None:
        if self.works:
            work = data.draw(st.sampled_from(self.works))
            self.do(self.storage.roll_back([RollBack(work.asset, work.dispatch_id, Reason.LOST_BOTH, delay)]))

    @rule(data=st.data())
    def lose_bytes(self, data: st.DataObject) -> None:
        if rows := self.do(self.storage.artifacts_after("", 100)):
            self.do(self.storage.bytes_missing([data.draw(st.sampled_from([row[0] for row in rows]))]))

    @rule(seconds=st.sampled_from([1.0, 400.0]))
    def wait(self, seconds: float) -> None:
        self.time.now += seconds
        self.do(self.storage.wake_later())
        self.do(self.storage.mark_released(self.do(self.storage.unreleased(100))))
        self.do(self.storage.finish_requests())

    def work_everything_off(self) -> None:
        """What was lost or cancelled can always be asked for again, and then everything is made."""
        self.do(self.storage.steer(Steer(self.key, paused=False, ahead=0)))
        self._sweep()
        self.time.now += 1000.0
        self.do(self.driver.request(self.key))
        self._sweep()
        for active in self.do(self.storage.active(0, 100)):
            self.do(self.storage.roll_back([RollBack(active.asset, active.dispatch_id, Reason.RESTART)]))
        self.time.now += 1000.0
        self.do(self.driver.run())
        states = self.do(self.driver.states(self.key))
        assert set(states.values()) == {State.READY}, states
        assert not self.do(self.storage.requests())

    def _rows(self, sql: str) -> list[Any]:
        def read(connection: Connection) -> list[Any]:
            return list(connection.execute(text(sql)))

        return self.database.run(read)

    @invariant()
    def ready_is_wanted_or_not_looked_at(self) -> None:
        assert not self._rows(
            "SELECT id FROM asset WHERE state = 4 AND artifact_hash <> wanted_hash AND planned_seq = plan_seq"
        )

    @invariant()
    def ready_has_its_bytes(self) -> None:
        assert not self._rows(
            "SELECT id FROM asset a WHERE state = 4 AND artifact <> ''"
            " AND NOT EXISTS (SELECT 1 FROM artifact f WHERE f.checksum = a.artifact)"
        )

    @invariant()
    def what_is_busy_is_covered(self) -> None:
        assert not self._rows(
            "SELECT a.id FROM asset a LEFT JOIN request r ON r.id = a.request_id"
            " WHERE a.state IN (1, 2)"
            " AND (r.id IS NULL OR r.state NOT IN ('preparing', 'open', 'paused') AND r.sweeping <= 0)"
        )

    @invariant()
    def what_is_busy_carries_what_lets_it_run_soonest(self) -> None:
        """Unless a request is still to be entered or swept: those that change make it so."""
        if self._rows("SELECT id FROM request WHERE sweeping > 0 OR state = 'preparing'"):
            return
        found = self.database.run(sweeping.look, self.key, sweeping.START)
        assert not found.assets

    @invariant()
    def only_current_dispatches_are_without_an_outcome(self) -> None:
        assert not self._rows(
            "SELECT d.asset FROM dispatch d LEFT JOIN asset a ON a.id = d.asset AND a.state = 2"
            " AND a.dispatch_id = d.id AND a.fence = d.fence WHERE (d.outcome IS NULL) <> (a.id IS NOT NULL)"
        )

    @invariant()
    def nobody_waits_for_what_is_there(self) -> None:
        assert not self._rows(
            "SELECT c.id FROM asset c JOIN asset p ON p.scene_key = c.scene_key AND p.media = 'picture'"
            " WHERE c.media = 'clip' AND c.state = 1 AND (c.waits & 1) <> 0 AND p.state = 4"
            " AND p.planned_seq = p.plan_seq"
        )

    @invariant()
    def nobody_pending_requires_what_failed(self) -> None:
        assert not self._rows(
            "SELECT c.id FROM asset c JOIN asset p ON p.scene_key = c.scene_key AND p.media = 'picture'"
            " WHERE c.media = 'clip' AND c.state = 1 AND c.waits & 1 AND p.state = 5"
        )

    @invariant()
    def the_tally_is_what_the_parts_say(self) -> None:
        assert not self._rows(
            "SELECT t.asset FROM tally t JOIN asset a ON a.id = t.asset WHERE a.state <> 4 AND t.parts_ready <>"
            " (SELECT count(*) FROM part p WHERE p.asset = t.asset AND p.wanted = 1 AND p.state = 1)"
        )

    @invariant()
    def the_journal_replays_to_the_states(self) -> None:
        told: dict[int, State] = {}
        for row in self._rows(
            "SELECT asset, state, reason FROM journal WHERE asset IS NOT NULL AND state IS NOT NULL ORDER BY id"
        ):
            before, after = told.get(row.asset, State.NEW), State(row.state)
            moved = before is after or may_move(before, after) or may_move(before, after, restore=True)
            assert moved, f"{before.name} → {after.name} of {row.asset} ({row.reason})"
            told[row.asset] = after
        for row in self._rows("SELECT id, state FROM asset"):
            assert told.get(row.id, State.NEW) == row.state


Lives.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestLives = Lives.TestCase
