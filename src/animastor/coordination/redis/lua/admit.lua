-- Breaker, duplicate, quota, budget, lease for a batch of candidates: one atomic step, in the order of CONTRACT 5.
--
-- KEYS[1]  the root
-- ARGV[3]  JSON [[asset, …], [dispatch, …], [number of its place, …], [[book, media, lane], …],
--          {number of the candidate: [failure type that it repeats, …]}]; numbers begin with 1
-- Result   a letter for each: G granted; T granted, and the breaker moved to half open by it; E era_window;
--          R released; O circuit_open; H half_open_limit; D duplicate; Q backpressure; B backoff
-- uses: era, marks, leases, breaker, budgets, fleet

local batch = cjson.decode(ARGV[3])
local assets, dispatches, numbers, retrying = batch[1], batch[2], batch[3], batch[5]
if era.closed() then
  return finish(string.rep('E', #assets))
end
need_room()
leases.expire()
marks.expire()
leases.load(assets)
local released = marks.which(dispatches)

-- The places of this batch, each with its pair: what is the same for all candidates of one.
local places, pairs_ = {}, {}
for number, names in ipairs(batch[4]) do
  local place = leases.place(names[1], names[2], names[3])
  local slots = leases.slots(place.media, place.lane)
  local pair = pairs_[slots]
  if not pair then
    pair = { breaker = breaker.of(place.media, place.lane), used = leases.count(place.media, place.lane) }
    pairs_[slots] = pair
  end
  place.pair, places[number] = pair, place
end

local REFUSALS = { circuit_open = 'O', half_open_limit = 'H' }

-- The first refusal in the contract's order. Only the last check takes something, so nothing is given back.
local function refusal(pair, place, taken, failures)
  local reason = breaker.refusal(pair.breaker)
  if reason then
    return REFUSALS[reason]
  end
  if taken then
    return 'D'
  end
  pair.quota = pair.quota or fleet.quota(place.media, place.lane)
  if pair.used >= pair.quota then
    return 'Q'
  end
  return failures and not budgets.spend(failures, place.book) and 'B' or nil
end

local function admit(asset, dispatch, place, failures)
  local holder = leases.of(asset)
  if released[dispatch] then
    return 'R'
  elseif holder == dispatch then
    return 'G'
  end
  local pair = place.pair
  local refused = refusal(pair, place, holder, failures)
  if refused then
    return refused
  end
  leases.grant(asset, dispatch, place, LIMITS.admission_ttl)
  pair.used = pair.used + 1
  if pair.breaker.state == 'closed' then
    return 'G'
  end
  leases.permit(asset, place.media, place.lane)
  return breaker.begin_test(pair.breaker) and 'T' or 'G'
end

local answers, any_retries = {}, next(retrying) ~= nil
for at = 1, #assets do
  local failures = any_retries and retrying[tostring(at)] or nil
  answers[at] = admit(assets[at], dispatches[at], places[numbers[at]], failures)
end
return finish(table.concat(answers))
