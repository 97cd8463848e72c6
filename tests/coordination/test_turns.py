"""What one process at a time does: taken, kept, lost, ended; the same in memory and on each server."""

from __future__ import annotations

from coordination_world import World

from virtual_clock import now

PAIR = ["audio/system"]


def test_a_turn_is_one_processs_until_it_is_ended():
    store = World().store
    assert now(store.take_turns(["audio/system", "image/system"], "a", 4.0)) == [0.0, 0.0]
    assert now(store.take_turns(["image/system", "video/system"], "b", 4.0)) == [4.0, 0.0]
    assert now(store.take_turns(["image/system"], "a", 4.0)) == [0.0]  # the call was repeated: taken once
    now(store.end_turns(["image/system"], "a"))
    assert now(store.take_turns(["image/system"], "b", 4.0)) == [0.0]


def test_a_turn_whose_process_died_is_over_by_itself():
    world = World()
    now(world.store.take_turns(PAIR, "a", 4.0))
    world.passes(3.0)
    assert now(world.store.take_turns(PAIR, "b", 4.0)) == [1.0]
    world.passes(1.0)
    assert now(world.store.take_turns(PAIR, "b", 4.0)) == [0.0]


def test_a_turn_is_kept_for_as_long_as_it_is_renewed():
    world = World()
    now(world.store.take_turns(PAIR, "a", 4.0))
    for _ in range(3):
        world.passes(3.0)
        assert now(world.store.keep_turns(PAIR, "a", 4.0)) == [True]
    assert now(world.store.take_turns(PAIR, "b", 4.0)) == [4.0]


def test_a_lost_turn_is_not_kept_even_when_nobody_else_has_taken_it():
    world = World()
    now(world.store.take_turns(PAIR, "a", 4.0))
    world.passes(4.0)
    assert now(world.store.keep_turns(PAIR, "a", 4.0)) == [False]
    now(world.store.take_turns(PAIR, "b", 4.0))
    assert now(world.store.keep_turns(PAIR, "a", 4.0)) == [False]
    assert now(world.store.end_turns(PAIR, "a")) == [False]  # b's is left alone
    assert now(world.store.keep_turns(PAIR, "b", 4.0)) == [True]


def test_who_ends_a_turn_hears_whether_somebody_wanted_it_meanwhile():
    store = World().store
    now(store.take_turns(PAIR, "a", 4.0))
    assert now(store.end_turns(PAIR, "a")) == [False]
    now(store.take_turns(PAIR, "a", 4.0))
    now(store.take_turns(PAIR, "b", 4.0))
    now(store.keep_turns(PAIR, "a", 4.0))
    assert now(store.end_turns(PAIR, "a")) == [True]


def test_a_store_that_was_emptied_has_no_turns():
    world = World()
    now(world.store.take_turns(PAIR, "a", 4.0))
    world.store.lose()
    assert now(world.store.keep_turns(PAIR, "a", 4.0)) == [False]
    assert now(world.store.take_turns(PAIR, "b", 4.0)) == [0.0]
