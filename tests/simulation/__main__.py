"""Run one seed, or many."""

from __future__ import annotations

import sys

from .commanding import main

sys.exit(main())
