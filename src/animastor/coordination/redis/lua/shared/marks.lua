-- Ids of dispatches that are remembered for a while after they were released (CONTRACT 6).
--
-- <root>:released   sorted set, dispatch scored by when it is forgotten; every step that asks forgets first

local marks = { name = key('released') }

function marks.expire()
  call('ZREMRANGEBYSCORE', marks.name, '-inf', now)
end

-- Mark dispatches, or mark them again from now on.
function marks.add(dispatches)
  local pairs_ = {}
  for at, dispatch in ipairs(dispatches) do
    pairs_[2 * at - 1] = exact(now + LIMITS.released_for)
    pairs_[2 * at] = dispatch
  end
  many('ZADD', marks.name, pairs_)
end

function marks.has(dispatch)
  return call('ZSCORE', marks.name, dispatch) ~= false
end

-- For each of these whether it is marked.
function marks.which(dispatches)
  local scores = many('ZMSCORE', marks.name, dispatches)
  local marked = {}
  for at, score in ipairs(scores) do
    if score then
      marked[dispatches[at]] = true
    end
  end
  return marked
end
