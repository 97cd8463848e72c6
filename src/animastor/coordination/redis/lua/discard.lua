-- Drop queued and delayed jobs and mark running ones stop: those of a selection, or exact ones.
--
-- KEYS[1]  the root
-- ARGV[3]  JSON {assets, dispatches, book, media and lane}: each that is there narrows; or {jobs}: exact job ids
-- Result   how many were touched
-- uses: queue

local of = cjson.decode(ARGV[3])
local found, labels = {}, {}
if of.jobs then
  entries.load(of.jobs)
  for _, id in ipairs(of.jobs) do
    local entry = entries.get(id)
    for _, label in ipairs(entry and { entry.label, entry.held } or {}) do
      found[#found + 1], labels[#labels + 1] = entry, label
    end
  end
else
  found, labels = entries.select(of, 0, -1)
end

local touched = 0
for at, entry in ipairs(found) do
  if entries.get(entry.id) and queue.discard(entry, labels[at]) then
    touched = touched + 1
  end
end
return finish(touched)
