-- The jobs that may be claimed, by lane and profile, served book by book (CONTRACT 5): no book waits behind another's
-- long queue.
--
-- <root>:ready\0<lane>\0<profile>                     sorted set, book by turn
-- <root>:ready\0<lane>\0<profile>\0<book>             sorted set, media by number: the book's queues
-- <root>:ready\0<lane>\0<profile>\0<book>\0<media>    sorted set, job id by number, the oldest first
--
-- Owner: taking or dropping the last job of a queue removes it, and its places in the other two.
-- uses: entries

local ready = {}
local lined = {} -- queues that are in their book's and line's sets, put there or seen to be since the last one went

-- Add a job, behind those of its book (or before them).
function ready.put(entry, first)
  local label = entry.label
  local number, queue = tick(), key('ready', label.lane, label.profile, label.book, label.media)
  if not lined[queue] then
    lined[queue] = true
    call('ZADD', key('ready', label.lane, label.profile), 'NX', number, label.book)
    call('ZADD', key('ready', label.lane, label.profile, label.book), 'NX', number, label.media)
  end
  call('ZADD', queue, first and -number or number, entry.id)
end

-- Take a job out.
function ready.drop(entry)
  local label = entry.label
  local queue = key('ready', label.lane, label.profile, label.book, label.media)
  call('ZREM', queue, entry.id)
  if call('EXISTS', queue) == 1 then
    return
  end
  lined[queue] = nil
  local book = key('ready', label.lane, label.profile, label.book)
  call('ZREM', book, label.media)
  if call('EXISTS', book) == 0 then
    call('ZREM', key('ready', label.lane, label.profile), label.book)
  end
end

local function first_of(lane, profile, book, choose)
  local name = key('ready', lane, profile, book)
  for _, media in ipairs(call('ZRANGE', name, 0, -1)) do
    local entry = choose(media, name .. '\0' .. media)
    if entry then
      return entry
    end
  end
  return nil
end

-- Up to `limit` jobs, a book at a time; each is taken out. `choose(media, queue)` gives the first that may be claimed.
function ready.take(lane, profile, limit, choose)
  local line = key('ready', lane, profile)
  local taken, passed = {}, 0 -- passed: books in a row that had nothing to give
  local books = limit > 0 and call('ZCARD', line) or 0
  while #taken < limit and passed < books do
    local book = call('ZRANGE', line, 0, 0)[1]
    call('ZADD', line, tick(), book)
    local entry = first_of(lane, profile, book, choose)
    if entry then
      ready.drop(entry)
      taken[#taken + 1] = entry
      passed = 0
      books = call('ZCARD', line)
    else
      passed = passed + 1
    end
  end
  return taken
end
