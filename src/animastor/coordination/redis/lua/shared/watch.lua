-- Watches claims: which are silent, which are overdue (CONTRACT 5, 6). A look costs as much as what has run out: each
-- line holds claims in the order in which they were last touched, so that only its head has to be looked at.
--
-- <root>:seen                      sorted set, job id by number: by when its claim was last listed
-- <root>:begun\0<timeout>          … by when it began, for each time limit of a job
-- <root>:progressed\0<timeout>     … by when it last progressed
-- <root>:timeouts                  sorted set, time limit by number; lives 30 days after the last claim
-- root fields present_at, silence_from: when a server last said that it is there, and from when silence counts
--
-- Owner: the end of the claim removes it from its lines.
-- uses: entries

local watch = {}
local seen_line, timeouts_key = key('seen'), key('timeouts')
local timed = {} -- time limits that are in their set already

-- A claim was given, or became known again.
function watch.begin(entry)
  local timeout = exact(entry.label.timeout)
  entry.timeout_s = entry.label.timeout
  entry.claimed_at, entry.seen_at, entry.progress_at, entry.progress = now, now, now, 0
  local number = tick()
  if not timed[timeout] then
    timed[timeout] = true
    call('ZADD', timeouts_key, 'NX', number, timeout)
    call('EXPIRE', timeouts_key, 30 * 86400)
  end
  place(seen_line, entry.id, number)
  place(key('begun', timeout), entry.id, number)
  place(key('progressed', timeout), entry.id, number)
end

-- The claim is over.
function watch.finish(entry)
  local timeout = exact(entry.timeout_s)
  place(seen_line, entry.id, false)
  place(key('begun', timeout), entry.id, false)
  place(key('progressed', timeout), entry.id, false)
end

-- A heartbeat of the claim's own worker listed it.
function watch.listed(entry, progress)
  entry.seen_at = now
  place(seen_line, entry.id, tick())
  if progress > entry.progress then
    entry.progress, entry.progress_at = progress, now
    place(key('progressed', exact(entry.timeout_s)), entry.id, tick())
  end
  entries.change(entry)
end

-- When no server was there for a while, nobody could have been heard: silence begins anew.
function watch.check_presence()
  local present_at = tonumber(call('HGET', root, 'present_at') or '-inf')
  if now - present_at > LIMITS.serving_for then
    call('HSET', root, 'silence_from', exact(now))
  end
end

-- A server is there.
function watch.present()
  watch.check_presence()
  call('HSET', root, 'present_at', exact(now))
end

-- End the claims at the head of a line for as long as `over(entry)`; `give(entry)` ends one. Those that have ended in
-- this very script are in their lines still.
local function heads(line, over, give)
  local at = 0
  while true do
    local id = call('ZRANGE', line, at, at)[1]
    local entry = id and entries.get(id)
    local claimed = entry and entry.state == 'claimed'
    if not id or (claimed and not over(entry)) then
      return
    elseif claimed then
      give(entry)
    else
      place(line, id, false)
    end
    at = at + 1
  end
end

-- Up to so many claims that were not listed for too long, the longest first; none ends.
function watch.falling_silent(limit)
  local found = {}
  if now - tonumber(call('HGET', root, 'silence_from') or '-inf') < LIMITS.silence then
    return found
  end
  local ids = call('ZRANGE', seen_line, 0, limit - 1)
  entries.load(ids)
  for _, id in ipairs(ids) do
    local entry = entries.get(id)
    if entry and now - entry.seen_at < LIMITS.silence then
      break
    end
    found[#found + 1] = entry
  end
  return found
end

-- The same. `give(entry)` ends one.
function watch.silent(give)
  local limit = LIMITS.silence
  if now - tonumber(call('HGET', root, 'silence_from') or '-inf') >= limit then
    heads(seen_line, function(entry)
      return now - entry.seen_at >= limit
    end, give)
  end
end

-- Claims past a time limit that their worker should have enforced.
function watch.overdue(give)
  local timeouts = call('ZRANGE', timeouts_key, 0, -1)
  for _, timeout in ipairs(timeouts) do
    local latest = now - tonumber(timeout) - LIMITS.timeout_grace
    heads(key('progressed', timeout), function(entry)
      return entry.progress_at <= latest
    end, give)
  end
  for _, timeout in ipairs(timeouts) do
    local latest = now - LIMITS.hard_factor * tonumber(timeout) - LIMITS.timeout_grace
    heads(key('begun', timeout), function(entry)
      return entry.claimed_at <= latest
    end, give)
  end
end
