-- Everything that belongs to runs, run after run, in one ordered stream. ?1 lowest, ?2 highest run key.
-- It is one statement so that all of it is of one moment on both engines, and nothing is looked up run by run.
-- History comes last and in the order of its index, so that no engine has to sort it; the other parts of a run are
-- small, come in the order of the constants in `seq`, and are in no order among themselves.
-- -> run, seq, part (hf_scan_part), n1 .. n15, b1, b2; what the columns hold is written before each part.
-- part 1, the run: instance, number, status, closed_reason, blocked, last_seq, last_us, history_bytes, command_seq,
-- message_seq, message_cursor, closed_us, cursor of the run before, execution and run deadline; head
SELECT r.key AS run, -1000000009 AS seq, 1 AS part, r.instance AS n1, r.number AS n2, r.status AS n3,
    r.closed_reason AS n4, r.blocked AS n5, r.last_seq AS n6, r.last_us AS n7, r.history_bytes AS n8,
    r.command_seq AS n9, r.message_seq AS n10, r.message_cursor AS n11, r.closed_us AS n12, p.message_cursor AS n13,
    r.execution_deadline_us AS n14, r.run_deadline_us AS n15, r.head AS b1, CAST(NULL AS {blob}) AS b2
FROM run r LEFT JOIN run p ON p.instance = r.instance AND p.number = r.number - 1
WHERE r.key BETWEEN ?1 AND ?2
UNION ALL
-- part 2, a link to a child or successor: key, kind, step, policy, child_run, the child run if it exists, the
-- current run of the child's instance, when that closed, its first inbox row, a link to that from a newer run of ours
SELECT l.parent_run, -1000000008, 2, l.key, l.kind, l.step, l.policy, l.child_run, c.key, n.key, n.closed_us,
    (SELECT min(b.key) FROM inbox b WHERE b.run = n.key),
    (SELECT max(k.key) FROM link k JOIN run q ON q.key = k.parent_run
        WHERE k.child_run = n.key AND k.kind = l.kind AND q.instance = p.instance AND q.number > p.number), NULL, NULL,
    NULL, NULL, NULL, NULL, NULL
FROM link l LEFT JOIN run c ON c.key = l.child_run LEFT JOIN instance i ON i.key = l.child_instance
    LEFT JOIN run n ON n.key = i.current_run LEFT JOIN run p ON p.key = l.parent_run
WHERE l.parent_run BETWEEN ?1 AND ?2
UNION ALL
-- part 3, an activity: key, step, status, attempt
SELECT a.run, -1000000007, 3, a.key, a.step, a.status, a.attempt,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL
FROM activity a WHERE a.run BETWEEN ?1 AND ?2
UNION ALL
-- part 4, a timer: key, step, kind, status, due_us, closed_us
SELECT run, -1000000006, 4, key, step, kind, status, due_us, closed_us, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL
FROM timer WHERE run BETWEEN ?1 AND ?2
UNION ALL
-- part 5, a task: key, kind, status
SELECT run, -1000000005, 5, key, kind, status, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL
FROM task WHERE run BETWEEN ?1 AND ?2
UNION ALL
-- part 6, a command: key, type, status, outcome, command_seq, message_seq, state
SELECT run, -1000000004, 6, key, type, status, outcome, command_seq, message_seq, state, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL
FROM command WHERE run BETWEEN ?1 AND ?2
UNION ALL
-- part 7, an inbox row: key, kind
SELECT run, -1000000003, 7, key, kind, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL
FROM inbox WHERE run BETWEEN ?1 AND ?2
UNION ALL
-- part 8, a payload without its bytes: key, codec, size; digest
SELECT run, -1000000002, 8, key, codec, size, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    digest, NULL
FROM payload WHERE run BETWEEN ?1 AND ?2
UNION ALL
-- part 10, what people did to the run: paused_us, archived_us
SELECT key, -1000000001, 10, paused_us, archived_us, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL
FROM run WHERE key BETWEEN ?1 AND ?2
UNION ALL
-- part 9, a chunk of history: position, count, format; hash, body
SELECT run, first_seq, 9, position, count, format, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, hash, body
FROM history WHERE run BETWEEN ?1 AND ?2
ORDER BY 1, 2
