"""The contact sheet of a finished film: one frame from the middle of each unit, as docs/images holds it.

python examples/sheet.py HOME FILM.mp4 SHEET.jpg
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import av
from PIL import Image

COLUMNS, WIDTH, GAP = 5, 384, 6


def middles(home: Path) -> Iterator[int]:
    """The frame number in the middle of each unit, in order."""
    database = sqlite3.connect(f"file:{home / 'animastor.db'}?mode=ro", uri=True)
    scenes: dict[int, dict[str, dict[str, list[list[float]]]]] = {}
    for scene, media, facts in database.execute(
        "SELECT a.scene_key, a.media, f.facts FROM asset a JOIN asset_facts f ON f.asset = a.id"
        " WHERE a.media IN ('audio', 'video') ORDER BY a.reading_order, a.id"
    ):
        scenes.setdefault(scene, {})[media] = json.loads(facts)
    start = 0
    for told in scenes.values():
        for _, begin, end in told["audio"]["timings"]:
            yield start + round((begin + end) / 2 * 24)
        start += int(told["video"]["frames"])  # type: ignore[call-overload]


def main() -> None:
    """Write the sheet."""
    home, film, sheet = (Path(argument) for argument in sys.argv[1:4])
    wanted = set(middles(home))
    with av.open(str(film)) as container:
        frames = [frame.to_image() for number, frame in enumerate(container.decode(video=0)) if number in wanted]
    height = WIDTH * frames[0].height // frames[0].width
    rows = -(-len(frames) // COLUMNS)
    made = Image.new("RGB", (COLUMNS * (WIDTH + GAP) + GAP, rows * (height + GAP) + GAP), "#14121a")
    for n, frame in enumerate(frames):
        place = GAP + n % COLUMNS * (WIDTH + GAP), GAP + n // COLUMNS * (height + GAP)
        made.paste(frame.resize((WIDTH, height), Image.Resampling.LANCZOS), place)
    made.save(sheet, quality=86, optimize=True, progressive=True)


if __name__ == "__main__":
    main()
