"""Why an asset is not there yet: the chain of reasons in plain words, with figures (CONTRACT 16, explain).

Nothing is decided here. The stored bits say what an asset waits for, and the checks are those of dispatching itself:
`gate`, `starting.kept_out`, `starting.is_served`, and the last answer of admission, which is stored with the asset.
Without a coordination store, as for a home that nobody works on, what is stored is told alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from animastor.engine import wording
from animastor.engine.details import AssetDetail, MediaCount, PartDetail, SceneDetail
from animastor.engine.gate import Gate
from animastor.engine.ports import Coordination, JobStatus, PairStatus, Selection, Storage
from animastor.engine.reasons import Reason
from animastor.engine.starting import is_served, kept_out
from animastor.engine.states import PartState, Standing, State, Wait, standing
from animastor.media.registry import Registry
from animastor.protocol import BookKey, Pair, job_id

NOBODY = "nobody is working on this home"
SHOWN_PARTS = 3  # troubled parts that are told one by one


@dataclass(frozen=True, slots=True)
class Explanation:
    """An asset: what it is doing, and why that is all. `summary` and `causes` are phrases without a full stop."""

    chapter_id: str
    scene_id: str
    media: str
    state: State
    standing: Standing
    summary: str
    causes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Everything in one sentence."""
        told = f"{self.summary}: {'; '.join(self.causes)}" if self.causes else self.summary
        return f"{told}."


@dataclass(frozen=True, slots=True)
class BookExplanation:
    """How a book's assets stand, and one explanation of each media type that is not all there."""

    counts: Sequence[MediaCount]
    assets: Sequence[Explanation]


class Explainer:
    """Explains assets. `coordination` and `gate` are None where nobody works."""

    def __init__(
        self,
        *,
        storage: Storage,
        registry: Registry,
        coordination: Coordination | None = None,
        gate: Gate | None = None,
    ) -> None:
        self._storage = storage
        self._registry = registry
        self._coordination = coordination
        self._gate = gate

    async def scene(self, book_key: BookKey, chapter_id: str, scene_id: str, media: str = "") -> list[Explanation]:
        """The assets of a scene, or one of them. Raises `LookupError` for a place that is not there."""
        detail = await self._storage.scene_detail(book_key, chapter_id, scene_id)
        names = [media] if media else [name for name in self._registry.names if name in detail.assets]
        found = await self._look(detail)
        return [self._explain(found, name) for name in names]

    async def book(self, book_key: BookKey) -> BookExplanation:
        """How the book stands, and of each media type the first asset that is on its way, or failed, or missing."""
        counts = await self._storage.media_counts(book_key)
        told = []
        for media in self._registry.names:
            of = {one.standing: one for one in counts if one.media == media}
            order = (Standing.IN_WORK, Standing.WAITING, Standing.FAILED, Standing.STALE, Standing.MISSING)
            first = next((of[how] for how in order if how in of), None)
            if first is not None:
                told += await self.scene(book_key, first.chapter_id, first.scene_id, media)
        return BookExplanation(counts, told)

    async def _look(self, detail: SceneDetail) -> _Found:
        """What the scene's assets depend on beside what is stored of them."""
        if self._coordination is None or self._gate is None:
            return _Found(detail)
        pairs = list(dict.fromkeys(Pair(one.media, one.lane) for one in detail.assets.values()))
        running = [one.dispatch_id for one in detail.assets.values() if one.state is State.GENERATING]
        jobs = await self._coordination.jobs(Selection(dispatches=running)) if running else ()  # type: ignore[arg-type]
        return _Found(
            detail,
            gate=await self._gate.look(),
            closed=self._gate.sentence,
            pairs={status.pair: status for status in await self._coordination.pairs(pairs)},
            jobs={job.job_id: job for job in jobs},
            worked_on=True,
        )

    def _explain(self, found: _Found, media: str) -> Explanation:
        scene, asset = found.scene, found.scene.assets.get(media)
        if asset is None:
            return Explanation(
                scene.chapter_id,
                scene.scene_id,
                media,
                State.NEW,
                Standing.MISSING,
                f"{wording.name(media, scene)} is missing",
                (wording.UNASKED, wording.makes(scene)),
            )
        summary, causes = self._told(found, asset)
        stands = standing(asset.state, current=asset.current, made=asset.made)
        named = f"{wording.name(media, scene)} {summary}"
        return Explanation(scene.chapter_id, scene.scene_id, media, asset.state, stands, named, causes)

    def _told(self, found: _Found, asset: AssetDetail) -> tuple[str, tuple[str, ...]]:
        if asset.state is State.GENERATING:
            return "is being made" if found.worked_on else "was being made", tuple(self._making(found, asset))
        if asset.state is State.PENDING:
            return self._pending(found, asset)
        if asset.state is State.FAILED:
            return "has failed", tuple(self._failed(found, asset))
        return wording.resting(asset), tuple(wording.rests(asset, found.scene))

    # --- PENDING ---

    def _pending(self, found: _Found, asset: AssetDetail) -> tuple[str, tuple[str, ...]]:
        awaited = [one for one in self._awaited(found, asset) if one.asset != asset.asset]
        if awaited:
            names = " and ".join(one.media for one in awaited)
            return f"waits for {names}", tuple(cause for one in awaited for cause in self._as_cause(found, one))
        held = list(self._held(found, asset))
        if held:
            return "waits", (*held, *self._parts(found, asset))
        return "may start now", tuple(self._line(found, asset))

    def _awaited(self, found: _Found, asset: AssetDetail) -> Iterator[AssetDetail]:
        """The assets of the scene that its bits say it waits for: those that its plan is told are on their way."""
        media = self._registry[asset.media]
        wanted = (
            *media.requires * bool(asset.waits & Wait.REQUIRES),
            *media.follows * bool(asset.waits & Wait.FOLLOWS),
        )
        for name in wanted:
            other = found.scene.assets.get(name)
            if other is not None and (
                other.seen_as == "awaited" or (name in media.requires and other.seen_as != "ready")
            ):
                yield other

    def _as_cause(self, found: _Found, other: AssetDetail) -> Iterator[str]:
        """What an asset that is waited for is doing itself; the chain goes on from there."""
        if other.state is State.READY:
            yield f"{other.media} was edited and is looked at again"
            return
        summary, causes = self._told(found, other)
        if other.state is not State.GENERATING:
            yield f"{other.media} {summary}"
        yield from causes

    def _held(self, found: _Found, asset: AssetDetail) -> Iterator[str]:
        """What keeps it, in the order in which dispatching asks."""
        if asset.waits & Wait.PAUSED:
            yield f"request {asset.request_id} is paused (`animastor resume`)"
        if asset.waits & Wait.WINDOW:
            yield "it lies outside the window of what is made ahead of the reader (`animastor position` moves it)"
        if asset.waits & Wait.BACKOFF:
            yield wording.backed_off(asset, found.scene.now)
        if asset.waits & Wait.NO_WORKER:
            yield wording.unserved(_profiles(asset))
        if asset.waits & (Wait.REQUIRES | Wait.FOLLOWS):
            yield "what it waited for is there: it is planned again at the next look"
        if asset.waits:
            return
        if not asset.carried:
            yield wording.uncarried(asset)
        elif found.worked_on:
            yield from self._kept(found, asset)

    def _kept(self, found: _Found, asset: AssetDetail) -> Iterator[str]:
        status = found.pairs[Pair(asset.media, asset.lane)]
        if found.gate is not None:
            yield found.closed or wording.closed(found.gate)
        reason = kept_out(status)
        if reason is not None:
            yield wording.pair_closed(reason, status)
        elif asset.parts and asset.planned and not is_served(_profiles(asset), status.profiles):
            yield wording.unserved(_profiles(asset))
        elif asset.reason in wording.REFUSED:
            yield wording.REFUSED[Reason(asset.reason)]

    def _line(self, found: _Found, asset: AssetDetail) -> Iterator[str]:
        if not asset.planned:
            yield "it is planned at the next look"
        if asset.ahead:
            yield wording.in_line(asset)
        if not found.worked_on:
            yield NOBODY

    # --- GENERATING and FAILED ---

    def _making(self, found: _Found, asset: AssetDetail) -> Iterator[str]:
        yield from self._parts(found, asset)
        if found.worked_on:
            yield wording.slots(found.pairs[Pair(asset.media, asset.lane)])
        else:
            yield NOBODY

    def _parts(self, found: _Found, asset: AssetDetail) -> Iterator[str]:
        """How many parts are in, what runs, and what is in trouble."""
        parts = [part for part in asset.parts if not part.is_merge]
        noun = self._registry[asset.media].part_name
        missing = [part for part in asset.parts if part.state is PartState.MISSING]
        if parts and asset.planned:
            there = sum(part.state is PartState.READY for part in parts)
            yield wording.parts_in(there, len(parts), noun)
            if there == len(parts) and missing:
                yield wording.merging(self._job(found, asset, missing[0]))
        troubled = [part for part in missing if part.tries]
        for part in troubled[:SHOWN_PARTS]:
            yield wording.trouble(part, noun, found.scene, self._job(found, asset, part))
        if len(troubled) > SHOWN_PARTS:
            yield f"{len(troubled) - SHOWN_PARTS} more {wording.plural(noun)} are being tried again"
        if found.worked_on and asset.state is State.GENERATING:
            yield from wording.queued([self._job(found, asset, part) for part in missing if not part.is_merge], noun)

    def _failed(self, found: _Found, asset: AssetDetail) -> Iterator[str]:
        media, _, required = asset.reason.partition(":")
        if media == Reason.REQUIRES_FAILED and required in found.scene.assets:
            summary, causes = self._told(found, found.scene.assets[required])
            yield f"{required} {summary}"
            yield from causes
            return
        noun = self._registry[asset.media].part_name
        lost = [part for part in asset.parts if part.state is PartState.LOST]
        for part in lost[:SHOWN_PARTS]:
            yield wording.given_up(part, noun, found.scene)
        if len(lost) > SHOWN_PARTS:
            yield f"{len(lost) - SHOWN_PARTS} more {wording.plural(noun)} were given up"
        if not lost:
            yield asset.error or asset.reason or "no reason was kept"
        yield "`animastor retry`, or making it again, tries it anew"

    def _job(self, found: _Found, asset: AssetDetail, part: PartDetail) -> JobStatus | None:
        return found.jobs.get(job_id(part.kind, asset.asset, part.hash))


class _Found:
    """A scene as it is stored, and, where somebody works, what the coordination store says."""

    def __init__(
        self,
        scene: SceneDetail,
        *,
        gate: Reason | None = None,
        closed: str = "",
        pairs: dict[Pair, PairStatus] | None = None,
        jobs: dict[str, JobStatus] | None = None,
        worked_on: bool = False,
    ) -> None:
        self.scene = scene
        self.gate = gate
        self.closed = closed  # what the gate says, when that is more than its reason
        self.pairs = pairs or {}
        self.jobs = jobs or {}
        self.worked_on = worked_on


def _profiles(asset: AssetDetail) -> list[str]:
    """Who would have to make what is missing now: its parts, or at last its merge."""
    parts = [part for part in asset.parts if part.state is PartState.MISSING and not part.is_merge]
    merge = [part for part in asset.parts if part.state is PartState.MISSING and part.is_merge]
    return sorted({part.profile for part in parts or merge})
