-- Breaker, duplicate, quota, budget, lease for a batch of candidates: one atomic step, in the order of CONTRACT 5.
--
-- KEYS[1]  the root
-- ARGV[3]  JSON [[asset, …], [dispatch, …], [number of its place, …], [[book, media, lane], …],
--          {number of the candidate: [failure type that it repeats, …]}, whether one is there twice]; numbers begin
--          with 1
-- Result   a letter for each: G granted; T granted, and the breaker moved to half open by it; E era_window;
--          R released; O circuit_open; H half_open_limit; D duplicate; Q backpressure; B backoff
-- uses: era, leases, breaker, budgets, fleet

local batch = cjson.decode(ARGV[3])
local assets, dispatches, numbers, retrying = batch[1], batch[2], batch[3], batch[5]
if era.closed() then
  return finish(string.rep('E', #assets))
end
need_room()
leases.expire()
local busy = leases.load_busy(assets)
local held = leases.load(dispatches)

-- The places of this batch, each with its pair: what is the same for all candidates of one.
local places, pair_at, pairs_ = {}, {}, {}
for number, names in ipairs(batch[4]) do
  local media, lane = names[2], names[3]
  local pair = pairs_[media .. '\0' .. lane]
  if not pair then
    pair = { breaker = breaker.of(media, lane), used = leases.count(media, lane), quota = fleet.quota(media, lane) }
    pairs_[media .. '\0' .. lane] = pair
  end
  places[number], pair_at[number] = leases.place(names[1], media, lane), pair
end

local chosen = {} -- the positions of those that get a lease
local given, taken = batch[6] and {}, {} -- if one is there twice: dispatch -> asset of what this batch got; its assets
local REFUSALS = { circuit_open = 'O', half_open_limit = 'H' }

-- A candidate that is not admitted yet: the first refusal in the contract's order, or a lease. Only the last check
-- takes something, so nothing is given back.
local function admit(at, is_busy, failures)
  local number = numbers[at]
  local pair = pair_at[number]
  local closed = pair.breaker.state == 'closed'
  local reason = not closed and breaker.refusal(pair.breaker)
  if reason then
    return REFUSALS[reason]
  elseif is_busy then
    return 'D'
  elseif pair.used >= pair.quota then
    return 'Q'
  elseif failures and not budgets.spend(failures, batch[4][number][1]) then
    return 'B'
  end
  chosen[#chosen + 1] = at
  if given then
    given[dispatches[at]], taken[assets[at]] = assets[at], true
  end
  pair.used = pair.used + 1
  if closed then
    return 'G'
  end
  leases.permit(dispatches[at], places[number])
  return breaker.begin_test(pair.breaker) and 'T' or 'G'
end

local answers, any_retries = {}, next(retrying) ~= nil
for at = 1, #assets do
  local mine = held[at] or given and given[dispatches[at]]
  if mine == '' then
    answers[at] = 'R'
  elseif mine == assets[at] then
    answers[at] = 'G'
  else
    answers[at] = admit(at, mine or busy[at] == 1 or taken[assets[at]], any_retries and retrying[tostring(at)] or nil)
  end
end
leases.grant_all(chosen, dispatches, assets, places, numbers, LIMITS.admission_ttl)
return finish(table.concat(answers))
