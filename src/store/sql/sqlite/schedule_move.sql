-- ?1 key, ?2 revision expected, ?3 revision, ?4 status, ?5 next_us, ?6 events, ?7 fires, ?8 latest_instance, ?9 body.
-- Flag: it was where the change expected it. A repetition of the same change holds too.
UPDATE schedule SET revision = ?3, status = ?4, next_us = ?5, events = ?6, fires = ?7, latest_instance = ?8, body = ?9
WHERE key = ?1 AND (revision = ?2 OR revision = ?3)
