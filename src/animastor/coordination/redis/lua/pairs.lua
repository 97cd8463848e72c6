-- Quota, leases, breaker and served profiles of pairs.
--
-- KEYS[1]  the root
-- ARGV[3]  JSON [[media, lane], …]
-- Result   JSON [[quota, leases, breaker, seconds until it has cooled (text), profile, profile, …], …]
-- uses: leases, breaker, fleet

local wanted = cjson.decode(ARGV[3])
leases.expire()
local rows = {}
for at, pair in ipairs(wanted) do
  local media, lane = pair[1], pair[2]
  local one = breaker.of(media, lane)
  local row = { fleet.quota(media, lane), leases.count(media, lane), one.state, exact(math.max(0, breaker.cooled_at(one) - now)) }
  for profile in pairs(fleet.lane(lane)) do
    row[#row + 1] = profile
  end
  rows[at] = row
end
return finish(#rows > 0 and cjson.encode(rows) or '[]')
