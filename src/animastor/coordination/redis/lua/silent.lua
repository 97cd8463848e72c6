-- Claims that the next sweep ends because their workers are silent. Nothing of them changes.
--
-- KEYS[1]  the root
-- ARGV[3]  how many at most
-- Result   JSON [[job, …], …], as the rows of `jobs.lua`
-- uses: era, entries, watch

watch.check_presence()
if era.closed() then
  return finish('[]')
end
local rows = {}
for at, entry in ipairs(watch.falling_silent(tonumber(ARGV[3]))) do
  rows[at] = entries.row(entry)
end
return finish(#rows > 0 and cjson.encode(rows) or '[]')
