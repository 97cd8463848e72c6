"""How the interpreter of a process that drives a home is set up; measured in `bench/engine.py`."""

from __future__ import annotations

import gc
import sys

THRESHOLDS = (20_000, 20, 20)  # the default (700, 10, 10) costs a fifth of the engine's time, and finds next to nothing
SWITCH_S = 0.001  # a writer thread that has its answer from SQLite waits no longer than that for its turn


def tune() -> None:
    """Make the engine's process quick: called once, when everything is imported and before work begins.

    What is loaded by then lives as long as the process, so the collector need not walk it again. Engine and workers
    make next to no cycles; what they make is found later, and costs a few MiB until then.
    """
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    sys.setswitchinterval(SWITCH_S)
