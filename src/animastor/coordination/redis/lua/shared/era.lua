-- The era that the store holds, its window, and the claim numbers that start behind it (CONTRACT 11).
--
-- Root fields: era; opens_at (when the window is over); claims (given in this era). No era: the store has lost what it
-- knew, and nothing begins. A claim number is `era-count` here: the two halves of the port's one number, which a
-- double could not hold for every era.

local era = {}
local claims, given = nil, false -- as they are now; whether any were given by this script

flushes[#flushes + 1] = function()
  if given then
    call('HSET', root, 'claims', exact(claims))
  end
end

do
  local fields = call('HMGET', root, 'era', 'opens_at')
  era.number = fields[1]
  era.opens_at = tonumber(fields[2] or 'inf')
end

-- Whether nothing may begin.
function era.closed()
  return now < era.opens_at
end

function era.claims()
  claims = claims or tonumber(call('HGET', root, 'claims') or 0)
  return claims
end

-- A claim number greater than all before it, of earlier eras too. Only with an era.
function era.next_claim()
  claims, given = era.claims() + 1, true
  return era.number .. '-' .. exact(claims)
end
