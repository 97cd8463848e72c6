"""The last touches on the whole picture: light that spills, vignette, grain of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PIL import Image

from animastor.workers.storyboard.light import Light
from animastor.workers.storyboard.sky import Glow

Floats = npt.NDArray[np.float32]
_COARSE = 4  # soft things are computed on a grid this much coarser


def finished(
    image: Image.Image, unit: float, light: Light, glows: Sequence[Glow], seed: int, cover: Image.Image | None = None
) -> Image.Image:
    """The picture with light, vignette and grain. `unit` is the pixels of a unit of the picture itself.

    Where figures `cover` the lights behind them, these shine over them only a little.
    """
    pixels = np.asarray(image, dtype=np.float32) / 255
    if glows:
        behind = _shine(image.size, unit, [glow for glow in glows if not glow.near])
        if cover is not None:
            hidden = np.asarray(cover.resize(behind.shape[1::-1], Image.Resampling.BOX), dtype=np.float32) / 255
            behind *= 1 - np.float32(0.78) * hidden[:, :, None]
        before = _shine(image.size, unit, [glow for glow in glows if glow.near])
        shine = _upsampled(1 - (1 - behind) * (1 - before), image.size)
        pixels = 1 - (1 - pixels) * (1 - shine)
    pixels *= _vignette(image.size, light.shade)
    pixels += _grain(image.size, seed)
    return Image.fromarray((np.clip(pixels, 0, 1) * 255 + 0.5).astype(np.uint8))


def _shine(size: tuple[int, int], unit: float, glows: Sequence[Glow]) -> Floats:
    """What all lights add, on the coarse grid: h x w x 3, 0..1."""
    height, width = -(-size[1] // _COARSE), -(-size[0] // _COARSE)
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float32) * np.float32(_COARSE / unit)
    total = np.zeros((height, width, 3), np.float32)
    for glow in glows:
        far = ((xs - glow.at[0]) ** 2 + (ys - glow.at[1]) ** 2) / np.float32(glow.radius**2)
        fall = np.float32(glow.strength * 0.62) / (1 + 7 * far) * np.clip(1 - far, 0, 1)
        total += fall[:, :, None] * (np.asarray(glow.colour, np.float32) / 255)
    return np.clip(total, 0, 0.92)


def _upsampled(coarse: Floats, size: tuple[int, int]) -> Floats:
    layers = [Image.fromarray(coarse[:, :, c]).resize(size, Image.Resampling.BILINEAR) for c in range(3)]
    return np.stack([np.asarray(layer, dtype=np.float32) for layer in layers], axis=2)


@lru_cache(maxsize=4)
def _vignette(size: tuple[int, int], shade: float) -> Floats:
    height, width = size[1], size[0]
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float32)
    far: Floats = ((xs / width - 0.5) / 0.5) ** 2 * 0.8 + ((ys / height - 0.48) / 0.52) ** 2 * 0.8
    darkness: Floats = np.float32(0.75 * shade) * np.clip(far - 0.35, 0, 1) ** np.float32(1.3)
    return 1 - darkness[:, :, None]


@lru_cache(maxsize=2)
def _grain(size: tuple[int, int], seed: int) -> Floats:
    """Paper: fine fibres and a slower mottling; about two levels of 255 either way."""
    rng = np.random.default_rng(seed)
    fine = rng.standard_normal((size[1], size[0]), dtype=np.float32) * np.float32(0.0065)
    slow = rng.standard_normal((size[1] // 6 + 1, size[0] // 6 + 1), dtype=np.float32) * np.float32(0.006)
    mottled = np.asarray(Image.fromarray(slow).resize(size, Image.Resampling.BICUBIC), dtype=np.float32)
    return (fine + mottled)[:, :, None]
