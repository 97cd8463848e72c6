-- Leases (CONTRACT 6): one per asset, alive until its time is over. The live leases of a pair are its quota in use.
--
-- <root>:lease                        hash, asset -> dispatch, and its place
-- <root>:lease:end                    sorted set, asset scored by when its lease ends
-- <root>:lease:dispatch               hash, dispatch -> asset
-- <root>:lease:book\0<book>           set of assets
-- <root>:lease:pair\0<media>\0<lane>  set of assets: the slots in use
-- <root>:permit\0<media>\0<lane>      sorted set, asset by number: half-open permits, in the order of their giving
--
-- A place is (book, media, lane): leases of a batch share a few, so each is put together, and taken apart, once.
-- Owner: a lease is removed from all of them by its release, or by the first step that looks after its end. Steps look
-- through `leases.expire()` first. Grants and pins are kept in Lua and written by `flush`, in one command each.

local leases = {}
local lease_key, end_key, dispatch_key = key('lease'), key('lease:end'), key('lease:dispatch')
local dispatch_of, place_of = {}, {} -- by asset; the dispatch is false when it has no lease

local by_name, by_text = {}, {} -- places: by book, media and lane joined; by their text in a record

local function new_place(book, media, lane)
  local place = { book = book, media = media, lane = lane, text = '\0' .. cmsgpack.pack(book, media, lane) }
  by_text[place.text] = place
  by_name[book .. '\0' .. media .. '\0' .. lane] = place
  return place
end

-- The place of these three, one table for each.
function leases.place(book, media, lane)
  return by_name[book .. '\0' .. media .. '\0' .. lane] or new_place(book, media, lane)
end

-- Read the leases of many assets at once.
function leases.load(assets)
  local records = many('HMGET', lease_key, assets)
  for at = 1, #assets do
    local record, asset = records[at], assets[at]
    if record then
      local cut = string.find(record, '\0', 1, true)
      local text = string.sub(record, cut)
      dispatch_of[asset] = string.sub(record, 1, cut - 1)
      place_of[asset] = by_text[text] or new_place(cmsgpack.unpack(string.sub(text, 2)))
    else
      dispatch_of[asset] = false
    end
  end
end

-- The dispatch that holds an asset, or false; and the place of its lease.
function leases.of(asset)
  if dispatch_of[asset] == nil then
    leases.load({ asset })
  end
  return dispatch_of[asset], place_of[asset]
end

local granted, named = {}, {} -- what `flush` writes: fields and values
local pinned, ends = {}, {} -- scores and assets; seconds -> when that is from now, as text

-- A new lease on an asset that has none, for so many seconds.
function leases.grant(asset, dispatch, place, seconds)
  dispatch_of[asset], place_of[asset] = dispatch, place
  local at = #granted
  granted[at + 1], granted[at + 2] = asset, dispatch .. place.text
  named[at + 1], named[at + 2] = dispatch, asset
  local new = place.new
  if not new then
    new = {}
    place.new = new
  end
  new[#new + 1] = asset
  leases.pin(asset, seconds)
end

-- Let it live for so many seconds from now: renewing never accumulates.
function leases.pin(asset, seconds)
  local until_ = ends[seconds]
  if not until_ then
    until_ = exact(now + seconds)
    ends[seconds] = until_
  end
  local at = #pinned
  pinned[at + 1], pinned[at + 2] = until_, asset
end

-- The key of a pair's slots.
function leases.slots(media, lane)
  return key('lease:pair', media, lane)
end

local function append(groups, name, assets)
  local group = groups[name]
  if not group then
    group = {}
    groups[name] = group
  end
  local size = #group
  for at = 1, #assets do
    group[size + at] = assets[at]
  end
end

-- The assets of places in groups: by the key of their pair's slots, and by the key of their book.
local function grouped(field)
  local groups = {}
  for _, place in pairs(by_text) do
    if place[field] then
      append(groups, leases.slots(place.media, place.lane), place[field])
      append(groups, key('lease:book', place.book), place[field])
    end
  end
  return groups
end

flushes[#flushes + 1] = function()
  many('ZADD', end_key, pinned)
  if #granted == 0 then
    return
  end
  many('HSET', lease_key, granted)
  many('HSET', dispatch_key, named)
  for name, assets in pairs(grouped('new')) do
    many('SADD', name, assets)
  end
end

-- Remove the leases of these assets, each of which has one, and with them slots and permits.
function leases.finish(assets)
  if #assets == 0 then
    return
  end
  local dispatches, permits = {}, {}
  for at = 1, #assets do
    local asset = assets[at]
    local place = place_of[asset]
    local ended = place.ended or {}
    place.ended = ended
    ended[#ended + 1] = asset
    dispatches[at] = dispatch_of[asset]
    dispatch_of[asset] = false
  end
  many('HDEL', lease_key, assets)
  many('ZREM', end_key, assets)
  many('HDEL', dispatch_key, dispatches)
  for name, ended in pairs(grouped('ended')) do
    many('SREM', name, ended)
  end
  for _, place in pairs(by_text) do
    if place.ended then
      permits[key('permit', place.media, place.lane)] = true
      place.ended = nil
    end
  end
  for name in pairs(permits) do
    if call('EXISTS', name) == 1 then
      many('ZREM', name, assets)
    end
  end
end

-- Remove the leases whose time is over; to be called before asking.
function leases.expire()
  local gone, ended = call('ZRANGEBYSCORE', end_key, '-inf', now), {}
  if #gone == 0 then
    return
  end
  leases.load(gone)
  for _, asset in ipairs(gone) do
    if dispatch_of[asset] then
      ended[#ended + 1] = asset
    end
  end
  many('ZREM', end_key, gone)
  leases.finish(ended)
end

-- How many are live in a pair, before what this script grants.
function leases.count(media, lane)
  return call('SCARD', leases.slots(media, lane))
end

-- Give the lease of an asset a half-open permit, which is gone with it.
function leases.permit(asset, media, lane)
  call('ZADD', key('permit', media, lane), tick(), asset)
end

function leases.permits(media, lane)
  return call('ZCARD', key('permit', media, lane))
end

function leases.has_permit(asset, media, lane)
  return call('ZSCORE', key('permit', media, lane), asset) ~= false
end

-- The assets that hold a permit, the first given first.
function leases.permitted(media, lane)
  return call('ZRANGE', key('permit', media, lane), 0, -1)
end

function leases.revoke_permits(media, lane)
  call('DEL', key('permit', media, lane))
end

-- The books that have work in a pair.
function leases.books_at_work(media, lane)
  local assets = call('SMEMBERS', leases.slots(media, lane))
  leases.load(assets)
  local found = {}
  for _, asset in ipairs(assets) do
    if dispatch_of[asset] then
      found[place_of[asset].book] = true
    end
  end
  return found
end

-- The full lease of a media type, in seconds.
function leases.ttl(media)
  return LIMITS.lease_ttls[media] or LIMITS.lease_ttl
end
