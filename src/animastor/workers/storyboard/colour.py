"""Colours as 8-bit triples (or quadruples with opacity), and the few ways in which they are mixed."""

from __future__ import annotations

from typing import TypeAlias

RGB: TypeAlias = tuple[int, int, int]
Paint: TypeAlias = RGB | tuple[int, int, int, int]  # the fourth is opacity, 0..255


def rgb(code: str) -> RGB:
    """A colour from `#rrggbb`."""
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def mix(a: RGB, b: RGB, share: float) -> RGB:
    """`a` with a share (0..1) of `b`."""
    keep = 1.0 - share
    return (
        round(a[0] * keep + b[0] * share),
        round(a[1] * keep + b[1] * share),
        round(a[2] * keep + b[2] * share),
    )


def times(a: RGB, factor: tuple[float, float, float]) -> RGB:
    """`a` seen under a light: each channel multiplied, and held within what can be shown."""
    return _clip(a[0] * factor[0]), _clip(a[1] * factor[1]), _clip(a[2] * factor[2])


def darker(a: RGB, share: float = 0.25) -> RGB:
    """Towards a deep blue-violet, which shadows of gouache have, rather than towards black."""
    return mix(a, (24, 16, 44), share)


def lighter(a: RGB, share: float = 0.25) -> RGB:
    """Towards a warm white."""
    return mix(a, (255, 250, 238), share)


def greyer(a: RGB, share: float) -> RGB:
    """Towards the grey of the same brightness."""
    level = round(0.30 * a[0] + 0.59 * a[1] + 0.11 * a[2])
    return mix(a, (level, level, level), share)


def veiled(a: RGB, opacity: float) -> tuple[int, int, int, int]:
    """`a` with an opacity of 0..1."""
    return *a, _clip(255 * opacity)


def luminance(a: RGB) -> float:
    """Relative luminance, 0..1, as WCAG 2 defines it."""
    red, green, blue = (_linear(channel / 255) for channel in a)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: RGB, b: RGB) -> float:
    """The contrast ratio of WCAG 2, 1..21."""
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)


def _clip(value: float) -> int:
    return max(0, min(255, round(value)))
