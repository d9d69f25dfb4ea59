-- ?1 namespace, ?2 worker, ?3 body, ?4 seen_us
INSERT INTO registration (namespace, worker, body, seen_us) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (namespace, worker) DO UPDATE SET body = excluded.body, seen_us = excluded.seen_us
