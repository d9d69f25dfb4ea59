WITH k AS MATERIALIZED (SELECT json_array_elements_text(?1::json)::bigint AS run)
SELECT x.*
FROM k CROSS JOIN LATERAL (
    SELECT r.key, r.last_seq, r.head, r.history_bytes, r.closed_us, r.closed_reason, r.archived_us, r.definition,
        s.folded_seq, s.version AS columns, s.exception_count, s.open_steps, s.fan_out, s.failure_print, s.labels,
        s.attributes, s.compatibility, i.namespace, i.type, p.version, p.seq, p.head AS known,
        s.open_activities, s.open_conditions, s.open_signals, s.open_timers, s.open_children, s.open_updates,
        s.open_timeouts
    FROM run r JOIN instance i ON i.key = r.instance LEFT JOIN run_summary s ON s.run = r.key
        LEFT JOIN run_projection p ON p.run = r.key
    WHERE r.key = k.run LIMIT 1) x
