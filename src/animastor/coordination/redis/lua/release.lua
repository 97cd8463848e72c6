-- Free lease, slot and permit of dispatches that are over; drop their queued and delayed jobs, mark running ones stop.
--
-- KEYS[1]  the root
-- ARGV[3]  JSON [asset, …]
-- ARGV[4]  JSON [dispatch, …], each of the asset at its place
-- Result   a letter for each: 1 something was found, 0 nothing
-- uses: marks, leases, queue

local assets, dispatches = cjson.decode(ARGV[3]), cjson.decode(ARGV[4])
leases.expire()
marks.expire()

local holders = leases.load(assets)
marks.add(dispatches)

local answers, over = {}, {}
local have_jobs = entries.any_of(dispatches) -- mostly everything has been settled before
for at = 1, #assets do
  local asset, dispatch = assets[at], dispatches[at]
  local found = have_jobs and queue.discard_dispatch(dispatch)
  if holders[asset] == dispatch then
    over[#over + 1], holders[asset], found = asset, false, true
  end
  answers[at] = found and '1' or '0'
end
leases.finish(over)
return finish(table.concat(answers))
