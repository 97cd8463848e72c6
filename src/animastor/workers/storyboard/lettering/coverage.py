"""Which characters a font file can draw, read from its character map: so that no box is ever drawn for a letter."""

from __future__ import annotations

import struct
from bisect import bisect_right
from functools import lru_cache
from pathlib import Path


class Coverage:
    """The set of characters of one font, as sorted ranges."""

    def __init__(self, ranges: list[tuple[int, int]]):
        ranges.sort()
        self._starts = [first for first, _ in ranges]
        self._ends = [last for _, last in ranges]

    def __contains__(self, character: str) -> bool:
        code = ord(character)
        index = bisect_right(self._starts, code) - 1
        return index >= 0 and code <= self._ends[index]


@lru_cache(maxsize=8)
def coverage_of(path: Path) -> Coverage:
    """Read the Unicode character map of a TrueType or OpenType file (formats 4 and 12 of `cmap`)."""
    data = path.read_bytes()
    table = _table(data, b"cmap")
    count = struct.unpack_from(">H", data, table + 2)[0]
    best: list[tuple[int, int]] = []
    for index in range(count):
        _, _, offset = struct.unpack_from(">HHI", data, table + 4 + 8 * index)
        kind = struct.unpack_from(">H", data, table + offset)[0]
        reader = {4: _segments, 12: _groups}.get(kind)
        found = reader(data, table + offset) if reader else []
        if sum(b - a for a, b in found) > sum(b - a for a, b in best):
            best = found
    return Coverage(best)


def _table(data: bytes, tag: bytes) -> int:
    for index in range(struct.unpack_from(">H", data, 4)[0]):
        name, _, offset, _ = struct.unpack_from(">4sIII", data, 12 + 16 * index)
        if name == tag:
            return int(offset)
    raise ValueError(f"the font has no {tag.decode()} table")


def _groups(data: bytes, at: int) -> list[tuple[int, int]]:
    count = struct.unpack_from(">I", data, at + 12)[0]
    triples = struct.iter_unpack(">III", data[at + 16 : at + 16 + 12 * count])
    return [(first, last) for first, last, _ in triples]


def _segments(data: bytes, at: int) -> list[tuple[int, int]]:
    double = struct.unpack_from(">H", data, at + 6)[0]
    ends = struct.unpack_from(f">{double // 2}H", data, at + 14)
    starts = struct.unpack_from(f">{double // 2}H", data, at + 16 + double)
    return [(first, last) for first, last in zip(starts, ends, strict=True) if first != 0xFFFF]
