-- ?1 key, ?2 blocked, ?3 crash_count: what is known of a run without an event of its own.
UPDATE run SET blocked = ?2, crash_count = ?3 WHERE key = ?1
