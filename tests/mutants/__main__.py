"""Put each fault into a copy of the program, and see who notices."""

from __future__ import annotations

import sys

from .checking import main

sys.exit(main())
