"""The time left is what is left to do at measured costs (engine.estimate)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from animastor.engine.effort import Effort, Spent
from animastor.engine.estimate import PRIOR_S, TYPICAL, Known, Look, costs, time_left, work_left
from animastor.engine.ports import MediaProgress

START = Look(at=100.0, spent={}, left={"audio": 1000.0})


def _progress(media: str = "audio", *, assets: int = 10, unplanned: int = 0, planned: float = 0, ready: float = 0):
    return MediaProgress(
        media=media,
        assets=assets,
        ready=0,
        failed=0,
        pending=assets,
        generating=0,
        dirty=0,
        parts_planned=0,
        parts_ready=0,
        parts_lost=0,
        unplanned=unplanned,
        work_planned=planned,
        work_ready=ready,
    )


def test_nothing_is_said_before_anything_was_finished() -> None:
    assert time_left(START, Look(at=110.0, spent={}, left={"audio": 1000.0})) is None


def test_nothing_left_takes_no_time() -> None:
    assert time_left(START, Look(at=110.0, spent={}, left={"audio": 0.0})) == 0.0


def _known(workers: int = 1, **costs: float) -> Known:
    return Known(costs, workers)


def test_one_worker_goes_on_at_the_speed_it_had() -> None:
    now = Look(at=110.0, spent={"audio": Spent(seconds=10.0, work=250.0)}, left={"audio": 750.0})
    assert time_left(START, now, _known(audio=10 / 250)) == pytest.approx(30.0)


def test_two_workers_at_once_need_half_the_time() -> None:
    now = Look(at=110.0, spent={"audio": Spent(seconds=20.0, work=250.0)}, left={"audio": 750.0})
    assert time_left(START, now, _known(2, audio=20 / 250)) == pytest.approx(30.0)


def test_each_media_type_has_its_own_cost() -> None:
    first = Look(at=0.0, spent={}, left={"audio": 200.0, "image": 20.0})
    spent = {"audio": Spent(seconds=10.0, work=100.0), "image": Spent(seconds=30.0, work=10.0)}
    now = Look(at=40.0, spent=spent, left={"audio": 100.0, "image": 10.0})
    assert time_left(first, now, _known(audio=0.1, image=3.0)) == pytest.approx(40.0)


def test_what_was_spent_before_the_request_does_not_count() -> None:
    first = Look(at=0.0, spent={"audio": Spent(seconds=1000.0, work=1.0)}, left={"audio": 100.0})
    now = Look(at=10.0, spent={"audio": Spent(seconds=1010.0, work=51.0)}, left={"audio": 50.0})
    assert time_left(first, now, _known(audio=0.2)) == pytest.approx(10.0)


def test_a_media_type_that_has_not_begun_is_estimated_by_the_table_at_this_machines_speed() -> None:
    long = 100 * PRIOR_S
    spent = {"audio": Spent(seconds=long, work=long / TYPICAL["audio"] / 2)}  # half as fast as the table says
    assert costs(spent, ["video"])["video"] == pytest.approx(2 * TYPICAL["video"], rel=0.01)


def test_what_starting_up_costs_is_not_taken_for_the_pace_of_all_that_follows() -> None:
    """The first sentence takes 8 s, as a child has to start and load its model; so would all others at that pace."""
    left = {"audio": 1000.0, "image": 12.0, "video": 800.0}
    real = sum(work * TYPICAL[media] for media, work in left.items()) / 2
    now = Look(at=108.0, spent={"audio": Spent(seconds=8.0, work=50.0)}, left=left)
    estimated = time_left(START, now, _known(2))
    assert estimated is not None
    assert estimated < 5 * real


def test_what_was_measured_for_long_outweighs_what_was_known() -> None:
    spent = {"audio": Spent(seconds=100 * PRIOR_S, work=1000.0)}
    assert costs(spent, ["audio"], {"audio": 0.1})["audio"] == pytest.approx(0.5, rel=0.05)


def test_a_media_type_of_a_plugin_costs_the_mean_until_it_is_measured() -> None:
    now = Look(at=10.0, spent={"music": Spent(seconds=10.0, work=5.0)}, left={"subtitles": 5.0})
    assert time_left(Look(at=0.0, spent={}, left={}), now) == pytest.approx(10.0)


def test_assets_that_cannot_be_planned_yet_count_as_the_mean_of_the_others() -> None:
    assert work_left([_progress(assets=10, unplanned=5, planned=100.0, ready=40.0)]) == {"audio": 160.0}


def test_finished_jobs_add_up() -> None:
    effort = Effort()
    effort.add("audio", 2.0, 10.0)
    effort.add("audio", 3.0, 20.0)
    effort.add("image", -1.0, 1.0)  # a clock that stepped back costs nothing
    assert effort.spent == {"audio": Spent(5.0, 30.0), "image": Spent(0.0, 1.0)}


@given(
    each=st.fixed_dictionaries({name: st.floats(0.001, 10) for name in ("audio", "image", "video")}),
    work=st.fixed_dictionaries({name: st.floats(1, 1000) for name in ("audio", "image", "video")}),
    workers=st.integers(1, 8),
    done=st.floats(0.2, 0.9),
)
def test_a_steady_run_at_the_known_pace_is_estimated_exactly(
    each: dict[str, float], work: dict[str, float], workers: int, done: float
) -> None:
    busy = {media: each[media] * work[media] for media in each}
    elapsed = done * sum(busy.values()) / workers
    spent = {media: Spent(done * busy[media], done * work[media]) for media in each}
    left = {media: (1 - done) * work[media] for media in each}
    estimated = time_left(Look(0.0, {}, work), Look(elapsed, spent, left), Known(each, workers))
    assert estimated == pytest.approx((1 - done) * sum(busy.values()) / workers)
