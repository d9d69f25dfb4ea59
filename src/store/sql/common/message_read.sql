-- ?1 instance, ?2 stream, ?3 behind which number, ?4 at most -> unread messages, oldest first: number, sender, reference
SELECT seq, peer, reference FROM message
WHERE instance = ?1 AND stream = ?2 AND seq > ?3 AND direction = 1 AND state = 1
ORDER BY seq LIMIT ?4
