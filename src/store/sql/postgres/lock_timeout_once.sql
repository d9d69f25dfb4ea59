-- only postgres
-- The same for this transaction alone.
SELECT set_config('lock_timeout', u.ms::text, true) FROM {bare ms int}
