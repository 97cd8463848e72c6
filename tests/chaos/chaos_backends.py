"""What the children of the chaos tests run: the only right bytes for an order, after a while."""

from __future__ import annotations

import os
import time
from pathlib import Path

from toys import content_of

from animastor.media.hashing import digest
from animastor.workers.backend import Order, Produced, Progress

PACE = "CHAOS_PACE_S"  # how long an ordinary job takes; one of sixteen takes eight times as long
LONG = "CHAOS_LONG_S"  # how long one of 256 takes when it is made for the first time
SEEN = "CHAOS_LONG_SEEN"  # a folder that knows which of them were begun before


def make(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Make a part or a merge."""
    until = time.monotonic() + _seconds(digest({"kind": order.kind, "structure": dict(order.structure)}))
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, 0.2))
    made = workdir / "made"
    made.write_bytes(content_of(order.kind, order.structure, [file.read_bytes() for file in order.files()]))
    progress(1.0)
    return Produced(made)


def _seconds(drawn: str) -> float:
    pace, long = float(os.environ.get(PACE, "0")), float(os.environ.get(LONG, "0"))
    if long and drawn.startswith("00") and _is_first(drawn):
        return long
    return 8 * pace if drawn.startswith("f") else pace


def _is_first(drawn: str) -> bool:
    try:
        Path(os.environ[SEEN], drawn).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
