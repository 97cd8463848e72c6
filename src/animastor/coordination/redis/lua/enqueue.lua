-- Store or re-label jobs; pin their dispatches' leases to the full length. Refused without a live lease, unless the
-- dispatch has a live job: then it gets the lease in the same step (CONTRACT 5, 7).
--
-- KEYS[1]    the root
-- ARGV[3]    JSON [[id, asset, book, media, lane, profile, kind, dispatch, fence, input hash, time limit, not before,
--            failure type that it repeats or ''], …]
-- ARGV[4…]   the jobs themselves, as their workers get them (JSON), in the same order
-- Result     a letter for each: S stored; R re-labelled; H held; N no_active_dispatch
-- uses: era, leases, fleet, queue

local heads = cjson.decode(ARGV[3])
if era.closed() then
  return finish(string.rep('N', #heads))
end
need_room()
leases.expire()

local ids, dispatches = {}, {}
for at, head in ipairs(heads) do
  ids[at], dispatches[at] = head[1], head[8]
end
entries.load(ids)
leases.load(dispatches)
entries.load_lists(dispatches)

local function enqueue(id, label, body)
  local held, seconds = leases.of(label.dispatch), leases.ttl(label.media)
  if held == label.asset then
    leases.pin(label.dispatch, seconds)
  elseif not held and not leases.is_busy(label.asset) and entries.has_live(label.dispatch) then
    leases.grant(label.dispatch, label.asset, leases.place(label.book, label.media, label.lane), seconds)
  else
    return 'N'
  end
  if label.kind ~= 'merge' then
    fleet.learn(label.media, label.profile)
  end
  ring()
  return queue.enqueue(id, label, body)
end

local answers = {}
for at, head in ipairs(heads) do
  answers[at] = enqueue(head[1], entries.label(head), ARGV[3 + at])
end
return finish(table.concat(answers))
