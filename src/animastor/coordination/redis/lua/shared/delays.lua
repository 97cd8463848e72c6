-- Jobs whose time has not come, and retries whose time has come but for which a fleet budget has nothing left.
--
-- <root>:delayed                    sorted set, number and job id, scored by when its time comes
-- <root>:short                      sorted set, failure type by number: whose retries wait for a budget
-- <root>:short\0<type>              sorted set, book by turn
-- <root>:short\0<type>\0<book>      sorted set, job id by number, the oldest first
-- root field short_until            before that time no budget has more than it had
--
-- Owner: a job leaves when its time and its budget have come, or with its end.
-- uses: entries, budgets

local delays = {}
local delayed_key, short_key = key('delayed'), key('short')

local function member_of(entry)
  return string.format('%016.0f', entry.wait_no) .. entry.id
end

-- Delay a job until `due_at`.
function delays.put(entry, due_at)
  entry.state, entry.due_at, entry.wait_no = 'delayed', due_at, tick()
  entries.change(entry)
  call('ZADD', delayed_key, due_at, member_of(entry))
end

local function tidy(failure, book)
  if call('EXISTS', key('short', failure, book)) == 0 then
    call('ZREM', key('short', failure), book)
    if call('EXISTS', key('short', failure)) == 0 then
      call('ZREM', short_key, failure)
    end
  end
end

-- Take a delayed job out.
function delays.drop(entry)
  if entry.wait_no ~= 0 then
    call('ZREM', delayed_key, member_of(entry))
    entry.wait_no = 0
    entries.change(entry)
  elseif entry.retry ~= '' then
    call('ZREM', key('short', entry.retry, entry.label.book), entry.id)
    tidy(entry.retry, entry.label.book)
  end
end

-- Before this time `due` gives nothing.
function delays.next_at()
  local first = call('ZRANGE', delayed_key, 0, 0, 'WITHSCORES')
  local short_until = call('HGET', root, 'short_until')
  return math.min(tonumber(first[2] or 'inf'), tonumber(short_until or 'inf'))
end

local function wait_for_budget(entry)
  local failure, book, number = entry.retry, entry.label.book, tick()
  call('ZADD', short_key, 'NX', number, failure)
  call('ZADD', key('short', failure), 'NX', number, book)
  call('ZADD', key('short', failure, book), number, entry.id)
end

-- Book by book, until nobody gets anything any more.
local function serve(failure, gone)
  local books_key, passed = key('short', failure), 0
  local books = call('ZCARD', books_key)
  while books > 0 and passed < books do
    local book = call('ZRANGE', books_key, 0, 0)[1]
    call('ZADD', books_key, tick(), book)
    if budgets.spend({ failure }, book) then
      passed = 0
      local id = call('ZPOPMIN', key('short', failure, book))[1]
      gone[#gone + 1] = id
      tidy(failure, book)
      books = call('ZCARD', books_key)
    else
      passed = passed + 1
    end
  end
end

local function spend(gone)
  local failures = call('ZRANGE', short_key, 0, -1)
  for _, failure in ipairs(failures) do
    for _, book in ipairs(call('ZRANGE', key('short', failure), 0, -1)) do
      budgets.ask({ failure }, book)
    end
  end
  local short_until = math.huge
  for _, failure in ipairs(failures) do
    serve(failure, gone)
    if call('ZSCORE', short_key, failure) then
      short_until = math.min(short_until, budgets.changes_at(failure))
    end
  end
  if short_until == math.huge then
    call('HDEL', root, 'short_until')
  else
    call('HSET', root, 'short_until', exact(short_until))
  end
end

-- Take out the jobs that may go now: their time has come and, of retries, their budget had one left.
function delays.due()
  if now < delays.next_at() then
    return {}
  end
  local gone, ids = {}, {}
  local members = call('ZRANGEBYSCORE', delayed_key, '-inf', now)
  for at, member in ipairs(members) do
    ids[at] = string.sub(member, 17)
  end
  many('ZREM', delayed_key, members)
  entries.load(ids)
  for _, id in ipairs(ids) do
    local entry = entries.get(id)
    if entry then
      entry.wait_no = 0
      entries.change(entry)
      if entry.retry == '' then
        gone[#gone + 1] = id
      else
        wait_for_budget(entry)
      end
    end
  end
  spend(gone)
  return gone
end
