"""What this process has ordered lately, so that a result's order need not be read again before its bytes are checked.

Only a memory of what the database said when the job was made: what is decided, the transaction that takes the result
in decides. Whatever is not remembered (ordered by another replica, delivered again, tried before) is read.
"""

from __future__ import annotations

from collections import OrderedDict

from animastor.engine.ports import JobSource, PartOrder
from animastor.protocol import AssetId

REMEMBERED = 4_000


class Orders:
    """The last orders by asset and hash. Each is given out once: a second delivery finds what the first one changed."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[AssetId, str], tuple[str, JobSource]] = OrderedDict()

    def remember(self, asset: AssetId, media: str, source: JobSource) -> None:
        """A job is about to be entered for this part, or merge."""
        if source.retry_of is not None:  # how often it came corrupt, the database knows
            self._known.pop((asset, source.hash), None)
            return
        self._known[asset, source.hash] = (media, source)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def take(self, asset: AssetId, hash_: str) -> PartOrder | None:
        """The order as it was made, once; None when it is not remembered."""
        known = self._known.pop((asset, hash_), None)
        if known is None:
            return None
        media, source = known
        return PartOrder(asset, hash_, source.kind, media, source.params, work=source.work)
