"""What must have occurred in a long run: a simulator that only ever fails, or only ever idles, shows nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from .people import MOVES
from .watching import ALLOWED, NAMES
from .world import EVENTS, RATES

NEVER = {("new", "dirty"), ("new", "ready")}  # what nobody has asked for is not looked at
REQUESTS = (
    "preparing → open", "preparing → cancelled", "preparing → superseded", "open → done",
    "open → done_with_failures", "open → cancelled", "open → superseded",
)  # fmt: skip
ENDINGS = (
    "success", "failure part_lost", "failure orchestration", "cancelled cancelled", "cancelled superseded",
    "cancelled scene_removed", "cancelled waiting_for_retry", "cancelled waiting_on", "cancelled enqueue_failed",
    "cancelled lost_both", "cancelled restart", "cancelled circuit_open", "cancelled no_worker",
)  # fmt: skip
ANSWERS = ("accepted", "already_accepted", "late_accept", "stale_part", "corrupt_artifact")
COORDINATION = (
    "admit granted", "admit duplicate", "admit backpressure", "admit circuit_open", "admit half_open_limit",
    "enqueue stored", "enqueue relabelled", "enqueue held", "enqueue no_active_dispatch", "renew renewed",
    "renew reattached", "renew lost", "heartbeat continue", "heartbeat stop", "reregistered", "settle stale",
    "swept worker_silent", "swept job_timeout",
)  # fmt: skip
SELDOM = 10_000  # seeds in which the rarest occur a few times
RAREST = ("failed → ready", "cancelled waiting_for_retry", "admit circuit_open", "admit backpressure")


def missing(total: Mapping[str, Counter[str]], seeds: int) -> list[str]:
    """What did not occur in so many seeds, though it should have."""
    came = Counter[str]()
    for counter in total.values():
        came.update(counter)
    transitions = [f"{NAMES[a]} → {NAMES[b]}" for a, b in sorted(ALLOWED) if (NAMES[a], NAMES[b]) not in NEVER]
    wanted = [
        *RATES, *EVENTS, "clock wrong", "stubborn scene", "message overtaken", "server gave up",
        *(f"user: {move}" for move in MOVES), *transitions, *(f"request {one}" for one in REQUESTS),
        *ENDINGS, *ANSWERS, *COORDINATION,
    ]  # fmt: skip
    return [one for one in wanted if not came[one] and (seeds >= SELDOM or one not in RAREST)]
