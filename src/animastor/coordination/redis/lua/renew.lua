-- Pin the leases of current dispatches again; grant what was lost (CONTRACT 6).
--
-- KEYS[1]  the root
-- ARGV[3]  'renew': those with a live job; 'grant': those that are about to enter their merge, outside an era window
-- ARGV[4]  JSON [[asset, book, media, lane, dispatch], …]
-- Result   a letter for each: R renewed; A reattached; L lost; N no_job; U unchanged
-- uses: era, marks, leases, entries

local held = cjson.decode(ARGV[4])
leases.expire()
marks.expire()

local assets, dispatches = {}, {}
for at, one in ipairs(held) do
  assets[at], dispatches[at] = one[1], one[5]
end
leases.load(assets)
local released = marks.which(dispatches)

local function alive(dispatch)
  if ARGV[3] == 'grant' then
    return not era.closed()
  end
  return entries.has_live(dispatch)
end

local function renew(asset, book, media, lane, dispatch)
  local holder = leases.of(asset)
  if released[dispatch] or (holder and holder ~= dispatch) then
    return 'L'
  end
  if not alive(dispatch) then
    return holder and 'U' or 'N'
  end
  if holder then
    leases.pin(asset, leases.ttl(media))
    return 'R'
  end
  leases.grant(asset, dispatch, leases.place(book, media, lane), leases.ttl(media))
  return 'A'
end

local answers = {}
for at, one in ipairs(held) do
  answers[at] = renew(unpack(one))
end
return finish(table.concat(answers))
