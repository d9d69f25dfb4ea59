-- ?1 run key, ?2 digest -> codec, size, compression, body
SELECT codec, size, compression, body FROM payload WHERE run = ?1 AND digest = ?2
