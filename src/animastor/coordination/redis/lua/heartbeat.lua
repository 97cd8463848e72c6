-- Keep claims alive; told to stop by label, whatever the worker holds.
--
-- KEYS[1]  the root
-- ARGV[3]  the worker's key
-- ARGV[4]  the worker (JSON)
-- ARGV[5]  JSON [[job, claim number, progress], …]
-- Result   a letter for each: C continue, S stop. A claim that is not known is told to stop, unless the store has just
--          lost what it knew: then it goes on, and its ticket makes it known again.
-- uses: era, fleet, queue

fleet.see_running(ARGV[3], ARGV[4])
local running = cjson.decode(ARGV[5])
local ids = {}
for at, one in ipairs(running) do
  ids[at] = one[1]
end
entries.load(ids)

local answers = {}
for at, one in ipairs(running) do
  local goes_on = queue.listed(one[1], one[2], one[3], ARGV[3])
  if goes_on == nil then
    goes_on = era.closed()
  end
  answers[at] = goes_on and 'C' or 'S'
end
return finish(table.concat(answers))
