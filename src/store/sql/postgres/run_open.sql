-- ?1 run keys as a JSON list, ?2 how many chunks of each at most -> everything that runs are loaded from, at one moment;
-- the run, a part, and then:
-- 0: the columns of run_get, id, type, queue, definition and business key, whether it has open activities, whether a
--    parent waits for it, and whether another run left something for it
-- 1: step, key, kind and due_us of a pending timer
--    (what is open is hidden from planners, as in timer_read)
-- 2: first_seq, and in the place of the head the body of a chunk, in order
WITH k AS MATERIALIZED (SELECT json_array_elements_text(?1::json)::bigint AS run)
SELECT k.run AS run, 0 AS part, x.*
FROM k CROSS JOIN LATERAL (
    SELECT r.instance AS place, r.number, r.status, r.closed_reason, r.blocked, r.last_seq, r.head, r.last_us,
           r.history_bytes, r.command_seq, r.message_seq, r.message_cursor, r.crash_count, r.created_us, r.closed_us,
           r.archived_us, r.execution_deadline_us, r.run_deadline_us, i.shard, i.namespace, r.open_signals, r.open_updates,
           i.id, i.type, r.queue, r.definition, i.business_key,
           CASE WHEN EXISTS (SELECT 1 FROM activity a WHERE a.run = r.key AND a.closed_us IS NULL) THEN 1 ELSE 0 END AS working,
           CASE WHEN EXISTS (SELECT 1 FROM link l WHERE l.child_run = r.key AND l.kind = 1 AND l.step IS NOT NULL)
                THEN 1 ELSE 0 END AS called,
           CASE WHEN EXISTS (SELECT 1 FROM inbox b WHERE b.run = r.key) THEN 1 ELSE 0 END AS told
    FROM run r JOIN instance i ON i.key = r.instance
    WHERE r.key = k.run LIMIT 1) x
UNION ALL
SELECT k.run, 1, t.step, t.key, t.kind, t.due_us,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM k CROSS JOIN LATERAL (SELECT step, key, kind, due_us FROM timer
                           WHERE run = k.run AND coalesce(closed_us, 0) = 0 ORDER BY step) t
UNION ALL
SELECT k.run, 2, h.first_seq, NULL, NULL, NULL, NULL, NULL, h.body,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL
FROM k CROSS JOIN LATERAL (SELECT first_seq, body FROM history WHERE run = k.run ORDER BY first_seq LIMIT ?2) h
ORDER BY run, part, place
