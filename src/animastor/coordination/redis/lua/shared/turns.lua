-- Who has which turn, and until when.
--
-- <root>:turn\0<name>   hash: who, until, asked (1 when somebody wanted it since it was taken); lives as long as the turn

local turns = {}

function turns.of(name)
  local turn = { key = key('turn', name) }
  local fields = call('HMGET', turn.key, 'who', 'until', 'asked')
  if fields[1] and tonumber(fields[2]) > now then
    turn.who, turn.until_, turn.asked = fields[1], tonumber(fields[2]), fields[3] == '1'
  end
  return turn
end

local function hold(turn, who, seconds, asked)
  call('HSET', turn.key, 'who', who, 'until', exact(now + seconds), 'asked', asked and '1' or '0')
  call('PEXPIRE', turn.key, math.ceil(1000 * seconds))
end

function turns.take(turn, who, seconds)
  if turn.who and turn.who ~= who then
    call('HSET', turn.key, 'asked', '1')
    return exact(turn.until_ - now)
  end
  hold(turn, who, seconds, turn.asked)
  return '0'
end

function turns.keep(turn, who, seconds)
  if turn.who ~= who then
    return false
  end
  hold(turn, who, seconds, turn.asked)
  return true
end

-- Whether somebody asked for it meanwhile. Another's turn is left alone.
function turns.finish(turn, who)
  if turn.who ~= who then
    return false
  end
  call('DEL', turn.key)
  return turn.asked
end
