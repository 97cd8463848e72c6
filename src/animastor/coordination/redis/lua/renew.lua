-- Pin the leases of current dispatches again; grant what was lost (CONTRACT 6).
--
-- KEYS[1]  the root
-- ARGV[3]  'renew': those with a live job; 'grant': those that are about to enter their merge, outside an era window
-- ARGV[4]  JSON [[asset, book, media, lane, dispatch], …]
-- Result   a letter for each: R renewed; A reattached; L lost; N no_job; U unchanged
-- uses: era, leases, entries

local held = cjson.decode(ARGV[4])
leases.expire()

local dispatches = {}
for at, one in ipairs(held) do
  dispatches[at] = one[5]
end
leases.load(dispatches)
entries.load_lists(dispatches)

local function alive(dispatch)
  if ARGV[3] == 'grant' then
    return not era.closed()
  end
  return entries.has_live(dispatch)
end

local function renew(asset, book, media, lane, dispatch)
  local held = leases.of(dispatch)
  local holder = held == asset
  if held == '' or (not holder and leases.is_busy(asset)) then
    return 'L'
  end
  if not alive(dispatch) then
    return holder and 'U' or 'N'
  end
  if holder then
    leases.pin(dispatch, leases.ttl(media))
    return 'R'
  end
  leases.grant(dispatch, asset, leases.place(book, media, lane), leases.ttl(media))
  return 'A'
end

local answers = {}
for at, one in ipairs(held) do
  answers[at] = renew(unpack(one))
end
return finish(table.concat(answers))
