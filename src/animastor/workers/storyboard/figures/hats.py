"""Hats, each by its name in the wardrobe. Measures as in `head`."""

from __future__ import annotations

from collections.abc import Callable

from animastor.workers.storyboard.colour import darker, lighter, rgb
from animastor.workers.storyboard.figures.pen import Pen
from animastor.workers.storyboard.figures.pose import Pose
from animastor.workers.storyboard.figures.traits import Traits

_SHADE, _BRASS, _GOLD, _STEEL = rgb("#23232c"), rgb("#e0b64c"), rgb("#e3b947"), rgb("#a9b0ba")


def hat(pen: Pen, who: Traits, pose: Pose) -> None:
    """The hat, when there is one."""
    draw = _band if pose.back and who.hat in ("cap", "sailor") else _HATS.get(who.hat)
    if draw:
        draw(pen, who, pose.turn * 0.05)


def _band(pen: Pen, who: Traits, t: float) -> None:
    """A cap without its peak, as it is seen from behind."""
    tone = who.hat_colour
    crown = [(-0.52, -0.26), (-0.58, -0.52), (-0.3, -0.74), (0.3, -0.74), (0.58, -0.52), (0.52, -0.26), (0, -0.36)]
    pen.blob([(x + t, y) for x, y in crown], tone)
    top = [(-0.44, -0.58), (-0.26, -0.71), (0.26, -0.71), (0.44, -0.58), (0, -0.62)]
    pen.blob([(x + t, y) for x, y in top], lighter(tone, 0.10))
    band = [(-0.49, -0.22), (-0.49, -0.36), (0, -0.47), (0.49, -0.36), (0.49, -0.22), (0, -0.32)]
    pen.blob([(x + t, y) for x, y in band], darker(tone, 0.35))


def _cap(pen: Pen, who: Traits, t: float) -> None:
    _band(pen, who, t)
    peak = [(-0.36, -0.26), (0, -0.35), (0.36, -0.26), (0.28, -0.15), (0, -0.19), (-0.28, -0.15)]
    pen.blob([(x + 2.4 * t, y) for x, y in peak], _SHADE)


def _sailor(pen: Pen, who: Traits, t: float) -> None:
    _cap(pen, who, t)
    pen.oval(t * 2, -0.45, 0.055, 0.055, _BRASS)


def _beanie(pen: Pen, who: Traits, _: float) -> None:
    tone = who.hat_colour
    pen.blob([(-0.50, -0.2), (-0.50, -0.5), (-0.2, -0.76), (0.2, -0.76), (0.50, -0.5), (0.50, -0.2)], tone)
    cuff = [(-0.53, -0.14), (-0.53, -0.33), (0, -0.40), (0.53, -0.33), (0.53, -0.14), (0, -0.22)]
    pen.blob(cuff, lighter(tone, 0.16))
    pen.oval(0, -0.80, 0.12, 0.11, lighter(tone, 0.3))


def _brimmed(pen: Pen, who: Traits, high: float) -> None:
    tone = who.hat_colour
    crown = [(-0.36, -0.34), (-0.36, high + 0.06), (-0.2, high), (0.2, high), (0.36, high + 0.06), (0.36, -0.34)]
    pen.blob(crown, tone)
    pen.shape([(-0.37, -0.48), (0.37, -0.48), (0.37, -0.36), (-0.37, -0.36)], darker(tone, 0.35))
    pen.oval(0, -0.33, 0.60, 0.10, tone)


def _bowler(pen: Pen, who: Traits, _: float) -> None:
    _brimmed(pen, who, -0.82)


def _top(pen: Pen, who: Traits, _: float) -> None:
    _brimmed(pen, who, -1.15)


def _wide(pen: Pen, who: Traits, _: float) -> None:
    tone = who.hat_colour
    pen.blob([(-0.34, -0.34), (-0.32, -0.68), (0, -0.76), (0.32, -0.68), (0.34, -0.34)], tone)
    pen.shape([(-0.35, -0.46), (0.35, -0.46), (0.36, -0.36), (-0.36, -0.36)], darker(tone, 0.35))
    pen.oval(0, -0.32, 0.82, 0.15, lighter(tone, 0.08))


def _witch(pen: Pen, who: Traits, _: float) -> None:
    cone = [(-0.40, -0.32), (-0.24, -0.75), (0.05, -1.30), (0.22, -1.36), (0.16, -1.15), (0.28, -0.75), (0.40, -0.32)]
    pen.blob(cone, who.hat_colour)
    pen.oval(0, -0.32, 0.78, 0.13, who.hat_colour)
    pen.shape([(-0.37, -0.46), (0.36, -0.46), (0.39, -0.36), (-0.40, -0.36)], who.accent)


def _crown(pen: Pen, who: Traits, _: float) -> None:
    left = [(-0.42, -0.34), (-0.48, -0.70), (-0.26, -0.52), (0, -0.78)]
    pen.shape([*left, *[(-x, y) for x, y in reversed(left[:-1])]], _GOLD)
    for x in (-0.26, 0.0, 0.26):
        pen.oval(x, -0.43, 0.045, 0.05, rgb("#b8343c") if x else rgb("#3f6fb0"))


def _wrapped(pen: Pen, tone: tuple[int, int, int]) -> None:
    left = [(0, -0.68), (-0.34, -0.60), (-0.55, -0.2), (-0.50, 0.30), (-0.42, 0.0), (-0.30, -0.28), (0, -0.36)]
    pen.blob([*left, *[(-x, y) for x, y in reversed(left[1:-1])]], tone)


def _hood(pen: Pen, who: Traits, _: float) -> None:
    _wrapped(pen, who.top)


def _turban(pen: Pen, who: Traits, _: float) -> None:
    _wrapped(pen, who.hat_colour)


def _headscarf(pen: Pen, who: Traits, _: float) -> None:
    _wrapped(pen, who.hat_colour)
    knot = [(-0.45, 0.22), (0, 0.56), (0.45, 0.22), (0.30, 0.60), (0, 0.72), (-0.30, 0.60)]
    pen.blob(knot, darker(who.hat_colour, 0.1))


def _beret(pen: Pen, who: Traits, _: float) -> None:
    shape = [(-0.50, -0.34), (-0.62, -0.58), (-0.1, -0.76), (0.50, -0.62), (0.48, -0.34), (0, -0.44)]
    pen.blob(shape, who.hat_colour)
    pen.oval(-0.08, -0.77, 0.04, 0.05, who.hat_colour)


def _helmet(pen: Pen, _: Traits, __: float) -> None:
    left = [(-0.36, -0.2), (-0.52, 0.1), (-0.54, -0.3), (-0.3, -0.66)]
    pen.blob([*left, *[(-x, y) for x, y in reversed(left)]], _STEEL)
    pen.line([(0, -0.68), (0, -0.2)], 0.07, lighter(_STEEL, 0.4))


_HATS: dict[str, Callable[[Pen, Traits, float], None]] = {
    "cap": _cap, "sailor": _sailor, "beanie": _beanie, "bowler": _bowler, "top": _top, "wide": _wide, "witch": _witch,
    "crown": _crown, "hood": _hood, "turban": _turban, "headscarf": _headscarf, "beret": _beret, "helmet": _helmet,
}  # fmt: skip
