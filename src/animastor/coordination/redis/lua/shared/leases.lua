-- Leases (CONTRACT 6): one per asset, alive until its time is over. The live leases of a pair are its quota in use.
--
-- <root>:lease                        hash, asset -> dispatch, book, media, lane (msgpack)
-- <root>:lease:end                    sorted set, asset scored by when its lease ends
-- <root>:lease:dispatch               hash, dispatch -> asset
-- <root>:lease:book\0<book>           set of assets
-- <root>:lease:pair\0<media>\0<lane>  set of assets: the slots in use
-- <root>:permit\0<media>\0<lane>      sorted set, asset by number: half-open permits, in the order of their giving
--
-- Owner: a lease is removed from all of them by its release, or by the first step that looks after its end. Steps look
-- through `leases.expire()` first. Grants and pins are kept in Lua and written by `flush`, in one command each.

local leases = {}
local lease_key, end_key, dispatch_key = key('lease'), key('lease:end'), key('lease:dispatch')
local held = {} -- asset -> lease, or false when it has none
local granted, named, pinned = {}, {}, {} -- what `flush` writes
local slots, books = {}, {} -- key -> assets to be added to it

-- Read the leases of many assets at once.
function leases.load(assets)
  local records = many('HMGET', lease_key, assets)
  for at, asset in ipairs(assets) do
    local record = records[at]
    if record then
      local dispatch, book, media, lane = cmsgpack.unpack(record)
      held[asset] = { asset = asset, dispatch = dispatch, book = book, media = media, lane = lane }
    else
      held[asset] = false
    end
  end
end

-- The lease on an asset, or false.
function leases.of(asset)
  if held[asset] == nil then
    leases.load({ asset })
  end
  return held[asset]
end

local function put(groups, name, member)
  local list = groups[name]
  if list then
    list[#list + 1] = member
  else
    groups[name] = { member }
  end
end

-- A new lease on an asset that has none; the caller pins it.
function leases.grant(asset, book, dispatch, media, lane)
  local lease = { asset = asset, dispatch = dispatch, book = book, media = media, lane = lane }
  held[asset] = lease
  granted[#granted + 1] = asset
  granted[#granted + 1] = cmsgpack.pack(dispatch, book, media, lane)
  named[#named + 1] = dispatch
  named[#named + 1] = asset
  put(slots, lane .. '\0' .. media, lease)
  put(books, book, asset)
  return lease
end

-- Let it live for so many seconds from now: renewing never accumulates.
function leases.pin(lease, seconds)
  pinned[lease.asset] = now + seconds
end

-- How many are live in a pair, with those that this script has granted.
function leases.count(media, lane)
  local new = slots[lane .. '\0' .. media]
  return call('SCARD', key('lease:pair', media, lane)) + (new and #new or 0)
end

local function flush()
  local ends = {}
  for asset, until_ in pairs(pinned) do
    ends[#ends + 1] = exact(until_)
    ends[#ends + 1] = asset
  end
  if #ends == 0 then
    return
  end
  many('ZADD', end_key, ends)
  if #granted == 0 then
    return
  end
  many('HSET', lease_key, granted)
  many('HSET', dispatch_key, named)
  for _, new in pairs(slots) do
    local assets = {}
    for at, lease in ipairs(new) do
      assets[at] = lease.asset
    end
    many('SADD', key('lease:pair', new[1].media, new[1].lane), assets)
  end
  for book, assets in pairs(books) do
    many('SADD', key('lease:book', book), assets)
  end
end
flushes[#flushes + 1] = flush

-- Remove leases, and with them their slots and permits.
function leases.finish(ended)
  if #ended == 0 then
    return
  end
  local assets, dispatches, of_pair, of_book = {}, {}, {}, {}
  for at, lease in ipairs(ended) do
    assets[at], dispatches[at] = lease.asset, lease.dispatch
    held[lease.asset] = false
    put(of_pair, lease.lane .. '\0' .. lease.media, lease)
    put(of_book, lease.book, lease.asset)
  end
  many('HDEL', lease_key, assets)
  many('ZREM', end_key, assets)
  many('HDEL', dispatch_key, dispatches)
  for _, list in pairs(of_pair) do
    local media, lane, freed = list[1].media, list[1].lane, {}
    for at, lease in ipairs(list) do
      freed[at] = lease.asset
    end
    many('SREM', key('lease:pair', media, lane), freed)
    many('ZREM', key('permit', media, lane), freed)
  end
  for book, list in pairs(of_book) do
    many('SREM', key('lease:book', book), list)
  end
end

-- Remove the leases whose time is over; to be called before asking.
function leases.expire()
  local gone = call('ZRANGEBYSCORE', end_key, '-inf', now)
  if #gone == 0 then
    return
  end
  leases.load(gone)
  local ended = {}
  for _, asset in ipairs(gone) do
    if held[asset] then
      ended[#ended + 1] = held[asset]
    end
  end
  many('ZREM', end_key, gone)
  leases.finish(ended)
end

-- Give a lease a half-open permit, which is gone with it.
function leases.permit(lease)
  call('ZADD', key('permit', lease.media, lease.lane), tick(), lease.asset)
end

function leases.permits(media, lane)
  return call('ZCARD', key('permit', media, lane))
end

function leases.has_permit(lease)
  return call('ZSCORE', key('permit', lease.media, lease.lane), lease.asset) ~= false
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
    if held[asset] then
      found[held[asset].book] = true
    end
  end
  return found
end

-- The full lease of a media type, in seconds.
function leases.ttl(media)
  return LIMITS.lease_ttls[media] or LIMITS.lease_ttl
end
