-- Ids of dispatches that are remembered for a while after they were released (CONTRACT 6).
--
-- <root>:released   sorted set, dispatch scored by when it is forgotten; every step that asks forgets first

local marks = { name = key('released') }

function marks.expire()
  call('ZREMRANGEBYSCORE', marks.name, '-inf', now)
end

-- Mark dispatches, or mark them again from now on.
function marks.add(dispatches)
  local until_, scores = exact(now + LIMITS.released_for), {}
  for at = 1, #dispatches do
    scores[2 * at - 1], scores[2 * at] = until_, dispatches[at]
  end
  many('ZADD', marks.name, scores)
end

function marks.has(dispatch)
  return call('ZSCORE', marks.name, dispatch) ~= false
end

-- For each of these whether it is marked.
function marks.which(dispatches)
  local scores = many('ZMSCORE', marks.name, dispatches)
  local marked = {}
  for at = 1, #dispatches do
    if scores[at] then
      marked[dispatches[at]] = true
    end
  end
  return marked
end
