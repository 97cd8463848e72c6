"""The plan of a scene's video: what it waits for, what its shots are made from, and what an edit touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from animastor.books.model import BookHead, BookId, Scene, SceneId, Unit, UnitId, UnitImage
from animastor.media.hashing import digest
from animastor.media.timing import in_order, text_mark
from animastor.media.types import (
    ContentSettings,
    Dependency,
    Facts,
    MadePart,
    PartPlan,
    PlanInput,
    Planned,
    Previous,
    Waiting,
)
from animastor.media.video import VIDEO, check_video, estimate_video, plan_video, video_facts
from animastor.media.video_moves import is_safe, move_of

SHOTS = ("establishing", "wide", "full", "group", "two-shot", "medium", "over-the-shoulder", "close-up", "detail")
DURATIONS = st.lists(st.floats(0.3, 40.0), min_size=1, max_size=12)


def a_scene(durations: Sequence[float], names: Sequence[str] = ()) -> PlanInput:
    """A scene whose pictures are there and whose sound was measured."""
    names = names or [f"u{k}" for k in range(len(durations))]
    units = tuple(Unit(UnitId(name), f"This is {name}.", image=UnitImage(shot="wide")) for name in names)
    timings = [list(timing) for timing in in_order(zip(names, durations, strict=True))]
    return PlanInput(
        head=BookHead(BookId("b"), language="en"),
        scene=Scene(SceneId("s"), units),
        settings=ContentSettings(),
        dependencies={
            "image": Dependency("ready", {"units": {name: {"artifact": f"picture of {name}"} for name in names}}),
            "audio": Dependency("ready", {"timings": timings}),
        },
    )


def planned(wanted: PlanInput) -> Planned:
    plan = plan_video(wanted)
    assert isinstance(plan, Planned)
    return plan


def with_dependency(wanted: PlanInput, media: str, dependency: Dependency) -> PlanInput:
    return replace(wanted, dependencies={**wanted.dependencies, media: dependency})


def previous(plan: Planned) -> tuple[Previous, ...]:
    return tuple(Previous(part.kind, part.hash, part.unit_ids) for part in plan.parts)


@given(DURATIONS, st.sampled_from([24, 25, 30]))
def test_merged_frames_are_those_of_the_sound(durations: list[float], fps: int) -> None:
    wanted = replace(a_scene(durations), settings=ContentSettings(fps=fps))
    plan = planned(wanted)
    assert sum(sum(shot["taken"]) for shot in plan.merge["shots"]) == round(fps * sum(durations))
    assert [unit for part in plan.parts for unit in part.unit_ids] == [unit.unit_id for unit in wanted.scene.units]
    for part, shot in zip(plan.parts, plan.merge["shots"], strict=True):
        assert shot["hash"] == part.hash == digest(part.structure)
        assert all(taken <= rendered for taken, rendered in zip(shot["taken"], shot["rendered"], strict=True))
        assert sum(shot["rendered"]) == part.structure["render_frames"] >= 24
        assert part.structure["render_frames"] % 8 == 1
    assert plan.wanted_hash == digest(plan.merge)


@given(DURATIONS, st.floats(0.3, 40.0), st.data())
def test_longer_or_shorter_unit_touches_its_own_shot_and_no_other(
    durations: list[float], other: float, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(durations) - 1))
    before = planned(a_scene(durations))
    edited = a_scene([*durations[:at], other, *durations[at + 1 :]])
    after = planned(replace(edited, previous=previous(before)))
    own = next(part.unit_ids for part in before.parts if f"u{at}" in part.unit_ids)
    kept = [part.hash for part in before.parts if part.unit_ids != own]
    assert [part.hash for part in after.parts if not set(part.unit_ids) & set(own)] == kept


def test_shot_does_not_know_where_it_stands() -> None:
    before = planned(a_scene([3.33, 4.77, 5.01], ["a", "b", "c"]))
    after = planned(replace(a_scene([21.29, 3.33, 4.77, 5.01], ["new", "a", "b", "c"]), previous=previous(before)))
    assert [part.hash for part in after.parts][1:] == [part.hash for part in before.parts]


def test_it_waits_for_pictures_always_and_for_sound_while_it_is_awaited() -> None:
    wanted = a_scene([1.0, 2.0])
    no_pictures = with_dependency(wanted, "image", Dependency("awaited"))
    assert plan_video(no_pictures) == Waiting(("image",))
    assert plan_video(with_dependency(no_pictures, "audio", Dependency("awaited"))) == Waiting(("image", "audio"))
    assert plan_video(with_dependency(wanted, "audio", Dependency("awaited"))) == Waiting(("audio",))
    assert plan_video(with_dependency(wanted, "image", Dependency("absent"))) == Waiting(("image",))
    one_only = Dependency("ready", {"units": {"u0": {"artifact": "a"}}})
    assert plan_video(with_dependency(wanted, "image", one_only)) == Waiting(("image",))


def test_without_sound_the_last_measured_durations_count_for_unchanged_texts() -> None:
    wanted = a_scene([2.0, 3.0])
    facts = {**wanted.dependencies["audio"].facts, "texts": {"u0": text_mark("This is u0."), "u1": text_mark("Old.")}}
    plan = planned(with_dependency(wanted, "audio", Dependency("absent", facts)))
    taken = [count for shot in plan.merge["shots"] for count in shot["taken"]]
    assert taken[0] == 48
    assert taken[1] == round(24 * 11 / 15)
    never = planned(with_dependency(wanted, "audio", Dependency("absent")))
    assert sum(sum(shot["taken"]) for shot in never.merge["shots"]) == round(24 * 22 / 15)


def test_a_new_picture_or_take_touches_the_shots_that_show_it() -> None:
    wanted = a_scene([20.0, 20.0, 20.0])
    before = [part.hash for part in planned(wanted).parts]
    pictures = {**wanted.dependencies["image"].facts["units"], "u1": {"artifact": "another"}}
    changed = planned(with_dependency(wanted, "image", Dependency("ready", {"units": pictures})))
    again = planned(replace(wanted, takes={"u1": 1}))
    for plan in (changed, again):
        assert [part.hash == old for part, old in zip(plan.parts, before, strict=True)] == [True, False, True]
    assert changed.parts[1].inputs == ("another",)


def test_every_field_of_a_shot_is_in_its_hash() -> None:
    structure = planned(a_scene([2.0, 3.0])).parts[0].structure
    assert set(structure) == {
        *("format", "kind", "profile", "size", "fps", "frames", "render_frames", "pictures", "moves", "seed")
    }
    for field in structure:
        assert digest({**structure, field: "another"}) != digest(structure)


def test_scene_without_units_is_empty() -> None:
    assert planned(a_scene([])).parts == ()


def test_what_is_not_as_ordered_is_named() -> None:
    plan = planned(a_scene([2.0]))
    shot = plan.parts[0].structure
    good = Facts(width=1280, height=720, frames=shot["render_frames"], fps=24.0, codec="h264")
    assert check_video(shot, good) is None
    assert check_video(plan.merge, replace(good, frames=48)) is None
    assert "frames" in (check_video(shot, replace(good, frames=good.frames - 1)) or "")
    assert "320x180" in (check_video(shot, replace(good, width=320, height=180)) or "")
    assert "25" in (check_video(shot, replace(good, fps=25.0)) or "")


def made(parts: Sequence[PartPlan]) -> list[MadePart]:
    return [MadePart(part, "sum", Facts()) for part in parts]


@given(DURATIONS)
def test_facts_tell_where_units_are_even_without_sound(durations: list[float]) -> None:
    plan = planned(a_scene(durations))
    total = round(24 * sum(durations))
    facts = video_facts(made(plan.parts), Facts(frames=total, fps=24.0))
    assert (facts["frames"], facts["duration"]) == (total, total / 24)
    assert facts["cuts"][0] == 0
    assert len(facts["cuts"]) == len(plan.parts)
    wanted = in_order(enumerate(durations))  # type: ignore[arg-type]
    assert len(facts["timings"]) == len(wanted)
    for (_, start, end), (_, real_start, real_end) in zip(facts["timings"], wanted, strict=True):
        assert abs(start - real_start) <= 2.5 / 24 + 1e-6
        assert abs(end - real_end) <= 2.5 / 24 + 1e-6


def test_estimate_before_pictures_are_there_is_that_of_the_plan() -> None:
    wanted = a_scene([2.0, 25.0, 9.0])
    plan = planned(wanted)
    unplanned = with_dependency(wanted, "image", Dependency("awaited"))
    assert estimate_video(unplanned) == (len(plan.parts), sum(part.work for part in plan.parts))


def test_declaration_is_the_contract_s() -> None:
    assert (VIDEO.requires, VIDEO.follows, VIDEO.retry_limit, VIDEO.min_quota) == (("image",), ("audio",), 5, 2)
    assert VIDEO.timeout_minutes == (60, 10, 720)


# --- moves ---


@given(st.text("abcdef", min_size=1), st.sampled_from(SHOTS), st.floats(0.1, 200.0), st.integers(0, 5))
def test_moves_show_the_lettering_and_never_turn_back_on_their_way(
    unit_id: str, shot: str, seconds: float, take: int
) -> None:
    move = move_of(unit_id, shot, "", seconds, take)
    views: list[tuple[float, float, float]] = [tuple(view) for view in move["views"]]  # type: ignore[misc]
    assert all(is_safe(view) for view in views)
    assert move == move_of(unit_id, shot, "", seconds, take)


@pytest.mark.parametrize(
    ("action", "name"),
    [
        ("The camera pans slowly LEFT along the wall", "pan left"),
        ("She walks to the right", "pan right"),
        ("zoom in on the letter", "push in"),
        ("We pull back to reveal the valley", "pull out"),
        ("tilt up to the tower", "tilt up"),
        ("the leaves fall", "tilt down"),
    ],
)
def test_action_directs_the_move(action: str, name: str) -> None:
    for shot in SHOTS:
        move: Mapping[str, Any] = move_of("u", shot, action, 4.0, 0)
        assert move["name"] == name


def test_close_up_is_pushed_in_and_tracking_goes_to_a_side() -> None:
    close = move_of("u", "close-up", "", 4.0, 0)
    assert close["views"][1][2] < close["views"][0][2]
    assert move_of("u", "wide", "He runs along the beach", 4.0, 0)["name"] in ("pan left", "pan right")


def test_moves_vary_from_unit_to_unit() -> None:
    assert len({str(move_of(f"u{k}", "wide", "", 4.0, 0)) for k in range(20)}) > 15
