-- End claims; feed breaker and quarantine; queue again where the verdict says so (CONTRACT 9).
--
-- KEYS[1]  the root
-- ARGV[3]  the id of the call
-- ARGV[4]  JSON [[job, claim number, worker, failure type or '', called the backend 0 or 1, counted 0 or 1,
--          requeue at or false], …]
-- Result   JSON [rang 0 or 1, [false for a stale claim, or [dispatch, fence, circuit or false], …]];
--          circuit: [media, lane, before, after, reason]
-- uses: once, leases, breaker, fleet, queue

local answered = once.answered()
if answered then
  return finish(answered)
end
leases.expire()
local BREAKING = { transient = true, infrastructure = true } -- what counts for a breaker

local function feed(label, failure)
  local one = breaker.of(label.media, label.lane)
  local before = one.state
  local permit = before ~= 'closed' -- else nobody has one
    and leases.of(label.dispatch) == label.asset
    and leases.has_permit(label.dispatch, (leases.place_of(label.dispatch)))
  local moved = false
  if failure == '' then
    moved = breaker.succeeded(one, permit)
  elseif BREAKING[failure] then
    moved = breaker.failed(one, label.book, permit)
  end
  if not moved then
    return false
  end
  local reason = before == 'closed' and 'failures' or failure == '' and 'test_success' or 'test_failure'
  return { label.media, label.lane, before, one.state, reason }
end

local function settle(id, claim_no, worker, failure, called, counted, requeue_at)
  local entry = queue.present(id, claim_no, worker)
  if not entry then
    return false
  end
  local label, circuit = entry.label, false
  if counted == 1 and (failure ~= '' or not requeue_at) then
    if failure ~= '' then
      fleet.failed(worker)
    else
      fleet.succeeded(worker)
    end
    if called == 1 and label.kind ~= 'merge' then
      circuit = feed(label, failure)
    end
  end
  if queue.settle(entry, failure, counted == 1, requeue_at) or circuit then
    ring()
  end
  return { label.dispatch, label.fence, circuit }
end

local verdicts = cjson.decode(ARGV[4])
local ids = {}
for at, verdict in ipairs(verdicts) do
  ids[at] = verdict[1]
end
entries.load(ids)
entries.load_labels(ids)
local rows = {}
for at, verdict in ipairs(verdicts) do
  rows[at] = settle(unpack(verdict))
end
return once.finish('[' .. (rung and '1' or '0') .. ',' .. (#rows > 0 and cjson.encode(rows) or '[]') .. ']')
