"""The timings and limits of an engine. Those of leases and claims are the coordination store's own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """How an engine runs. Seconds, unless named otherwise.

    `tick_s`: the longest pause between two looks at what is due (events come sooner). `era_window_s`: how long
    nothing starts after the coordination store was lost: 0 embedded, where holding the home proves that every earlier
    attempt is over, 40 for a fleet. `lanes`: the queues that are served. `gate_s`: how old a look at the artifact
    store may be. `schedules`: whether this engine ticks, keeps and reconciles; one that does not takes results and
    requests, and wakes those that do. `forced_s`: after how long an asset starts again that was ended by force: longer
    than a worker takes to hear of it. `patient`: whether it waits for a database that is away, as a fleet does.
    """

    tick_s: float = 2.0
    keeper_s: float = 10.0
    reconcile_s: float = 60.0
    no_worker_s: float = 300.0
    era_window_s: float = 0.0
    enqueue_backoff_s: float = 2.0
    gate_s: float = 5.0
    lanes: tuple[str, ...] = ("system",)
    batch: int = 500
    results_batch: int = 200
    entry_chunk: int = 1000
    progress_per_s: float = 5.0
    schedules: bool = True
    forced_s: float = 10.0
    patient: bool = False

    def __post_init__(self) -> None:
        """Raises `ValueError` for batches that are larger than transactions and round trips may be."""
        if not 1 <= self.batch <= 500 or not 1 <= self.results_batch <= 200:
            raise ValueError("a batch has at most 500 members, a batch of results at most 200")
