-- The workers that are known, and what they can do. Able: registered, seen within 60 s, not quarantined, serving the
-- profile in the lane.
--
-- <root>:worker           hash, worker key -> the worker (JSON)
-- <root>:worker:seen      sorted set, worker key scored by when it was last seen
-- <root>:worker:rest      hash, worker key -> its quarantine: failures, level, until (msgpack)
-- <root>:worker:left      sorted set, worker key scored by when its goodbye is forgotten
-- <root>:fleet            hash, the summary: `until` (it holds before that time), `lane\0<lane>` -> profile -> {slots,
--                         up to two able workers} (msgpack); deleted when somebody became able or ceased to be
-- <root>:profiles\0<media>  set of the profiles that jobs of a media type named; lives 30 days after the last job
-- Owner of the worker keys: goodbye, or the sweep, which forgets who has not been seen for 10 minutes.

local fleet = {}
local worker_key, seen_key, rest_key = key('worker'), key('worker:seen'), key('worker:rest')
local left_key, summary_key = key('worker:left'), key('fleet')
local lanes = nil -- lane -> profile -> {slots, worker, another worker}, as far as it was asked for

local function stale()
  call('DEL', summary_key)
  lanes = nil
end

function fleet.knows(worker)
  return call('HEXISTS', worker_key, worker) == 1
end

-- The worker was there just now; one that is not known, or comes with other abilities, is registered.
function fleet.see(worker, text)
  local known = call('HGET', worker_key, worker)
  if not known then
    call('ZREM', left_key, worker)
  end
  if known ~= text then
    call('HSET', worker_key, worker, text)
    stale()
  elseif now - tonumber(call('ZSCORE', seen_key, worker) or 0) >= LIMITS.able_for then
    stale()
  end
  call('ZADD', seen_key, now, worker)
end

-- A heartbeat of its jobs: the worker is there, unless it has said goodbye.
function fleet.see_running(worker, text)
  call('ZREMRANGEBYSCORE', left_key, '-inf', now)
  if not call('ZSCORE', left_key, worker) then
    fleet.see(worker, text)
  end
end

-- The worker left; a heartbeat of its last jobs does not make it known again.
function fleet.leave(worker)
  if call('HDEL', worker_key, worker) == 1 then
    call('ZREM', seen_key, worker)
    call('HDEL', rest_key, worker)
    stale()
  end
  call('ZREMRANGEBYSCORE', left_key, '-inf', now)
  call('ZADD', left_key, now + LIMITS.released_for, worker)
end

-- Forget workers that have not been seen for long.
function fleet.forget()
  local old = call('ZRANGEBYSCORE', seen_key, '-inf', now - LIMITS.forget_worker_after + 1, 'WITHSCORES')
  for at = 1, #old, 2 do
    if now - tonumber(old[at + 1]) >= LIMITS.forget_worker_after then
      call('ZREM', seen_key, old[at])
      call('HDEL', worker_key, old[at])
      call('HDEL', rest_key, old[at])
    end
  end
end

-- --- quarantine ---

local function rest_of(worker)
  local record = call('HGET', rest_key, worker)
  return record and cmsgpack.unpack(record) or nil
end

-- Until when this worker gets no claims; 0 when it may claim.
function fleet.quarantined_until(worker)
  local rest = rest_of(worker)
  return rest and now < rest.until_ and rest.until_ or 0
end

-- Count a failure of a worker. Each quarantine is twice as long as the one before, until a success.
function fleet.failed(worker)
  if not fleet.knows(worker) then
    return
  end
  local rest = rest_of(worker) or { failures = {}, level = 0, until_ = 0 }
  rest.failures[#rest.failures + 1] = now
  while now - rest.failures[1] > LIMITS.quarantine_period do
    table.remove(rest.failures, 1)
  end
  if #rest.failures > LIMITS.quarantine_failures and now >= rest.until_ then
    local length = math.min(LIMITS.quarantine_first * 2 ^ rest.level, LIMITS.quarantine_longest)
    rest = { failures = {}, level = rest.level + 1, until_ = now + length }
    stale()
  end
  call('HSET', rest_key, worker, cmsgpack.pack(rest))
end

-- A success: the next quarantine is a short one again; one that holds goes on.
function fleet.succeeded(worker)
  local rest = rest_of(worker)
  if rest and rest.level > 0 then
    rest.level = 0
    call('HSET', rest_key, worker, cmsgpack.pack(rest))
  end
end

-- --- what they can do ---

local function add(found, worker, text)
  local can = cjson.decode(text)
  for _, lane in ipairs(can.lanes) do
    local profiles = found[lane] or {}
    found[lane] = profiles
    for profile, slots in pairs(can.profiles) do
      if slots > 0 then
        local served = profiles[profile] or { 0 }
        profiles[profile] = served
        served[1] = served[1] + slots
        if #served < 3 then
          served[#served + 1] = worker
        end
      end
    end
  end
end

local function summarize()
  local good_until, found = math.huge, {}
  local seen = call('ZRANGE', seen_key, 0, -1, 'WITHSCORES')
  for at = 1, #seen, 2 do
    local worker, seen_at = seen[at], tonumber(seen[at + 1])
    local rests_until = fleet.quarantined_until(worker)
    if rests_until > 0 then
      good_until = math.min(good_until, rests_until)
    elseif now - seen_at < LIMITS.able_for then
      good_until = math.min(good_until, seen_at + LIMITS.able_for)
      add(found, worker, call('HGET', worker_key, worker))
    end
  end
  call('DEL', summary_key)
  call('HSET', summary_key, 'until', exact(good_until))
  for lane, profiles in pairs(found) do
    call('HSET', summary_key, 'lane\0' .. lane, cmsgpack.pack(profiles))
  end
end

-- profile -> {slots, worker, another worker} of a lane.
function fleet.lane(lane)
  if lanes and lanes[lane] then
    return lanes[lane]
  end
  if not lanes then
    local good_until = call('HGET', summary_key, 'until')
    if not good_until or now >= tonumber(good_until) then
      summarize()
    end
    lanes = {}
  end
  local record = call('HGET', summary_key, 'lane\0' .. lane)
  lanes[lane] = record and cmsgpack.unpack(record) or {}
  return lanes[lane]
end

-- Whether an able worker other than this one serves the profile in the lane.
function fleet.another_able(lane, profile, besides)
  local served = fleet.lane(lane)[profile]
  return served ~= nil and (served[3] ~= nil or served[2] ~= besides)
end

-- A job of this media type named this profile.
local learnt = {}
function fleet.learn(media, profile)
  local name = media .. '\0' .. profile
  if not learnt[name] then
    learnt[name] = true
    call('SADD', key('profiles', media), profile)
    call('EXPIRE', key('profiles', media), 30 * 86400)
  end
end

-- The quota of a pair: twice its live capacity, and never less than its least (CONTRACT 6).
function fleet.quota(media, lane)
  local capacity, profiles = 0, fleet.lane(lane)
  for _, profile in ipairs(call('SMEMBERS', key('profiles', media))) do
    if profiles[profile] then
      capacity = capacity + profiles[profile][1]
    end
  end
  return math.max(2 * capacity, LIMITS.min_quota[media] or LIMITS.least_quota)
end
