-- Leases (CONTRACT 6): one per asset, alive until its time is over; the live leases of a pair are its quota in use.
-- And the marks of dispatches that were released, which for a while get none again.
--
-- <root>:lease                    hash, dispatch -> `asset\0end\0book\0media\0lane` of its live lease; of a released
--                                 one `\0end`, when that is forgotten
-- <root>:busy                     set of the assets that have a live lease
-- <root>:slots                    hash, `\0media\0lane` -> how many live leases the pair has; with `\0book` before it,
--                                 how many of them the book has; absent: none
-- <root>:permit\0<media>\0<lane>  sorted set, dispatch by number: half-open permits, in the order of their giving
-- <root>:ends:lease, :mark        sorted sets, dispatches joined by a zero byte, scored by when to look for their end
--
-- What was pinned again stands in line once more, and is not over when its first time comes: so a batch costs one
-- member of a sorted set, however many leases it has. Only the line knows all live leases; nothing but a person's
-- question asks for them.
-- Owner: a lease goes with its release, or, like a mark, with the first step after its end: steps call `expire` first.
-- Grants and pins are kept in Lua and written at the end of the script, in one command each.

local leases = {}
local lease_key, busy_key, slots_key = key('lease'), key('busy'), key('slots')
local ends_key = { lease = key('ends:lease'), mark = key('ends:mark') }
local asset_of, tail_of = {}, {} -- by dispatch; asset: false when it has no lease, '' when it was released
local busy = {} -- by asset: 1 or 0
local find, sub = string.find, string.sub

-- --- the second half of a record: `\0end` and, of a lease, its place: `\0book\0media\0lane` ---

-- A pair's text from its names, and a place's from its book and its pair's text. The same bytes begin a key's members.
local function pair_text(media, lane)
  return '\0' .. media .. '\0' .. lane
end

-- What follows the first member of a text, which begins with a zero byte.
local function rest_of(text)
  local cut = find(text, '\0', 2, true)
  return cut and sub(text, cut) or ''
end

-- What leases of the same book and pair share: the text of their place.
function leases.place(book, media, lane)
  return '\0' .. book .. pair_text(media, lane)
end

-- When a lease or mark is over.
local ends_at = {}
local function ends_of(tail)
  local ends = ends_at[tail]
  if not ends then
    ends = tonumber(string.match(tail, '[^%z]+'))
    ends_at[tail] = ends
  end
  return ends
end

-- What follows the asset in the record of a lease at a place that ends so many seconds from now.
local tails = {}
local function tail_at(place, seconds)
  local known = tails[seconds]
  if not known then
    known = {}
    tails[seconds] = known
  end
  local tail = known[place]
  if not tail then
    tail = '\0' .. exact(now + seconds) .. place
    known[place] = tail
  end
  return tail
end

-- --- reading ---

-- What is known of each of many dispatches, in their order: the asset of its live lease; '' when it was released;
-- false for neither.
function leases.load(dispatches)
  local records = many('HMGET', lease_key, dispatches)
  for at = 1, #dispatches do
    local record = records[at]
    if record then
      local dispatch, cut = dispatches[at], find(record, '\0', 1, true)
      local asset = sub(record, 1, cut - 1)
      asset_of[dispatch], tail_of[dispatch], records[at] = asset, sub(record, cut), asset
    end
  end
  return records
end

-- The same of one, and of what this script has granted.
function leases.of(dispatch)
  local asset = asset_of[dispatch]
  if asset == nil then
    asset = leases.load({ dispatch })[1]
    asset_of[dispatch] = asset
  end
  return asset
end

-- Whether a dispatch was released, and is remembered.
function leases.released(dispatch)
  return leases.of(dispatch) == ''
end

-- The place of a dispatch's live lease, and when it ends.
function leases.place_of(dispatch)
  local tail = tail_of[dispatch]
  return rest_of(tail), ends_of(tail)
end

-- Whether each of many assets has a live lease, in their order: 1 or 0.
function leases.load_busy(assets)
  return many('SMISMEMBER', busy_key, assets)
end

-- Whether an asset has one, also of what this script has granted.
function leases.is_busy(asset)
  local known = busy[asset] or call('SISMEMBER', busy_key, asset)
  busy[asset] = known
  return known == 1
end

-- How many are live in a pair, before what this script grants.
function leases.count(media, lane)
  return tonumber(call('HGET', slots_key, pair_text(media, lane)) or 0)
end

-- Whether a book other than this one has work in a pair.
function leases.another_book(media, lane, book)
  local pair, own = pair_text(media, lane), leases.place(book, media, lane)
  for _, place in ipairs(call('HKEYS', slots_key)) do
    if place ~= own and rest_of(place) == pair then
      return true
    end
  end
  return false
end

-- Add to the slots in use, `sign` times what was counted by place.
local function use(counted, sign)
  local fields, changes = {}, {}
  local function change(field, count)
    if not changes[field] then
      fields[#fields + 1] = field
    end
    changes[field] = (changes[field] or 0) + count
  end
  for place, count in pairs(counted) do
    change(place, count)
    change(rest_of(place), count)
  end
  local used, full, empty = many('HMGET', slots_key, fields), {}, {}
  for at, field in ipairs(fields) do
    local count = (used[at] or 0) + sign * changes[field]
    if count > 0 then
      full[#full + 1], full[#full + 2] = field, count
    else
      empty[#empty + 1] = field
    end
  end
  many('HSET', slots_key, full)
  many('HDEL', slots_key, empty)
end

-- The full lease of a media type, in seconds.
function leases.ttl(media)
  return LIMITS.lease_ttls[media] or LIMITS.lease_ttl
end

local function split(member)
  local dispatches = {}
  for dispatch in string.gmatch(member, '[^%z]+') do
    dispatches[#dispatches + 1] = dispatch
  end
  return dispatches
end

-- The dispatches of all live leases, each once.
function leases.live()
  local found, seen = {}, {}
  for _, member in ipairs(call('ZRANGE', ends_key.lease, 0, -1)) do
    local dispatches = split(member)
    local held = leases.load(dispatches)
    for at, dispatch in ipairs(dispatches) do
      if held[at] and held[at] ~= '' and not seen[dispatch] then
        seen[dispatch] = true
        found[#found + 1] = dispatch
      end
    end
  end
  return found
end

-- --- granting ---

-- What is written at the end, and how long it is: counting a list costs more than remembering.
local records, taken, granted_at, lines, lengths = {}, {}, {}, {}, {}
local written, granted = 0, 0

local function write(dispatch, asset, tail, seconds)
  local size = (lengths[seconds] or 0) + 1
  if size == 1 then
    lines[seconds] = {}
  end
  lengths[seconds], lines[seconds][size] = size, dispatch
  tail_of[dispatch] = tail
  records[written + 1], records[written + 2] = dispatch, asset .. tail
  written = written + 2
end

-- A new lease on an asset that has none, for so many seconds.
function leases.grant(dispatch, asset, place, seconds)
  asset_of[dispatch], busy[asset] = asset, 1
  granted = granted + 1
  taken[granted] = asset
  granted_at[place] = (granted_at[place] or 0) + 1
  write(dispatch, asset, tail_at(place, seconds), seconds)
end

-- The same for a whole batch, and in a loop without calls, since this is what a busy server does most: of the candidates
-- at these positions, each at the place whose number it has. None of them is asked for again in this script.
function leases.grant_all(chosen, dispatches, assets, places, numbers, seconds)
  local tail_in, counts, ours = {}, {}, {}
  for number, place in ipairs(places) do
    tail_in[number], counts[number] = tail_at(place, seconds), 0
  end
  for nth = 1, #chosen do
    local at = chosen[nth]
    local dispatch, asset, number = dispatches[at], assets[at], numbers[at]
    records[written + 1], records[written + 2] = dispatch, asset .. tail_in[number]
    written = written + 2
    taken[granted + nth], ours[nth], counts[number] = asset, dispatch, counts[number] + 1
  end
  granted = granted + #chosen
  lines[seconds], lengths[seconds] = ours, #chosen
  for number, place in ipairs(places) do
    if counts[number] > 0 then
      granted_at[place] = (granted_at[place] or 0) + counts[number]
    end
  end
end

-- Let the live lease of a dispatch live for so many seconds from now: renewing never accumulates.
function leases.pin(dispatch, seconds)
  local old = tail_of[dispatch]
  local tail = tail_at(rest_of(old), seconds)
  if tail ~= old then
    write(dispatch, asset_of[dispatch], tail, seconds)
  end
end

flushes[#flushes + 1] = function()
  many('HSET', lease_key, records)
  many('SADD', busy_key, taken)
  for seconds, line in pairs(#records > 0 and lines or {}) do
    call('ZADD', ends_key.lease, exact(now + seconds), table.concat(line, '\0'))
  end
  use(granted_at, 1)
end

-- --- ending ---

local function permits_of(place)
  return root .. ':permit' .. rest_of(place)
end

-- Free assets, and the slots and permits of their dispatches' leases; `ended`: how many of them had each tail.
local function free(dispatches, assets, ended)
  if #assets == 0 then
    return
  end
  many('SREM', busy_key, assets)
  local places, permits = {}, {}
  for tail, count in pairs(ended) do
    local place = rest_of(tail)
    places[place], permits[permits_of(place)] = (places[place] or 0) + count, true
  end
  use(places, -1)
  for name in pairs(permits) do
    if call('EXISTS', name) == 1 then
      many('ZREM', name, dispatches)
    end
  end
end

-- Mark dispatches as released from now on, and end their leases; each is named once. Gives for each, in their order,
-- whether it had one.
function leases.release(dispatches)
  local held = many('HMGET', lease_key, dispatches)
  local until_ = exact(now + LIMITS.released_for)
  local mark, marks, found, assets, ended, count = '\0' .. until_, {}, {}, {}, {}, 0
  for at = 1, #dispatches do
    local record = held[at]
    local cut = record and find(record, '\0', 1, true) or 1
    if cut > 1 then
      local tail = sub(record, cut)
      count = count + 1
      assets[count], ended[tail], found[at] = sub(record, 1, cut - 1), (ended[tail] or 0) + 1, true
    end
    marks[2 * at - 1], marks[2 * at] = dispatches[at], mark
  end
  free(dispatches, assets, ended)
  many('HSET', lease_key, marks)
  if #dispatches > 0 then
    call('ZADD', ends_key.mark, until_, table.concat(dispatches, '\0'))
  end
  return found
end

-- End what of a line's member has come to its end.
local function end_member(member)
  local dispatches = split(member)
  local held, gone, assets, ended = leases.load(dispatches), {}, {}, {}
  for at, dispatch in ipairs(dispatches) do
    local tail = tail_of[dispatch]
    if held[at] and ends_of(tail) <= now then
      gone[#gone + 1] = dispatch
      asset_of[dispatch] = nil
      if held[at] ~= '' then
        assets[#assets + 1], ended[tail] = held[at], (ended[tail] or 0) + 1
      end
    end
  end
  free(gone, assets, ended)
  many('HDEL', lease_key, gone)
end

-- Forget the leases and marks whose time is over; to be called before asking.
function leases.expire()
  for _, line in pairs(ends_key) do
    local due = call('ZRANGEBYSCORE', line, '-inf', now)
    for _, member in ipairs(due) do
      end_member(member)
    end
    if #due > 0 then
      call('ZREMRANGEBYSCORE', line, '-inf', now)
    end
  end
end

-- --- half-open permits, which are gone with their leases ---

function leases.permit(dispatch, place)
  call('ZADD', permits_of(place), tick(), dispatch)
end

function leases.has_permit(dispatch, place)
  return call('ZSCORE', permits_of(place), dispatch) ~= false
end

-- How many are given.
function leases.permits(media, lane)
  return call('ZCARD', key('permit', media, lane))
end

-- The dispatches that hold one, the first given first.
function leases.permitted(media, lane)
  return call('ZRANGE', key('permit', media, lane), 0, -1)
end

function leases.revoke_permits(media, lane)
  call('DEL', key('permit', media, lane))
end
