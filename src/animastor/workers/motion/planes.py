"""A picture as the planes that the encoder takes, sampled at any place and size without a jump.

Each plane is resampled on its own, from a box with fractional edges: so a step of a hundredth of a pixel moves the
picture by a hundredth of a pixel. Sampling luma and the half-size chroma costs less than half of sampling RGB.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from animastor.workers.motion.path import View

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image

    Floats: TypeAlias = NDArray[np.float32]

# BT.709 luma (ITU-R BT.709-6, 3.2), in the limited range of 8 bits (16–235, 16–240).
_RED, _GREEN, _BLUE = 0.2126, 0.7152, 0.0722


@dataclass(frozen=True, slots=True)
class Planes:
    """Luma at full and both chroma planes at half size, of the part of a picture that has the video's shape."""

    luma: Image.Image
    chroma: tuple[Image.Image, Image.Image]

    def seen(self, view: View, size: tuple[int, int]) -> Iterator[bytes]:
        """The planes of one frame of this size (even width and height), in the order of yuv420p."""
        from PIL import Image

        half = (size[0] // 2, size[1] // 2)
        yield _sampled(self.luma, view, size, Image.Resampling.BICUBIC)
        for plane in self.chroma:
            yield _sampled(plane, view, half, Image.Resampling.BILINEAR)


def load(path: Path, size: tuple[int, int]) -> Planes:
    """A picture's middle with the shape of `size`, as planes. Transparency is ignored.

    Raises:
        OSError: it cannot be read as a picture (`PIL.UnidentifiedImageError` is one).
    """
    import numpy as np
    from PIL import Image, ImageOps

    with Image.open(path) as picture:
        upright = ImageOps.exif_transpose(picture).convert("RGB")
    shaped = _covering(upright, size)
    red, green, blue = np.moveaxis(np.asarray(shaped, dtype=np.float32) / 255, 2, 0)
    luma = _RED * red + _GREEN * green + _BLUE * blue
    blueness, redness = (blue - luma) / (2 - 2 * _BLUE), (red - luma) / (2 - 2 * _RED)
    return Planes(
        _plane(16 + 219 * luma), (_plane(128 + 224 * _halved(blueness)), _plane(128 + 224 * _halved(redness)))
    )


def _covering(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The largest middle part with the shape of `size`, at one to two times that size (even in both directions)."""
    from PIL import Image

    share = min(picture.width / size[0], picture.height / size[1])
    width, height = size[0] * share, size[1] * share
    left, top = (picture.width - width) / 2, (picture.height - height) / 2
    factor = min(2.0, max(1.0, share))
    target = (2 * round(size[0] * factor / 2), 2 * round(size[1] * factor / 2))
    if target == picture.size:
        return picture
    return picture.resize(target, Image.Resampling.LANCZOS, (left, top, left + width, top + height))


def _halved(plane: Floats) -> Floats:
    """Each two by two samples as their mean, which lies in their middle."""
    height, width = plane.shape
    halved: Floats = plane.reshape(height // 2, 2, width // 2, 2).mean((1, 3))
    return halved


def _plane(values: Floats) -> Image.Image:
    import numpy as np
    from PIL import Image

    return Image.fromarray((values + 0.5).clip(0, 255).astype(np.uint8))


def _sampled(plane: Image.Image, view: View, size: tuple[int, int], method: Image.Resampling) -> bytes:
    x, y, width = view
    left, right = max(0.0, x - width / 2), min(1.0, x + width / 2)
    top, bottom = max(0.0, y - width / 2), min(1.0, y + width / 2)
    box = (left * plane.width, top * plane.height, right * plane.width, bottom * plane.height)
    return plane.resize(size, method, box).tobytes()
