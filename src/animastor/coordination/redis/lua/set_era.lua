-- Write the era that the database gave; claim numbers start behind it. A lower one than is held is ignored.
--
-- KEYS[1]  the root
-- ARGV[3]  the era
-- ARGV[4]  seconds of its window, which opens when there was no era
-- Result   nothing
-- uses: era

if not era.number then
  call('HSET', root, 'era', ARGV[3], 'claims', 0, 'opens_at', exact(now + tonumber(ARGV[4])))
elseif tonumber(ARGV[3]) > tonumber(era.number) then
  call('HSET', root, 'era', ARGV[3], 'claims', 0)
end
ring()
return finish('')
