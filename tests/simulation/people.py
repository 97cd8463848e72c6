"""People: they import and edit books, ask, cancel, and try again when no answer came, as a client does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import Context
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from animastor.books.model import (
    Book,
    BookHead,
    BookId,
    Chapter,
    ChapterId,
    Scene,
    SceneId,
    Unit,
    UnitId,
    UnitImage,
)
from animastor.engine.errors import EngineError, EngineStoppedError
from animastor.engine.ports import (
    ArtifactStoreUnavailableError,
    Cancel,
    CoordinationUnavailableError,
    NewRequest,
    Scope,
    ScopeKind,
    Steer,
    StorageUnavailableError,
)
from animastor.media.types import ContentSettings

from .media import MEDIA, RAISES
from .oracle import NEEDS, Ask, Shelved
from .servers import Process
from .sizes import Size

if TYPE_CHECKING:
    from .world import World

NO_ANSWER = (
    ConnectionError,
    StorageUnavailableError,
    CoordinationUnavailableError,
    ArtifactStoreUnavailableError,
    EngineStoppedError,
)
PATIENT = 1e6  # seconds: who tries again while a first try is still on its way may overwrite what came later
MOVES = {
    "edit": 16,
    "undo": 6,
    "slip": 4,
    "ask": 26,
    "cancel": 6,
    "change mind": 10,
    "cancel part": 6,
    "revoice": 4,
    "import again": 3,
    "regenerate": 6,
    "retry": 4,
    "force": 4,
    "pause": 4,
    "resume": 5,
    "prioritize": 3,
    "read on": 4,
    "choose take": 4,
    "accept charge": 2,
    "set layers": 4,
    "delete part": 4,
    "delete book": 2,
}


class People:
    """Everybody who uses this installation. Each thing that they do is a task of its own."""

    def __init__(self, world: World, names: tuple[str, ...], size: Size) -> None:
        self._world = world
        self._size = size
        self._random = world.dice.stream("people")
        self._names = names
        self._scenes: dict[str, dict[str, Scene]] = {name: {} for name in names}
        self._before: dict[str, Book] = {}  # as books were before they were saved last
        self._asked = 0
        self.busy = 0
        self.have_opened = False

    def open(self) -> None:
        """Each book is imported, and asked for, before anything else happens: what is not there cannot break."""
        for name in self._names:
            self.start(self._open(name))

    async def _open(self, name: str) -> None:
        await self._edit(name)
        await self._ask(name)
        self.have_opened = all(any(ask.book == one for ask in self._world.oracle.asks) for one in self._names)

    def act(self) -> None:
        """Somebody does something."""
        (move,) = self._random.choices(list(MOVES), list(MOVES.values()))
        name = self._random.choice(self._names)
        move = self._sensible(move, name)
        if not self._world.dice.comes(f"user: {move}", name):
            return
        self.start(getattr(self, f"_{move.replace(' ', '_')}")(name))

    def _sensible(self, move: str, name: str) -> str:
        """What somebody does instead who knows a book: nothing can be done with one that is not there, or hardly."""
        shelved = self._world.oracle.books.get(name)
        if shelved is None or (shelved.book is None and not shelved.saving):
            return "edit"
        asked = any(ask.book == name and not ask.over for ask in self._world.oracle.asks)
        return move if asked or self._random.random() < 0.4 else "ask"

    def start(self, action: Awaitable[None]) -> None:
        """Do something beside everything else."""
        self.busy += 1
        self._world.loop.create_task(self._do(action), context=Context())

    async def _do(self, action: Awaitable[None]) -> None:
        try:
            await action
        finally:
            self.busy -= 1

    async def until_answered(self, work: Callable[[Process], Awaitable[Any]]) -> Any:
        """Ask one server after the other until one answers."""
        while True:
            server = self._world.dice.pick("asked server", self._world.servers)
            try:
                return await server.call(work, PATIENT)
            except NO_ANSWER:
                await self._world.pause(self._world.dice.seconds("ask again", (0.2, 1.0, 3.0)))

    # --- books ---

    async def _edit(self, name: str) -> None:
        await self.save(name, self._book(name))

    async def _undo(self, name: str) -> None:
        if (before := self._before.get(name)) is not None:
            await self.save(name, before)

    async def _slip(self, name: str) -> None:
        """Save a text of which no plan can be made, and what was there again soon after."""
        shelved = self._world.oracle.books.get(name)
        book = shelved.book if shelved is not None else None
        scenes = [scene for _, scene in book.scenes() if scene.units] if book is not None else []
        if book is None or not scenes:
            return
        slipped = self._random.choice(scenes)
        await self.save(name, _with_scene(book, replace(slipped, units=(replace(slipped.units[0], text=RAISES),))))
        await self._world.pause(self._world.dice.seconds("slip", (0.1, 2.0, 6.0)))
        await self.save(name, book)

    async def _import_again(self, name: str) -> None:
        shelved = self._world.oracle.books.get(name)
        if shelved is not None and shelved.book is not None:
            await self.save(name, shelved.book)

    async def _revoice(self, name: str) -> None:
        shelved = self._world.oracle.books.get(name)
        if shelved is not None and shelved.book is not None:
            await self.save(name, shelved.book, narrator=self._random.choice("vw"))

    async def save(self, name: str, book: Book, narrator: str | None = None) -> None:
        """Import a book, or edit it; one person at a time saves a book."""
        oracle = self._world.oracle
        shelved = oracle.books.setdefault(name, Shelved(name))
        while shelved.saving:
            await self._world.pause(0.5)
        shelved.saving += 1
        if narrator is not None and shelved.book is not None:
            book = shelved.book
        voice = shelved.narrator if narrator is None else narrator
        oracle.forget_what_left(name, book)

        async def saving(process: Process) -> Any:
            assert process.storage is not None
            assert process.engine is not None
            saved = await process.storage.save_book(
                book,
                settings=ContentSettings(narrator=voice),
                source="",
                source_key=name,
                source_sha256=sha256(repr((book, voice)).encode()).hexdigest(),
            )
            await process.engine.edited()
            return saved

        try:
            saved = await self.until_answered(saving)
            if shelved.book is not None and shelved.book != book:
                self._before[name] = shelved.book
            shelved.key, shelved.book, shelved.narrator = saved.book_key, book, voice
            oracle.forget_what_left(name, book)  # also what was cancelled while it was on its way
            shelved.saved_at = self._world.loop.elapsed
            self._world.watch.say(f"{name} is saved (revision {saved.revision})")
        finally:
            shelved.saving -= 1

    def _book(self, name: str) -> Book:
        random, known = self._random, self._scenes[name]
        least, most = self._size.scenes
        for number in range(most):
            if (old := known.get(f"s{number}")) is None or random.random() < 0.4:
                known[f"s{number}"] = self._scene(name, number)
            elif old.units and random.random() < 0.3:  # what is drawn of it is as it was
                units = tuple(replace(one, text=random.choice("abc")) for one in old.units)
                known[f"s{number}"] = replace(old, units=units)
        names = random.sample(sorted(known), random.randint(least, most))
        chapters = random.sample(("c0", "c1"), random.randint(1, 2))
        cut = random.randint(0, len(names)) if len(chapters) > 1 else len(names)
        parts = (names[:cut], names[cut:])
        off = {f"{media}_enabled": False for media in MEDIA if random.random() < 0.06}
        return Book(
            BookHead(BookId(name), title=random.choice("AB"), layer_config=off),
            tuple(
                Chapter(ChapterId(chapter), tuple(known[one] for one in part))
                for chapter, part in zip(chapters, parts, strict=False)
            ),
        )

    def _scene(self, name: str, number: int) -> Scene:
        random = self._random
        letters = ["a", "b", "c", ""] if random.random() > 0.04 else [RAISES]
        return Scene(
            scene_id=SceneId(f"s{number}"),
            units=tuple(
                Unit(
                    unit_id=UnitId(f"{name}-{number}-{at}"),
                    text=random.choice(letters),
                    image=UnitImage(prompt=random.choice("xyz")),
                )
                for at in range(random.choice(self._size.units))
            ),
        )

    # --- requests ---

    async def _ask(self, name: str) -> None:
        shelved = self._world.oracle.books.get(name)
        if shelved is not None and shelved.book is not None:
            media = tuple(self._random.sample(MEDIA, self._random.choice((1, 2, 3, 3))))
            await self.ask(name, media, self._scope(shelved.book))

    async def ask(self, name: str, media: tuple[str, ...], scope: Scope, **more: Any) -> int | None:
        """Ask for media types over a scope; None when all of that is switched off, or not there any more."""
        oracle = self._world.oracle
        key = oracle.books[name].key
        assert key is not None
        self._asked += 1
        wanted = frozenset(need for one in media for need in NEEDS[one])
        ask = Ask(name, scope, wanted, f"ask-{self._asked}", kind=more.get("kind", "make"))
        ask.accepts = bool(more.get("accept_charge"))
        before = [
            one for one in oracle.asks if one.answered and not one.over and one.book == name and one.kind == "make"
        ]
        oracle.resume(name)  # a `make` for the same goes on with what was paused
        oracle.asks.append(ask)
        oracle.accept_charge(ask.key)
        new = NewRequest(book_key=key, scope=scope, media=media, idempotency_key=ask.key, **more)

        async def asking(process: Process) -> Any:
            assert process.engine is not None
            return await process.engine.requests.open(new)

        try:
            opened = await self.until_answered(asking)
        except (EngineError, LookupError):
            ask.over = True
            return None
        finally:
            oracle.books[name].resuming -= 1
        ask.request_id, ask.answered, ask.media = opened.request.request_id, True, frozenset(opened.request.media)
        oracle.accept_charge(ask.key)
        self._world.watch.say(f"request {ask.request_id} for {', '.join(media)} over {scope.kind} of {name}")
        for one in before if ask.kind == "make" else ():
            if one.scope != scope or one.media != ask.media:
                one.over, one.replaced = True, one.replaced or not one.over
        return ask.request_id

    async def _cancel(self, name: str) -> None:
        if asks := [one for one in self._world.oracle.asks if one.book == name and one.answered]:
            await self._take_back(self._random.choice(asks[-3:]))

    async def _change_mind(self, name: str) -> None:
        """Take back what is asked for, and ask for it again, perhaps before its workers have heard of it, or ended."""
        if asks := [one for one in self._world.oracle.asks if one.book == name and one.answered and not one.over]:
            ask = asks[-1]
            await self._take_back(ask)
            await self._world.pause(self._world.dice.seconds("change mind", (0.1, 2.0, 4.0, 6.0)))
            await self.ask(name, tuple(one for one in MEDIA if one in ask.media), ask.scope)

    async def _take_back(self, ask: Ask) -> None:
        async def cancelling(process: Process) -> Any:
            assert process.engine is not None
            return await process.engine.requests.cancel(ask.request_id)  # type: ignore[arg-type]

        await self.until_answered(cancelling)
        ask.over = True
        self._world.watch.say(f"the cancel of request {ask.request_id} has returned")

    async def _regenerate(self, name: str) -> None:
        shelved = self._world.oracle.books.get(name)
        if shelved is not None and shelved.book is not None:
            media = (self._random.choice(MEDIA),)
            await self.ask(name, media, self._scope(shelved.book), rebuild=True, kind="regenerate")

    async def _retry(self, name: str) -> None:
        shelved = self._world.oracle.books.get(name)
        if shelved is not None and shelved.book is not None:
            await self.ask(name, MEDIA, self._scope(shelved.book), kind="retry")

    async def _accept_charge(self, name: str) -> None:
        shelved = self._world.oracle.books.get(name)
        if shelved is not None and shelved.book is not None:
            await self.ask(name, MEDIA, self._scope(shelved.book), kind="retry", accept_charge=True)

    async def _choose_take(self, name: str) -> None:
        shelved = self._world.oracle.books.get(name)
        units = [one for _, scene in shelved.book.scenes() for one in scene.units] if shelved and shelved.book else []
        if not units:
            return
        assert shelved is not None
        unit, key, random = self._random.choice(units), shelved.key, self._random

        async def choosing(process: Process) -> Any:
            assert process.engine is not None
            assert key is not None
            takes = await process.engine.takes.of(key, unit.unit_id)
            others = [one for one in takes if one.ready and not one.wanted]
            if others:
                await process.engine.takes.choose(key, unit.unit_id, random.choice(others))
                self._world.watch.say(f"another take of {unit.unit_id} is chosen")

        with suppress(EngineError, LookupError):
            await self.until_answered(choosing)

    async def _set_layers(self, name: str) -> None:
        media = self._random.choice(MEDIA)
        changes = ({"window": 1}, {"window": 2}, {"window": None}, {f"{media}_enabled": False},
                   {f"{media}_enabled": True}, {f"{media}_enabled": None}, {f"{media}_timeout_minutes": 2})  # fmt: skip
        await self.set_layers(name, self._random.choice(changes))

    async def set_layers(self, name: str, changes: dict[str, Any]) -> None:
        """Set layers of a book; while somebody does, nobody saves it."""
        shelved = self._world.oracle.books.get(name)
        while shelved is not None and shelved.saving:
            await self._world.pause(0.5)
        if shelved is None or shelved.key is None:
            return
        key = shelved.key
        shelved.saving += 1

        async def setting(process: Process) -> Any:
            assert process.engine is not None
            return await process.engine.requests.set_layers(key, changes)

        try:
            await self.until_answered(setting)
            shelved.layers = {name: value for name, value in {**shelved.layers, **changes}.items() if value is not None}
            self._world.watch.say(f"layers of {name} are set: {changes}")
        finally:
            shelved.saving -= 1

    async def _force(self, name: str) -> None:
        shelved = self._world.oracle.books.get(name)
        scenes = list(shelved.book.scenes()) if shelved is not None and shelved.book is not None else []
        if not scenes:
            return
        assert shelved is not None
        (chapter, scene), media, key = self._random.choice(scenes), self._random.choice(MEDIA), shelved.key

        async def forcing(process: Process) -> Any:
            assert process.engine is not None
            assert key is not None
            return await process.engine.requests.force(key, scene.scene_id, chapter.chapter_id, media)

        await self.until_answered(forcing)

    async def _cancel_part(self, name: str) -> None:
        shelved = self._world.oracle.books.get(name)
        if shelved is None or shelved.book is None or shelved.key is None:
            return
        scope, media = self._scope(shelved.book), tuple(self._random.sample(MEDIA, self._random.choice((0, 1, 1))))
        meant = [one for one in self._world.oracle.asks if one.book == name and one.answered and not one.over]
        of = Cancel(shelved.key, None, scope, media)

        async def cancelling(process: Process) -> Any:
            assert process.engine is not None
            return await process.engine.requests.cancel_part(of)

        try:
            await self.until_answered(cancelling)
        except (EngineError, LookupError):
            return
        gone = frozenset(one for one in MEDIA if not media or set(NEEDS[one]) & set(media))
        for ask in meant:
            ask.without.append((scope, gone))
        self._world.watch.say(f"the cancel of {', '.join(sorted(gone))} over {scope.kind} of {name} has returned")

    async def steer(self, name: str, **how: Any) -> None:
        """Change how what is asked for goes on."""
        shelved = self._world.oracle.books.get(name)
        if shelved is None or shelved.key is None:
            return
        of = Steer(shelved.key, **how)

        async def steering(process: Process) -> Any:
            assert process.engine is not None
            return await process.engine.requests.steer(of)

        try:
            await self.until_answered(steering)
        except (EngineError, LookupError):
            return
        self._world.watch.say(f"{name} is steered: {how}")

    async def _pause(self, name: str) -> None:
        shelved = self._world.oracle.books.get(name)
        if shelved is None:
            return
        meant = [one for one in self._world.oracle.asks if one.book == name and one.answered]
        before, alone = shelved.resumes, not shelved.resuming
        await self.steer(name, paused=True)
        if alone and shelved.resumes == before:
            for ask in meant:
                ask.paused = True

    async def _resume(self, name: str, **more: Any) -> None:
        shelved = self._world.oracle.books.get(name)
        if shelved is not None:
            self._world.oracle.resume(name)
            await self.steer(name, paused=False, **more)
            shelved.resuming -= 1

    async def go_on(self, name: str) -> None:
        """Nothing is held back any more."""
        await self._resume(name, ahead=0)
        if self._world.oracle.books[name].layers.get("window"):
            await self.set_layers(name, {"window": None})

    async def _prioritize(self, name: str) -> None:
        await self.steer(name, priority=self._random.choice((-1, 0, 1)))

    async def _read_on(self, name: str) -> None:
        shelved = self._world.oracle.books.get(name)
        scenes = list(shelved.book.scenes()) if shelved is not None and shelved.book is not None else []
        if scenes:
            chapter, scene = self._random.choice(scenes)
            here = Scope(ScopeKind.SCENE, chapter.chapter_id, scene.scene_id)
            how = self._random.choice(({"position": here}, {"now": here}, {"position": here, "ahead": 1}, {"ahead": 0}))
            await self.steer(name, **how)

    async def _delete_part(self, name: str) -> None:
        shelved = self._world.oracle.books.get(name)
        if shelved is None or shelved.book is None:
            return
        scope = self._scope(shelved.book)
        if scope.kind is ScopeKind.CHAPTER or scope.kind is ScopeKind.SCENE:
            await self._delete(shelved, scope)

    async def _delete_book(self, name: str) -> None:
        shelved = self._world.oracle.books.get(name)
        if shelved is not None and shelved.book is not None:
            await self._delete(shelved, None)

    async def _delete(self, shelved: Shelved, scope: Scope | None) -> None:
        while shelved.saving:
            await self._world.pause(0.5)
        if shelved.book is None:
            return
        shelved.saving += 1
        name, key = shelved.name, shelved.key
        meant = [one for one in self._world.oracle.asks if one.book == name]
        if scope is not None:
            self._world.oracle.forget_what_left(name, _without(shelved.book, scope))

        async def deleting(process: Process) -> Any:
            assert process.engine is not None
            assert process.storage is not None
            assert key is not None
            if scope is None:
                return await process.engine.deletion.book(key)
            row = await process.storage.find_book(book_id=name)
            assert row is not None
            return await process.engine.deletion.part(row, scope)

        try:
            await self.until_answered(deleting)
        except (EngineError, LookupError):
            self._world.watch.say(f"nothing of {name} was deleted")
        finally:
            shelved.saving -= 1
        if scope is None:
            shelved.book, shelved.key, shelved.layers = None, None, {}
            for ask in meant:
                ask.over = True
        else:
            shelved.book = _without(shelved.book, scope)
            self._world.oracle.forget_what_left(name, shelved.book)
        self._world.watch.say(f"{scope.kind if scope else 'all'} of {name} has been deleted")

    def _scope(self, book: Book) -> Scope:
        scenes = list(book.scenes())
        if not scenes or self._random.random() < 0.5:
            return Scope()
        chapter, one = self._random.choice(scenes)
        kind = self._random.choice((ScopeKind.CHAPTER, ScopeKind.SCENE, ScopeKind.FROM_SCENE))
        return Scope(kind, chapter.chapter_id, "" if kind is ScopeKind.CHAPTER else one.scene_id)


def _with_scene(book: Book, scene: Scene) -> Book:
    """A book with another scene of that id."""
    chapters = (
        replace(one, scenes=tuple(scene if old.scene_id == scene.scene_id else old for old in one.scenes))
        for one in book.chapters
    )
    return replace(book, chapters=tuple(chapters))


def _without(book: Book, scope: Scope) -> Book:
    """A book after a deletion; as it was when that would leave no scene."""
    chapters = []
    for chapter in book.chapters:
        if chapter.chapter_id != scope.chapter_id:
            chapters.append(chapter)
        elif scope.kind is ScopeKind.SCENE:
            left = tuple(scene for scene in chapter.scenes if scene.scene_id != scope.scene_id)
            chapters += [replace(chapter, scenes=left)] if left else []
    return replace(book, chapters=tuple(chapters)) if any(one.scenes for one in chapters) else book
