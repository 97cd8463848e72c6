-- A call whose answer was lost is repeated with the same id, and gets the same answer instead of acting again.
--
-- ARGV[3]        the id of the call
-- <root>:once\0<id>   its answer; lives for ONCE_FOR seconds, longer than a caller repeats itself

local ONCE_FOR = 120
local once = { name = key('once', ARGV[3]) }

-- The answer that was given, or nil.
function once.answered()
  return call('GET', once.name) or nil
end

-- As `finish`, and the answer is remembered.
function once.finish(answer)
  call('SET', once.name, answer, 'EX', ONCE_FOR)
  return finish(answer)
end
