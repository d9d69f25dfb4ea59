-- All of a wait that still answer. ?1 namespace, ?2 run, ?3 step, ?4 name, ?5 revoked_us. Flag: there were some.
UPDATE answer_link SET revoked_us = ?5
WHERE namespace = ?1 AND run = ?2 AND step = ?3 AND name = ?4 AND used_us IS NULL AND revoked_us IS NULL
    AND expires_us > ?5
