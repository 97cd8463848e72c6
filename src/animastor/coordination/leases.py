"""Leases (CONTRACT 6): one per asset, alive while its remaining time is positive. The live leases are the quota.

Expiry costs as much as there is to expire: leases with the same TTL run out in the order in which they were pinned.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from animastor.coordination.pairs import PairRecord
from animastor.engine.ports import Lease, Selection
from animastor.protocol import AssetId, BookKey, DispatchId


class LeaseRecord:
    """A live lease. `line` is where it waits for its end, behind those that were pinned earlier."""

    __slots__ = ("asset", "book_key", "dispatch_id", "expires", "line", "pair", "permit")

    def __init__(self, asset: AssetId, book_key: BookKey, dispatch_id: DispatchId, pair: PairRecord) -> None:
        self.asset = asset
        self.book_key = book_key
        self.dispatch_id = dispatch_id
        self.pair = pair
        self.expires = 0.0
        self.permit = False
        self.line: OrderedDict[AssetId, LeaseRecord] | None = None

    def seen(self, now: float) -> Lease:
        """As the port shows it."""
        return Lease(
            self.asset, self.book_key, self.pair.pair, self.dispatch_id, self.expires - now, permit=self.permit
        )


class Leases:
    """The live leases, by asset, book, pair and dispatch. `expire` comes first in every step that asks."""

    def __init__(self) -> None:
        self._by_asset: dict[AssetId, LeaseRecord] = {}
        self._by_book: dict[BookKey, dict[AssetId, LeaseRecord]] = {}
        self._by_dispatch: dict[DispatchId, LeaseRecord] = {}
        self._lines: dict[float, OrderedDict[AssetId, LeaseRecord]] = {}

    def of(self, asset: AssetId) -> LeaseRecord | None:
        """The live lease on an asset."""
        return self._by_asset.get(asset)

    def grant(self, asset: AssetId, book_key: BookKey, dispatch_id: DispatchId, pair: PairRecord) -> LeaseRecord:
        """A new lease on an asset that has none; the caller pins it."""
        lease = LeaseRecord(asset, book_key, dispatch_id, pair)
        self._by_asset[asset] = pair.leases[asset] = self._by_dispatch[dispatch_id] = lease
        book = self._by_book.get(book_key)
        if book is None:
            book = self._by_book[book_key] = {}
        book[asset] = lease
        return lease

    def pin(self, lease: LeaseRecord, ttl: float, now: float) -> None:
        """Let it live for `ttl` from now: renewing never accumulates."""
        lease.expires = now + ttl
        line = self._lines.get(ttl)
        if line is None:
            line = self._lines[ttl] = OrderedDict()
        if lease.line is line:
            line.move_to_end(lease.asset)
            return
        if lease.line is not None:
            del lease.line[lease.asset]
        line[lease.asset] = lease
        lease.line = line

    def permit(self, lease: LeaseRecord) -> None:
        """Give the lease a half-open permit, which is gone with it."""
        lease.permit = True
        lease.pair.permits[lease.asset] = lease

    def revoke_permits(self, pair: PairRecord) -> None:
        """The breaker moved on: its permits mean nothing any more."""
        for lease in pair.permits.values():
            lease.permit = False
        pair.permits.clear()

    def end(self, lease: LeaseRecord) -> None:
        """Remove a lease, and with it its slot and permit."""
        asset = lease.asset
        del self._by_asset[asset], lease.pair.leases[asset], self._by_dispatch[lease.dispatch_id]
        if lease.line is not None:
            del lease.line[asset]
        lease.pair.permits.pop(asset, None)
        book = self._by_book[lease.book_key]
        del book[asset]
        if not book:
            del self._by_book[lease.book_key]

    def expire(self, now: float) -> None:
        """Remove the leases whose time is over."""
        for line in self._lines.values():
            while line:
                first = next(iter(line.values()))
                if first.expires > now:
                    break
                self.end(first)

    def select(self, of: Selection, pair: PairRecord | None) -> Sequence[LeaseRecord]:
        """The leases of a selection; `pair` is the record of the selected pair, if one is selected."""
        assets = None if of.assets is None else frozenset(of.assets)
        dispatches = None if of.dispatches is None else frozenset(of.dispatches)
        return [
            lease
            for lease in self._narrowest(assets, dispatches, of.book_key, pair)
            if (assets is None or lease.asset in assets)
            and (of.book_key is None or lease.book_key == of.book_key)
            and (pair is None or lease.pair is pair)
        ]

    def _narrowest(
        self,
        assets: frozenset[AssetId] | None,
        dispatches: frozenset[DispatchId] | None,
        book_key: BookKey | None,
        pair: PairRecord | None,
    ) -> Iterable[LeaseRecord]:
        if dispatches is not None:
            return [self._by_dispatch[name] for name in dispatches if name in self._by_dispatch]
        if assets is not None:
            return [self._by_asset[asset] for asset in assets if asset in self._by_asset]
        if book_key is not None:
            return self._by_book.get(book_key, {}).values()
        return (self._by_asset if pair is None else pair.leases).values()
