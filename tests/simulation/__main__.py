"""Run one seed, or many."""

from __future__ import annotations

import sys

from .running import main

sys.exit(main())
