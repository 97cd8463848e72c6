"""Text and picture together: faces and named things stay clear of the text, bubbles point at who speaks."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest

from animastor.workers.storyboard.board import Board, board_of
from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.cast import Drawn
from animastor.workers.storyboard.compose import Composition, composed
from animastor.workers.storyboard.lettering.card import Box, Card, lay_out, tail_of
from animastor.workers.storyboard.lettering.wrapping import wrap
from animastor.workers.storyboard.sky import Upright
from animastor.workers.storyboard.staging import Stage, framing_of, place, size_of
from animastor.workers.storyboard.thread import anchors, hang

SIZE = (320, 180)
CAPTION = "It was told on two lines of text, and everything that it told of was there to be seen."


def person(name: str, looks: str, speaking: bool = False) -> dict[str, Any]:
    known = {"id": name.casefold(), "name": name, "appearance": looks, "clothes": ""}
    return {**known, "anchor": None, "speaking": speaking}


def board(wish: str, shot: str, *people: dict[str, Any], place: str = "a harbour", **changes: Any) -> Board:
    return board_of({
        "subject": wish, "place": {"id": "p", "description": place, "cinematic_space": None},
        "environment": {"time": "day"}, "people": list(people), "shot": shot, "size": list(SIZE), "seed": 5,
        "text": CAPTION, "lettering": "caption", **changes,
    })  # fmt: skip


ADA, BEN, TOM = "a small girl", "a tall man with a cap", "a grey cat"
TOLD = [
    ("Ada holds a paper boat", [("Ada", ADA)]),
    ("Ben knitting", [("Ben", BEN)]),
    ("Ada thinking beside a basket of wool", [("Ada", ADA)]),
    ("Ada holding a lantern, Ben holding a book", [("Ada", ADA), ("Ben", BEN)]),
    ("Tom leaps at the wool", [("Tom", TOM)]),
    ("Tom asleep in a basket", [("Tom", TOM)]),
    ("Ada kneels with a candle", [("Ada", ADA)]),
    ("Ben sits with a book", [("Ben", BEN)]),
    ("a cup on the table", []),
    ("a paper boat on the water", []),
]


def overlap(a: Box, b: Box) -> float:
    wide, tall = min(a.right, b.right) - max(a.left, b.left), min(a.bottom, b.bottom) - max(a.top, b.top)
    return max(0.0, wide) * max(0.0, tall)


def covered(made: Composition) -> float:
    """The largest share of a face or a thing that the text covers."""
    assert made.card
    box = made.card.box
    return max(overlap(box, one) / max(1.0, (one.right - one.left) * (one.bottom - one.top)) for one in made.subjects)


@pytest.mark.parametrize(
    ("shot", "role"), [("wide", "caption"), ("medium", "caption"), ("close-up", "caption"), ("wide", "title")]
)
@pytest.mark.parametrize(("wish", "people"), TOLD)
def test_faces_and_named_things_are_clear_of_the_panel(
    wish: str, people: list[tuple[str, str]], shot: str, role: str
) -> None:
    shown = board(wish, "detail" if not people else shot, *(person(*one) for one in people), lettering=role)
    made = composed(shown)
    if made.subjects:
        assert covered(made) < 0.06


SPEAKING = [
    ("close-up", [("Ada", ADA)]),
    ("medium", [("Ben", BEN)]),
    ("medium", [("Ben", BEN), ("Ada", ADA)]),
    ("wide", [("Ada", ADA), ("Ben", BEN), ("Tom", TOM)]),
    ("two-shot", [("Ada", ADA), ("Ben", BEN)]),
    ("over-the-shoulder", [("Ada", ADA), ("Ben", BEN)]),
]


def spoken(shot: str, people: list[tuple[str, str]], text: str, size: tuple[int, int], seed: int = 5) -> Composition:
    shown = (person(name, looks, speaking=k == 0) for k, (name, looks) in enumerate(people))
    return composed(board("they talk", shot, *shown, text=text, lettering="speech", size=list(size), seed=seed))


@pytest.mark.parametrize("size", [(320, 180), (180, 320)])
@pytest.mark.parametrize("text", ["Who is it?", "Not for all the tea in China would I have gone out there alone."])
@pytest.mark.parametrize(("shot", "people"), SPEAKING)
def test_the_tail_of_a_bubble_points_at_the_mouth_of_the_one_who_speaks(
    shot: str, people: list[tuple[str, str]], text: str, size: tuple[int, int]
) -> None:
    made, unit = spoken(shot, people, text, size), min(size)
    assert made.card
    speaker = next(one for one in made.drawn if one.speaking)
    tail = _tail(made.card, speaker, unit)
    if tail:
        tip, inner = tail
        for one in made.drawn:
            away = _aside(inner, tip, (one.mouth[0] * unit, one.mouth[1] * unit))
            assert away >= 0.3 * speaker.head * unit or one is speaker
        assert _aside(inner, tip, (speaker.mouth[0] * unit, speaker.mouth[1] * unit)) < 0.2 * speaker.head * unit
        apart = math.dist(tip, (speaker.mouth[0] * unit, speaker.mouth[1] * unit))
        assert apart >= 0.3 * speaker.head * unit, "the tail ends before the face"


def _tail(card: Card, speaker: Drawn, unit: int) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """The tip of the tail, and the middle between its sides a little before."""
    outline = tail_of(card, (speaker.mouth[0] * unit, speaker.mouth[1] * unit), speaker.head * unit)
    if not outline:
        return None
    half = len(outline) // 2
    before = outline[half - 2], outline[half + 1]
    middle = (before[0][0] + before[1][0]) / 2, (before[0][1] + before[1][1]) / 2
    return outline[half], middle


def _aside(start: tuple[float, float], tip: tuple[float, float], point: tuple[float, float]) -> float:
    """How far a point lies off the ray from start through tip; as far as it lies behind, if it does."""
    dx, dy = tip[0] - start[0], tip[1] - start[1]
    far = max(1e-9, math.hypot(dx, dy))
    along = ((point[0] - start[0]) * dx + (point[1] - start[1]) * dy) / far
    if along < 0:
        return math.dist(start, point)
    return abs((point[0] - start[0]) * dy - (point[1] - start[1]) * dx) / far


@pytest.mark.parametrize(("shot", "people"), SPEAKING)
def test_a_bubble_covers_no_face(shot: str, people: list[tuple[str, str]]) -> None:
    assert covered(spoken(shot, people, "Who is it, and what do they want here?", SIZE)) < 0.02


def test_captions_have_one_width_and_one_height_for_each_number_of_lines() -> None:
    rng = Random(11)
    words = ["a", "boat", "the", "lantern", "came", "slowly", "home", "with", "grey", "wool"]
    seen: dict[int, set[tuple[int, int]]] = {}
    for count in range(3, 16):
        card = lay_out(" ".join(rng.choice(words) for _ in range(count)), "caption", (1280, 720))
        assert card
        size = round(card.box.right - card.box.left), round(card.box.bottom - card.box.top)
        seen.setdefault(len(card.lines), set()).add(size)
    assert all(len(sizes) == 1 for sizes in seen.values()), "seed 11"
    assert len({wide for sizes in seen.values() for wide, _ in sizes}) == 1


def test_no_line_ends_with_a_lonely_article() -> None:
    text = "Then Button pounced. One stitch slipped, then a hundred, and the fog came down like a dropped curtain."
    for width in range(140, 900, 20):
        lines = wrap(text, 20, width)
        assert not any(line.split()[-1] in ("a", "the") for line in lines[:-1]), lines


@pytest.mark.parametrize(
    ("wish", "tall"), [("Tom leaps at the wool", 2.9), ("Tom watches", 2.6), ("Tom walks", 2.4), ("Tom asleep", 1.1)]
)
def test_an_animal_in_a_close_frame_stands_on_the_ground_above_the_text_with_head_and_tail_in_it(
    wish: str, tall: float
) -> None:
    shown = board(wish, "close-up", person("Tom", TOM))
    stage = Stage(SIZE[0] / SIZE[1], 1.0, 0.72)
    (one,) = place(shown, stage, framing_of(shown), 0.7)
    own = one.head * size_of(one.actor)
    assert stage.floor * 0.84 < one.foot < stage.floor
    assert one.foot - tall * own > 0
    assert 1.9 * own < one.x < stage.width - 1.9 * own


def test_who_sits_by_the_text_is_shown_whole_on_a_seat_in_a_medium_shot() -> None:
    shown = board("Ben at the end of the quay", "medium", person("Ben", BEN), text="He sits on the quay.")
    assert shown.actors[0].pose.stance == "sit"
    assert framing_of(shown).feet
    assert not framing_of(board("Ben at the end of the quay", "medium", person("Ben", BEN))).feet


def test_two_who_act_together_are_turned_to_each_other() -> None:
    shown = board("they talk", "two-shot", person("Ada", ADA), person("Ben", BEN, speaking=True))
    left, right = sorted(place(shown, Stage(1.78, 1.0, 0.72), framing_of(shown), 0.7), key=lambda one: one.x)
    assert left.actor.pose.turn > 0.9
    assert right.actor.pose.turn < -0.9


def test_a_thread_hangs_from_one_upright_to_the_next_and_sags_between_them() -> None:
    stage = Stage(1.78, 1.0, 0.72)
    posts = [Upright(0.1, 0.3, 0.5), Upright(0.12, 0.3, 0.5), Upright(0.8, 0.2, 0.6), Upright(1.6, 0.25, 0.7)]
    held = anchors(posts, stage)
    assert [x for x, _ in held] == [0.1, 0.8, 1.6]
    canvas = Canvas(1.78, 1.0, 200, cutout=True)
    hang(canvas, held[0], held[1], 0.008)
    assert canvas.mask
    box = canvas.mask.getbbox()
    assert box
    assert box[3] > 200 * max(held[0][1], held[1][1]) + 5, "its lowest point is below both its ends"


def test_what_floats_lies_in_the_water_and_what_stands_touches_its_shadow() -> None:
    for wish in ("a paper boat on the water", "a cup on the table"):
        made = composed(board(wish, "detail"))
        (thing,) = made.subjects
        assert thing.bottom / SIZE[1] == pytest.approx(_table_of(made), abs=0.03)


def _table_of(made: Composition) -> float:
    """Where the surface is that a thing of a detail shot is on, as a share of the height."""
    assert made.card
    floor = made.card.box.top / SIZE[1]
    (thing,) = made.subjects
    size = floor * (0.50 if thing.bottom - thing.top < 0.45 * floor * SIZE[1] else 0.58)
    return floor * 0.5 + size * 0.45


def test_no_post_grows_out_of_a_head() -> None:
    shown = board("they wait", "wide", person("Ada", ADA), person("Ben", BEN))
    stage = Stage(SIZE[0] / SIZE[1], 1.0, 0.72)
    before = place(shown, stage, framing_of(shown), 0.7)
    posts = [Upright(before[0].x, 0.1, 0.7), Upright(before[1].x + 0.01, 0.1, 0.7)]
    after = place(shown, stage, framing_of(shown), 0.7, posts)
    for one in after:
        assert all(abs(post.x - one.x) > 0.55 * one.head for post in posts)
