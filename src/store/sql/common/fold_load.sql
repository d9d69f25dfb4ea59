-- ?1 run -> what a fold of it needs: last_seq, head, history_bytes, closed_us, closed_reason, archived_us, definition,
-- folded_seq (null: no summary), version, exception_count, open_steps, fan_out, failure_print, labels, attributes,
-- compatibility, namespace, type, instance's current run, projection's version (null: none), seq and head,
-- open activities, conditions, signals, timers, children, updates and timeouts
SELECT r.last_seq, r.head, r.history_bytes, r.closed_us, r.closed_reason, r.archived_us, r.definition, s.folded_seq,
    s.version, s.exception_count, s.open_steps, s.fan_out, s.failure_print, s.labels, s.attributes, s.compatibility,
    i.namespace, i.type, i.current_run, p.version, p.seq, p.head,
    s.open_activities, s.open_conditions, s.open_signals, s.open_timers, s.open_children, s.open_updates,
    s.open_timeouts
FROM run r JOIN instance i ON i.key = r.instance LEFT JOIN run_summary s ON s.run = r.key
    LEFT JOIN run_projection p ON p.run = r.key
WHERE r.key = ?1
