"""All faults: each replaces text that must be there exactly once (`mutant`)."""

from __future__ import annotations

from .of_coordination import COORDINATION
from .of_edges import EDGES
from .of_engine import ENGINE
from .of_storage import STORAGE

FAULTS = (*COORDINATION, *STORAGE, *ENGINE, *EDGES)
