"""The backend of the kind `picture`, profile `storyboard`: it paints the ordered picture with nothing but the CPU."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order, Produced, Progress

MAX_PIXELS = 40_000_000  # an 8K frame has 33 million


def picture(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Paint the picture of an order into `workdir`/picture.png.

    Raises `BackendError` (permanent) when the order's size is not one that can be painted.
    """
    from animastor.workers.storyboard.board import board_of
    from animastor.workers.storyboard.compose import paint

    width, height = order.structure["size"]
    if not (width >= 16 and height >= 16 and width * height <= MAX_PIXELS):
        raise BackendError(FailureType.PERMANENT, "unsupported_format", f"a picture of {width}x{height} cannot be made")
    progress(0.05)
    image = paint(board_of(order.structure))
    progress(0.8)
    target = workdir / "picture.png"
    image.save(target, "PNG", compress_level=1)
    progress(1.0)
    return Produced(target)


def preview(path: Path, width: int = 320) -> bytes:
    """A WebP of a picture, `width` pixels wide, for lists and the web."""
    from PIL import Image

    with Image.open(path) as image:
        height = max(1, round(image.height * width / image.width))
        small = image.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
    buffer = BytesIO()
    small.save(buffer, "WEBP", quality=82, method=4)
    return buffer.getvalue()
