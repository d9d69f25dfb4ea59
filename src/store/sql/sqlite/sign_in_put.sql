-- ?1 digest, ?2 token, ?3 begun_us, ?4 seen_us, ?5 ended_us or null. Flag: it is kept; one that has ended does not begin again.
INSERT INTO sign_in (digest, token, begun_us, seen_us, ended_us) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (digest) DO UPDATE SET seen_us = max(sign_in.seen_us, excluded.seen_us), ended_us = excluded.ended_us
WHERE sign_in.ended_us IS NULL
