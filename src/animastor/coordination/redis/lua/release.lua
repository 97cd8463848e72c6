-- Free lease, slot and permit of dispatches that are over; drop their queued and delayed jobs, mark running ones stop.
--
-- KEYS[1]  the root
-- ARGV[3]  JSON [dispatch, …], none of them twice
-- Result   a letter for each: 1 something was found, 0 nothing
-- uses: leases, queue

local dispatches = cjson.decode(ARGV[3])
leases.expire()

local answers = {}
local found = leases.release(dispatches)
local jobs = entries.lists_of(dispatches) -- mostly none: everything has been settled before
for at = 1, #dispatches do
  local touched = jobs[at] and queue.discard_dispatch(dispatches[at])
  answers[at] = (found[at] or touched) and '1' or '0'
end
return finish(table.concat(answers))
