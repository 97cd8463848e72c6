"""How the interpreter of a process that drives a home is set up; measured in `bench/engine.py`."""

from __future__ import annotations

import gc

THRESHOLDS = (20_000, 20, 20)  # the default (700, 10, 10) costs a fifth of the engine's time, and finds next to nothing


def tune() -> None:
    """Make the engine's process quick: called once, when everything is imported and before work begins.

    What is loaded by then lives as long as the process, so the collector need not walk it again. Engine and workers
    make next to no cycles; what they make is found later, and costs a few MiB until then.
    """
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
