-- Make claims known again after the store was lost; known ones stay as they are.
--
-- KEYS[1]    the root
-- ARGV[3]    JSON [[head of the job as in enqueue.lua], …]
-- ARGV[4]    JSON [claim number, worker's key, claim number, worker's key, …]
-- ARGV[5…]   the jobs themselves (JSON), in the same order
-- Result     nothing
-- uses: leases, fleet, queue

leases.expire()
local claims = cjson.decode(ARGV[4])
for at, head in ipairs(cjson.decode(ARGV[3])) do
  local label = entries.label(head)
  if not leases.released(label.dispatch) then
    if label.kind ~= 'merge' then
      fleet.learn(label.media, label.profile)
    end
    queue.adopt(head[1], label, ARGV[4 + at], claims[2 * at - 1], claims[2 * at])
  end
end
return finish('')
