-- The era that the store holds.
--
-- KEYS[1]  the root
-- Result   the era, or nothing when the store has lost it
-- uses: era

return finish(era.number)
