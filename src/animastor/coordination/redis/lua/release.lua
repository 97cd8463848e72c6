-- Free lease, slot and permit of dispatches that are over; drop their queued and delayed jobs, mark running ones stop.
--
-- KEYS[1]  the root
-- ARGV[3]  JSON [asset, dispatch, asset, dispatch, …]
-- Result   a letter for each: 1 something was found, 0 nothing
-- uses: marks, leases, queue

local ended = cjson.decode(ARGV[3])
leases.expire()
marks.expire()

local assets, dispatches = {}, {}
for at = 1, #ended, 2 do
  assets[#assets + 1], dispatches[#dispatches + 1] = ended[at], ended[at + 1]
end
leases.load(assets)
marks.add(dispatches)

local answers, over = {}, {}
for at, asset in ipairs(assets) do
  local found = queue.discard_dispatch(dispatches[at])
  local lease = leases.of(asset)
  if lease and lease.dispatch == dispatches[at] and not over[lease] then
    over[lease] = true
    over[#over + 1] = lease
    found = true
  end
  answers[at] = found and '1' or '0'
end
leases.finish(over)
return finish(table.concat(answers))
