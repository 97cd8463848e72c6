"""Text in a picture: a paper card for narration, a speech bubble with a name tag, a plate for titles.

Everything lies inside the central 80 % of the picture, which survives any pan or zoom of 12 %. The paper is opaque
enough that ink on it has a contrast of at least 4.5 whatever lies behind (a test measures it).
"""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFilter

from animastor.workers.storyboard.colour import RGB, contrast, darker, mix, rgb
from animastor.workers.storyboard.geometry import Point
from animastor.workers.storyboard.lettering.fonts import drawable, face, is_rtl, runs_of, width_of
from animastor.workers.storyboard.lettering.wrapping import wrap

SAFE = 0.80  # the share of width and height that text may use, in the middle
PAPER, INK = rgb("#fbf3e2"), rgb("#2a2233")
NIGHT_PAPER, NIGHT_INK = rgb("#1d1d38"), rgb("#fbf0d8")
_LEADING = 1.34


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
    largest = {"title": 0.092, "chapter": 0.066}.get(role, 0.046 if width >= height else 0.05) * unit
    limit = height * (0.42 if title else 0.33)
    letters = max(8.0, largest)
    while True:
        points = round(letters)
        pad = points * (1.3 if title else 0.85)
        lines = wrap(shown, points, room - 2 * pad, bold=title)
        extra = points * 1.25 if byline else 0.0
        tall = len(lines) * points * _LEADING + 2 * pad * 0.72 + extra
        if tall <= limit or points <= max(7, 0.019 * unit):
            break
        letters *= 0.94
    widest = max(width_of(line, points, title) for line in lines) + 2 * pad
    tag = width_of(name, round(points * 0.8), bold=True) + points * 3 if name else 0.0
    box = _place(role, size, min(room, max(widest, tag, width * 0.22)), tall)
    return Card(role, box, tuple(lines), points, drawable(byline), drawable(name))


def _place(role: str, size: tuple[int, int], wide: float, tall: float) -> Box:
    width, height = size
    left = (width - wide) / 2
    top = height * 0.105 if role == "title" else height * (0.5 + SAFE / 2) - tall
    return Box(left, top, left + wide, top + tall)


def draw_card(
    image: Image.Image, card: Card, night: bool, mouth: Point | None = None, colour: RGB | None = None
) -> None:
    """Draw the paper, its tail towards the mouth, the name tag in the speaker's colour, and the text."""
    paper, ink = (NIGHT_PAPER, NIGHT_INK) if night else (PAPER, INK)
    if card.role in ("title", "chapter"):
        paper, ink = NIGHT_PAPER, NIGHT_INK
    _paper(image, card, paper, mouth)
    pen = ImageDraw.Draw(image)
    if card.role in ("title", "chapter"):
        _frame(pen, card, rgb("#d9b36a"))
    if card.name:
        _tag(image, card, colour or rgb("#7b5a8f"), mouth)
    _lines(pen, card, ink)


def _paper(image: Image.Image, card: Card, paper: RGB, mouth: Point | None) -> None:
    """The paper with a soft shadow, painted at twice the size for smooth edges."""
    pad = round(card.size * 1.2)
    high = card.box.top if mouth is None or card.role != "speech" else min(card.box.top, _tip(card, mouth)[1])
    area = (
        max(0, round(card.box.left) - pad), max(0, round(high) - pad),
        min(image.width, round(card.box.right) + pad), min(image.height, round(card.box.bottom) + pad),
    )  # fmt: skip
    stencil = Image.new("L", (2 * (area[2] - area[0]), 2 * (area[3] - area[1])), 0)
    pen = ImageDraw.Draw(stencil)

    def at(x: float, y: float) -> Point:
        return 2 * (x - area[0]), 2 * (y - area[1])

    radius = card.size * (1.1 if card.role == "speech" else 0.4)
    pen.rounded_rectangle(
        (*at(card.box.left, card.box.top), *at(card.box.right, card.box.bottom)), 2 * radius, fill=255
    )
    if mouth is not None and card.role == "speech":
        tip = _tip(card, mouth)
        foot = _tail_foot(card, mouth)
        pen.polygon(
            [at(foot - card.size * 0.75, card.box.top + 2), at(*tip), at(foot + card.size * 0.75, card.box.top + 2)],
            fill=255,
        )
    stencil = stencil.reduce(2)
    shadow = stencil.filter(ImageFilter.GaussianBlur(card.size * 0.28)).point(lambda v: v * 0.42)
    image.paste((14, 10, 28), (area[0], area[1] + round(card.size * 0.14)), shadow)
    edge = stencil.filter(ImageFilter.GaussianBlur(max(0.8, card.size / 40))).point(lambda v: min(255, v * 3))
    image.paste(_rim(paper), area[:2], edge.point(lambda v: v * 0.55))
    image.paste(paper, area[:2], stencil.point(lambda v: v * 0.95))


def _rim(paper: RGB) -> RGB:
    """A hair line round the paper, so that a dark bubble stands out at night."""
    return mix(paper, rgb("#fbf0d8"), 0.55) if contrast(paper, INK) < 3 else darker(paper, 0.35)


def _tail_foot(card: Card, mouth: Point) -> float:
    margin = card.size * 2.4
    return min(max(mouth[0], card.box.left + margin), card.box.right - margin)


def _tip(card: Card, mouth: Point) -> Point:
    """The end of the tail: towards the mouth, stopping short of the face, at most six letters long."""
    foot = _tail_foot(card, mouth)
    dx, dy = mouth[0] - foot, mouth[1] - card.box.top
    far = max(1.0, (dx * dx + dy * dy) ** 0.5)
    reach = max(card.size * 0.9, min(far - card.size * 1.2, card.size * 4.2))
    return foot + dx / far * reach, card.box.top + min(-card.size * 0.7, dy / far * reach)


def _tag(image: Image.Image, card: Card, colour: RGB, mouth: Point | None) -> None:
    """The speaker's name on a pill over the upper edge of the bubble, on the side away from the tail."""
    size = round(card.size * 0.82)
    wide, tall = width_of(card.name, size, bold=True) + size * 1.5, size * 1.62
    right_side = mouth is not None and mouth[0] < (card.box.left + card.box.right) / 2
    left = card.box.right - wide - card.size * 1.2 if right_side else card.box.left + card.size * 1.2
    top = card.box.top - tall * 0.62
    back = _readable(colour)
    scale = Image.new("L", (round(wide) * 2, round(tall) * 2), 0)
    ImageDraw.Draw(scale).rounded_rectangle((0, 0, scale.width - 1, scale.height - 1), tall, fill=255)
    image.paste(back, (round(left), round(top)), scale.reduce(2))
    _line(ImageDraw.Draw(image), card.name, (left + size * 0.75, top + tall * 0.5), size, rgb("#fffaf0"), bold=True)


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
    block = len(card.lines) * card.size * _LEADING
    y = (card.box.top + card.box.bottom - extra) / 2 - block / 2 + card.size * _LEADING / 2
    for line in card.lines:
        _line(pen, line, (middle - width_of(line, card.size, bold) / 2, y), card.size, ink, bold)
        y += card.size * _LEADING
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
