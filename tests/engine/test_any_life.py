"""Any life at all: edits, requests, cancels, failures, lost stores and restarts in any order; then everything settles.

What happens is drawn from a seed. The invariants hold after each step; once people let it be, every request ends, and
what is READY is, byte for byte, what the book as it is now asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import pytest
from invariants import always, at_rest
from stage import MEDIA, Fate, Stage
from toys import scene, unit

from animastor.books.model import Book, BookHead, BookId, Chapter, ChapterId, Scene
from animastor.coordination import MemoryCoordination
from animastor.engine.engine import Engine
from animastor.engine.errors import EngineError
from animastor.engine.ports import Cancel, Scope, ScopeKind, Steer
from animastor.engine.taking import TakeError
from animastor.protocol import BookKey, Claim, FailureType

STEPS, SESSIONS = 10, 3
PAUSES = (0.0, 0.0, 0.3, 1.0, 2.0, 5.0, 15.0, 40.0)  # seconds between two steps


@dataclass
class Life:
    """The people around a home: each step is one thing that somebody does to it."""

    stage: Stage
    random: Random
    keys: dict[str, BookKey] = field(default_factory=dict)
    scenes: dict[str, dict[str, Scene]] = field(default_factory=dict)
    requests: list[int] = field(default_factory=list)

    async def step(self, engine: Engine) -> None:
        """One step, and a pause."""
        steps: tuple[tuple[int, Callable[[Engine], object]], ...] = (
            (35, self.edit), (35, self.ask), (8, self.cancel), (8, self.cancel_part), (8, self.rebuild),
            (14, self.steer), (4, self.lose_store), (4, self.move_artifacts),
            (2, self.delete), (3, self.delete_part), (25, self.take), (14, self.wait),
        )  # fmt: skip
        (chosen,) = self.random.choices([act for _, act in steps], [weight for weight, _ in steps])
        await chosen(engine)  # type: ignore[misc]
        await self.stage.clock.sleep(self.random.choice(PAUSES))

    async def edit(self, engine: Engine) -> None:
        """Another version of a book: scenes changed, moved, added, removed; layers switched."""
        name = self.random.choice(("one", "two"))
        self.keys[name] = await self.stage.save(self._book(name))
        await engine.edited()

    async def ask(self, engine: Engine) -> None:
        """A request for some media types over some of a book."""
        if not self.keys:
            return
        key = self.keys[self.random.choice(sorted(self.keys))]
        media = self.random.sample(MEDIA, self.random.randint(1, 3))
        try:
            more = self.random.choice(({}, {}, {"kind": "read", "ahead": self.random.randint(0, 2)}))
            opened = await self.stage.ask(engine, key, media, scope=await self._scope(key), **more)
        except EngineError:  # all of it is switched off
            return
        self.requests.append(opened.request.request_id)

    async def rebuild(self, engine: Engine) -> None:
        """Some of it is wanted once more, as other takes."""
        if self.keys:
            key = self.keys[self.random.choice(sorted(self.keys))]
            with suppress(EngineError):  # all of it is switched off
                media, scope = self.random.sample(MEDIA, 1), await self._scope(key)
                await self.stage.ask(engine, key, media, scope=scope, kind="regenerate", rebuild=True)

    async def steer(self, engine: Engine) -> None:
        """Paused, resumed, of another priority, at another place, with another window."""
        if self.keys:
            key, pick = self.keys[self.random.choice(sorted(self.keys))], self.random.choice
            chapter, one = pick(list((await self.stage.storage.load_book(key)).scenes()))
            place = Scope(ScopeKind.SCENE, chapter.chapter_id, one.scene_id)
            how = (pick((None, True, False, False)), pick((None, -1, 0, 1)), pick((None, place)), pick((None, 0, 1, 2)))
            await engine.requests.steer(Steer(key, None, *how, pick((None, place))))

    async def cancel(self, engine: Engine) -> None:
        """Whatever was asked for, may be cancelled, also twice."""
        if self.requests:
            await engine.requests.cancel(self.random.choice(self.requests))

    async def cancel_part(self, engine: Engine) -> None:
        """Some media types of some of a book are not wanted any more."""
        if not self.keys:
            return
        key = self.keys[self.random.choice(sorted(self.keys))]
        media = tuple(self.random.sample(MEDIA, self.random.randint(0, 2)))
        await engine.requests.cancel_part(Cancel(key, scope=await self._scope(key), media=media))

    async def take(self, engine: Engine) -> None:
        """A take of a unit is pinned, chosen again, or let go."""
        rows = list(await self.stage.storage.books())
        if not rows:
            return
        row = self.random.choice(rows)
        units = [unit for _, one in (await self.stage.storage.load_book(row.book_key)).scenes() for unit in one.units]
        if not units:
            return
        unit_id = self.random.choice(units).unit_id
        takes = [one for one in await engine.takes.of(row.book_key, unit_id) if one.media != "clip"]
        if not takes:
            return
        chosen, act = self.random.choice(takes), self.random.random()
        with suppress(TakeError):
            if act < 0.5:
                await engine.takes.pin(chosen, 0)
            elif act < 0.7:
                await engine.takes.choose(row.book_key, unit_id, chosen)
            else:
                await engine.takes.unpin(chosen)

    async def delete(self, engine: Engine) -> None:
        """A whole book goes, in one call or interrupted right after its beginning."""
        if self.keys and not self.stage.bytes.away:
            key = self.keys.pop(self.random.choice(sorted(self.keys)))
            if self.random.random() < 0.5:
                await engine.deletion.book(key)
            else:
                await self.stage.storage.begin_deletion(key)

    async def delete_part(self, engine: Engine) -> None:
        """A scene or a unit goes for good."""
        rows = [row for row in await self.stage.storage.books() if row.scenes > 1]
        if not rows or self.stage.bytes.away:
            return
        row = self.random.choice(rows)
        chapter, one = self.random.choice(list((await self.stage.storage.load_book(row.book_key)).scenes()))
        if one.units and self.random.random() < 0.5:
            await engine.deletion.part(row, Scope(), [self.random.choice(one.units).unit_id])
        else:
            await engine.deletion.part(row, Scope(ScopeKind.SCENE, chapter.chapter_id, one.scene_id))

    async def lose_store(self, engine: Engine) -> None:
        """The coordination store forgets everything."""
        self.stage.coordination.lose()

    async def move_artifacts(self, engine: Engine) -> None:
        """The artifact store goes away, or comes back."""
        self.stage.bytes.away = not self.stage.bytes.away

    async def wait(self, engine: Engine) -> None:
        """Nothing."""

    def fate(self, claim: Claim, times: int) -> Fate:
        """What becomes of a job."""
        seconds = self.random.choice((0.5, 1.0, 3.0, 8.0, 20.0))
        fates = (
            (70, Fate(seconds)),
            (8, Fate(seconds, FailureType.TRANSIENT)),
            (2, Fate(seconds, FailureType.PERMANENT)),
            (4, Fate(seconds, FailureType.INFRASTRUCTURE)),
            (2, Fate(seconds, FailureType.MISCONFIGURED)),
            (4, Fate(seconds, spoiled=True)),
            (4, Fate(seconds, late=self.random.choice((20.0, 50.0, 100.0)))),
            (2, Fate(silent=True)),
            (4, Fate(seconds, twice=True)),
        )
        return self.random.choices([fate for _, fate in fates], [weight for weight, _ in fates])[0]

    def _book(self, name: str) -> Book:
        known = self.scenes.setdefault(name, {})
        for number in range(5):
            if f"s{number}" not in known or self.random.random() < 0.3:
                known[f"s{number}"] = self._scene(name, number)
        names = self.random.sample(sorted(known), self.random.randint(1, 5))
        chapters = self.random.sample(("c0", "c1", "c2"), self.random.randint(1, 3))
        cuts = sorted(self.random.randint(0, len(names)) for _ in chapters[1:])
        bounds = [0, *cuts, len(names)]
        off = {f"{media}_enabled": False for media in MEDIA if self.random.random() < 0.08}
        return Book(
            BookHead(BookId(name), title=self.random.choice("AB"), layer_config=off),
            tuple(
                Chapter(ChapterId(chapter), tuple(known[one] for one in names[bounds[at] : bounds[at + 1]]))
                for at, chapter in enumerate(chapters)
            ),
        )

    def _scene(self, name: str, number: int) -> Scene:
        texts = [self.random.choice(("a", "b", "")) for _ in range(self.random.randint(0, 3))]
        units = (unit(f"{name}-{number}-{at}", text, self.random.choice("xy")) for at, text in enumerate(texts))
        return scene(f"s{number}", *units)

    async def _scope(self, key: BookKey) -> Scope:
        book = await self.stage.storage.load_book(key)
        chapter, one = self.random.choice(list(book.scenes()))
        kinds = (ScopeKind.CHAPTER, ScopeKind.SCENE, ScopeKind.FROM_SCENE)
        narrow = [Scope(kind, chapter.chapter_id, one.scene_id * (kind is not ScopeKind.CHAPTER)) for kind in kinds]
        return self.random.choice([Scope(), Scope(), *narrow])


@pytest.mark.parametrize("seed", range(16))
def test_whatever_happens_the_invariants_hold_and_everything_settles(seed: int) -> None:
    async def play(stage: Stage) -> None:
        life = Life(stage, Random(seed))
        stage.crew.fate = life.fate
        for session in range(SESSIONS):
            async with stage.playing(stage.engine(f"e{session}"), workers=2) as engine:
                for _ in range(STEPS):
                    await life.step(engine)
                    await always(stage)
            stage.coordination = MemoryCoordination(stage.clock, stage.limits)
            stage.bytes.away = False
        stage.crew.fate = lambda claim, times: Fate()
        async with stage.playing(stage.engine("last"), workers=2) as engine:
            for key in life.keys.values():
                await engine.requests.steer(Steer(key, paused=False, ahead=0))
            until = stage.clock.now() + 7200.0
            while still := await stage.storage.requests():
                assert stage.clock.now() < until, f"7: requests that never end: {still}"
                await stage.clock.sleep(2.0)
            await stage.clock.sleep(200.0)
        await at_rest(stage)

    stage = Stage()
    stage.largest_quota = 10**6  # what was lost is granted again above it
    stage.run(play)
