"""What these tests share with those of the layers: the engine's stage, and what real child processes need."""

from __future__ import annotations

import sys
from pathlib import Path

for folder in ("engine", "workers"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))
