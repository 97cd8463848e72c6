-- What every script begins with: the time, the names of keys, commands over long lists, the counter, the bell.
--
-- KEYS[1]   the root, e.g. {animastor}: a hash, and the beginning of every other key. The braces are its hash tag, so
--           that all keys lie on one node of a cluster, whichever they are.
-- ARGV[1]   '' or, in tests alone, the time in seconds since the epoch. '' means the server's own TIME.
-- ARGV[2]   who calls: the message that is published when the bell rings.
--
-- Fields of the root: seq (a counter), era, opens_at, claims (era.lua), present_at, silence_from (watch.lua),
-- short_until (delays.lua). It has no lifetime: it is the store itself, and losing it is what the era tells.

local call = redis.call
local root = KEYS[1]
local now = tonumber(ARGV[1])
if not now then
  local time = call('TIME')
  now = tonumber(time[1]) + tonumber(time[2]) / 1000000
end

-- A key's name. Its members are joined by a byte that no id contains, and never split again.
local function key(kind, a, b, c, d)
  if not b then
    return a and root .. ':' .. kind .. '\0' .. a or root .. ':' .. kind
  elseif not c then
    return root .. ':' .. kind .. '\0' .. a .. '\0' .. b
  end
  return root .. ':' .. kind .. '\0' .. a .. '\0' .. b .. '\0' .. c .. (d and '\0' .. d or '')
end

-- A number as text that reads back as the same number; Lua's own conversion keeps 14 digits only.
local function exact(number)
  return string.format('%.17g', number)
end

local SLICE = 4000 -- values that `unpack` is given at once; it ends near 8000. Even: lists of pairs stay whole

-- One command over a list of any length. Gives the joined answers of commands that answer with a list.
local function many(command, name, list)
  if #list == 0 then
    return {}
  end
  if #list <= SLICE then
    return call(command, name, unpack(list))
  end
  local answers = {}
  for first = 1, #list, SLICE do
    local part = call(command, name, unpack(list, first, math.min(first + SLICE - 1, #list)))
    if type(part) == 'table' then
      for at = 1, #part do
        answers[first + at - 1] = part[at]
      end
    end
  end
  return answers
end

-- Numbers that only grow: what is put in order by them keeps the order in which it came. Taken in blocks; gaps are
-- harmless, and 2^53 is far away.
local seq, seq_end = 0, 0
local function tick()
  if seq == seq_end then
    seq_end = call('HINCRBY', root, 'seq', 1024)
    seq = seq_end - 1024
  end
  seq = seq + 1
  return seq
end

-- What only brings more in asks this first: a server that is full refuses it here. Once a script has written anything
-- that needs no room (as forgetting does) the server lets it end, so that work which is there drains.
local function need_room()
  call('HSETNX', root, 'seq', 0)
end

-- Something may be claimed now: said once, when the script is over.
local rung = false
local function ring()
  rung = true
end

-- What pieces keep in Lua while the script runs is written at its end.
local flushes = {}

-- Where members of sorted sets shall be at the end: set -> member -> its number, or false for out. One command for each
-- set instead of one for each member; only for sets that the script does not read after it has begun to change them.
-- A script that takes something out writes at once what needs no room (see `need_room`): it may go on.
local places, takes_out = {}, false
local function place(name, member, number)
  if not number and not takes_out then
    takes_out = true
    call('HDEL', root, 'none')
  end
  local set = places[name]
  if not set then
    set = {}
    places[name] = set
  end
  set[member] = number
end

flushes[1] = function()
  for name, set in pairs(places) do
    local into, out = {}, {}
    for member, number in pairs(set) do
      if number then
        into[#into + 1], into[#into + 2] = number, member
      else
        out[#out + 1] = member
      end
    end
    many('ZADD', name, into)
    many('ZREM', name, out)
  end
end

-- The end of every script: `return finish(answer)`.
local function finish(answer)
  for _, flush in ipairs(flushes) do
    flush()
  end
  if rung then
    call('PUBLISH', root .. ':bell', ARGV[2])
  end
  return answer
end
