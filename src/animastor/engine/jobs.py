"""From what storage says is missing to the order that a worker gets."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from animastor.engine.orders import Orders
from animastor.engine.ports import Active, BookContext, JobSource, PlanRow, Storage
from animastor.frozen import quick
from animastor.media.layers import effective, timeout_s
from animastor.media.registry import Registry
from animastor.protocol import AssetId, BookKey, DispatchId, Job, Pair, job_id

REMEMBERED = 20_000
BOOKS = 1000


@quick
@dataclass(frozen=True, slots=True)
class Place:
    """Where an asset belongs: everything of a job that is not of its part."""

    asset: AssetId
    book_key: BookKey
    book: str
    chapter_id: str
    scene_id: str
    media: str
    lane: str

    @property
    def pair(self) -> Pair:
        """Whose quota and breaker it counts for."""
        return Pair(self.media, self.lane)


class Jobs:
    """Makes jobs, and remembers the places of the assets that were dispatched last, and what was ordered."""

    def __init__(self, storage: Storage, registry: Registry, orders: Orders) -> None:
        self._storage = storage
        self._orders = orders
        self._timeouts = {media.name: media.job_timeout.total_seconds() for media in registry}
        self._registry = registry
        self._of_books: OrderedDict[BookKey, tuple[int, Mapping[str, float]]] = OrderedDict()
        self._places: OrderedDict[AssetId, Place] = OrderedDict()

    def make(self, place: Place, source: JobSource, dispatch_id: DispatchId, fence: int) -> Job:
        """The order for one missing part, or the merge, under a dispatch."""
        self._orders.remember(place.asset, place.media, source)
        return Job(
            job_id=job_id(source.kind, place.asset, source.hash),
            media=place.media,
            kind=source.kind,
            asset=place.asset,
            book_key=place.book_key,
            book=place.book,
            chapter_id=place.chapter_id,
            scene_id=place.scene_id,
            dispatch_id=dispatch_id,
            fence=fence,
            input_hash=source.hash,
            params=source.params,
            inputs=source.inputs,
            timeout_s=self._timeouts_of(place.book_key)[place.media],
            profile=source.profile,
            lane=place.lane,
            not_before=source.not_before,
            retry_of=source.retry_of,
        )

    def remember(self, row: PlanRow, book: BookContext) -> Place:
        """The place of a row that was just read, and how long the jobs of its book may be without progress."""
        known = self._of_books.get(book.book_key)
        if known is None or known[0] != book.revision:
            held = effective(self._registry, book.head.layer_config, book.layers)
            timeouts = {name: timeout_s(held, name, default) for name, default in self._timeouts.items()}
            self._of_books[book.book_key] = (book.revision, timeouts)
            while len(self._of_books) > BOOKS:
                self._of_books.popitem(last=False)
        place = Place(row.asset, row.book_key, book.book_id, row.chapter_id, row.scene_id, row.media, row.lane)
        self._keep((place,))
        return place

    def _timeouts_of(self, book_key: BookKey) -> Mapping[str, float]:
        known = self._of_books.get(book_key)
        return self._timeouts if known is None else known[1]

    async def places(self, assets: Collection[AssetId]) -> Mapping[AssetId, Place]:
        """The places of GENERATING assets; those that are not GENERATING any more may be missing."""
        unknown = [asset for asset in assets if asset not in self._places]
        if unknown:
            self._keep(map(place_of, await self._storage.active_of(unknown)))
        return {asset: self._places[asset] for asset in assets if asset in self._places}

    def _keep(self, places: Iterable[Place]) -> None:
        for place in places:
            self._places[place.asset] = place
            self._places.move_to_end(place.asset)
        while len(self._places) > REMEMBERED:
            self._places.popitem(last=False)


def place_of(active: Active) -> Place:
    """The place of a GENERATING asset."""
    return Place(
        active.asset,
        active.book_key,
        active.book_id,
        active.chapter_id,
        active.scene_id,
        active.media,
        active.lane,
    )
