-- What the events up to ?3 say, when the summary knows those up to ?2. ?1 run, ?4 settled (only when no event came
-- meanwhile), ?5 version, ?6 compatibility, ?7 closed_reason, ?8 closed_us, ?9 archived_us, ?10 exception_count,
-- ?11 event_count, ?12 history_bytes, ?13 open_steps, ?14 fan_out, ?15 pressure, ?16 declared, ?17 failure_print,
-- ?18 labels, ?19 attributes, ?20 to ?26 what is open,
-- ?27 wait_kind. Flag: it was so.
UPDATE run_summary SET folded_seq = ?3,
    settled = CASE WHEN ?4 = 1 AND (SELECT last_seq FROM run WHERE key = ?1) = ?3 THEN 1 ELSE 0 END,
    version = ?5, compatibility = ?6, closed_reason = ?7, closed_us = ?8, archived_us = ?9, exception_count = ?10,
    event_count = ?11, history_bytes = ?12, open_steps = ?13, fan_out = ?14, pressure = ?15, declared = ?16,
    failure_print = ?17, labels = ?18, attributes = ?19, open_activities = ?20, open_conditions = ?21,
    open_signals = ?22, open_timers = ?23, open_children = ?24, open_updates = ?25, open_timeouts = ?26,
    wait_kind = ?27
WHERE run = ?1 AND folded_seq = ?2
