-- A server is there; whoever finds the mark too old starts every claim's silence anew.
--
-- KEYS[1]  the root
-- Result   the era, or nothing when the store has lost it
-- uses: watch, era

watch.present()
return finish(era.number)
