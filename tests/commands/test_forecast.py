"""What a dry run expects: every part once, what is there, and how long the rest takes at the pace of this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from animastor.books.model import Book, BookHead, BookId, Chapter, ChapterId, Scene, SceneId, Unit, UnitId
from animastor.commands.forecast import START_S, count
from animastor.commands.pace import NAME, Pace
from animastor.config import Settings
from animastor.engine.effort import Spent
from animastor.engine.estimate import TYPICAL
from animastor.engine.ports import Scope, ScopeKind
from animastor.media.registry import installed
from animastor.media.types import ContentSettings, PlanInput, Planned

REGISTRY = installed()
SETTINGS = ContentSettings(profiles=REGISTRY.profiles)


def _scene(name: str) -> Scene:
    return Scene(SceneId(name), tuple(Unit(UnitId(f"{name}-{n}"), f"Sentence {n} of {name}.") for n in range(2)))


BOOK = Book(
    BookHead(BookId("book"), language="en"),
    (Chapter(ChapterId("one"), (_scene("a"), _scene("b"))), Chapter(ChapterId("two"), (_scene("c"),))),
)


def test_each_kind_of_part_is_counted_dependencies_first_and_merges_last() -> None:
    found = count(REGISTRY, BOOK, SETTINGS, Scope())
    kinds = list(found.counts)
    assert [media for media, _ in kinds] == sorted(media for media, _ in kinds)
    assert {key: one.parts for key, one in found.counts.items()} == {
        ("audio", "speech"): 6,
        ("audio", "merge"): 3,
        ("image", "picture"): 6,
        ("video", "shot"): 3,
        ("video", "merge"): 3,
    }
    assert kinds.index(("audio", "merge")) > kinds.index(("audio", "speech"))
    assert found.missing == 21


@pytest.mark.parametrize(
    ("scope", "parts"),
    [
        (Scope(ScopeKind.CHAPTER, "one"), 4),
        (Scope(ScopeKind.SCENE, "one", "b"), 2),
        (Scope(ScopeKind.FROM_SCENE, "one", "b"), 4),
    ],
)
def test_only_what_is_asked_for_is_counted(scope: Scope, parts: int) -> None:
    found = count(REGISTRY, BOOK, SETTINGS, scope, ("image",))
    assert {key: one.parts for key, one in found.counts.items()} == {("image", "picture"): parts}


def test_parts_that_are_there_are_not_made_again_and_cost_nothing() -> None:
    plan = REGISTRY["image"].plan(PlanInput(BOOK.head, BOOK.chapters[0].scenes[0], SETTINGS))
    assert isinstance(plan, Planned)
    there = frozenset(part.hash for part in plan.parts)
    found = count(REGISTRY, BOOK, SETTINGS, Scope(), ("image",), there).counts["image", "picture"]
    assert (found.parts, found.ready, found.missing) == (6, 2, 4)
    assert found.work == pytest.approx(4 * plan.parts[0].work)


def test_another_size_makes_no_sound_again() -> None:
    first = count(REGISTRY, BOOK, SETTINGS, Scope(), ("audio",))
    hashes = frozenset(
        part.hash
        for chapter in BOOK.chapters
        for scene in chapter.scenes
        if isinstance(plan := REGISTRY["audio"].plan(PlanInput(BOOK.head, scene, SETTINGS)), Planned)
        for part in plan.parts
    )
    other = count(REGISTRY, BOOK, replace(SETTINGS, width=640, height=360), Scope(), (), hashes)
    assert first.counts["audio", "speech"].missing == 6
    assert other.counts["audio", "speech"].missing == 0
    assert other.counts["image", "picture"].missing == 6


def test_it_is_said_in_words_what_is_to_be_made(tmp_path: Path) -> None:
    found = count(REGISTRY, BOOK, SETTINGS, Scope(), ("image",))
    assert found.text(Settings(home=tmp_path)).startswith("6 pictures to be made, in about ")


def test_the_time_is_that_of_the_work_at_the_measured_pace_shared_by_the_children(tmp_path: Path) -> None:
    pace = Pace({"image": Spent(30.0, 10.0)})
    pace.keep(tmp_path)
    found = count(REGISTRY, BOOK, SETTINGS, Scope(), ("image",))
    assert found.seconds(Settings(home=tmp_path, jobs=2)) == pytest.approx(START_S + 6 * pace.cost("image") / 2)
    assert found.seconds(Settings(home=tmp_path / "unknown", jobs=1)) == pytest.approx(START_S + 6 * TYPICAL["image"])


def test_a_pace_is_learned_and_what_is_old_counts_less(tmp_path: Path) -> None:
    pace = Pace({"image": Spent(10.0, 10.0)}).learned({"image": Spent(10.0, 5.0), "audio": Spent(1.0, 0.0)})
    pace.keep(tmp_path)
    assert Pace.of(tmp_path).spent == {"image": Spent(15.0, 10.0)}
    assert [Pace.of(tmp_path).knows(media) for media in ("image", "audio")] == [True, False]
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_what_a_short_first_run_cost_in_starting_up_is_not_taken_for_the_pace() -> None:
    """Two children started and loaded their models to say two sentences: 8 s for 0.15 s of work."""
    pace = Pace({"audio": Spent(8.0, 100.0)})
    assert pace.cost("audio") < 7 * TYPICAL["audio"]  # and not 53 times as much


def test_a_pace_that_was_measured_for_long_is_what_counts() -> None:
    pace = Pace({"audio": Spent(600.0, 100_000.0)})
    assert pace.cost("audio") == pytest.approx(0.006, rel=0.02)


def test_a_guess_is_called_one_until_everything_was_made_once(tmp_path: Path) -> None:
    settings, found = Settings(home=tmp_path), count(REGISTRY, BOOK, SETTINGS, Scope(), ("image",))
    assert found.text(settings).endswith(" (a guess: some of it was never made here)")
    Pace({"image": Spent(1.0, 1.0)}).keep(tmp_path)
    assert "guess" not in found.text(settings)


@pytest.mark.parametrize("broken", ["", "[]", "{", '{"image": 3}', '{"image": ["a", 1]}'])
def test_a_broken_pace_is_an_unknown_one(tmp_path: Path, broken: str) -> None:
    (tmp_path / NAME).write_text(broken)
    assert Pace.of(tmp_path) == Pace({})


def test_a_pace_that_cannot_be_kept_is_no_loss(tmp_path: Path) -> None:
    Pace({"image": Spent(1.0, 1.0)}).keep(tmp_path / "nowhere")
