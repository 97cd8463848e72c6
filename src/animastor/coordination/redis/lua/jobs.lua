-- The jobs of a selection, from an index; long ones a page at a time. A job that is there from the first page to the
-- last is on one of them, since pages follow the numbers of the index: one that is re-labelled meanwhile comes again.
--
-- KEYS[1]  the root
-- ARGV[3]  JSON {assets, dispatches, book, media and lane}: each that is there narrows
-- ARGV[4]  where the page begins: 0, or what the page before gave
-- ARGV[5]  how many jobs a page has at most
-- Result   JSON [next page or '', [[job, asset, dispatch, fence, input hash, kind, state, live 0 or 1, stopping 0 or 1,
--          claim number, worker, due at (text), progress (text)], …]]
-- uses: entries

local found, labels, following = entries.select(cjson.decode(ARGV[3]), ARGV[4], tonumber(ARGV[5]))
local rows = {}
for at, entry in ipairs(found) do
  local label = labels[at]
  if label == entry.label then
    rows[at] = entries.row(entry)
  else -- it waits for the end of a stopped claim
    rows[at] = {
      entry.id, label.asset, label.dispatch, label.fence, label.hash, label.kind, 'delayed', 1, 0, '', '',
      exact(label.not_before), '0',
    }
  end
end
return finish('["' .. following .. '",' .. (#rows > 0 and cjson.encode(rows) or '[]') .. ']')
