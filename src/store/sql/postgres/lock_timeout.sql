-- only postgres
-- ?1 milliseconds: how long this session waits for a lock from now on.
SELECT set_config('lock_timeout', (?1::bigint)::text, false)
