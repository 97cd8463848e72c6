-- A server is there; whoever finds the mark too old starts every claim's silence anew.
--
-- KEYS[1]  the root
-- Result   nothing
-- uses: watch

watch.present()
return finish('')
