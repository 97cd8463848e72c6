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
local holders = leases.load(assets)
local released = marks.which(dispatches)

-- The places of this batch, each with its pair: what is the same for all candidates of one.
local places, pairs_ = {}, {}
for number, names in ipairs(batch[4]) do
  local place = leases.place(names[1], names[2], names[3])
  local pair = pairs_[place.slots]
  if not pair then
    pair = { breaker = breaker.of(place.media, place.lane), used = leases.count(place.media, place.lane) }
    pair.quota = fleet.quota(place.media, place.lane)
    pairs_[place.slots] = pair
  end
  place.pair, places[number] = pair, place
end

local REFUSALS = { circuit_open = 'O', half_open_limit = 'H' }

-- A candidate that is not admitted yet: the first refusal in the contract's order, or a lease. Only the last check
-- takes something, so nothing is given back.
local function admit(asset, dispatch, place, failures)
  local pair = place.pair
  local closed = pair.breaker.state == 'closed'
  local reason = not closed and breaker.refusal(pair.breaker)
  if reason then
    return REFUSALS[reason]
  elseif holders[asset] then
    return 'D'
  elseif pair.used >= pair.quota then
    return 'Q'
  elseif failures and not budgets.spend(failures, place.book) then
    return 'B'
  end
  leases.grant(asset, dispatch, place, LIMITS.admission_ttl)
  pair.used = pair.used + 1
  if closed then
    return 'G'
  end
  leases.permit(asset, place.media, place.lane)
  return breaker.begin_test(pair.breaker) and 'T' or 'G'
end

local answers, any_retries = {}, next(retrying) ~= nil
for at = 1, #assets do
  local asset, dispatch = assets[at], dispatches[at]
  if released[dispatch] then
    answers[at] = 'R'
  elseif holders[asset] == dispatch then
    answers[at] = 'G'
  else
    answers[at] = admit(asset, dispatch, places[numbers[at]], any_retries and retrying[tostring(at)] or nil)
  end
end
return finish(table.concat(answers))
