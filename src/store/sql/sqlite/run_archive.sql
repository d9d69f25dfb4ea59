-- ?1 key, ?2 archived_us
UPDATE run SET archived_us = ?2 WHERE key = ?1
