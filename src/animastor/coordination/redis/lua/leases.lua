-- The live leases of a selection: by dispatch from an index, else from all that were pinned within the longest lease.
--
-- KEYS[1]  the root
-- ARGV[3]  JSON {assets, dispatches, book, media and lane}: each that is there narrows
-- Result   JSON [[asset, book, media, lane, dispatch, seconds left (text), permit 0 or 1], …]
-- uses: leases

local of = cjson.decode(ARGV[3])
leases.expire()

local wanted, seen, rows = of.assets and {}, {}, {}
for _, asset in ipairs(of.assets or {}) do
  wanted[asset] = true
end

local function matches(asset, book, media, lane)
  return (not wanted or wanted[asset])
    and (not of.book or book == of.book)
    and (not of.media or (media == of.media and lane == of.lane))
end

local dispatches = of.dispatches or leases.live()
local held = leases.load(dispatches)
for at, dispatch in ipairs(dispatches) do
  local asset = held[at]
  if asset and asset ~= '' and not seen[dispatch] then
    seen[dispatch] = true
    local place, ends = leases.place_of(dispatch)
    local book, media, lane = string.match(place, '^%z([^%z]*)%z([^%z]*)%z([^%z]*)$')
    if matches(asset, book, media, lane) then
      local permit = leases.has_permit(dispatch, place) and 1 or 0
      rows[#rows + 1] = { asset, book, media, lane, dispatch, exact(ends - now), permit }
    end
  end
end
return finish(#rows > 0 and cjson.encode(rows) or '[]')
