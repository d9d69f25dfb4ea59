UPDATE run_summary s SET folded_seq = u.seq, settled = CASE WHEN u.settled = 1 AND r.last_seq = u.seq THEN 1 ELSE 0 END,
    version = u.version, compatibility = u.compatibility, closed_reason = u.closed_reason, closed_us = u.closed_us,
    archived_us = u.archived_us, exception_count = u.exception_count, event_count = u.event_count,
    history_bytes = u.history_bytes, open_steps = u.open_steps, fan_out = u.fan_out, pressure = u.pressure,
    declared = u.declared, failure_print = u.failure_print, labels = u.labels, attributes = u.attributes,
    open_activities = u.open_activities, open_conditions = u.open_conditions, open_signals = u.open_signals,
    open_timers = u.open_timers, open_children = u.open_children, open_updates = u.open_updates,
    open_timeouts = u.open_timeouts, wait_kind = u.wait_kind
FROM {bare run int, expected int, seq int, settled int, version int, compatibility text, closed_reason int,
    closed_us int, archived_us int, exception_count int, event_count int, history_bytes int, open_steps int, fan_out int,
    pressure int, declared int, failure_print text, labels text, attributes text, open_activities int,
    open_conditions int, open_signals int, open_timers int, open_children int, open_updates int, open_timeouts int,
    wait_kind int}
    JOIN run r ON r.key = u.run
WHERE s.run = u.run AND s.folded_seq = u.expected
RETURNING u.row
