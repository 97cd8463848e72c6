"""What every test may import, and how hypothesis runs: unhurried, and with what is needed to repeat a failure."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import settings

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

settings.register_profile("animastor", deadline=None, print_blob=True)
settings.load_profile("animastor")
