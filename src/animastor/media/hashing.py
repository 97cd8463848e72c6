"""The one way in which a structure becomes a hash, and a seed.

Freshness everywhere is a comparison of these hashes (DESIGN, five rules): they cover the structure that a worker
receives, whole, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import orjson

FORMAT = 1  # raised when the meaning of any structure changes without its fields changing


def digest(structure: Mapping[str, Any]) -> str:
    """The hash of a structure of JSON values: 64 hexadecimal digits, independent of the order of keys."""
    return sha256(orjson.dumps(structure, option=orjson.OPT_SORT_KEYS)).hexdigest()


def seed_of(unit_id: str, kind: str, ordinal: int, take: int) -> int:
    """The seed of a part: 63 bits of H(unit_id, kind, ordinal within the unit, take) (CONTRACT 4)."""
    key = orjson.dumps([unit_id, kind, ordinal, take])
    return int.from_bytes(sha256(key).digest()[:8], "big") >> 1
