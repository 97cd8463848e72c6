-- Turns: what one process at a time does. Taken for a while, kept, and ended (CONTRACT 11: a renewed, fenced lock).
--
-- KEYS[1]  the root
-- ARGV[3]  'take', 'keep' or 'end'
-- ARGV[4]  who: a word that is used for one turn only, so that it is the fence
-- ARGV[5]  seconds until the turn is over by itself
-- ARGV[6]  JSON [name, …]
-- Result   JSON, a text for each name. take: '0' it is taken, else the seconds until another's turn is over.
--          keep: '1' it still is, else '0'. end: '1' somebody asked for it meanwhile, else '0'.
-- uses: turns

local mode, who, seconds = ARGV[3], ARGV[4], tonumber(ARGV[5])
local answers = {}
for at, name in ipairs(cjson.decode(ARGV[6])) do
  local turn = turns.of(name)
  if mode == 'take' then
    answers[at] = turns.take(turn, who, seconds)
  elseif mode == 'keep' then
    answers[at] = turns.keep(turn, who, seconds) and '1' or '0'
  else
    answers[at] = turns.finish(turn, who) and '1' or '0'
  end
end
return finish(cjson.encode(answers))
