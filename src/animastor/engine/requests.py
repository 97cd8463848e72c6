"""What people ask for: opened, entered chunk by chunk, cancelled, superseded, watched (CONTRACT 10)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from animastor.engine.completing import Successors
from animastor.engine.config import EngineConfig
from animastor.engine.effort import Effort
from animastor.engine.errors import EngineError, UnknownMediaError
from animastor.engine.estimate import Expected, Known, Look, time_left, work_left
from animastor.engine.pausing import Pauses
from animastor.engine.ports import (
    Cancel,
    Cancelled,
    LayersSet,
    NewRequest,
    RequestProgress,
    RequestRow,
    RollBack,
    ScopeKind,
    Steer,
    Storage,
)
from animastor.engine.reasons import Reason
from animastor.engine.replanning import Replanner
from animastor.engine.states import RequestState
from animastor.engine.waking import Bell, Changes
from animastor.media.layers import Value
from animastor.media.registry import Registry
from animastor.protocol import BookKey, Clock

ENDED = frozenset({RequestState.DONE, RequestState.DONE_WITH_FAILURES, RequestState.CANCELLED, RequestState.SUPERSEDED})
OTHERS_S = 2.0  # how often to look without an event of this engine: another one may have done the work
WATCHING_SHARE = 10  # looking may take at most one part in so many of the time
AT_ONCE = 100  # assets that are entered in the transaction that opens their request


@dataclass(frozen=True, slots=True)
class OpenedRequest:
    """An open request. `added`: media types that were not asked for but are required. `disabled`: not entered."""

    request: RequestRow
    added: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    superseded: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestEvent:
    """A look at a request: where it stands, and the seconds left (None while there is nothing to go by).

    `expected_parts`: of an asset that cannot be planned yet, by media type, as far as that was estimated.
    """

    progress: RequestProgress
    seconds_left: float | None
    expected_parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        """Whether this is the last event."""
        return self.progress.request.state in ENDED


class Requests:
    """Opens, cancels and watches requests."""

    def __init__(
        self,
        *,
        storage: Storage,
        registry: Registry,
        successors: Successors,
        pauses: Pauses,
        replanner: Replanner,
        effort: Effort,
        clock: Clock,
        bell: Bell,
        changes: Changes,
        config: EngineConfig,
    ) -> None:
        self._storage = storage
        self._registry = registry
        self._successors = successors
        self._pauses = pauses
        self._replanner = replanner
        self._effort = effort
        self._clock = clock
        self._bell = bell
        self._changes = changes
        self._config = config

    async def open(self, new: NewRequest) -> OpenedRequest:
        """Open a request and enter its assets; the same idempotency key gives the first request again.

        Raises `UnknownMediaError`, and `EngineError` when everything asked for is switched off in this book.
        """
        closed = self._closed(new.media)
        disabled = await self._disabled(new.book_key, closed)
        media = tuple(name for name in closed if name not in disabled)
        if not media:
            raise EngineError(f"nothing to do: {', '.join(disabled)} is switched off in this book")
        wanted = replace(new, media=media, named=new.named or new.media)
        opened = await self._storage.open_request(wanted, min(AT_ONCE, self._config.entry_chunk))
        self._entered()
        await self.enter(opened.request)
        for request_id in opened.superseded:
            await self.sweep(request_id)
        await self._go_on(new.book_key, opened.resumed)
        added = tuple(name for name in media if name not in new.media)
        return OpenedRequest(opened.request, added, disabled, opened.superseded)

    async def enter(self, request: RequestRow) -> None:
        """Enter a request's assets chunk by chunk; goes on where it was interrupted."""
        state, done = request.state, request.state is not RequestState.PREPARING
        while not done and state is RequestState.PREPARING:
            entered = await self._storage.enter(request.request_id, self._config.entry_chunk)
            state, done = entered.state, entered.done
            self._entered()

    def _entered(self) -> None:
        """Something is PENDING that may start now."""
        self._bell.ring()
        self._changes.happened()

    async def resume_preparing(self) -> int:
        """Enter what an interrupted process left half entered; how many requests."""
        rows = await self._storage.preparing()
        for row in rows:
            await self.enter(row)
        return len(rows)

    async def cancel(self, request_id: int) -> bool:
        """Close a request, then sweep what nothing else covers. False: it had ended before.

        Raises `CoordinationUnavailableError`: it is cancelled, but what was queued may still be claimed; repeat it.
        """
        closed = await self._storage.close_request(request_id, RequestState.CANCELLED)
        await self.sweep(request_id)
        await self._successors.require_released(self._config.batch)
        return closed

    async def cancel_part(self, of: Cancel) -> tuple[Cancelled, int]:
        """Cancel all or a part of what is asked for of a book: what was closed or narrowed, and how much was stopped.

        Returns after what was running has been released and told to stop. Repeating it is harmless. Raises
        `UnknownMediaError`, `EngineError`, and `CoordinationUnavailableError` as `cancel` does.
        """
        self._closed(of.media)
        if of.scope.kind is ScopeKind.UNITS:
            raise EngineError("the units of a scene are made together: name the scene")
        cancelled = await self._storage.cancel(of)
        stopped = 0
        for request_id in (*cancelled.closed, *cancelled.narrowed):
            stopped += await self.sweep(request_id)
        await self.resume_sweeps()  # a first try may have written the tombstone and come no further
        await self._successors.require_released(self._config.batch)
        return cancelled, stopped

    async def steer(self, of: Steer) -> Sequence[int]:
        """Pause, resume, prioritize unfinished requests, or say where the reader is; those that changed.

        Returns when it holds: what is paused starts nothing any more, and what it runs is finished and kept.
        """
        changed = await self._storage.steer(of)
        if of.paused is False:
            await self._go_on(of.book_key, changed)
            return changed
        for request_id in changed:
            await self.sweep(request_id)
        if of.paused:
            await self._pauses.hold_back(await self._pauses.of_book(of.book_key))
        return changed

    async def set_layers(self, book_key: BookKey, changes: Mapping[str, Value | None]) -> tuple[LayersSet, int]:
        """Set layers of a book: what holds now, and how much that was in work was stopped.

        Switching one off is a cancel: it returns after what was running has been told to stop. Switching one on starts
        nothing. Raises `media.layers.LayerError`.
        """
        answer, stopped = await self._storage.set_layers(book_key, changes), 0
        for request_id in answer.requests:
            stopped += await self.sweep(request_id)
        return answer, stopped

    async def force(self, book_key: BookKey, scene_id: str, chapter_id: str, media: str) -> bool:
        """Start one asset anew that is at work: its jobs are dropped, running ones stopped for good; whether it was.

        It starts again only after its workers have been told (a job that runs on would be taken for its own).
        """
        found = [
            one
            for one in await self._pauses.of_book(book_key)
            if (one.chapter_id, one.scene_id, one.media) == (chapter_id, scene_id, media)
        ]
        backs = [RollBack(one.asset, one.dispatch_id, Reason.FORCED, self._config.forced_s) for one in found]
        ended = await self._storage.roll_back(backs)
        await self._successors.release_and_wake(ended)
        return any(one is not None for one in ended)

    async def _go_on(self, book_key: BookKey, resumed: Collection[int]) -> None:
        """Requests that were paused are entered further; what they left running is looked at for what it lacks."""
        if not resumed:
            return
        for row in await self._storage.requests():
            if row.request_id in resumed:
                await self.enter(row)
                await self.sweep(row.request_id)
        self._replanner.ask(one.asset for one in await self._pauses.of_book(book_key) if one.missing)

    async def sweep(self, request_id: int) -> int:
        """Let the assets that a changed request covered follow it; how many dispatches ended.

        What nothing covers any more becomes DIRTY; its dispatches end, and running jobs are told to stop.
        """
        stopped = 0
        while ended := await self._storage.sweep_uncovered(request_id, self._config.batch):
            await self._successors.release_and_wake(ended)
            stopped += len(ended)
        self._bell.ring()
        self._changes.happened()
        return stopped

    async def resume_sweeps(self) -> int:
        """Go on with cancels that were interrupted; how many."""
        interrupted: Sequence[int] = await self._storage.uncovered()
        for request_id in interrupted:
            await self.sweep(request_id)
        return len(interrupted)

    async def events(
        self, request_id: int, expected: Mapping[str, Expected] | None = None, known: Known | None = None
    ) -> AsyncIterator[RequestEvent]:
        """Where a request stands, now and at each change, at most 5 times a second, until it has ended.

        `expected`: what assets will need of which nothing is planned yet. `known`: for the time left.
        """
        first: Look | None = None
        progress: RequestProgress | None = None
        parts = {media: one.parts for media, one in (expected or {}).items()}
        with self._changes.watching() as bell:
            while True:
                before = self._clock.now()
                progress = await self._progress(request_id, progress)
                look = Look(self._clock.now(), self._effort.spent, work_left(progress.media, expected))
                first = first or look
                event = RequestEvent(progress, time_left(first, look, known), parts)
                yield event
                if event.ended:
                    return
                took = look.at - before
                await self._clock.sleep(max(1 / self._config.progress_per_s, WATCHING_SHARE * took))
                await bell.wait(OTHERS_S)

    async def _progress(self, request_id: int, last: RequestProgress | None) -> RequestProgress:
        """Where it stands; a request that went with its book was cancelled. Raises `LookupError` if it never was."""
        try:
            return await self._storage.progress(request_id)
        except LookupError:
            if last is None:
                raise
            return replace(last, request=replace(last.request, state=RequestState.CANCELLED))

    def _closed(self, media: Sequence[str]) -> tuple[str, ...]:
        unknown = [name for name in media if name not in self._registry]
        if unknown:
            known = ", ".join(self._registry.names)
            raise UnknownMediaError(f"there is no media type {unknown[0]!r}; installed are {known}")
        return self._registry.closed(media)

    async def _disabled(self, book_key: BookKey, media: Sequence[str]) -> tuple[str, ...]:
        """The media types that are switched off in the book, and those that require one of them."""
        contexts = await self._storage.contexts([book_key])
        off = {name for context in contexts for name in context.disabled}
        off.update(other for name in tuple(off) if name in self._registry for other in self._registry.requiring(name))
        return tuple(name for name in media if name in off)
