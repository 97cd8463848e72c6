"""A contact sheet: many pictures on one page, each with a caption below it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image


def contact_sheet(pictures: Iterable[tuple[Path, str]], columns: int = 4, width: int = 400) -> Image.Image:
    """Pictures (file, caption) in reading order on one page; each is `width` pixels wide, all as high as the first."""
    from PIL import Image, ImageDraw

    from animastor.workers.storyboard.lettering.fonts import face

    items = list(pictures)
    with Image.open(items[0][0]) as first:
        height = round(width * first.height / first.width)
    gap, foot = max(6, width // 32), width // 14
    rows = -(-len(items) // columns)
    sheet = Image.new("RGB", (columns * (width + gap) + gap, rows * (height + gap + foot) + gap), (246, 240, 228))
    pen = ImageDraw.Draw(sheet)
    font = face(0, max(9, width // 26))
    for index, (path, caption) in enumerate(items):
        x = gap + (index % columns) * (width + gap)
        y = gap + (index // columns) * (height + gap + foot)
        with Image.open(path) as image:
            sheet.paste(image.convert("RGB").resize((width, height), Image.Resampling.LANCZOS), (x, y))
        pen.text((x + width / 2, y + height + foot * 0.5), caption, font=font, fill=(52, 44, 60), anchor="mm")
    return sheet
