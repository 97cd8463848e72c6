"""Garments of people, from the shoulders to the hem, with their details and wraps. Measures as in `body`."""

from __future__ import annotations

from collections.abc import Callable

from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.colour import RGB, darker, lighter, rgb, veiled
from animastor.workers.storyboard.figures.joints import Frame
from animastor.workers.storyboard.figures.pose import Pose
from animastor.workers.storyboard.figures.traits import Traits

LINEN = rgb("#f1ebdd")


def draw_garment(canvas: Canvas, who: Traits, pose: Pose, frame: Frame) -> None:
    """The main piece, from the shoulders to its hem."""
    s, w, h = frame.shoulder, frame.waist, frame.half
    waist = h * (0.78 if who.feminine and who.age != "child" else 0.94)
    low, flare = {
        "dress": (-0.30, h * 1.45),
        "robe": (-0.10, h * 1.35),
        "coat": (frame.hem, h * 1.22),
        "jersey": (frame.hip + 0.14, h * 0.90),
        "shirt": (frame.hip + 0.08, h * 0.86),
        "suit": (frame.hip + 0.24, h * 0.98),
    }.get(who.garment, (frame.hem, h))
    if pose.stance in ("kneel", "sit"):
        low = min(low, -0.12) if who.garment in ("dress", "robe") else max(low, frame.hip + 0.2)
        low = min(low, -0.06)
    x = frame.lean * 0.6
    left = [
        (x - 0.18, s - 0.10),
        (x - h * 0.80, s + 0.02),
        (-h, s + 0.24),
        (-waist, w),
        (-(waist + flare) / 2, (w + low) / 2),
        (-flare, low),
    ]
    right = [(-px + 2 * x * (py < w), py) for px, py in reversed(left)]
    middle = [(-flare * 0.4, low + 0.06), (flare * 0.4, low + 0.06)]
    canvas.blob([*left, *middle, *right, (x, s - 0.04)], who.top)
    away = -1 if pose.turn >= 0 else 1
    shade = [
        (away * h, s + 0.25),
        (away * waist, w),
        (away * flare, low),
        (away * flare * 0.35, low + 0.02),
        (away * waist * 0.5, w),
        (away * h * 0.62, s + 0.2),
    ]
    canvas.blob(shade, veiled(darker(who.top, 0.5), 0.34))
    if who.stripes:
        for k in range(6):
            y = s + 0.30 + 0.22 * k
            if y < low - 0.05:
                canvas.stroke([(-waist * 0.98, y), (0, y + 0.05), (waist * 0.98, y)], 0.075, veiled(who.stripes, 0.9))
    _folds(canvas, who, w, low, flare)


def _folds(canvas: Canvas, who: Traits, waist: float, low: float, flare: float) -> None:
    dark, light = veiled(darker(who.top, 0.55), 0.30), veiled(lighter(who.top, 0.5), 0.26)
    for k, paint in ((-0.62, dark), (-0.28, light), (0.12, dark), (0.45, light), (0.70, dark)):
        canvas.stroke(
            [(k * flare * 0.7, waist + (low - waist) * 0.35), (k * flare, low - 0.03)], 0.02, paint, 0.05, curved=False
        )


def draw_details(canvas: Canvas, who: Traits, pose: Pose, frame: Frame) -> None:
    """Buttons, ties, belts, collar, apron: what is seen of a garment from the front."""
    if pose.back:
        return
    t = pose.turn * 0.16
    detail = _DETAILS.get(who.garment)
    if detail:
        detail(canvas, who, frame, t)
    if who.collar:
        _collar(canvas, who.collar, frame.shoulder, t)
    if who.apron:
        _apron(canvas, frame, t)


def _coat(canvas: Canvas, who: Traits, frame: Frame, t: float) -> None:
    s, low, dark = frame.shoulder, frame.hem, darker(who.top, 0.38)
    canvas.stroke([(t, s + 0.1), (t * 1.2, low)], 0.03, dark, curved=False)
    for k in range(3):
        canvas.oval(t + 0.10, s + 0.42 + 0.42 * k, 0.055, 0.055, lighter(who.top, 0.55))
    for side in (-1, 1):
        canvas.stroke([(side * 0.30 + t, low - 0.46), (side * 0.50 + t, low - 0.50)], 0.05, dark, curved=False)


def _suit(canvas: Canvas, who: Traits, frame: Frame, t: float) -> None:
    s, lapel = frame.shoulder, lighter(who.top, 0.12)
    canvas.shape([(t - 0.2, s - 0.02), (t, frame.waist + 0.1), (t + 0.2, s - 0.02)], LINEN)
    tie = [(-0.05, 0.05), (0.05, 0.05), (0.07, 0.5), (0.0, 0.62), (-0.07, 0.5)]
    canvas.shape([(t + x, s + y) for x, y in tie], who.accent)
    for side in (-1, 1):
        edge = [(t + side * 0.20, s - 0.04), (t, frame.waist + 0.12), (t + side * 0.40, s + 0.25)]
        canvas.shape(edge, lapel)


def _shirt(canvas: Canvas, who: Traits, frame: Frame, t: float) -> None:
    s, half = frame.shoulder, frame.half
    canvas.stroke([(t, s + 0.08), (t, frame.hip)], 0.022, darker(who.top, 0.38), curved=False)
    for side in (-1, 1):
        brace = [(side * half * 0.55, s), (side * half * 0.5, frame.hip)]
        canvas.stroke(brace, 0.10, darker(who.bottom, 0.1), curved=False)


def _jersey(canvas: Canvas, who: Traits, frame: Frame, t: float) -> None:
    s, edge, y = frame.shoulder, frame.half * 0.84, frame.hip
    canvas.stroke([(-0.24, s - 0.02), (t * 0.3, s + 0.10), (0.24, s - 0.02)], 0.13, lighter(who.top, 0.14))
    canvas.stroke([(-edge, y + 0.06), (0, y + 0.12), (edge, y + 0.06)], 0.10, lighter(who.top, 0.12))


def _belted(canvas: Canvas, who: Traits, frame: Frame, t: float) -> None:
    edge, y = frame.half * 0.74, frame.waist
    tone = who.accent if who.garment == "robe" else darker(who.top, 0.25)
    canvas.stroke([(-edge, y + 0.06), (t, y + 0.12), (edge, y + 0.06)], 0.11, tone)


_DETAILS: dict[str, Callable[[Canvas, Traits, Frame, float], None]] = {
    "coat": _coat,
    "suit": _suit,
    "shirt": _shirt,
    "jersey": _jersey,
    "dress": _belted,
    "robe": _belted,
}


def _collar(canvas: Canvas, tone: RGB, s: float, t: float) -> None:
    for side in (-1, 1):
        flap = [(0.0, 0.02), (0.30, -0.10), (0.40, 0.08), (0.16, 0.22)]
        canvas.blob([(t + side * x, s + y) for x, y in flap], tone)


def _apron(canvas: Canvas, frame: Frame, t: float) -> None:
    s, middle, low = frame.shoulder + 0.35, frame.waist + 0.25, frame.hem + 0.1
    outline = [(0.26, s), (0.50, middle), (0.56, low), (-0.56, low), (-0.50, middle), (-0.26, s)]
    canvas.blob([(x + t, y) for x, y in outline], LINEN)


def draw_wraps(canvas: Canvas, who: Traits, frame: Frame, pose: Pose) -> None:
    """Shawl and scarf, over everything but the head."""
    if who.shawl:
        _shawl(canvas, who.shawl, frame)
    if who.scarf:
        _scarf(canvas, who.scarf, frame, pose)


def _shawl(canvas: Canvas, tone: RGB, frame: Frame) -> None:
    s, h, x = frame.shoulder, frame.half, frame.lean * 0.6
    right = [(h * 0.62, s + 0.86), (h * 1.22, s + 0.72), (h * 1.08, s + 0.16), (x + 0.20, s - 0.14)]
    left = [(x - 0.20, s - 0.14), (-h * 1.08, s + 0.16), (-h * 1.22, s + 0.72), (-h * 0.62, s + 0.86)]
    canvas.blob([*left, (x, s + 1.12), *right, (x, s - 0.02)], tone)
    edge = [(-h * 1.2, s + 0.72), (-h * 0.62, s + 0.88), (x, s + 1.12), (h * 0.62, s + 0.88), (h * 1.2, s + 0.72)]
    canvas.stroke(edge, 0.055, lighter(tone, 0.3))
    for k in range(13):
        px = -h * 1.15 + k * h * 2.3 / 12
        py = s + 0.74 + 0.36 * (1 - abs(px) / (h * 1.2))
        canvas.stroke([(px, py), (px, py + 0.14)], 0.028, lighter(tone, 0.18), 0.012, curved=False)
    canvas.stroke([(x - 0.18, s - 0.08), (x + 0.02, s + 0.42), (x + 0.12, s + 0.86)], 0.05, darker(tone, 0.28), 0.02)


def _scarf(canvas: Canvas, tone: RGB, frame: Frame, pose: Pose) -> None:
    s, x = frame.shoulder, frame.lean * 0.6
    ring = [(-0.34, -0.20), (-0.40, 0.02), (0.0, 0.20), (0.40, 0.02), (0.34, -0.20), (0.0, -0.08)]
    canvas.blob([(x + dx, s + dy) for dx, dy in ring], tone)
    canvas.stroke([(x - 0.32, s - 0.06), (x, s + 0.07), (x + 0.32, s - 0.06)], 0.03, darker(tone, 0.25))
    side = 1 if pose.turn < 0 else -1
    tail = [(x + side * 0.18, s + 0.04), (x + side * 0.26, s + 0.40), (x + side * 0.22, s + 0.78)]
    canvas.stroke(tail, 0.22, darker(tone, 0.08), 0.24)
    for fringe in (-0.08, 0.0, 0.08):
        at = tail[2][0] + fringe
        canvas.stroke([(at, tail[2][1]), (at, tail[2][1] + 0.13)], 0.035, tone, 0.02, curved=False)
