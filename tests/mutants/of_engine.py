"""Faults of what drives: dispatching, results, recovery, reconciliation, what people ask."""

from __future__ import annotations

from .mutant import Mutant, fault

ENGINE: tuple[Mutant, ...] = (
    fault(
        "a job that is given back waits for the clock of whoever gives it back",
        "engine/completing.py",
        "            requeue_at=0.0,",
        "            requeue_at=4_000_000_000.0,",
        "engine/test_failing.py::test_a_misconfigured_backend_gives_its_job_back_uncounted_and_at_once",
    ),
    fault(
        "bytes that are gone leave READY assets as they are",
        "engine/losses.py",
        "        assets += await storage.bytes_missing([checksum for (checksum, _), _ in batch])\n",
        "        assets += len(batch)\n",
        "engine/test_recovering.py::test_a_file_that_is_gone_makes_its_asset_dirty_and_it_is_made_again",
    ),
    fault(
        "a refused job's dispatch is not rolled back",
        "engine/entering.py",
        "        if dispatches:\n",
        "        if not dispatches:\n",
        "engine/test_recovering.py::test_jobs_that_cannot_be_entered_roll_their_dispatch_back_and_are_tried_again",
    ),
    fault(
        "what ended and was not released stays so",
        "engine/keeper.py",
        'await self._isolation.step("releasing", self._releaser.release_unreleased(self._config.batch))',
        "pass",
    ),
    fault(
        "each dispatch has a merge of its own",
        "engine/jobs.py",
        "            job_id=job_id(source.kind, place.asset, source.hash),\n",
        "            job_id=job_id(source.kind, place.asset, source.hash + dispatch_id * (source.kind == 'merge')),\n",
        "incidents/test_incidents_of_parts.py::test_a_merge_that_runs_is_taken_over_by_who_asks_again",
    ),
    fault(
        "spoiled bytes are accepted",
        "engine/results.py",
        "order is not None and look.wrong is not None:\n            await self._storage.uploaded_in_vain(uploaded)\n",
        "order is not None and look.wrong is not None and uploaded.size < 0:\n",
    ),
    fault(
        "what is replanned goes on with jobs that nobody wants",
        "engine/replanning.py",
        "            await self._coordination.discard_jobs(sorted(dropped))\n",
        "            pass\n",
        "engine/test_edits.py::test_a_result_that_is_no_longer_wanted_is_kept_for_the_undo",
    ),
    fault(
        "a cancel returns before what it ended is released",
        "engine/requests.py",
        "        await self.sweep(request_id)\n        await self._successors.require_released(self._config.batch)\n",
        "        await self.sweep(request_id)\n",
        "engine/test_asking.py::test_a_cancel_returns_only_when_nothing_of_it_can_be_claimed_any_more",
    ),
    fault(
        "the keeper renews no leases",
        "engine/keeper.py",
        "        renewals = await self._coordination.renew([held_of(one) for one in actives])\n",
        "        renewals = [Renewal.RENEWED] * len(actives)\n",
        "incidents/test_incidents_of_failures.py::test_a_lease_is_renewed_by_whoever_is_there",
        "engine/test_recovering.py::test_a_lease_outlives_any_job_that_is_alive",
    ),
    fault(
        "an empty file counts as made",
        "engine/checking.py",
        '        if uploaded.size == 0:\n            return Facts(), "the file is empty"\n',
        "        if uploaded.size == 0:\n            return Facts(), None\n",
        "incidents/test_incidents_of_parts.py::test_empty_files_do_not_count_as_made",
    ),
    fault(
        "a turn is believed in for ever once it was taken",
        "engine/turns.py",
        "not 0 <= now - self._since < YOUNG * TURN_S",
        "now < self._since",
        "engine/test_replicas.py::test_a_turn_that_is_lost_in_mid_tick_is_left_to_the_other_and_nothing_is_made_twice",
    ),
    fault(
        "each replica reconciles for itself",
        "engine/reconciliation.py",
        "        if not turn.has(NAME):\n            return\n",
        "",
        "engine/test_replicas.py::test_replicas_together_reconcile_as_often_as_one_alone",
    ),
    fault(
        "one step of reconciliation that fails ends the round",
        "engine/isolating.py",
        '            self._report(Alarm(Reason.ORCHESTRATION, f"{name}: {sentence_of(error)}"))\n'
        "            return False\n",
        "            raise\n",
        "engine/test_reconciling.py::test_a_step_that_fails_is_reported_and_the_others_run",
    ),
    fault(
        "requests that were entered in part are not entered further",
        "engine/reconciliation.py",
        'await self._isolation.step("entering requests", self._count(PREPARING, self._requests.resume_preparing()))',
        "pass",
        "engine/test_asking.py::test_an_interrupted_entry_goes_on_at_the_next_start",
        "engine/test_reconciling.py::test_a_request_that_was_entered_in_part_is_entered",
    ),
    fault(
        "cancels that were interrupted do not go on",
        "engine/reconciliation.py",
        'await self._isolation.step("sweeping cancelled requests", '
        "self._count(SWEEPING, self._requests.resume_sweeps()))",
        "pass",
        "engine/test_asking.py::test_an_interrupted_cancel_goes_on_at_the_next_start",
        "engine/test_reconciling.py::test_a_cancel_that_was_interrupted_goes_on",
    ),
    fault(
        "deletions that were interrupted are not finished",
        "engine/reconciliation.py",
        'await self._isolation.step("finishing deletions", self._count(DELETIONS, self._deletion.resume()))',
        "pass",
        "engine/test_deleting.py::test_a_deletion_that_was_interrupted_is_finished_by_reconciliation",
    ),
    Mutant(
        "dispatches are taken back in the window of a lost store",
        "engine/keeper.py",
        ((" and not self._gate.in_window and self._gate.stores_bytes:\n", " and self._gate.stores_bytes:\n"),),
        tests=(
            "concurrency/test_interleaved_stores.py::"
            "test_no_engine_rolls_anything_back_while_the_window_of_a_lost_store_is_open",
        ),
        also=(
            (
                "engine/recovering.py",
                "for one, renewal in zip(lost, renewals, strict=True) if renewal is not Renewal.NO_JOB]",
                "for one, renewal in zip(lost, renewals, strict=True) if renewal]",
            ),
        ),
    ),
    fault(
        "attempts of an earlier run of a home are not ended before the first tick",
        "engine/reconciliation.py",
        "            await self._count(INTERRUPTED, self._recovery.restart())\n",
        "            pass\n",
        "engine/test_recovering.py::test_after_a_crash_what_was_generating_is_rolled_back_uncounted_and_parts_are_kept",
    ),
    fault(
        "a store that is lost before anything began is waited for",
        "engine/eras.py",
        "        window_s = 0.0 if await self._storage.untouched() else self._window_s\n",
        "        window_s = self._window_s\n",
        "engine/test_replicas.py::"
        "test_the_first_era_of_a_fresh_database_has_no_window_and_that_of_a_lost_store_has_one",
    ),
    fault(
        "a process of another planner goes on planning",
        "engine/scheduling.py",
        "        if found.may_plan:\n            tick.due",
        "        if found:\n            tick.due",
        "engine/test_planner_versions.py::test_an_engine_of_another_planner_plans_nothing_until_it_is_the_one_that_plans",
    ),
    fault(
        "a store whose files are all missing is taken for lost",
        "engine/losses.py",
        "    return lost > min(MOST_LOST, max(1, LARGEST_SHARE * looked))\n",
        "    return lost > looked\n",
        "engine/test_recovering.py::test_many_missing_files_change_nothing_until_a_person_says_so",
    ),
    fault(
        "a file that is back before anything is decided is given up",
        "engine/presence.py",
        "        self._missing = await self._absent(self._missing)  # some may be back: a cycle takes its time\n",
        "",
        "concurrency/test_interleaved_artifacts.py::"
        "test_file_that_comes_back_before_anything_is_decided_is_not_made_again",
    ),
    fault(
        "the row of an artifact goes with its bytes",
        "engine/collecting.py",
        "        self._deleted = frozenset(checksum for checksum, _ in left)\n        if gone:",
        "        gone = [checksum for checksum, _ in marked]\n        if gone:",
        "concurrency/test_interleaved_artifacts.py::"
        "test_bytes_that_were_looked_at_before_they_were_collected_are_not_accepted_after_it",
    ),
    fault(
        "many damaged artifacts are given up without asking",
        "engine/verifying.py",
        "        if too_many(self._given_up + len(self._damaged), self._looked):\n",
        "        if too_many(0, self._looked):\n",
        "engine/test_verifying.py::test_few_damaged_artifacts_are_given_up_and_of_many_none",
    ),
    fault(
        "damaged bytes stay where they are",
        "engine/losses.py",
        "    lost, assets = [*((one, False) for one in missing), *((one, True) for one in damaged)], 0\n",
        "    lost, assets = [(one, False) for one in missing], 0\n",
        "engine/test_reconciling.py::test_bytes_that_have_rotted_are_given_up_and_made_again",
    ),
    fault(
        "a person's repair gives up what is back again",
        "engine/examining.py",
        "    missing = await artifacts.missing(found.missing)\n",
        "    missing = found.missing\n",
        "engine/test_reconciling.py::test_what_was_found_lost_and_is_back_when_a_person_lets_it_be_repaired_is_kept",
    ),
    fault(
        "what follows a result is forgotten when the coordination store is away",
        "engine/completing.py",
        "        self._owed.extend(outcomes)\n",
        "",
        "engine/test_replicas.py::"
        "test_results_are_accepted_while_the_coordination_store_is_away_and_work_goes_on_when_it_is_back",
    ),
    fault(
        "whoever still works on a part that came late goes on",
        "engine/completing.py",
        "        await self._drop_superseded(outcomes, settled)\n",
        "",
        "incidents/test_incidents_of_parts.py::"
        "test_who_makes_a_part_a_second_time_is_told_to_stop_when_the_first_one_comes",
    ),
    fault(
        "a job that a misconfigured backend gives back has failed",
        "engine/completing.py",
        "            called_backend=False,\n            counted=False,\n            requeue_at=0.0,",
        "            called_backend=True,\n            requeue_at=0.0,",
        "engine/test_failing.py::test_what_misconfigured_backends_give_back_keeps_no_worker_from_working",
    ),
    fault(
        "a scene that is forced anew starts its whole book anew",
        "engine/requests.py",
        "            if (one.chapter_id, one.scene_id, one.media) == (chapter_id, scene_id, media)\n",
        "            if one.media == media\n",
        "engine/test_forcing.py::test_a_stuck_asset_starts_anew_and_its_running_job_is_stopped_for_good",
    ),
    fault(
        "an earlier take of one part takes the pins off its whole unit",
        "engine/taking.py",
        "(one.asset, one.kind, one.unit_ids, one.ordinal) == (take.asset, take.kind, take.unit_ids, place)",
        "(one.asset, one.kind, one.unit_ids) == (take.asset, take.kind, take.unit_ids)",
        "engine/test_takes.py::test_choosing_a_take_of_one_part_leaves_the_other_parts_of_its_unit_pinned",
    ),
    fault(
        "a job that was told to stop, or has another label, is taken for one that goes on",
        "engine/replanning.py",
        "                if not _goes_on(alive.get(job.job_id), job):\n",
        "                if alive.get(job.job_id) is None:\n",
        "engine/test_stopped_claims.py::test_what_is_wanted_again_before_its_worker_heard_of_the_stop_goes_on",
    ),
    fault(
        "a pause leaves what it caught in the queue",
        "engine/pausing.py",
        "            await self._coordination.discard_jobs(sorted(waiting))\n",
        "            pass\n",
        "incidents/test_incidents_of_recovery.py::test_a_pause_leaves_nothing_in_the_queue_but_what_runs",
    ),
)
