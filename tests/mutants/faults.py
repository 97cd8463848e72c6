"""The faults. Each replaces text that must be there exactly once; `tests` are those that notice it by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A fault: what it is called, and what it makes of a file under `src/animastor`.

    `tests`: paths under `tests`, as pytest takes them, that must fail with it. Without any, the simulator must. `also`:
    what is replaced in other files, as (file, old, new).
    """

    name: str
    file: str
    changes: tuple[tuple[str, str], ...]
    tests: tuple[str, ...] = ()
    also: tuple[tuple[str, str, str], ...] = ()


def _one(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    return Mutant(name, file, ((old, new),), tests)


FAULTS = (
    # --- coordination: admission, leases, permits ---
    _one(
        "the quota is one too large",
        "coordination/memory.py",
        "if len(pair.leases) >= quotas[pair]:",
        "if len(pair.leases) > quotas[pair]:",
    ),
    _one(
        "the quota is not per lane",
        "coordination/memory.py",
        "return self._limits.quota_of(media, self._fleet.capacity(lane, self._pairs.profiles(media), now))",
        'return self._limits.quota_of(media, 2 * self._fleet.capacity("system", self._pairs.profiles(media), now))',
        "coordination/test_admission.py",
    ),
    _one(
        "a second lease is granted for an asset",
        "coordination/memory.py",
        "        if lease is not None:\n            return Reason.DUPLICATE\n",
        "",
        "coordination/test_admission.py",
    ),
    _one(
        "a half-open permit outlives its lease",
        "coordination/leases.py",
        "        lease.pair.permits.pop(asset, None)\n",
        "",
        "coordination/test_circuit_breaker.py",
    ),
    _one(
        "a job is entered without a look at the lease",
        "coordination/memory.py",
        "            return Enqueued.NO_ACTIVE_DISPATCH\n        self._leases.pin",
        "            return self._queue.enqueue(job, now)\n        self._leases.pin",
    ),
    _one(
        "a lease is renewed after its dispatch was released",
        "coordination/memory.py",
        "if held.dispatch_id in self._released or (lease",
        "if False or (lease",
        "coordination/test_lease_keeping.py",
    ),
    _one(
        "a release leaves no mark",
        "coordination/memory.py",
        "        self._released.add([one.dispatch_id for one in ended], now)\n",
        "",
    ),
    _one(
        "a release leaves queued jobs behind",
        "coordination/memory.py",
        "        found = self._queue.discard_dispatch(ended.dispatch_id)\n",
        "        found = False\n",
    ),
    _one(
        "a release frees whatever lease the asset has",
        "coordination/memory.py",
        "        if lease is None or lease.dispatch_id != ended.dispatch_id:\n            return found",
        "        if lease is None:\n            return found",
        "coordination/test_lease_keeping.py",
    ),
    # --- coordination: jobs and claims ---
    _one(
        "a running job is adopted without its new label",
        "coordination/queue.py",
        "        entry.stop = Stop.NO\n        self._relabel(entry, job)\n        return Enqueued.RELABELLED",
        "        entry.stop = Stop.NO\n        return Enqueued.RELABELLED",
    ),
    _one(
        "a stop that was carried is taken back",
        "coordination/queue.py",
        "        if entry.stop is Stop.CARRIED:\n            self.entries.hold",
        "        if False:\n            self.entries.hold",
        "coordination/test_job_queue.py",
    ),
    _one(
        "a verdict of an old claim ends the present one",
        "coordination/queue.py",
        "if entry is None or entry.claim_no != claim_no or entry.worker != worker:",
        "if entry is None:",
    ),
    _one(
        "what was told to stop is queued again when its worker falls silent",
        "coordination/memory.py",
        "        again = entry.stop is Stop.NO and entry.job.dispatch_id not in self._released\n",
        "        again = True\n",
    ),
    _one(
        "silence counts while no server was there",
        "coordination/watch.py",
        "        if now - self._present_at > self._limits.serving_for:\n            self._silence_from = now\n",
        "        self._silence_from = min(self._silence_from, now)\n",
        "coordination/test_sweeping.py",
    ),
    _one(
        "a claim is taken for dead by its age",
        "coordination/watch.py",
        "        self._seen.move_to_end(name)\n",
        "        entry.seen_at = entry.claimed_at\n",
    ),
    _one(
        "claim numbers begin anew with each era",
        "coordination/era.py",
        "return self.number << ERA_BITS | self.claims",
        "return self.claims",
    ),
    _one(
        "the era's window is ignored",
        "coordination/era.py",
        "        return now < self._opens_at\n",
        '        return self._opens_at == float("inf")\n',
        "coordination/test_era_window.py",
    ),
    _one(
        "the breaker is fed by merges and cache hits",
        "coordination/memory.py",
        "            if verdict.called_backend and job.kind != MERGE:\n",
        "            if job.kind:\n",
        "coordination/test_circuit_breaker.py",
    ),
    _one(
        "one book's failures open the breaker for all",
        "coordination/breaker.py",
        "        return len({failed for _, failed in self._failures}) > 1 or len({book, *at_work()}) == 1",
        "        return True",
        "coordination/test_circuit_breaker.py",
    ),
    _one(
        "an open breaker lets jobs be claimed",
        "coordination/memory.py",
        "        if pair.breaker.state is Circuit.CLOSED:\n            yield from",
        "        if pair.breaker.state is not Circuit.HALF_OPEN:\n            yield from",
        "coordination/test_circuit_breaker.py",
    ),
    _one(
        "retries ask no budget",
        "coordination/memory.py",
        "        if candidate.retrying and not self._budgets.spend(candidate.retrying, candidate.book_key, now):\n"
        "            return Reason.BACKOFF\n",
        "",
        "coordination/test_budgets_and_quarantine.py",
    ),
    # --- storage: states, plans, dispatches ---
    _one(
        "the fence is not raised",
        "storage/beginning.py",
        "fence = fence + 1, dispatch_id",
        "fence = fence, dispatch_id",
    ),
    _one(
        "the fence and the dispatch are not compared when an attempt is taken back",
        "storage/waiting.py",
        "AND asset.state = {{still_GENERATING}} AND asset.dispatch_id = r.dispatch\n",
        "AND asset.state = {{still_GENERATING}}\n",
    ),
    _one(
        "what no request covers any more begins",
        "storage/beginning.py",
        "AND asset.wanted_hash <> '' AND {CARRIED}",
        "AND asset.wanted_hash <> '' AND ({CARRIED} OR 1 = 1)",
    ),
    _one(
        "what begins need not be planned as it is now",
        "storage/beginning.py",
        "AND asset.plan_seq = b.seq AND asset.planned_seq = b.seq AND",
        "AND",
        "storage/test_storage_conditions.py",
    ),
    _one(
        "an outcome may be overwritten",
        "storage/ends.py",
        "AND dispatch.id = e.of_dispatch AND dispatch.outcome IS NULL\n",
        "AND dispatch.id = e.of_dispatch\n",
        "storage/test_storage_conditions.py",
    ),
    _one(
        "an older version of the planner plans on",
        "storage/plans.py",
        "(SELECT m.value FROM meta m WHERE m.name = 'planner') = :planner",
        ":planner = :planner",
        "storage/test_storage_conditions.py",
    ),
    _one(
        "the planned_seq is not in the WHERE that completes",
        "storage/ready.py",
        "AND asset.fence = r.held AND asset.planned_seq = asset.plan_seq AND asset",
        "AND asset.fence = r.held AND asset",
    ),
    Mutant(
        "a plan is stored whatever it was made from",
        "storage/plans.py",
        (
            (
                "UPDATE asset SET planned_seq = p.seq, wanted_hash",
                "UPDATE asset SET planned_seq = plan_seq, wanted_hash",
            ),
            ("WHERE asset.id = p.asset AND asset.plan_seq = p.seq\n", "WHERE asset.id = p.asset\n"),
        ),
        tests=("storage/test_storage_conditions.py",),
    ),
    _one(
        "an edit does not raise the plans of the scenes that it changed",
        "storage/edits.py",
        "    if not raised:\n        run(connection, _TOUCH_SCENES",
        "    if raised:\n        run(connection, _TOUCH_SCENES",
    ),
    _one(
        "another voice raises no plans",
        "storage/edits.py",
        "    run(connection, _TOUCH_BOOK, book=book_key).close()\n",
        "",
    ),
    _one(
        "READY reaches nobody who waits for it",
        "storage/ready.py",
        "    dependants.raise_readers(connection, registry, [(one.scene_key, one.media) for one in done])\n",
        "",
    ),
    _one(
        "another hash than was wanted leaves an asset READY",
        "storage/plans.py",
        "if (item.state is State.READY and not item.current) or (item.state is State.FAILED and item.changed)",
        "if item.state is State.FAILED and item.changed",
    ),
    _one(
        "a closed request still covers what is rolled back",
        "storage/coverage.py",
        "        WHERE r.book_key = asset.book_key AND r.state IN ('preparing', 'open', 'paused')\n",
        "        WHERE r.book_key = asset.book_key\n",
    ),
    _one(
        "a cancel leaves running dispatches alone",
        "storage/sweeping.py",
        "FROM asset WHERE asset.book_key = :book AND asset.state IN ({{PENDING}}, {{GENERATING}})",
        "FROM asset WHERE asset.book_key = :book AND asset.state IN ({{PENDING}})",
    ),
    _one(
        "a later request does not close the earlier one",
        "storage/requests.py",
        "if close(connection, one, RequestState.SUPERSEDED))",
        "if one < 0)",
    ),
    _one(
        "the locks of scenes are left out",
        "storage/locking.py",
        "        run(connection, _GUARD, assets=sorted(set(assets))).close()\n",
        "        pass\n",
        "storage/test_storage_concurrency.py",
    ),
    # --- storage: results, failures, artifacts ---
    Mutant(
        "a late result completes its own dispatch",
        "storage/results.py",
        (
            (
                "batch.touched[row.asset] = _Touched(row, row",
                "batch.touched[row.asset] = _Touched(row._replace(dispatch_id=first[key].dispatch_id), row",
            ),
        ),
        tests=("storage/test_storage_conditions.py",),
        also=(
            (
                "storage/ready.py",
                "asset.dispatch_id = r.dispatch\n      AND asset.fence = r.held AND asset.planned_seq",
                "asset.fence = r.held AND asset.planned_seq",
            ),
        ),
    ),
    _one(
        "what comes late while there is no worker goes on waiting for one",
        "storage/results.py",
        "SET plan_seq = plan_seq + 1, waits = asset.waits & ~{WAIT_NO_WORKER} FROM",
        "SET plan_seq = plan_seq + 1 FROM",
        "storage/test_storage_conditions.py",
    ),
    _one(
        "a failure counts without its claim number",
        "storage/attempts.py",
        "      AND part.last_claim < f.claim\n",
        "",
    ),
    _one(
        "a retry waits for nothing",
        "storage/attempts.py",
        "    wait = backoff_s(infra_attempts if infra else attempts, failure.jitter) if counted else 0.0\n",
        "    wait = 0.0\n",
        "storage/test_storage_failures.py",
    ),
    _one(
        "a permanent failure is tried again",
        "storage/attempts.py",
        "    hopeless = failure.failure in (FailureType.PERMANENT, FailureType.ORCHESTRATION)\n",
        "    hopeless = False\n",
        "storage/test_storage_failures.py",
    ),
    _one(
        "a job may kill one worker after the other",
        "storage/attempts.py",
        "    poison = gone and row.vanished + gone >= VANISHED_LIMIT\n",
        "    poison = 0\n",
        "storage/test_storage_failures.py",
    ),
    _one(
        "artifacts are collected by their age",
        "storage/artifacts.py",
        "      AND (p.wanted = 1 OR p.pinned = 1 OR p.supplied = 1)\n",
        "      AND p.pinned = 1\n",
        "storage/test_storage_artifacts.py",
    ),
    _one(
        "bytes that are gone leave READY assets as they are",
        "engine/presence.py",
        "        assets = await self._storage.bytes_missing(missing)\n",
        "        assets = 0\n",
    ),
    # --- engine ---
    _one(
        "a refused job's dispatch is not rolled back",
        "engine/entering.py",
        "        if dispatches:\n",
        "        if not dispatches:\n",
        "engine/test_failing.py",
        "engine/test_recovering.py",
    ),
    _one(
        "what ended and was not released stays so",
        "engine/keeper.py",
        'await self._isolation.step("releasing", self._releaser.release_unreleased(self._config.batch))',
        "pass",
    ),
    _one(
        "each dispatch has a merge of its own",
        "engine/jobs.py",
        "            job_id=job_id(source.kind, place.asset, source.hash),\n",
        "            job_id=job_id(source.kind, place.asset, source.hash + dispatch_id * (source.kind == 'merge')),\n",
    ),
    _one(
        "spoiled bytes are accepted",
        "engine/results.py",
        "            if wrong is not None:\n                await self._storage.uploaded_in_vain(uploaded)\n",
        "            if wrong is not None and uploaded.size < 0:\n",
    ),
    _one(
        "what is replanned goes on with jobs that nobody wants",
        "engine/replanning.py",
        "            await self._coordination.discard_jobs(sorted(dropped))\n",
        "            pass\n",
        "engine/test_edits.py",
    ),
    _one(
        "a cancel returns before what it ended is released",
        "engine/requests.py",
        "        await self.sweep(request_id)\n        await self._successors.require_released(self._config.batch)\n",
        "        await self.sweep(request_id)\n",
    ),
    _one(
        "a lost store is not noticed by claims that it forgot",
        "hub/local.py",
        "        lost = [(claim, worker) for claim, worker in claims if self._era_of(claim) != era]\n",
        "        lost: list[tuple[Claim, str]] = []\n",
        "hub/test_local_hub.py",
    ),
    # --- media, workers ---
    _one(
        "the hash of speech leaves the voice out",
        "media/audio.py",
        '        "voice": speaker_voice(wanted.head, wanted.scene, narrator, chunk.speaker, profile.name),\n',
        "",
        "media/test_audio_plan.py",
    ),
    _one(
        "finished results of an earlier run are thrown away",
        "workers/loop.py",
        "        found = await asyncio.to_thread(self._workdir.take_over)\n",
        "        await asyncio.to_thread(self._workdir.take_over)\n        found: tuple[Receipt, ...] = ()\n",
        "workers/test_loop_delivery.py",
    ),
)
