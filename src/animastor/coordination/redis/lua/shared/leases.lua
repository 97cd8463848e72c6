-- Leases (CONTRACT 6): one per asset, alive until its time is over. The live leases of a pair are its quota in use.
--
-- <root>:lease                        hash, asset -> dispatch, and its place
-- <root>:lease:end                    sorted set, asset scored by when its lease ends
-- <root>:lease:pair\0<media>\0<lane>  set of assets: the slots in use
-- <root>:permit\0<media>\0<lane>      sorted set, asset by number: half-open permits, in the order of their giving
--
-- A place is (book, media, lane): leases of a batch share a few, so each is put together, and taken apart, once.
-- There is no index by book or dispatch: live leases are as many as the quotas allow, and who asks for those walks
-- them, which is rare; each index would cost every admission and release.
-- Owner: a lease is removed from all of them by its release, or by the first step that looks after its end. Steps look
-- through `leases.expire()` first. Grants and pins are kept in Lua and written by `flush`, in one command each.

local leases = {}
local lease_key, end_key = key('lease'), key('lease:end')
local dispatch_of, place_of = {}, {} -- by asset; the dispatch is false when it has no lease

local by_name, by_text = {}, {} -- places: by book, media and lane joined; by their text in a record

local function new_place(book, media, lane)
  local place = {
    book = book, media = media, lane = lane, text = '\0' .. cmsgpack.pack(book, media, lane),
    slots = key('lease:pair', media, lane),
  }
  by_text[place.text] = place
  by_name[book .. '\0' .. media .. '\0' .. lane] = place
  return place
end

-- The place of these three, one table for each. `slots` is the key of its pair's slots.
function leases.place(book, media, lane)
  return by_name[book .. '\0' .. media .. '\0' .. lane] or new_place(book, media, lane)
end

-- Read the leases of many assets at once. Gives the dispatch of each asset, or false.
function leases.load(assets)
  local records = many('HMGET', lease_key, assets)
  local find, sub = string.find, string.sub
  for at = 1, #assets do
    local record = records[at]
    if record then
      local asset, cut = assets[at], find(record, '\0', 1, true)
      local text = sub(record, cut)
      dispatch_of[asset] = sub(record, 1, cut - 1)
      place_of[asset] = by_text[text] or new_place(cmsgpack.unpack(sub(text, 2)))
    else
      dispatch_of[assets[at]] = false
    end
  end
  return dispatch_of
end

-- The dispatch that holds an asset, or false; and the place of its lease.
function leases.of(asset)
  if dispatch_of[asset] == nil then
    leases.load({ asset })
  end
  return dispatch_of[asset], place_of[asset]
end

-- What `flush` writes: fields and values, scores and members, and the assets that take a slot, by its key.
local granted, pinned, slots = {}, {}, {}
local grants, pins = 0, 0 -- how long those are: counting a list costs more than remembering

-- From now on so many seconds: when that is, as text.
local ends = {}
local function end_after(seconds)
  local text = ends[seconds]
  if not text then
    text = exact(now + seconds)
    ends[seconds] = text
  end
  return text
end

-- A new lease on an asset that has none, for so many seconds.
function leases.grant(asset, dispatch, place, seconds)
  dispatch_of[asset], place_of[asset] = dispatch, place
  granted[grants + 1], granted[grants + 2] = asset, dispatch .. place.text
  pinned[pins + 1], pinned[pins + 2] = ends[seconds] or end_after(seconds), asset
  grants, pins = grants + 2, pins + 2
  local taken = slots[place.slots]
  if not taken then
    taken = { 0 }
    slots[place.slots] = taken
  end
  local size = taken[1] + 1
  taken[1], taken[size + 1] = size, asset
end

-- Let it live for so many seconds from now: renewing never accumulates.
function leases.pin(asset, seconds)
  pinned[pins + 1], pinned[pins + 2] = end_after(seconds), asset
  pins = pins + 2
end

flushes[#flushes + 1] = function()
  many('ZADD', end_key, pinned)
  many('HSET', lease_key, granted)
  for name, assets in pairs(slots) do
    assets[1] = assets[assets[1] + 1] -- the count makes room for the last
    assets[#assets] = nil
    many('SADD', name, assets)
  end
end

-- Remove the leases of these assets, each of which has one, and with them slots and permits.
function leases.finish(assets)
  if #assets == 0 then
    return
  end
  local freed, pairs_ = {}, {}
  for at = 1, #assets do
    local asset = assets[at]
    local place = place_of[asset]
    local ended = freed[place.slots]
    if not ended then
      ended = {}
      freed[place.slots], pairs_[place.slots] = ended, place
    end
    ended[#ended + 1] = asset
    dispatch_of[asset] = false
  end
  many('HDEL', lease_key, assets)
  many('ZREM', end_key, assets)
  for name, ended in pairs(freed) do
    local permits = key('permit', pairs_[name].media, pairs_[name].lane)
    many('SREM', name, ended)
    if call('EXISTS', permits) == 1 then
      many('ZREM', permits, ended)
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
  return call('SCARD', key('lease:pair', media, lane))
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
  local assets = call('SMEMBERS', key('lease:pair', media, lane))
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
