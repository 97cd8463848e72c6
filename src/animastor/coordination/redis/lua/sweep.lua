-- End silent and overdue claims; move due delayed jobs; forget what has expired.
--
-- KEYS[1]  the root
-- ARGV[3]  the id of the call
-- Result   JSON [rang 0 or 1, [[claim number, worker, reason, queued again 0 or 1, job], …]]
-- uses: once, era, leases, breaker, fleet, queue

local answered = once.answered()
if answered then
  return finish(answered)
end
leases.expire()
fleet.forget()
breaker.tidy()
watch.check_presence()
if era.closed() then
  return finish('[0,[]]')
end

local lost = {}
local function lose(reason)
  return function(entry)
    local again = entry.stop == 0 and not leases.released(entry.label.dispatch)
    lost[#lost + 1] = '["' .. entry.claim_no .. '",' .. cjson.encode(entry.worker) .. ',"' .. reason .. '",'
      .. (again and '1' or '0') .. ',' .. entries.body(entry.id) .. ']'
    queue.lose(entry, again)
  end
end
watch.silent(lose('worker_silent'))
watch.overdue(lose('job_timeout'))
if queue.move_due() or #lost > 0 then
  ring()
end
local answer = '[' .. (rung and '1' or '0') .. ',[' .. table.concat(lost, ',') .. ']]'
if #lost > 0 then
  return once.finish(answer)
end
return finish(answer)
