-- Breaker, duplicate, quota, budget, lease for a batch of candidates: one atomic step, in the order of CONTRACT 5.
--
-- KEYS[1]  the root
-- ARGV[3]  JSON [[asset, book, media, lane, dispatch, [failure types of retries, or absent]], …]
-- Result   a letter for each: G granted; T granted, and the breaker moved to half open by it; E era_window;
--          R released; O circuit_open; H half_open_limit; D duplicate; Q backpressure; B backoff
-- uses: era, marks, leases, breaker, budgets, fleet

local candidates = cjson.decode(ARGV[3])
if era.closed() then
  return finish(string.rep('E', #candidates))
end
leases.expire()
marks.expire()

local assets, dispatches = {}, {}
for at, candidate in ipairs(candidates) do
  assets[at], dispatches[at] = candidate[1], candidate[5]
end
leases.load(assets)
local released = marks.which(dispatches)

-- What is the same for all candidates of a pair.
local records = {}
local function pair_of(media, lane)
  local name = lane .. '\0' .. media
  local pair = records[name]
  if not pair then
    pair = { breaker = breaker.of(media, lane), used = leases.count(media, lane) }
    records[name] = pair
  end
  return pair
end

local REFUSALS = { circuit_open = 'O', half_open_limit = 'H' }

-- The first refusal in the contract's order. Only the last check takes something, so nothing is given back.
local function refusal(pair, lease, book, media, lane, retrying)
  local reason = breaker.refusal(pair.breaker)
  if reason then
    return REFUSALS[reason]
  end
  if lease then
    return 'D'
  end
  pair.quota = pair.quota or fleet.quota(media, lane)
  if pair.used >= pair.quota then
    return 'Q'
  end
  return retrying and not budgets.spend(retrying, book) and 'B' or nil
end

local function admit(asset, book, media, lane, dispatch, retrying)
  local lease = leases.of(asset)
  if released[dispatch] then
    return 'R'
  elseif lease and lease.dispatch == dispatch then
    return 'G'
  end
  local pair = pair_of(media, lane)
  local refused = refusal(pair, lease, book, media, lane, retrying)
  if refused then
    return refused
  end
  lease = leases.grant(asset, book, dispatch, media, lane)
  leases.pin(lease, LIMITS.admission_ttl)
  pair.used = pair.used + 1
  if pair.breaker.state == 'closed' then
    return 'G'
  end
  leases.permit(lease)
  return breaker.begin_test(pair.breaker) and 'T' or 'G'
end

local answers = {}
for at, candidate in ipairs(candidates) do
  answers[at] = admit(unpack(candidate))
end
return finish(table.concat(answers))
