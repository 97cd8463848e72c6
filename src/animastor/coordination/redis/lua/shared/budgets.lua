-- Fleet budgets (CONTRACT 9): they delay retries when many fail at once. A budget is a sliding window of what was
-- spent, by book. No book may use more than half of one while another book asked the same one within its window.
--
-- <root>:budget   hash, failure type or 'all' -> spent {{time, book}, …} and asked {{book, time}, …}, the least
--                 recent first (msgpack). Lives for the longest window.

local budgets = {}
local budget_key = key('budget')
local read, touched = {}, {}

local function of(name)
  local one = read[name]
  if not one then
    local record = call('HGET', budget_key, name)
    one = record and cmsgpack.unpack(record) or { spent = {}, asked = {} }
    one.limit = name == 'all' and LIMITS.budget_all or LIMITS.budget_per_type
    one.period = name == 'all' and LIMITS.budget_all_period or LIMITS.budget_type_period
    read[name] = one
  end
  touched[name] = one
  return one
end

flushes[#flushes + 1] = function()
  for name, one in pairs(touched) do
    call('HSET', budget_key, name, cmsgpack.pack({ spent = one.spent, asked = one.asked }))
    call('EXPIRE', budget_key, math.ceil(math.max(LIMITS.budget_all_period, LIMITS.budget_type_period)) + 1)
  end
end

-- Drop the first `count` of a list.
local function drop_first(list, count)
  if count == 0 then
    return list
  end
  local rest = {}
  for at = count + 1, #list do
    rest[at - count] = list[at]
  end
  return rest
end

local function forget(one)
  local spent, asked = 0, 0
  while spent < #one.spent and one.spent[spent + 1][1] + one.period <= now do
    spent = spent + 1
  end
  while asked < #one.asked and one.asked[asked + 1][2] + one.period <= now do
    asked = asked + 1
  end
  one.spent, one.asked = drop_first(one.spent, spent), drop_first(one.asked, asked)
end

local function ask(one, book)
  for at = #one.asked, 1, -1 do
    if one.asked[at][1] == book then
      table.remove(one.asked, at)
      break
    end
  end
  one.asked[#one.asked + 1] = { book, now }
end

-- Whether this book may spend one now.
local function allows(one, book)
  forget(one)
  if #one.spent >= one.limit then
    return false
  end
  local mine = 0
  for _, spent in ipairs(one.spent) do
    if spent[2] == book then
      mine = mine + 1
    end
  end
  if mine < math.max(1, math.floor(one.limit / 2)) then
    return true
  end
  for _, asked in ipairs(one.asked) do
    if asked[1] ~= book then
      return false
    end
  end
  return true
end

local function named(failures)
  local found = { of('all') }
  for _, failure in ipairs(failures) do
    found[#found + 1] = of(failure)
  end
  return found
end

-- Note that a book has retries of these types.
function budgets.ask(failures, book)
  for _, one in ipairs(named(failures)) do
    ask(one, book)
  end
end

-- Take one of each named type and one of all together; or, when one of them is spent, take nothing.
function budgets.spend(failures, book)
  local found = named(failures)
  for _, one in ipairs(found) do
    ask(one, book)
  end
  for _, one in ipairs(found) do
    if not allows(one, book) then
      return false
    end
  end
  for _, one in ipairs(found) do
    one.spent[#one.spent + 1] = { now, book }
  end
  return true
end

-- Before this time a refusal of this type stays one.
function budgets.changes_at(failure)
  local first = math.huge
  for _, one in ipairs({ of('all'), of(failure) }) do
    forget(one)
    local oldest = math.huge
    if one.spent[1] then
      oldest = one.spent[1][1]
    end
    if one.asked[1] then
      oldest = math.min(oldest, one.asked[1][2])
    end
    first = math.min(first, oldest + one.period)
  end
  return first
end
