-- ?1 key, ?2 paused_us (null: the run goes on)
UPDATE run SET paused_us = ?2 WHERE key = ?1
