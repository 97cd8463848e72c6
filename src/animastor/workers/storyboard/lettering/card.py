"""Text in a picture: a paper card for narration, a speech bubble with a name tag, a plate for titles.

Where a speech bubble goes is decided in `bubble`, when it is known where faces and things are.

Everything lies inside the central 80 % of the picture, which survives any pan or zoom of 12 %. The paper is opaque
enough that ink on it has a contrast of at least 4.5 whatever lies behind (a test measures it).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFilter

from animastor.workers.storyboard.colour import RGB, contrast, darker, lighter, mix, rgb
from animastor.workers.storyboard.geometry import Point, Points
from animastor.workers.storyboard.lettering.fonts import drawable, face, is_rtl, runs_of, width_of
from animastor.workers.storyboard.lettering.wrapping import wrap

SAFE = 0.80  # the share of width and height that text may use, in the middle
PAPER, INK = rgb("#fbf3e2"), rgb("#2a2233")
NIGHT_PAPER, NIGHT_INK = rgb("#1d1d38"), rgb("#fbf0d8")
LEADING = 1.34
CAPTION = (0.64, SAFE)  # the widths of captions, as shares of the picture's: the same from picture to picture


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Card:
    """A text that has been laid out: where its paper is, its lines, and how it is to look."""

    role: str  # caption, speech, title, chapter
    box: Box
    lines: tuple[str, ...]
    size: int  # of the letters, pixels
    byline: str = ""
    name: str = ""  # on the tag of a speech bubble


def lay_out(text: str, role: str, size: tuple[int, int], name: str = "", byline: str = "") -> Card | None:
    """Choose the size of the letters and break the lines; None when nothing can be drawn."""
    shown = drawable(text)
    if not shown:
        return None
    title = role in ("title", "chapter")
    width, height = size
    unit = min(width, height)
    room = width * SAFE * (0.80 if title else 1.0)
    limit = height * (0.42 if title else 0.33)
    letters = letters_of(role, size)
    if role == "caption" and width >= height and broken(shown, round(letters), width * CAPTION[0]).count <= 2:
        room = width * CAPTION[0]
    while True:
        points = round(letters)
        fitted = broken(shown, points, room, title)
        extra = points * 1.25 if byline else 0.0
        if fitted.tall + extra <= limit or points <= max(7, 0.019 * unit):
            break
        letters *= 0.94
    tag = tag_width(drawable(name), points) + points * 2 if name else 0.0
    wide = room if role == "caption" else min(room, max(fitted.wide, tag, width * 0.22))
    box = _place(role, size, wide, fitted.tall + extra)
    return Card(role, box, fitted.lines, points, drawable(byline), drawable(name))


def letters_of(role: str, size: tuple[int, int]) -> float:
    """The height of the letters of a role, in pixels, when the text is not too long for them."""
    usual = 0.046 if size[0] >= size[1] else 0.05
    return max(8.0, {"title": 0.092, "chapter": 0.066}.get(role, usual) * min(size))


@dataclass(frozen=True, slots=True)
class Broken:
    """A text in lines, with the size that its paper needs, in pixels."""

    lines: tuple[str, ...]
    wide: float
    tall: float

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self.lines)


def broken(text: str, points: int, room: float, title: bool = False) -> Broken:
    """Break a text that has been made `drawable` into lines for a paper of at most `room` pixels."""
    pad = points * (1.3 if title else 0.85)
    lines = wrap(text, points, room - 2 * pad, bold=title)
    widest = max(width_of(line, points, title) for line in lines) + 2 * pad
    return Broken(tuple(lines), widest, len(lines) * points * LEADING + 2 * pad * 0.72)


def tag_width(name: str, points: int) -> float:
    """The width of a speaker's tag on a bubble of letters of this size."""
    size = round(points * 0.82)
    return width_of(name, size, bold=True) + size * 1.5


def _place(role: str, size: tuple[int, int], wide: float, tall: float) -> Box:
    width, height = size
    left = (width - wide) / 2
    top = height * 0.105 if role == "title" else height * (0.5 + SAFE / 2) - tall
    return Box(left, top, left + wide, top + tall)


def draw_card(
    image: Image.Image,
    card: Card,
    night: bool,
    mouth: Point | None = None,
    colour: RGB | None = None,
    face: float = 0.0,
) -> None:
    """Draw the paper, its tail towards the mouth, the name tag in the speaker's colour, and the text.

    `face` is the height of the speaker's head in pixels: the tail stops before it.
    """
    paper, ink = (NIGHT_PAPER, NIGHT_INK) if night else (PAPER, INK)
    if card.role in ("title", "chapter"):
        paper, ink = NIGHT_PAPER, NIGHT_INK
    tail = tail_of(card, mouth, face) if mouth is not None and card.role == "speech" else []
    _paper(image, card, paper, tail)
    pen = ImageDraw.Draw(image)
    if card.role in ("title", "chapter"):
        _frame(pen, card, rgb("#d9b36a"))
    if card.name:
        _tag(image, card, colour or rgb("#7b5a8f"), mouth, contrast(paper, INK) < 3)
    _lines(pen, card, ink)


def _paper(image: Image.Image, card: Card, paper: RGB, tail: Points) -> None:
    """The paper with a soft shadow, painted at twice the size for smooth edges."""
    pad = round(card.size * 1.2)
    xs, ys = [x for x, _ in tail], [y for _, y in tail]
    area = (
        max(0, round(min(card.box.left, *xs, card.box.left)) - pad),
        max(0, round(min(card.box.top, *ys, card.box.top)) - pad),
        min(image.width, round(max(card.box.right, *xs, card.box.right)) + pad),
        min(image.height, round(max(card.box.bottom, *ys, card.box.bottom)) + pad),
    )
    stencil = Image.new("L", (2 * (area[2] - area[0]), 2 * (area[3] - area[1])), 0)
    pen = ImageDraw.Draw(stencil)

    def at(x: float, y: float) -> Point:
        return 2 * (x - area[0]), 2 * (y - area[1])

    radius = card.size * (1.1 if card.role == "speech" else 0.4)
    pen.rounded_rectangle(
        (*at(card.box.left, card.box.top), *at(card.box.right, card.box.bottom)), 2 * radius, fill=255
    )
    if tail:
        pen.polygon([at(*point) for point in tail], fill=255)
    stencil = stencil.reduce(2)
    shadow = stencil.filter(ImageFilter.GaussianBlur(card.size * 0.28)).point(lambda v: v * 0.42)
    image.paste((14, 10, 28), (area[0], area[1] + round(card.size * 0.14)), shadow)
    edge = stencil.filter(ImageFilter.GaussianBlur(max(0.8, card.size / 40))).point(lambda v: min(255, v * 3))
    image.paste(_rim(paper), area[:2], edge.point(lambda v: v * 0.55))
    image.paste(paper, area[:2], stencil.point(lambda v: v * 0.95))


def _rim(paper: RGB) -> RGB:
    """A hair line round the paper, so that a dark bubble stands out at night."""
    return mix(paper, rgb("#fbf0d8"), 0.55) if contrast(paper, INK) < 3 else darker(paper, 0.35)


def tail_of(card: Card, mouth: Point, face: float) -> list[Point]:
    """The outline of the tail: short and curved, straight on at the mouth, ending before the face.

    It leaves the paper at right angles where that is nearest to the mouth. A mouth too near has no tail.
    """
    base, out = _tail_foot(card, mouth)
    away = math.hypot(mouth[0] - base[0], mouth[1] - base[1])
    rise = min(away * 0.4, card.size * 1.1)
    bend = base[0] + out[0] * rise, base[1] + out[1] * rise
    dx, dy = mouth[0] - bend[0], mouth[1] - bend[1]
    far = max(1e-6, math.hypot(dx, dy))
    gap = max(card.size * 0.5, 0.36 * face, _through_face(-dx / far, -dy / far) * face)
    length = min(far - gap, card.size * 3.6)
    if length < card.size * 0.25:
        return []
    tip = bend[0] + dx / far * length, bend[1] + dy / far * length
    return _horn(base, bend, tip, (-out[1], out[0]), card.size * 0.55)


def _through_face(dx: float, dy: float) -> float:
    """How far it is from the mouth to the outline of the head in a direction, in heads: least down and sideways."""
    rise, wide, tall = 0.36, 0.50, 0.62  # of the outline's middle above the mouth; half its width and height
    a = (dx / wide) ** 2 + (dy / tall) ** 2
    b = 2 * dy * rise / tall**2
    c = (rise / tall) ** 2 - 1
    return (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)


def _horn(base: Point, bend: Point, tip: Point, across: Point, half: float) -> list[Point]:
    """A curved horn from `base` by way of `bend` to its `tip`, `half` wide on either side at its foot."""
    sides: list[list[Point]] = [[], []]
    inward = -across[1] * half, across[0] * half  # the foot lies inside the paper
    for k in range(11):
        t = k / 10
        x, y = ((1 - t) ** 2 * (base[i] + inward[i]) + 2 * t * (1 - t) * bend[i] + t * t * tip[i] for i in (0, 1))
        wide = half * (1 - t)
        for side, way in zip(sides, (1, -1), strict=True):
            side.append((x + way * across[0] * wide, y + way * across[1] * wide))
    return [*sides[0], *reversed(sides[1])]


def _tail_foot(card: Card, mouth: Point) -> tuple[Point, Point]:
    """Where the tail leaves the paper, and the direction straight out from there."""
    box = card.box
    beside, under = card.size * 1.1, card.size * 1.8

    def within(value: float, low: float, high: float, margin: float) -> float:
        return (low + high) / 2 if high - low < 2 * margin else min(max(value, low + margin), high - margin)

    aside = max(box.left - mouth[0], mouth[0] - box.right)
    if aside > 0 and aside >= max(box.top - mouth[1], mouth[1] - box.bottom) * 0.6:
        way = -1.0 if mouth[0] < box.left else 1.0
        lower = mouth[1] + card.size * 0.8  # a little below the mouth, so that the tail curls up to it
        return (box.left if way < 0 else box.right, within(lower, box.top, box.bottom, beside)), (way, 0.0)
    way = -1.0 if mouth[1] < (box.top + box.bottom) / 2 else 1.0
    return (within(mouth[0], box.left, box.right, under), box.top if way < 0 else box.bottom), (0.0, way)


def _tag(image: Image.Image, card: Card, colour: RGB, mouth: Point | None, night: bool) -> None:
    """The speaker's name on a pill over the upper edge of the bubble, at the speaker's side."""
    size = round(card.size * 0.82)
    wide, tall = tag_width(card.name, card.size), size * 1.62
    right_side = mouth is not None and mouth[0] > (card.box.left + card.box.right) / 2
    left = card.box.right - wide - card.size * 0.7 if right_side else card.box.left + card.size * 0.7
    top = card.box.top - tall * 0.62
    back, ink = _tag_colours(colour, night)
    scale = Image.new("L", (round(wide) * 2, round(tall) * 2), 0)
    pen = ImageDraw.Draw(scale)
    pen.rounded_rectangle((0, 0, scale.width - 1, scale.height - 1), tall, fill=255)
    image.paste(NIGHT_PAPER if night else PAPER, (round(left), round(top)), scale.reduce(2))
    edge = max(2, size // 7)
    pen.rectangle((0, 0, *scale.size), fill=0)
    pen.rounded_rectangle((edge, edge, scale.width - 1 - edge, scale.height - 1 - edge), tall, fill=255)
    image.paste(back, (round(left), round(top)), scale.reduce(2))
    _line(ImageDraw.Draw(image), card.name, (left + size * 0.75, top + tall * 0.5), size, ink, bold=True)


def _tag_colours(colour: RGB, night: bool) -> tuple[RGB, RGB]:
    """Pill and letters: dark with white letters on pale paper, pale with dark letters on the dark paper of the night.

    So the pill always stands out from its bubble, and its letters from the pill (contrast 4.6).
    """
    if not night:
        return _readable(colour), rgb("#fffaf0")
    back = colour
    while contrast(back, INK) < 4.8:
        back = lighter(back, 0.08)
    return back, INK


def _readable(colour: RGB) -> RGB:
    """The colour, darkened until white letters on it have a contrast of 4.6."""
    back = colour
    while contrast(back, rgb("#fffaf0")) < 4.6:
        back = darker(back, 0.08)
    return back


def _frame(pen: ImageDraw.ImageDraw, card: Card, gold: RGB) -> None:
    """A double line with small diamonds, as on a book's cover."""
    for inset, width in ((0.34, max(1, card.size // 22)), (0.52, max(1, card.size // 40))):
        d = card.size * inset
        box = (card.box.left + d, card.box.top + d, card.box.right - d, card.box.bottom - d)
        pen.rounded_rectangle(box, card.size * 0.2, outline=gold, width=width)
    r = card.size * 0.13
    for x in (card.box.left + card.size * 0.43, card.box.right - card.size * 0.43):
        y = (card.box.top + card.box.bottom) / 2
        pen.polygon([(x - r, y), (x, y - r * 1.6), (x + r, y), (x, y + r * 1.6)], fill=gold)


def _lines(pen: ImageDraw.ImageDraw, card: Card, ink: RGB) -> None:
    bold = card.role in ("title", "chapter")
    middle = (card.box.left + card.box.right) / 2
    extra = card.size * 1.25 if card.byline else 0.0
    block = len(card.lines) * card.size * LEADING
    y = (card.box.top + card.box.bottom - extra) / 2 - block / 2 + card.size * LEADING / 2
    for line in card.lines:
        _line(pen, line, (middle - width_of(line, card.size, bold) / 2, y), card.size, ink, bold)
        y += card.size * LEADING
    if card.byline:
        size = max(8, round(card.size * 0.44))
        at = (middle - width_of(card.byline, size) / 2, card.box.bottom - card.size * 1.28)
        _line(pen, card.byline, at, size, mix(ink, rgb("#d9b36a"), 0.35))


def _line(pen: ImageDraw.ImageDraw, text: str, at: Point, size: int, ink: RGB, bold: bool = False) -> None:
    """One line, from its left end, its middle at the given height; pieces of another direction in their order."""
    x, y = at
    runs = runs_of(text)
    for run in reversed(runs) if is_rtl(text) else runs:
        font = face(run.font, size, bold)
        direction = "rtl" if run.rtl else "ltr"
        base = y + size * 0.34
        pen.text((x, base), run.text, font=font, fill=ink, anchor="ls", direction=direction)
        x += font.getlength(run.text, direction=direction)
