-- Pieces that statements of lists are put together from; a piece begins with its name. Words in braces are filled in by
-- src/project/piece.h: {value} and {before} are the newest parameter and the one before it, {namespace}, {now},
-- {overdue}, {scope}, {own} and {build} what a list is asked with, {liveness} and its like other pieces.

-- piece list_columns
SELECT s.run, s.sort_us, i.id, r.number, i.current_run, s.type, n.name, s.business_key, s.compatibility, s.status,
    r.closed_reason, r.closed_us, r.archived_us, r.last_us, s.wait_kind, {liveness}, s.labels, s.attributes, {problem},
    s.declared, s.exception_count, r.last_seq, r.history_bytes, s.fan_out, s.pressure, s.queue, s.failure_print, r.blocked,
    CASE WHEN r.archived_us IS NOT NULL THEN (SELECT c.body FROM command c WHERE c.run = s.run AND c.type = 7
        AND c.outcome = 10 LIMIT 1) END

-- piece list_from
-- The namespace is joined last whatever statistics say: rows come in the order of an index of the summary only when
-- that is the outermost table.
FROM run_summary s JOIN run r ON r.key = s.run JOIN instance i ON i.key = s.instance
    LEFT JOIN namespace n ON n.key = s.namespace
WHERE s.namespace = {namespace}

-- piece list_behind
AND (s.sort_us, s.run) < ({before}, {value})

-- piece list_order
ORDER BY s.sort_us DESC, s.run DESC LIMIT {value}

-- piece list_behind_oldest
AND (s.sort_us, s.run) > ({before}, {value})

-- piece list_order_oldest
ORDER BY s.sort_us, s.run LIMIT {value}

-- piece list_count
SELECT count(*) FROM (SELECT 1

-- piece list_count_end
LIMIT {value}) c

-- piece list_starts
-- Ordered and bounded as a page is.
SELECT s.sort_us, s.ended

-- piece list_facet
SELECT v, count(*) FROM (SELECT {facet} AS v

-- piece list_facet_end
LIMIT {before}) c GROUP BY v ORDER BY 2 DESC, 1 LIMIT {value}

-- piece facet_status
s.status

-- piece facet_type
s.type

-- piece facet_queue
s.queue

-- piece facet_wait_kind
s.wait_kind

-- piece facet_compatibility
s.compatibility

-- piece facet_closed_reason
r.closed_reason

-- piece facet_failure
s.failure_print

-- piece facet_label
(SELECT l.value FROM run_label l WHERE l.run = s.run AND l.name = {name})

-- piece list_liveness
-- hf_liveness_state of a run by its rows, as hf_liveness_fold has it. Null: they cannot say, history must be asked.
(CASE WHEN s.ended <> 0 THEN 1
    WHEN r.blocked = 2 THEN 22
    WHEN r.blocked = 1 AND EXISTS (SELECT 1 FROM task t WHERE t.run = s.run AND t.kind = 1 AND t.status = 5) THEN 2
    WHEN r.paused_us IS NOT NULL THEN 21
    ELSE coalesce({transport}, CASE WHEN {doubt} THEN NULL ELSE {wait} END) END)

-- piece list_transport
-- What trouble with the next task makes of a run; null: there is none.
(SELECT CASE WHEN (t.status = 1 OR t.lease_until_us <= {now})
            AND (CASE WHEN t.kind = 1 AND {pinned} THEN {unmanned} ELSE {unserved} END)
        THEN CASE t.kind WHEN 1 THEN 13 WHEN 2 THEN 17 ELSE 20 END
    WHEN t.status = 2 THEN CASE WHEN t.lease_until_us <= {now} THEN 3 END
    WHEN t.trouble = 1 THEN 3
    WHEN t.trouble = 2 AND (t.repair_us > {now} OR t.available_us <= {now})
        THEN CASE t.kind WHEN 1 THEN 12 WHEN 2 THEN 16 ELSE 19 END
    WHEN (t.trouble = 0 OR t.trouble = 3 AND t.repair_us <= {overdue}) AND t.available_us <= {overdue} THEN 3 END
FROM task t WHERE t.run = s.run AND t.status IN (1, 2) ORDER BY t.available_us, t.key LIMIT 1)

-- piece list_unserved
-- Nobody who is there may do work of the run. {own} and `supported` are lists of markers; * stands for any.
({position}({own}, ',*,') = 0 AND s.compatibility IS NOT NULL
    AND {position}({own}, ',' || s.compatibility || ',') = 0
    AND NOT EXISTS (SELECT 1 FROM worker w WHERE w.expires_us > {now} AND w.scope = {scope}
        AND w.queue IN ('*', s.queue)
        AND ({position}(',' || replace(w.supported, ' ', '') || ',', ',*,') > 0
            OR {position}(',' || replace(w.supported, ' ', '') || ',', ',' || s.compatibility || ',') > 0)))

-- piece list_pinned
-- The run carries a build that was promoted at its queue: its turns are for workers of that build alone.
({build} <> '*' AND EXISTS (SELECT 1 FROM build b WHERE b.namespace = {namespace} AND b.queue = s.queue
    AND b.build_id = s.compatibility AND b.promoted_us IS NOT NULL))

-- piece list_unmanned
-- Nobody who is there is of the run's build.
({build} <> s.compatibility AND NOT EXISTS (SELECT 1 FROM worker w WHERE w.expires_us > {now} AND w.scope = {scope}
    AND w.queue IN ('*', s.queue) AND w.build_id = s.compatibility))

-- piece list_turn
-- There is a workflow task that somebody will take or has taken.
EXISTS (SELECT 1 FROM task t WHERE t.run = s.run AND t.kind = 1 AND t.status IN (1, 2))

-- piece list_doubt
-- Something is open in history, of which the summary knows all, and rows that should stand behind it are missing, or
-- there are rows that it does not know of. A row that says it is over fits no number: it would be gone.
(s.folded_seq = r.last_seq
    AND (s.open_activities <> (SELECT count(*) + 1000000 * count(a.closed_us) FROM activity a WHERE a.run = s.run)
        OR s.open_timers + s.open_timeouts <> (SELECT count(*) + 1000000 * count(m.closed_us) FROM timer m WHERE m.run = s.run)
        OR (NOT {turn} AND (s.wait_kind = 6 OR s.open_updates > 0 OR r.blocked = 1
            OR EXISTS (SELECT 1 FROM inbox b WHERE b.run = s.run)
            OR s.open_children > (SELECT count(*) FROM link l JOIN run c ON c.key = l.child_run
                WHERE l.parent_run = s.run AND l.kind = 1 AND c.closed_us IS NULL)
            OR (s.open_signals > 0 AND r.open_signals > 0)))))

-- piece list_wait
-- The state of a run that waits for what it says it waits for.
(CASE WHEN s.wait_kind = 1 THEN coalesce((SELECT CASE WHEN a.status = 2 THEN 15
            WHEN coalesce(a.available_us, 0) <= {now} AND NOT {turn} AND {unserved} THEN 17 END
        FROM activity a WHERE a.run = s.run AND a.closed_us IS NULL ORDER BY a.step LIMIT 1), 14)
    WHEN s.wait_kind = 5 THEN 5
    WHEN s.wait_kind = 4 THEN CASE
        WHEN EXISTS (SELECT 1 FROM task t WHERE t.run = s.run AND t.kind = 3 AND t.status = 2) THEN 9
        WHEN EXISTS (SELECT 1 FROM timer m WHERE m.run = s.run AND m.closed_us IS NULL AND m.due_us <= {now})
        THEN CASE WHEN NOT {turn} AND {unserved} THEN 20 ELSE 18 END ELSE 8 END
    WHEN s.wait_kind = 7 AND NOT {turn} THEN 7
    WHEN s.wait_kind = 3 AND NOT {turn} THEN 6
    WHEN EXISTS (SELECT 1 FROM task t WHERE t.run = s.run AND t.kind = 1 AND t.status = 2) THEN 11
    ELSE 10 END)

-- piece list_repair
-- hf_repair_blocked_reason, 0 when a repair would do something. -1: history must be asked.
(CASE WHEN i.current_run <> s.run THEN 3 WHEN s.ended <> 0 THEN 4
    ELSE CASE coalesce({liveness}, -1) WHEN -1 THEN -1 WHEN 2 THEN 0 WHEN 3 THEN 0 WHEN 22 THEN 0
        WHEN 13 THEN 2 WHEN 17 THEN 2 WHEN 20 THEN 2 ELSE 5 END END)

-- piece list_problem
-- Whether a task of the run is in trouble. Null: history must be asked.
(CASE WHEN s.ended <> 0 THEN 0
    WHEN EXISTS (SELECT 1 FROM task t WHERE t.run = s.run AND t.kind = 1
        AND (t.repair_count > 0 OR t.trouble <> 0 OR (t.status = 5 AND r.blocked = 1))) THEN 1
    WHEN (SELECT CASE WHEN t.status = 2 AND t.lease_until_us <= {now} THEN 1
            WHEN t.status = 1 AND t.trouble = 0 AND t.available_us <= {overdue} THEN 1 ELSE 0 END
        FROM task t WHERE t.run = s.run AND t.status IN (1, 2) ORDER BY t.available_us, t.key LIMIT 1) = 1 THEN 1
    WHEN {doubt} THEN NULL ELSE 0 END)

-- piece trouble
-- The oldest open runs, as many as are asked for, of which those that do not move on by themselves, and those whose rows cannot
-- say whether they do: state (null), run, queue, marker, when it began, when it moved last.
SELECT v, run, queue, compatibility, created_us, last_us FROM (SELECT {liveness} AS v, s.run AS run, s.queue AS queue,
    s.compatibility AS compatibility, r.created_us AS created_us, r.last_us AS last_us
FROM run_summary s JOIN run r ON r.key = s.run WHERE s.namespace = {namespace} AND s.ended = 0
ORDER BY s.sort_us, s.run LIMIT {value}) c
WHERE v IS NULL OR v IN (2, 3, 12, 13, 16, 17, 19, 20, 22)
