-- The live leases of a selection, from an index.
--
-- KEYS[1]  the root
-- ARGV[3]  JSON {assets, dispatches, book, media and lane}: each that is there narrows
-- Result   JSON [[asset, book, media, lane, dispatch, seconds left (text), permit 0 or 1], …]
-- uses: leases

local of = cjson.decode(ARGV[3])
leases.expire()

local function narrowest()
  if of.dispatches then
    local found = {}
    for _, asset in ipairs(many('HMGET', key('lease:dispatch'), of.dispatches)) do
      if asset then
        found[#found + 1] = asset
      end
    end
    return found
  elseif of.assets then
    return of.assets
  elseif of.book then
    return call('SMEMBERS', key('lease:book', of.book))
  elseif of.media then
    return call('SMEMBERS', key('lease:pair', of.media, of.lane))
  end
  return call('ZRANGE', key('lease:end'), 0, -1)
end

local assets = narrowest()
leases.load(assets)
local wanted, seen, rows = nil, {}, {}
if of.assets then
  wanted = {}
  for _, asset in ipairs(of.assets) do
    wanted[asset] = true
  end
end
for _, asset in ipairs(assets) do
  local lease = leases.of(asset)
  if
    lease
    and not seen[asset]
    and (not wanted or wanted[asset])
    and (not of.book or lease.book == of.book)
    and (not of.media or (lease.media == of.media and lease.lane == of.lane))
  then
    seen[asset] = true
    rows[#rows + 1] = lease
  end
end
for at, lease in ipairs(rows) do
  local left = tonumber(call('ZSCORE', key('lease:end'), lease.asset)) - now
  rows[at] = {
    lease.asset, lease.book, lease.media, lease.lane, lease.dispatch, exact(left), leases.has_permit(lease) and 1 or 0,
  }
end
return finish(#rows > 0 and cjson.encode(rows) or '[]')
