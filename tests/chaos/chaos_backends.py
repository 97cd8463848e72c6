"""What the children of the chaos tests run: the only right bytes for an order, after a while."""

from __future__ import annotations

import os
import time
from pathlib import Path

from toys import content_of

from animastor.media.hashing import digest
from animastor.workers.backend import Order, Produced, Progress

PACE = "CHAOS_PACE_S"  # how long an ordinary job takes; one of sixteen takes eight times as long


def make(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Make a part or a merge."""
    pace = float(os.environ.get(PACE, "0"))
    drawn = int(digest({"kind": order.kind, "structure": dict(order.structure)})[:1], 16)
    until = time.monotonic() + (8 * pace if not drawn else pace)
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, 0.2))
    made = workdir / "made"
    made.write_bytes(content_of(order.kind, order.structure, [file.read_bytes() for file in order.files()]))
    progress(1.0)
    return Produced(made)
