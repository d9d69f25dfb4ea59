-- ?1 a moment, ?2 how many at most: sessions that changed since then -> digest, token, begun_us, seen_us, ended_us; newest first
SELECT digest, token, begun_us, seen_us, ended_us FROM sign_in WHERE seen_us >= ?1 ORDER BY seen_us DESC LIMIT ?2
