"""Faults where the engine ends: the hub, workers, artifact stores, and what media types put into a hash."""

from __future__ import annotations

from .mutant import Mutant, fault

EDGES: tuple[Mutant, ...] = (
    fault(
        "a lost store is not noticed by claims that it forgot",
        "hub/local.py",
        "        lost = [(claim, worker) for claim, worker in claims if self._era_of(claim) != era]\n",
        "        lost: list[tuple[Claim, str]] = []\n",
        "hub/test_local_hub.py::test_finish_after_the_store_was_lost_makes_its_claim_known_first",
    ),
    fault(
        "the hash of speech leaves the voice out",
        "media/audio.py",
        '        "voice": speaker_voice(wanted.head, wanted.scene, narrator, chunk.speaker, profile.name),\n',
        "",
        "media/test_audio_plan.py::test_a_speech_stands_between_the_narration_before_and_after_it",
    ),
    fault(
        "finished results of an earlier run are thrown away",
        "workers/loop.py",
        "        found = await asyncio.to_thread(self._workdir.take_over)\n",
        "        await asyncio.to_thread(self._workdir.take_over)\n        found: tuple[Receipt, ...] = ()\n",
        "workers/test_loop_delivery.py::test_after_a_crash_finished_results_are_delivered_and_everything_else_is_removed",
    ),
    fault(
        "a running claim is known again under the dispatch that it was given in",
        "hub/local.py",
        "    if active is None:\n        return claim\n    return replace(",
        "    if active is None or claim:\n        return claim\n    return replace(",
        "concurrency/test_interleaved_stores.py::"
        "test_running_work_of_a_new_dispatch_is_known_by_it_when_the_store_was_lost",
    ),
    fault(
        "cancelled work that a lost store hears of again goes on",
        "hub/local.py",
        "            await self._coordination.discard_jobs(unwanted)\n",
        "            pass\n",
        "concurrency/test_interleaved_stores.py::test_cancelled_work_that_a_lost_store_hears_of_again_is_told_to_stop",
    ),
    fault(
        "a ticket proves any claim",
        "hub/local.py",
        "        if told != (job.job_id, claim.claim_no, job.dispatch_id, job.fence, job.input_hash):\n",
        "        if not told:\n",
        "hub/test_local_hub.py::test_claim_that_its_ticket_does_not_prove_is_refused_everywhere",
    ),
    fault(
        "work that is handed back is lost",
        "hub/local.py",
        "_uncounted(claim, worker, requeue_at=0.0)",
        "_uncounted(claim, worker)",
        "hub/test_local_hub.py::test_work_handed_back_is_claimed_again_at_once_under_a_greater_number",
    ),
    fault(
        "a job is given out without asking whether it is made by now",
        "hub/local.py",
        "        if over := [claim for claim in claims if (claim.job.asset, claim.job.input_hash) not in wanted]:\n",
        "        if over := [claim for claim in claims if claim.claim_no < 0]:\n",
        "hub/test_local_hub.py::test_job_that_is_made_by_now_is_dropped_instead_of_given_out",
        "concurrency/test_interleaved_stores.py::test_jobs_that_a_slow_engine_enters_once_more_are_not_begun_again",
        "concurrency/test_interleaved_stores.py::test_merge_that_two_keepers_find_due_is_begun_once",
    ),
    fault(
        "a worker that is drained gives back what runs",
        "workers/loop.py",
        "        return [*given[self._runner.count :], *(held for held in making if not held.turn)]\n",
        "        return [*given, *(held for held in making if not held.turn)]\n",
        "workers/test_loop_draining.py::test_a_drained_worker_finishes_what_runs_and_gives_back_what_it_only_holds",
    ),
    fault(
        "a worker that ends keeps what it was making",
        "workers/loop.py",
        "                await self._hand_back([held.claim for held in making])\n",
        "",
        "workers/test_loop_work.py::test_at_its_end_claims_end_first_work_is_handed_back_and_heartbeats_end_last",
    ),
    fault(
        "a folder that is not mounted has lost everything",
        "storage/folder.py",
        "            return place\n        self._require_sentinel()\n        return None\n",
        "            return place\n        return None\n",
        "storage/test_artifact_stores.py::test_absent_bytes_are_none_and_a_store_without_sentinel_raises",
    ),
    fault(
        "a bucket without its sentinel has lost everything",
        "storage/s3.py",
        "        if absent:\n            await self._aside(self._require_sentinel)\n",
        "",
        "storage/test_artifact_stores.py::test_absent_bytes_are_none_and_a_store_without_sentinel_raises",
    ),
    fault(
        "a bucket that holds other things is taken for a new store",
        "storage/s3.py",
        "            if self._create and not _anything(self._client):\n",
        "            if self._create:\n",
        "storage/test_artifact_stores.py::test_a_place_that_holds_things_already_is_not_taken_for_a_new_store",
    ),
    fault(
        "a copy of an artifact is handed out without a look at its bytes",
        "storage/copies.py",
        "                if _digest(place) != checksum:\n",
        "                if not place.exists():\n",
        "storage/test_object_store.py::test_a_copy_that_has_rotted_is_fetched_again",
    ),
    fault(
        "a part that a person has pinned is made again by an edit",
        "media/giving.py",
        "    return replace(part, hash=one.hash, structure=one.given, inputs=(), own_hash=part.hash)\n",
        "    return part\n",
        "engine/test_takes.py::test_a_pinned_picture_survives_edits_and_rebuilds_and_tells_that_it_is_outdated",
    ),
    fault(
        "jobs are given to a machine that cannot deliver their results",
        "hub/local.py",
        "        await self._tickets.ready()\n        await self._require_store()\n",
        "        await self._tickets.ready()\n",
        "hub/test_local_hub.py::test_nothing_is_claimed_where_the_artifact_store_is_away_and_others_get_it",
    ),
    fault(
        "another installation's store is taken as one's own",
        "storage/belonging.py",
        "        self._store.expect(number)\n",
        "",
        "storage/test_artifact_belonging.py::test_machines_that_see_different_places_are_told_and_nothing_is_missing",
    ),
    fault(
        "a store that holds another installation's artifacts is kept by a database that knows none",
        "storage/belonging.py",
        "        if self._shared and await self._is_anothers():\n",
        "        if self._shared and not found:\n",
        "storage/test_artifact_belonging.py::test_store_with_artifacts_is_not_that_of_a_database_that_knows_none",
    ),
)
