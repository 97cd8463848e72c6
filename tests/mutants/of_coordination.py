"""Faults of the coordination store: leases, quotas, the queue, claims, turns, eras; and of its scripts in Redis."""

from __future__ import annotations

from .mutant import Mutant, fault

COORDINATION: tuple[Mutant, ...] = (
    fault(
        "the quota is one too large",
        "coordination/memory.py",
        "if len(pair.leases) >= quotas[pair]:",
        "if len(pair.leases) > quotas[pair]:",
        "coordination/test_admission.py::test_a_full_quota_is_backpressure_until_a_lease_ends",
    ),
    fault(
        "the quota is not per lane",
        "coordination/memory.py",
        "return self._limits.quota_of(media, self._fleet.capacity(lane, self._pairs.profiles(media), now))",
        'return self._limits.quota_of(media, 2 * self._fleet.capacity("system", self._pairs.profiles(media), now))',
        "coordination/test_admission.py::test_a_quota_is_twice_the_live_capacity_of_the_able_workers_of_the_lane",
    ),
    fault(
        "a second lease is granted for an asset",
        "coordination/memory.py",
        "        if lease is not None:\n            return Reason.DUPLICATE\n",
        "",
        "coordination/test_admission.py::test_an_asset_with_a_live_lease_is_a_duplicate_for_any_other_dispatch",
    ),
    fault(
        "a half-open permit outlives its lease",
        "coordination/leases.py",
        "        lease.pair.permits.pop(asset, None)\n",
        "",
        "coordination/test_circuit_breaker.py::test_a_permit_is_gone_with_its_lease",
    ),
    fault(
        "a job is entered without a look at the lease",
        "coordination/memory.py",
        "            return Enqueued.NO_ACTIVE_DISPATCH\n        self._leases.pin",
        "            return self._queue.enqueue(job, now)\n        self._leases.pin",
        "coordination/test_job_queue.py::test_a_job_whose_dispatch_holds_no_lease_is_refused_and_not_stored",
    ),
    fault(
        "a lease is renewed after its dispatch was released",
        "coordination/memory.py",
        "if held.dispatch_id in self._released or (lease",
        "if False or (lease",
        "coordination/test_lease_keeping.py::test_a_slow_replica_cannot_revive_what_was_released",
    ),
    fault(
        "a release leaves no mark",
        "coordination/memory.py",
        "        self._released.add([one.dispatch_id for one in ended], now)\n",
        "",
        "coordination/test_lease_keeping.py::test_a_slow_replica_cannot_revive_what_was_released",
    ),
    fault(
        "a release leaves queued jobs behind",
        "coordination/memory.py",
        "        found = self._queue.discard_dispatch(ended.dispatch_id)\n",
        "        found = False\n",
    ),
    fault(
        "a release frees whatever lease the asset has",
        "coordination/memory.py",
        "        if lease is None or lease.dispatch_id != ended.dispatch_id:\n            return found",
        "        if lease is None:\n            return found",
        "coordination/test_lease_keeping.py::test_releasing_a_dispatch_that_lost_its_asset_touches_only_its_own_jobs",
    ),
    fault(
        "a running job is adopted without its new label",
        "coordination/queue.py",
        "        entry.stop = Stop.NO\n        self._relabel(entry, job)\n        return Enqueued.RELABELLED",
        "        entry.stop = Stop.NO\n        return Enqueued.RELABELLED",
        "coordination/test_job_queue.py::test_a_running_job_is_adopted_and_settled_in_the_name_of_the_new_dispatch",
    ),
    fault(
        "a stop that was carried is taken back",
        "coordination/queue.py",
        "        if entry.stop is Stop.CARRIED:\n            self.entries.hold",
        "        if False:\n            self.entries.hold",
        "coordination/test_job_queue.py::test_a_stop_that_was_carried_is_final_and_the_new_job_waits",
    ),
    fault(
        "a verdict of an old claim ends the present one",
        "coordination/queue.py",
        "if entry is None or entry.claim_no != claim_no or entry.worker != worker:",
        "if entry is None:",
        "coordination/test_claiming.py::test_a_verdict_counts_only_from_the_present_claim_of_its_worker",
    ),
    fault(
        "what was told to stop is queued again when its worker falls silent",
        "coordination/memory.py",
        "        again = entry.stop is Stop.NO and entry.job.dispatch_id not in self._released\n",
        "        again = True\n",
        "coordination/test_sweeping.py::test_a_silent_claim_that_is_marked_stop_is_dropped",
    ),
    fault(
        "silence counts while no server was there",
        "coordination/watch.py",
        "        if now - self._present_at > self._limits.serving_for:\n            self._silence_from = now\n",
        "        self._silence_from = min(self._silence_from, now)\n",
        "coordination/test_sweeping.py::test_silence_counts_only_while_a_server_was_there",
    ),
    fault(
        "a claim is taken for dead by its age",
        "coordination/watch.py",
        "        self._seen.move_to_end(name)\n",
        "        entry.seen_at = entry.claimed_at\n",
    ),
    fault(
        "claim numbers begin anew with each era",
        "coordination/era.py",
        "return self.number << ERA_BITS | self.claims",
        "return self.claims",
    ),
    fault(
        "the era's window is ignored",
        "coordination/era.py",
        "        return now < self._opens_at\n",
        '        return self._opens_at == float("inf")\n',
        "coordination/test_era_window.py::test_for_forty_seconds_nothing_is_admitted_or_entered",
    ),
    fault(
        "the breaker is fed by merges and cache hits",
        "coordination/memory.py",
        "            if verdict.called_backend and job.kind != MERGE:\n",
        "            if job.kind:\n",
        "coordination/test_circuit_breaker.py::test_merges_cache_hits_and_uncounted_failures_never_feed_it",
    ),
    fault(
        "one book's failures open the breaker for all",
        "coordination/breaker.py",
        "        return len({failed for _, failed in self._failures}) > 1 or len({book, *at_work()}) == 1",
        "        return True",
        "coordination/test_circuit_breaker.py::test_one_book_alone_does_not_open_it_while_another_has_work_there",
    ),
    fault(
        "an open breaker lets jobs be claimed",
        "coordination/memory.py",
        "        if pair.breaker.state is Circuit.CLOSED:\n            yield from",
        "        if pair.breaker.state is not Circuit.HALF_OPEN:\n            yield from",
        "coordination/test_circuit_breaker.py::test_while_it_is_open_nothing_of_the_pair_is_admitted_or_claimed",
    ),
    fault(
        "retries ask no budget",
        "coordination/memory.py",
        "        if candidate.retrying and not self._budgets.spend(candidate.retrying, candidate.book_key, now):\n"
        "            return Reason.BACKOFF\n",
        "",
        "coordination/test_budgets_and_quarantine.py::test_half_also_holds_in_admission",
    ),
    fault(
        "a permit is not given back on backpressure",
        "coordination/memory.py",
        "        if reason is not None:\n            return _REFUSED[reason]\n        lease = self._leases.grant",
        "        if reason is not None:\n"
        "            if reason is Reason.BACKPRESSURE and pair.breaker.state is not Circuit.CLOSED:\n"
        "                pair.breaker.begin_test()\n"
        "                self._leases.permit(\n"
        "                    LeaseRecord(candidate.asset, candidate.book_key, candidate.dispatch_id, pair)\n"
        "                )\n"
        "            return _REFUSED[reason]\n"
        "        lease = self._leases.grant",
        "coordination/test_circuit_breaker.py::test_a_permit_is_given_back_when_a_later_check_refuses",
    ),
    fault(
        "renewing a lease makes it no longer",
        "coordination/memory.py",
        "        self._leases.pin(lease, self._limits.ttl_of(held.pair.media), now)\n        return answer\n",
        "        if answer is Renewal.REATTACHED:\n"
        "            self._leases.pin(lease, self._limits.ttl_of(held.pair.media), now)\n"
        "        return answer\n",
        "incidents/test_incidents_of_failures.py::test_a_lease_is_renewed_by_whoever_is_there",
        "coordination/test_lease_keeping.py::test_renewing_pins_the_lease_again_and_never_accumulates",
    ),
    fault(
        "an older era is taken",
        "coordination/era.py",
        "        elif era <= self.number:\n            return\n",
        "",
        "coordination/test_claiming.py::test_an_older_era_is_ignored",
    ),
    fault(
        "a turn never runs out",
        "coordination/turns.py",
        "        return turn if turn is not None and turn.until > now else None\n",
        "        return turn\n",
    ),
    fault(
        "anybody may end a turn",
        "coordination/turns.py",
        "        if turn is None or turn.who != who:\n            return False\n        del self._turns[name]\n",
        "        if turn is None:\n            return False\n        del self._turns[name]\n",
        "coordination/test_turns.py::test_a_lost_turn_is_not_kept_even_when_nobody_else_has_taken_it",
    ),
    fault(
        "Redis: the quota is one too large",
        "coordination/redis/lua/admit.lua",
        "pair.used >= pair.quota",
        "pair.used > pair.quota",
        "coordination/test_admission.py::test_a_full_quota_is_backpressure_until_a_lease_ends",
    ),
    fault(
        "Redis: a job is entered without a look at the lease",
        "coordination/redis/lua/enqueue.lua",
        "    return 'N'\n  end\n  if label.kind",
        "  end\n  if label.kind",
        "coordination/test_job_queue.py::test_a_job_whose_dispatch_holds_no_lease_is_refused_and_not_stored",
    ),
    fault(
        "Redis: a lease is renewed after its dispatch was released",
        "coordination/redis/lua/renew.lua",
        "if held == '' or (not holder",
        "if (not holder",
        "coordination/test_lease_keeping.py::test_a_slow_replica_cannot_revive_what_was_released",
    ),
    fault(
        "Redis: merges and cache hits feed the breaker",
        "coordination/redis/lua/settle.lua",
        "    if called == 1 and label.kind ~= 'merge' then\n",
        "    if called then\n",
        "coordination/test_circuit_breaker.py::test_merges_cache_hits_and_uncounted_failures_never_feed_it",
    ),
    fault(
        "Redis: a sweep ends claims while the window of an era is open",
        "coordination/redis/lua/sweep.lua",
        "if era.closed() then\n  return finish('[0,[]]')\nend\n",
        "",
        "coordination/test_era_window.py::test_nobody_is_given_up_in_the_window_and_who_stays_silent_through_it_is_swept_after_it",
    ),
    fault(
        "Redis: a book that asked a budget counts twice as long",
        "coordination/redis/lua/shared/budgets.lua",
        "one.asked[asked + 1][2] + one.period <= now",
        "one.asked[asked + 1][2] + 2 * one.period <= now",
        "coordination/test_budgets_and_quarantine.py"
        "::test_a_book_may_use_all_of_it_once_the_other_one_has_not_asked_for_the_whole_period",
    ),
    fault(
        "Redis: a retry whose admission is repeated is a duplicate",
        "coordination/redis/lua/admit.lua",
        "  elseif mine == assets[at] then\n",
        "  elseif mine == assets[at] and not any_retries then\n",
        "coordination/test_budgets_and_quarantine.py"
        "::test_a_retry_whose_admission_is_repeated_is_granted_again_and_pays_once",
    ),
)
