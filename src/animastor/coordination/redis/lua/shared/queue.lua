-- The job queue: what happens to a job from its entering to its end (CONTRACT 5, 6, 7, 12). It knows nothing of
-- leases, breakers or workers' abilities: the scripts ask those first. A job is queued (ready.lua), delayed
-- (delays.lua) or claimed (watch.lua), and in exactly one of these three.
-- uses: entries, ready, delays, watch

local queue = {}

local function take_out(entry)
  if entry.state == 'queued' then
    ready.drop(entry)
  else
    delays.drop(entry)
  end
end

local function store(id, label, body)
  local entry = entries.new(id, label)
  entries.add(entry, body)
  if label.not_before > now then
    delays.put(entry, label.not_before)
  else
    ready.put(entry)
  end
end

local function relabel(entry, label, body)
  local old = entry.label
  if entry.state == 'queued' and (old.lane ~= label.lane or old.profile ~= label.profile) then
    ready.drop(entry)
    entries.relabel(entry, label, body)
    ready.put(entry)
  else
    entries.relabel(entry, label, body)
  end
end

-- Store a job; re-label the one that is alive under its id; or let it wait for the end of a stopped one.
function queue.enqueue(id, label, body)
  local entry = entries.get(id)
  if not entry then
    store(id, label, body)
    return 'S'
  end
  if entry.stop == 2 then
    entries.hold(entry, label, body)
    entries.change(entry)
    return 'H'
  end
  entry.stop = 0
  relabel(entry, label, body)
  return 'R'
end

-- Queue the delayed jobs that may go now. True: there were some.
function queue.move_due()
  local due = delays.due()
  for _, id in ipairs(due) do
    local entry = entries.get(id)
    if entry then
      entry.state = 'queued'
      entries.change(entry)
      ready.put(entry)
    end
  end
  return #due > 0
end

-- A job that was taken out of its place is in a worker's hands.
function queue.begin_claim(entry, worker, claim_no)
  entry.state, entry.claim_no, entry.worker, entry.stop, entry.avoid = 'claimed', claim_no, worker, 0, ''
  entries.change(entry)
  watch.begin(entry)
end

-- Make a claim known that the store has lost. A job that is there keeps its label; a present claim stays.
function queue.adopt(id, label, body, claim_no, worker)
  local entry = entries.get(id)
  if not entry then
    entry = entries.new(id, label)
    entries.add(entry, body)
  elseif entry.state == 'claimed' then
    return
  else
    take_out(entry)
  end
  queue.begin_claim(entry, worker, claim_no)
end

-- The entry whose present claim this is, or nil.
function queue.present(id, claim_no, worker)
  local entry = entries.get(id)
  if entry and entry.state == 'claimed' and entry.claim_no == claim_no and entry.worker == worker then
    return entry
  end
  return nil
end

-- A heartbeat listed a claim; true when it is to go on, nil when this is no present claim of that worker.
function queue.listed(id, claim_no, progress, worker)
  local entry = queue.present(id, claim_no, worker)
  if not entry then
    return nil
  end
  watch.listed(entry, progress)
  if entry.stop == 0 then
    return true
  end
  entry.stop = 2
  return false
end

local function end_claim(entry)
  watch.finish(entry)
  entry.claim_no, entry.worker, entry.stop = '', '', 0
  entries.change(entry)
end

-- Queue a job again: a retry asks its budget when its time comes, what is nobody's fault goes first.
local function enter(entry, due, failure)
  entry.retry = failure
  if failure ~= '' or due > now then
    delays.put(entry, due)
    return
  end
  entry.due_at, entry.state = due, 'queued'
  entries.change(entry)
  ready.put(entry, true)
end

local function enter_held(entry, due, failure)
  local label = entry.held
  local body = entries.let_go(entry)
  entries.relabel(entry, label, body)
  enter(entry, due, failure)
end

-- End a claim by its verdict. True: a job is queued again, or one that waited for this end is.
function queue.settle(entry, failure, counted, requeue_at)
  local due = requeue_at or 0
  local avoid = (failure == '' or failure == 'transient') and counted and '' or entry.worker
  local wanted = entry.stop == 0 and requeue_at
  end_claim(entry)
  if entry.held then
    enter_held(entry, math.max(due, entry.held.not_before), counted and failure or '')
  elseif wanted then
    entry.avoid = avoid
    enter(entry, due, counted and failure or '')
  else
    entries.remove(entry)
    return false
  end
  return true
end

-- End a claim that is silent or overdue. `again`: its job is queued at once, for another worker if it can. One that was
-- lost so often that it may be poison waits a little: the database is about to say so (CONTRACT 9).
function queue.lose(entry, again)
  local worker = entry.worker
  end_claim(entry)
  entry.losses = entry.losses + 1
  if entry.held then
    enter_held(entry, entry.held.not_before, '')
  elseif again then
    local suspect = entry.losses >= LIMITS.vanished_limit
    enter(entry, suspect and now + LIMITS.vanished_pause or 0, '')
  else
    entries.remove(entry)
    return
  end
  entry.avoid = worker
end

-- Drop a job that is queued, delayed or waiting; mark a running one stop. True: something changed.
function queue.discard(entry, label)
  if label == entry.held then
    entries.let_go(entry)
  elseif entry.state == 'claimed' then
    if entry.stop ~= 0 then
      return false
    end
    entry.stop = 1
    entries.change(entry)
  else
    take_out(entry)
    entries.remove(entry)
  end
  return true
end

-- Discard what carries this label. True: something changed.
function queue.discard_dispatch(dispatch)
  local touched = false
  for _, entry in ipairs(entries.of_dispatch(dispatch)) do
    for _, label in ipairs({ entry.label, entry.held }) do
      if label.dispatch == dispatch and queue.discard(entry, label) then
        touched = true
      end
    end
  end
  return touched
end
