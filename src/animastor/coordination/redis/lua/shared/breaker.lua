-- The circuit breaker of a pair (CONTRACT 9). What moves it: failures in a row, an admission once it has cooled, the
-- verdict of a permit holder. Permits are marks on leases (leases.lua), no state of the breaker.
--
-- <root>:breaker   hash, media\0lane -> state, opened_at, failures as {time, book} (msgpack); absent: closed, nothing
--                  failed. Owner: closing removes it, and a sweep removes what only holds old failures.
-- uses: leases

local breaker = {}
local breaker_key = key('breaker')
local loaded = {}

local function name_of(media, lane)
  return media .. '\0' .. lane
end

-- The breaker of a pair.
function breaker.of(media, lane)
  local name = name_of(media, lane)
  local found = loaded[name]
  if not found then
    local record = call('HGET', breaker_key, name)
    found = record and cmsgpack.unpack(record) or { state = 'closed', opened_at = 0, failures = {} }
    found.media, found.lane = media, lane
    loaded[name] = found
  end
  return found
end

local function save(one)
  local name = name_of(one.media, one.lane)
  if one.state == 'closed' and #one.failures == 0 then
    call('HDEL', breaker_key, name)
  else
    call('HSET', breaker_key, name, cmsgpack.pack(one))
  end
end

-- When an open breaker lets a test through; 0 when it is not open.
function breaker.cooled_at(one)
  return one.state == 'open' and one.opened_at + LIMITS.breaker_cool or 0
end

-- Why nothing may be admitted now; nil when something may.
function breaker.refusal(one)
  if one.state == 'closed' then
    return nil
  end
  if one.state == 'open' then
    return now < breaker.cooled_at(one) and 'circuit_open' or nil
  end
  return leases.permits(one.media, one.lane) >= LIMITS.permits and 'half_open_limit' or nil
end

-- A test was admitted. True: it moved the breaker to half open.
function breaker.begin_test(one)
  local moved = one.state == 'open'
  if moved then
    one.state = 'half_open'
    save(one)
  end
  return moved
end

local function move(one, state)
  one.state, one.failures = state, {}
  if state == 'open' then
    one.opened_at = now
  end
  save(one)
  leases.revoke_permits(one.media, one.lane)
  return true
end

-- A backend call worked. True: it closed the breaker.
function breaker.succeeded(one, permit)
  if one.state == 'closed' then
    if #one.failures > 0 then
      one.failures = {}
      save(one)
    end
    return false
  end
  if one.state == 'open' or not permit then
    return false
  end
  return move(one, 'closed')
end

-- Whether the failures are enough to open it: so many, within the period, and of two books if two have work there.
local function enough(one, book)
  local failures = one.failures
  failures[#failures + 1] = { now, book }
  while now - failures[1][1] > LIMITS.breaker_period do
    table.remove(failures, 1)
  end
  save(one)
  if #failures < LIMITS.breaker_failures then
    return false
  end
  for _, failure in ipairs(failures) do
    if failure[2] ~= book then
      return true
    end
  end
  return not leases.another_book(one.media, one.lane, book)
end

-- A backend call failed (transient or infrastructure). True: it opened the breaker.
function breaker.failed(one, book, permit)
  if one.state == 'open' or (one.state == 'half_open' and not permit) then
    return false
  end
  if one.state == 'closed' and not enough(one, book) then
    return false
  end
  return move(one, 'open')
end

-- Forget closed breakers whose failures are too old to count.
function breaker.tidy()
  local records = call('HGETALL', breaker_key)
  for at = 1, #records, 2 do
    local one = cmsgpack.unpack(records[at + 1])
    local last = one.failures[#one.failures]
    if one.state == 'closed' and last and now - last[1] > LIMITS.breaker_period then
      call('HDEL', breaker_key, records[at])
    end
  end
end
