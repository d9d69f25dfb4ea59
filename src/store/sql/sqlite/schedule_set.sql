-- The rest of a change whose revision schedule_take has moved: cells as in schedule_move.
UPDATE schedule SET status = ?4, next_us = ?5, events = ?6, fires = ?7, latest_instance = ?8, body = ?9
WHERE key = ?1 AND ?2 IS ?2 AND revision = ?3
