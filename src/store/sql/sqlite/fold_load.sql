-- ?1 run keys as a JSON list -> what a fold of each needs: run, last_seq, head, history_bytes, closed_us, closed_reason,
-- archived_us, definition, folded_seq (null: no summary), version, exception_count, open_steps, fan_out, failure_print,
-- labels, attributes, compatibility, namespace, type, projection's version (null: none), seq and head,
-- open activities, conditions, signals, timers, children, updates and timeouts
WITH k AS MATERIALIZED (SELECT value AS run FROM json_each(?1))
SELECT r.key, r.last_seq, r.head, r.history_bytes, r.closed_us, r.closed_reason, r.archived_us, r.definition, s.folded_seq,
    s.version, s.exception_count, s.open_steps, s.fan_out, s.failure_print, s.labels, s.attributes, s.compatibility,
    i.namespace, i.type, p.version, p.seq, p.head,
    s.open_activities, s.open_conditions, s.open_signals, s.open_timers, s.open_children, s.open_updates,
    s.open_timeouts
FROM k CROSS JOIN run r ON r.key = k.run CROSS JOIN instance i ON i.key = r.instance
    LEFT JOIN run_summary s ON s.run = r.key LEFT JOIN run_projection p ON p.run = r.key
