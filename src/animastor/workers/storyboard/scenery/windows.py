"""Windows seen from inside: a small view of the sky, with its weather."""

from __future__ import annotations

from animastor.workers.storyboard.colour import RGB, darker, lighter, mix, rgb, veiled
from animastor.workers.storyboard.geometry import arc, oval
from animastor.workers.storyboard.sky import Scene

WOOD = rgb("#7a5238")


def _pane_sky(scene: Scene, points: list[tuple[float, float]]) -> None:
    """The sky in a pane: the gradient, and stars, a moon, snow, rain or fog."""
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    canvas.shaded(points, light.sky[0], light.sky[2])
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, right, top, low = min(xs), max(xs), min(ys), max(ys)
    w, h = right - left, low - top
    if light.weather == "fog":
        for k in range(4):
            tone = lighter(light.haze, 0.12)
            canvas.oval(
                left + w * rng.uniform(0.3, 0.7), top + h * (0.3 + 0.17 * k), w * 0.30, h * 0.07, veiled(tone, 0.4)
            )
        return
    for _ in range(int(16 * light.stars)):
        x, y = left + w * rng.uniform(0.15, 0.85), top + h * rng.uniform(0.12, 0.7)
        canvas.oval(x, y, 0.0022, 0.0022, rgb("#fff6dc"))
    if light.disc:
        canvas.oval(
            left + w * 0.66,
            top + h * (0.34 if light.height > 0.3 else 0.62),
            w * 0.13,
            w * 0.13,
            lighter(light.key, 0.4),
        )
    for _ in range(22 if light.weather in ("rain", "storm", "snow") else 0):
        x, y = left + w * rng.uniform(0.12, 0.88), top + h * rng.uniform(0.12, 0.82)
        if light.weather == "snow":
            canvas.oval(x, y, 0.004, 0.004, rgb("#ffffff"))
        else:
            canvas.stroke([(x, y), (x - 0.006, y + 0.03)], 0.0025, veiled(rgb("#dfeaf2"), 0.7), curved=False)


def round_window(scene: Scene, x: float, y: float, r: float) -> None:
    """A round window with a cross."""
    canvas, wood = scene.canvas, scene.light.seen(WOOD)
    canvas.oval(x, y, r * 1.2, r * 1.2, wood)
    canvas.oval(x, y + r * 0.03, r * 1.06, r * 1.06, darker(wood, 0.3))
    _pane_sky(scene, oval(x, y, r, r))
    canvas.box(x - r * 0.05, y - r, x + r * 0.05, y + r, wood)
    canvas.box(x - r, y - r * 0.05, x + r, y + r * 0.05, wood)
    canvas.stroke(arc(x, y, r * 1.16, r * 1.16, 0.5, 0.85), r * 0.05, lighter(wood, 0.25))
    canvas.box(x - r * 1.3, y + r * 1.08, x + r * 1.3, y + r * 1.24, lighter(wood, 0.1))


def lattice(
    scene: Scene, left: float, top: float, w: float, h: float, curtains: RGB | None = None, arched: bool = False
) -> None:
    """A window of six panes; arched, or with curtains."""
    canvas, wood = scene.canvas, scene.light.seen(mix(WOOD, rgb("#efe5d0"), 0.0 if curtains else 0.15))
    rim = 0.014
    points = [(left, top + h), (left, top), (left + w, top), (left + w, top + h)]
    outer = [
        (left - rim, top + h + rim),
        (left - rim, top - rim),
        (left + w + rim, top - rim),
        (left + w + rim, top + h + rim),
    ]
    if arched:
        bow = arc(left + w / 2, top, w / 2, w * 0.55, 0.5, 1.0, 20)
        points = [(left, top + h), *bow, (left + w, top + h)]
        outer = [
            (left - rim, top + h + rim),
            *arc(left + w / 2, top, w / 2 + rim, w * 0.55 + rim, 0.5, 1.0, 20),
            (left + w + rim, top + h + rim),
        ]
    canvas.shape(outer, wood)
    _pane_sky(scene, points)
    for share in (1 / 3, 2 / 3):
        canvas.box(left + w * share - 0.004, top - (w * 0.4 if arched else 0), left + w * share + 0.004, top + h, wood)
    for share in (0.33, 0.66):
        canvas.box(left, top + h * share - 0.004, left + w, top + h * share + 0.004, wood)
    canvas.box(left - 0.03, top + h + rim, left + w + 0.03, top + h + rim + 0.018, lighter(wood, 0.15))
    if curtains:
        _curtains(scene, left, top, w, h, curtains)


def _curtains(scene: Scene, left: float, top: float, w: float, h: float, colour: RGB) -> None:
    canvas, cloth = scene.canvas, scene.light.seen(colour)
    canvas.stroke(
        [(left - 0.09, top - 0.035), (left + w + 0.09, top - 0.035)],
        0.013,
        scene.light.seen(rgb("#c9a347")),
        curved=False,
    )
    for side in (-1, 1):
        edge = left - 0.07 if side < 0 else left + w + 0.07
        inner = edge - side * 0.12
        low = top + h + 0.06
        drape = [
            (edge, top - 0.03),
            (inner, top - 0.03),
            (inner - side * -0.01, top + h * 0.45),
            (edge - side * 0.035, top + h * 0.66),
            (edge - side * 0.075, low),
            (edge, low),
        ]
        canvas.blob(drape, cloth)
        for k in range(3):
            x = edge - side * (0.02 + 0.028 * k)
            canvas.stroke(
                [(x, top - 0.02), (x, top + h * 0.5), (edge - side * 0.02, top + h * 0.68), (x, low - 0.01)],
                0.006,
                veiled(darker(cloth, 0.45), 0.6),
            )
