-- The live leases of a selection: by asset and by pair from an index, else from all that live, which quotas bound.
--
-- KEYS[1]  the root
-- ARGV[3]  JSON {assets, dispatches, book, media and lane}: each that is there narrows
-- Result   JSON [[asset, book, media, lane, dispatch, seconds left (text), permit 0 or 1], …]
-- uses: leases

local of = cjson.decode(ARGV[3])
leases.expire()

local function set_of(list)
  local found = list and {}
  for _, member in ipairs(list or {}) do
    found[member] = true
  end
  return found
end

local function narrowest()
  if of.assets then
    return of.assets
  elseif of.media then
    return call('SMEMBERS', key('lease:pair', of.media, of.lane))
  end
  return call('ZRANGE', key('lease:end'), 0, -1)
end

local assets = narrowest()
leases.load(assets)
local wanted, seen, rows = set_of(of.dispatches), {}, {}
for _, asset in ipairs(assets) do
  local dispatch, place = leases.of(asset)
  if
    dispatch
    and not seen[asset]
    and (not wanted or wanted[dispatch])
    and (not of.book or place.book == of.book)
    and (not of.media or (place.media == of.media and place.lane == of.lane))
  then
    seen[asset] = true
    local left = tonumber(call('ZSCORE', key('lease:end'), asset)) - now
    local permit = leases.has_permit(asset, place.media, place.lane) and 1 or 0
    rows[#rows + 1] = { asset, place.book, place.media, place.lane, dispatch, exact(left), permit }
  end
end
return finish(#rows > 0 and cjson.encode(rows) or '[]')
