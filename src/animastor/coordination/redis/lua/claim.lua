-- Up to so many jobs of each profile for a worker, book by book.
--
-- KEYS[1]  the root
-- ARGV[3]  the id of the call
-- ARGV[4]  '1': the worker begins to wait, and is registered if it is not known; '0': it goes on waiting
-- ARGV[5]  the worker's key
-- ARGV[6]  the worker (JSON)
-- ARGV[7]  JSON [[profile, most], …]
-- Result   '' when the worker has left meanwhile; else JSON [seconds until a look may give more (text),
--          [[claim number, job], …]]
-- uses: once, era, leases, breaker, fleet, queue

local answered = once.answered()
if answered then
  return finish(answered)
end
leases.expire()
local worker = ARGV[5]
if ARGV[4] ~= '1' and not fleet.knows(worker) then
  return finish('')
end
fleet.see(worker, ARGV[6])

-- The first of a queue that this worker may have: by whom the job avoids.
local function may_have(entry, lane, profile)
  return entry.avoid ~= worker or not fleet.another_able(lane, profile, worker)
end

local function first_queued(name, lane, profile)
  local first = 0
  while true do
    local ids = call('ZRANGE', name, first, first + 7)
    for _, id in ipairs(ids) do
      local entry = entries.get(id)
      if not entry then
        call('ZREM', name, id)
      elseif may_have(entry, lane, profile) then
        return entry
      end
    end
    if #ids < 8 then
      return nil
    end
    first = first + 8
  end
end

-- While the pair is tested, only jobs of permit holders are claimed.
local function first_permitted(name, media, lane, profile)
  for _, dispatch in ipairs(leases.permitted(media, lane)) do
    for _, entry in ipairs(entries.of_dispatch(dispatch)) do
      if call('ZSCORE', name, entry.id) and may_have(entry, lane, profile) then
        return entry
      end
    end
  end
  return nil
end

local function choice(lane, profile)
  return function(media, name)
    local state = breaker.of(media, lane).state
    if state == 'closed' then
      return first_queued(name, lane, profile)
    elseif state == 'half_open' then
      return first_permitted(name, media, lane, profile)
    end
    return nil
  end
end

local function claim(lanes)
  local given = {}
  local first = #lanes > 0 and era.claims() % #lanes or 0 -- no lane is always asked last
  for _, wish in ipairs(cjson.decode(ARGV[7])) do
    local profile, left = wish[1], wish[2]
    for turn = 0, #lanes - 1 do
      local lane = lanes[(first + turn) % #lanes + 1]
      for _, entry in ipairs(ready.take(lane, profile, left, choice(lane, profile))) do
        queue.begin_claim(entry, worker, era.next_claim())
        given[#given + 1] = '["' .. entry.claim_no .. '",' .. entries.body(entry.id) .. ']'
        left = left - 1
      end
    end
  end
  return given
end

-- Until a look may give more: what time alone changes, and often enough for a waiting worker to be seen.
local function next_look(closed_until, rests_until)
  local changes = math.max(closed_until, rests_until)
  return math.min(LIMITS.silence, (changes > 0 and changes or delays.next_at()) - now)
end

local closed_until = era.closed() and era.opens_at or 0
local rests_until = fleet.quarantined_until(worker)
local given = {}
if closed_until == 0 and rests_until == 0 then
  queue.move_due()
  given = claim(cjson.decode(ARGV[6]).lanes)
end
local answer = '["' .. exact(next_look(closed_until, rests_until)) .. '",[' .. table.concat(given, ',') .. ']]'
if #given > 0 then
  return once.finish(answer)
end
return finish(answer)
