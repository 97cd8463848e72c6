-- Jobs (CONTRACT 7), and the indexes over them. A job's label is the dispatch and fence that it carries now; an entry
-- whose claim was told to stop may hold a second label, of the job that waits for that claim's end.
--
-- <root>:job                          hash, job id -> where it is and who has it (msgpack, see `entries.new`)
-- <root>:body, <root>:body:held       hash, job id -> the job as its worker gets it (JSON), under either label
-- <root>:job:all                      sorted set, job id by number
-- <root>:job:asset\0<asset>           sorted set, job id by number: jobs of an asset …
-- <root>:job:book\0<book>             … of a book
-- <root>:job:pair\0<media>\0<lane>    … of a pair
-- <root>:job:of                       hash, dispatch -> `\0id\0id\0`: the jobs with this label, the first put first
--
-- Owner: whatever ends the job (settle, release, discard, sweep) removes it from all of them. Changed entries are kept
-- in Lua and written by one command at the end.

local entries = {}
local job_key, body_key, held_key, all_key = key('job'), key('body'), key('body:held'), key('job:all')
local of_key = key('job:of')
local known = {} -- id -> entry, or false
local lists, relisted = {}, {} -- dispatch -> its list, '' for none; and which of them were changed
local changed, bodies, held_bodies, removed = {}, {}, {}, {}

-- Read many at once.
function entries.load(ids)
  local wanted = {}
  for _, id in ipairs(ids) do
    if known[id] == nil then
      wanted[#wanted + 1] = id
    end
  end
  local records = many('HMGET', job_key, wanted)
  for at, id in ipairs(wanted) do
    known[id] = records[at] and cmsgpack.unpack(records[at]) or false
  end
end

-- Read the lists of their labels at once.
function entries.load_labels(ids)
  local dispatches = {}
  for _, id in ipairs(ids) do
    dispatches[#dispatches + 1] = known[id] and known[id].label.dispatch or nil
  end
  entries.load_lists(dispatches)
end

-- The entry of a job, or false.
function entries.get(id)
  if known[id] == nil then
    entries.load({ id })
  end
  return known[id]
end

-- Its changes shall be written.
function entries.change(entry)
  changed[entry.id] = entry
end

flushes[#flushes + 1] = function()
  local gone = {}
  for id in pairs(removed) do
    gone[#gone + 1] = id
  end
  many('HDEL', job_key, gone)
  many('HDEL', body_key, gone)
  local records = {}
  for id, entry in pairs(changed) do
    records[#records + 1] = id
    records[#records + 1] = cmsgpack.pack(entry)
  end
  many('HSET', job_key, records)
  local full, empty = {}, {}
  for dispatch in pairs(relisted) do
    if #lists[dispatch] > 1 then
      full[#full + 1], full[#full + 2] = dispatch, lists[dispatch]
    else
      empty[#empty + 1] = dispatch
    end
  end
  many('HSET', of_key, full)
  many('HDEL', of_key, empty)
  for name, list in pairs({ [body_key] = bodies, [held_key] = held_bodies }) do
    local fields = {}
    for id, body in pairs(list) do
      fields[#fields + 1] = id
      fields[#fields + 1] = body
    end
    many('HSET', name, fields)
  end
end

-- The job's JSON, as it was when this script began or as it has set it since.
function entries.body(id)
  return bodies[id] or call('HGET', body_key, id)
end

-- A label from an argument: what the rules need of a job. The rest is its body.
function entries.label(head)
  return {
    asset = head[2], book = head[3], media = head[4], lane = head[5], profile = head[6], kind = head[7],
    dispatch = head[8], fence = head[9], hash = head[10], timeout = head[11], not_before = head[12],
    retry = head[13],
  }
end

-- An entry. state: queued, delayed, claimed. due_at and wait_no belong to a delayed job (wait_no 0: its time has come,
-- a budget holds it back); claim_no ('' when unclaimed) to timeout_s to a claimed one. stop: 0 no, 1 marked, 2 carried
-- by a heartbeat, final. retry: the failure type that it repeats, or ''. avoid: the worker that shall not get it while
-- another can. losses: how many of its claims a sweep has ended. held: the label that waits for the end of its claim.
function entries.new(id, label)
  return {
    id = id, label = label, held = nil, state = 'queued', due_at = label.not_before, retry = label.retry, avoid = '',
    wait_no = 0, claim_no = '', worker = '', claimed_at = 0, seen_at = 0, progress_at = 0, timeout_s = 0,
    progress = 0, stop = 0, losses = 0,
  }
end

-- Queued, delayed, or claimed and not marked stop: a silent claim is live until a sweep has dealt with it.
function entries.live(entry)
  return entry.state ~= 'claimed' or entry.stop == 0
end

-- What is told of a job, under its own label: see `jobs.lua`.
function entries.row(entry)
  local label, claimed = entry.label, entry.state == 'claimed'
  return {
    entry.id, label.asset, label.dispatch, label.fence, label.hash, label.kind, entry.state,
    entries.live(entry) and 1 or 0, claimed and entry.stop ~= 0 and 1 or 0,
    claimed and entry.claim_no or '', claimed and entry.worker or '', exact(entry.due_at),
    claimed and exact(entry.progress) or '0',
  }
end

-- The lists of dispatches, in their order, false for none.
function entries.lists_of(dispatches)
  return many('HMGET', of_key, dispatches)
end

-- Read many lists at once.
function entries.load_lists(dispatches)
  local texts = entries.lists_of(dispatches)
  for at = 1, #dispatches do
    lists[dispatches[at]] = texts[at] or ''
  end
end

local function list_of(dispatch)
  local list = lists[dispatch]
  if not list then
    list = call('HGET', of_key, dispatch) or ''
    lists[dispatch] = list
  end
  return list
end

-- Where the id begins in a list, and where it ends, with the zero bytes around it.
local function place_in(list, id)
  return string.find(list, '\0' .. id .. '\0', 1, true)
end

local function enlist(dispatch, id)
  local list = list_of(dispatch)
  if not place_in(list, id) then
    lists[dispatch], relisted[dispatch] = (list == '' and '\0' or list) .. id .. '\0', true
  end
end

local function unlist(dispatch, id)
  local list = list_of(dispatch)
  local first, last = place_in(list, id)
  if first then
    lists[dispatch], relisted[dispatch] = string.sub(list, 1, first) .. string.sub(list, last + 1), true
  end
end

local function listed(dispatch)
  local ids = {}
  for id in string.gmatch(list_of(dispatch), '[^%z]+') do
    ids[#ids + 1] = id
  end
  return ids
end

local function by_pair(label)
  return key('job:pair', label.media, label.lane)
end

-- Index a new entry.
function entries.add(entry, body)
  local id, label, number = entry.id, entry.label, tick()
  known[id] = entry
  bodies[id] = body
  entries.change(entry)
  place(all_key, id, number)
  place(key('job:asset', label.asset), id, number)
  place(key('job:book', label.book), id, number)
  place(by_pair(label), id, number)
  enlist(label.dispatch, id)
end

-- Forget an entry under all its labels.
function entries.remove(entry)
  local id, label = entry.id, entry.label
  known[id], changed[id], bodies[id], held_bodies[id] = false, nil, nil, nil
  removed[id] = true
  place(all_key, id, false)
  place(key('job:asset', label.asset), id, false)
  place(key('job:book', label.book), id, false)
  place(by_pair(label), id, false)
  unlist(label.dispatch, id)
  if entry.held then
    call('HDEL', held_key, id)
    unlist(entry.held.dispatch, id)
  end
end

-- The job now belongs to another dispatch (or, with another lane, to another pair).
function entries.relabel(entry, label, body)
  local id = entry.id
  unlist(entry.label.dispatch, id)
  place(by_pair(entry.label), id, false)
  entry.label = label
  bodies[id] = body
  entries.change(entry)
  enlist(label.dispatch, id)
  place(by_pair(label), id, tick())
end

-- Let a job wait for the end of this entry's claim.
function entries.hold(entry, label, body)
  entries.let_go(entry)
  entry.held = label
  held_bodies[entry.id] = body
  enlist(label.dispatch, entry.id)
end

-- No job waits for the end of this entry's claim any more. Gives the body of the one that did.
function entries.let_go(entry)
  local label, id = entry.held, entry.id
  if not label then
    return nil
  end
  if label.dispatch ~= entry.label.dispatch then
    unlist(label.dispatch, id)
  end
  local body = held_bodies[id] or call('HGET', held_key, id)
  held_bodies[id] = nil
  call('HDEL', held_key, id)
  entry.held = nil
  entries.change(entry)
  return body
end

-- The entries of an index's members, the first first.
local function all_of(ids)
  entries.load(ids)
  local found = {}
  for _, id in ipairs(ids) do
    if known[id] then
      found[#found + 1] = known[id]
    end
  end
  return found
end

-- The entries that carry this label.
function entries.of_dispatch(dispatch)
  return all_of(listed(dispatch))
end

-- Whether a dispatch has a live job; one that waits for a stopped claim is live. Mostly the first one is.
function entries.has_live(dispatch)
  for id in string.gmatch(list_of(dispatch), '[^%z]+') do
    local entry = entries.get(id)
    if
      entry
      and (
        (entry.label.dispatch == dispatch and entries.live(entry))
        or (entry.held and entry.held.dispatch == dispatch)
      )
    then
      return true
    end
  end
  return false
end

-- --- selections: {assets, dispatches, book, media, lane}, each narrowing ---

local function set_of(list)
  if not list then
    return nil
  end
  local found = {}
  for _, member in ipairs(list) do
    found[member] = true
  end
  return found
end

local function union(members, of)
  local ids, seen = {}, {}
  for _, member in ipairs(members) do
    for _, id in ipairs(of(member)) do
      if not seen[id] then
        seen[id] = true
        ids[#ids + 1] = id
      end
    end
  end
  return ids
end

-- Up to `limit` ids of an index behind a number, and the number of the last one ('' when there are no more).
local function page(name, after, limit)
  local found = call('ZRANGEBYSCORE', name, '(' .. after, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
  local ids = {}
  for at = 1, #found, 2 do
    ids[#ids + 1] = found[at]
  end
  return ids, #ids == limit and found[#found] or ''
end

local function of_asset(asset)
  return call('ZRANGE', key('job:asset', asset), 0, -1)
end

local function narrowest(of, after, limit)
  if of.dispatches then
    entries.load_lists(of.dispatches)
    return union(of.dispatches, listed), ''
  elseif of.assets then
    return union(of.assets, of_asset), ''
  elseif of.book then
    return page(key('job:book', of.book), after, limit)
  elseif of.media then
    return page(key('job:pair', of.media, of.lane), after, limit)
  end
  return page(all_key, after, limit)
end

-- The (entry, label) that a selection names, as two lists, and where the next page begins.
function entries.select(of, after, limit)
  local ids, following = narrowest(of, after, limit)
  local assets, dispatches = set_of(of.assets), set_of(of.dispatches)
  local found, labels = {}, {}
  for _, entry in ipairs(all_of(ids)) do
    for _, label in ipairs({ entry.label, entry.held }) do
      if
        (not assets or assets[label.asset])
        and (not dispatches or dispatches[label.dispatch])
        and (not of.book or label.book == of.book)
        and (not of.media or (label.media == of.media and label.lane == of.lane))
      then
        found[#found + 1] = entry
        labels[#labels + 1] = label
      end
    end
  end
  return found, labels, following
end
