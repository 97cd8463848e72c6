-- A worker is gone. Its claims stay until they are handed back, settled or swept; it gets no new ones.
--
-- KEYS[1]  the root
-- ARGV[3]  the worker's key
-- Result   nothing
-- uses: fleet

fleet.leave(ARGV[3])
ring()
return finish('')
