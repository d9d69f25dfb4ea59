-- ?1 schedule: that was deleted. Flag: it was there.
DELETE FROM schedule WHERE key = ?1 AND status = 3
