"""Grouping of units into shots: covers exactly, within limits, at the least cost, and locally after an edit."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from animastor.media.timing import room
from animastor.media.types import Previous
from animastor.media.video_groups import Length, cost, grouped, render_frames

SECONDS = st.one_of(st.floats(0.3, 12.0), st.floats(0.3, 45.0))
SCENES = st.lists(SECONDS, min_size=0, max_size=25).map(lambda all_: [Length(f"u{k}", s) for k, s in enumerate(all_)])


def previous_of(groups: tuple[tuple[Length, ...], ...], pinned: frozenset[int] = frozenset()) -> list[Previous]:
    return [
        Previous("shot", f"h{k}", tuple(unit.unit_id for unit in group), k in pinned) for k, group in enumerate(groups)
    ]


def assert_within_limits(groups: tuple[tuple[Length, ...], ...]) -> None:
    for group in groups:
        assert 1 <= len(group) <= 4
        assert len(group) == 1 or sum(unit.seconds for unit in group) <= 30.0 + 1e-6


def ids(group: tuple[Length, ...]) -> tuple[str, ...]:
    return tuple(unit.unit_id for unit in group)


@given(SCENES)
def test_groups_cover_the_scene_exactly_and_within_limits(scene: list[Length]) -> None:
    groups = grouped(scene, 24)
    assert [unit for group in groups for unit in group] == scene
    assert_within_limits(groups)


@given(st.lists(SECONDS, min_size=1, max_size=8).map(lambda all_: [Length(f"u{k}", s) for k, s in enumerate(all_)]))
def test_no_other_grouping_costs_less(scene: list[Length]) -> None:
    def total(groups: list[list[Length]]) -> float:
        return sum(cost(sum(room(u.seconds, 24) for u in g), sum(u.seconds for u in g), 24) for g in groups)

    others = []
    for count in range(len(scene)):
        for cuts in combinations(range(1, len(scene)), count):
            borders = [0, *cuts, len(scene)]
            groups = [scene[a:b] for a, b in pairwise(borders)]
            if all(len(g) == 1 or (len(g) <= 4 and sum(u.seconds for u in g) <= 30) for g in groups):
                others.append(total(groups))
    assert total([list(group) for group in grouped(scene, 24)]) <= min(others) + 1e-4


@given(SCENES)
def test_grouping_again_changes_nothing(scene: list[Length]) -> None:
    groups = grouped(scene, 24)
    assert grouped(scene, 24, previous_of(groups)) == groups


@given(SCENES.filter(len), st.data())
def test_change_of_one_unit_regroups_at_most_its_own_group(scene: list[Length], data: st.DataObject) -> None:
    groups = grouped(scene, 24)
    at = data.draw(st.integers(0, len(scene) - 1))
    edited = [*scene[:at], Length(scene[at].unit_id, data.draw(SECONDS)), *scene[at + 1 :]]
    after = grouped(edited, 24, previous_of(groups))
    assert_within_limits(after)
    assert [unit for group in after for unit in group] == edited
    own = next(group for group in groups if scene[at] in group)
    assert [group for group in after if not set(ids(group)) & set(ids(own))] == [g for g in groups if g != own]


@given(SCENES, st.data())
def test_insertions_and_removals_leave_every_untouched_group_as_it_is(scene: list[Length], data: st.DataObject) -> None:
    groups = grouped(scene, 24)
    gone = data.draw(st.sets(st.sampled_from(scene), max_size=3)) if scene else set()
    at = data.draw(st.integers(0, len(scene)))
    new = Length("new", data.draw(SECONDS))
    edited = [unit for unit in [*scene[:at], new, *scene[at:]] if unit not in gone]
    after = grouped(edited, 24, previous_of(groups))
    assert [unit for group in after for unit in group] == edited
    assert_within_limits(after)
    borders = {group[0].unit_id for group in groups} | {"end"}
    inside = scene[at].unit_id not in borders if at < len(scene) else False
    torn = next((g for g in groups if inside and scene[at] in g), ())
    untouched = [g for g in groups if not set(g) & gone and g != torn]
    assert all(group in after for group in untouched)


def test_pinned_group_keeps_its_borders_against_groups_that_overlap_it() -> None:
    scene = [Length(f"u{k}", 4.0) for k in range(4)]
    wanted = [Previous("shot", "h1", ("u0", "u1")), Previous("shot", "h2", ("u2", "u3"))]
    pinned = Previous("shot", "h3", ("u1", "u2"), pinned=True)
    assert [ids(group) for group in grouped(scene, 24, [*wanted, pinned])] == [("u0",), ("u1", "u2"), ("u3",)]


def test_pinned_group_keeps_its_borders_whatever_its_length() -> None:
    scene = [Length(f"u{k}", 11.0) for k in range(6)]
    pinned = Previous("shot", "h", ("u1", "u2", "u3"), pinned=True)
    assert ("u1", "u2", "u3") in [ids(group) for group in grouped(scene, 24, [pinned])]
    moved = [scene[0], scene[2], scene[1], *scene[3:]]
    assert ("u1", "u2", "u3") not in [ids(group) for group in grouped(moved, 24, [pinned])]


def test_long_unit_stands_alone_and_short_ones_share_a_rendering() -> None:
    scene = [Length("a", 0.5), Length("b", 0.5), Length("long", 40.0), Length("c", 0.4)]
    assert [ids(group) for group in grouped(scene, 24)] == [("a", "b"), ("long",), ("c",)]


def test_rendered_frames_lie_on_the_grid() -> None:
    assert [render_frames(n) for n in (1, 24, 25, 26, 33, 34)] == [25, 25, 25, 33, 33, 41]
