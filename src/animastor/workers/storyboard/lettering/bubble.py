"""Where a speech bubble goes: beside the head of the one who speaks, clear of faces and things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from animastor.workers.storyboard.geometry import Point
from animastor.workers.storyboard.lettering.card import SAFE, Box, Broken, Card, broken, letters_of, tag_width, tail_of
from animastor.workers.storyboard.lettering.fonts import drawable

_WIDTHS = (0.24, 0.32, 0.42, 0.56, SAFE)  # that are tried, as shares of the picture's width
_SHRINK = 0.9


@dataclass(frozen=True, slots=True)
class Speaker:
    """The one who speaks, in pixels: where the mouth is, and how high the head."""

    mouth: Point
    face: float


def bubble(
    text: str, size: tuple[int, int], name: str, speaker: Speaker | None, subjects: Sequence[Box]
) -> Card | None:
    """A speech bubble laid out where it covers the least of the `subjects`; None when nothing can be drawn.

    Letters are made smaller only when no place is free for them as they are.
    """
    shown, tag = drawable(text), drawable(name)
    if not shown:
        return None
    letters, least = letters_of("speech", size), max(7.0, 0.022 * min(size))
    best: tuple[float, Card] | None = None
    penalty = 0.0
    while best is None or (best[0] >= _COVERED and letters * _SHRINK >= least):
        points = round(letters)
        for cost, card in _cards(shown, tag, points, size, speaker, subjects):
            if best is None or cost + penalty < best[0]:
                best = cost + penalty, card
        letters, penalty = letters * _SHRINK, penalty + 1.0
    return best[1]


_COVERED = 40.0  # the cost of covering anything


def _cards(
    text: str, tag: str, points: int, size: tuple[int, int], speaker: Speaker | None, subjects: Sequence[Box]
) -> Iterator[tuple[float, Card]]:
    """Every way to lay the bubble out with letters of this size, and what it costs."""
    least = tag_width(tag, points) + points * 1.4 if tag else points * 4.0
    seen: set[tuple[str, ...]] = set()
    for share in _WIDTHS:
        lines = broken(text, points, max(size[0] * share, min(least, size[0] * SAFE)))
        if lines.lines in seen:
            continue
        seen.add(lines.lines)
        wide = min(size[0] * SAFE, max(lines.wide, least))
        head = points * 0.85 if tag else 0.0
        for box in _places(wide, lines, size, speaker, head):
            card = Card("speech", box, lines.lines, points, "", tag)
            cost = _cost(box, lines, points, size, speaker, subjects, head)
            if speaker and not tail_of(card, speaker.mouth, speaker.face):
                cost += 3.0  # too near for a tail: nobody is seen to say it
            yield cost, card


def _places(wide: float, lines: Broken, size: tuple[int, int], speaker: Speaker | None, head: float) -> Iterator[Box]:
    """Beside the head at several heights, above it, and at the upper and lower edge; all within the safe part."""
    width, height = size
    left, top = width * (1 - SAFE) / 2, height * (1 - SAFE) / 2 + head
    right, low = width - left - wide, height * (1 + SAFE) / 2 - lines.tall

    def box(x: float, y: float) -> Box:
        x, y = min(max(x, left), max(left, right)), max(min(y, low), top)
        return Box(x, y, x + wide, y + lines.tall)

    yield from (box(x, y) for y in (low, top) for x in ((left + right) / 2, left, right))
    if speaker:
        (x, y), face = speaker.mouth, speaker.face
        for lift in (-1.6, -0.9, -0.4, 0.1, 0.7):
            yield box(x + 0.85 * face, y + lift * face - lines.tall / 2)
            yield box(x - 0.85 * face - wide, y + lift * face - lines.tall / 2)
        for aside in (-1.0, -0.75, -0.25, 0.0):
            yield box(x + aside * wide, y - 1.4 * face - lines.tall)


def _cost(
    box: Box,
    lines: Broken,
    points: int,
    size: tuple[int, int],
    speaker: Speaker | None,
    subjects: Sequence[Box],
    head: float,
) -> float:
    """What is covered weighs most, then how far the mouth is, then many or very wide lines."""
    taken = Box(box.left - points * 0.3, box.top - head - points * 0.2, box.right + points * 0.3, box.bottom)
    covered = sum(_overlap(taken, subject) for subject in subjects) / points**2
    cost = (_COVERED + 4 * covered if covered > 0 else 0.0) + 0.35 * lines.count + 1.5 * lines.wide / size[0]
    if lines.tall > size[1] * 0.45:
        cost += _COVERED
    if speaker:
        (x, y), face = speaker.mouth, max(speaker.face, points)
        dx, dy = max(box.left - x, x - box.right, 0.0), max(box.top - y, y - box.bottom, 0.0)
        cost += 1.6 * (dx + dy) / face
        # Speech from below the chin looks like a collar, and the tail would cross the chest.
        cost += 4.0 if box.top > y + 0.3 * face else 0.0
    return cost


def _overlap(a: Box, b: Box) -> float:
    wide, tall = min(a.right, b.right) - max(a.left, b.left), min(a.bottom, b.bottom) - max(a.top, b.top)
    return max(0.0, wide) * max(0.0, tall)
