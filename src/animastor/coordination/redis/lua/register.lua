-- Make a worker known, or known again.
--
-- KEYS[1]  the root
-- ARGV[3]  the worker's key
-- ARGV[4]  the worker (JSON; the same worker, the same text)
-- Result   JSON {profile: 1, …}: its profiles that an able worker served before in each of its lanes
-- uses: fleet

local worker = cjson.decode(ARGV[4])
local served = {}
for profile in pairs(worker.profiles) do
  local everywhere = true
  for _, lane in ipairs(worker.lanes) do
    everywhere = everywhere and fleet.lane(lane)[profile] ~= nil
  end
  if everywhere then
    served[profile] = 1
  end
end
fleet.see(ARGV[3], ARGV[4])
return finish(cjson.encode(served))
