-- Projections: everything here can be dropped and rebuilt from ground truth.

-- One row per run for lists. Status moves in the unit's own transaction; what comes after folded_seq is folded from
-- history after the commit. All of it is copied here, so that a list reads one table.
CREATE TABLE run_summary (
    run {int} NOT NULL PRIMARY KEY,
    namespace {int} NOT NULL,
    instance {int} NOT NULL,
    status {int} NOT NULL,
    sort_us {int} NOT NULL,                  -- lists are ordered by it, newest first, then by run
    type TEXT NOT NULL DEFAULT '',
    business_key TEXT,
    queue TEXT NOT NULL DEFAULT '',
    ended {int} NOT NULL DEFAULT 0,          -- the status once it is a closing one: what changes at every turn has no index
    folded_seq {int} NOT NULL DEFAULT 0,     -- newest event that the columns below, and the tables below, know of
    settled {int} NOT NULL DEFAULT 0,        -- 1: closed and folded to its end; a sweep need not look at it
    version {int} NOT NULL DEFAULT 0,        -- of the fold that wrote the columns below
    compatibility TEXT,
    closed_reason {int},
    closed_us {int},
    archived_us {int},
    exception_count {int} NOT NULL DEFAULT 0,
    event_count {int} NOT NULL DEFAULT 0,
    history_bytes {int} NOT NULL DEFAULT 0,
    open_steps {int} NOT NULL DEFAULT 0,     -- steps open now, and the most there ever were
    fan_out {int} NOT NULL DEFAULT 0,
    open_activities {int} NOT NULL DEFAULT 0, -- what those open now are
    open_conditions {int} NOT NULL DEFAULT 0,
    open_signals {int} NOT NULL DEFAULT 0,
    open_timers {int} NOT NULL DEFAULT 0,
    open_children {int} NOT NULL DEFAULT 0,
    open_updates {int} NOT NULL DEFAULT 0,   -- accepted and not answered; they are no steps
    open_timeouts {int} NOT NULL DEFAULT 0,  -- timers of waits that are open; no steps either
    wait_kind {int},                         -- hf_wait_kind of what counts most; null: closed
    pressure {int} NOT NULL DEFAULT 1,       -- hf_history_budget_pressure
    declared {int} NOT NULL DEFAULT 0,       -- 1: its contracts are known
    failure_print TEXT,                      -- of the newest failure: see table failure
    labels TEXT,                             -- canonical JSON object; null: none
    attributes TEXT                          -- canonical JSON object; null: none
) {hot};
CREATE INDEX run_summary_sort ON run_summary (namespace, sort_us, run);
CREATE INDEX run_summary_ended ON run_summary (namespace, ended, sort_us, run);
CREATE INDEX run_summary_type ON run_summary (namespace, type, sort_us, run);
CREATE INDEX run_summary_business ON run_summary (namespace, business_key, sort_us, run) WHERE business_key IS NOT NULL;
CREATE INDEX run_summary_unsettled ON run_summary (run) WHERE settled = 0;

-- The history of a run as the views need it: every event without its big payloads, packed. See project/fold.h.
CREATE TABLE run_projection (
    run {int} NOT NULL PRIMARY KEY,
    version {int} NOT NULL,
    seq {int} NOT NULL,                      -- newest event in it
    head {blob} NOT NULL,                    -- hash of the run's history up to there: proves which history it is of
    body {blob} NOT NULL
) {cold};

-- Labels and search attributes, one row per value, so that lists find runs by them.
CREATE TABLE run_label (
    run {int} NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run, name)
) {rowless};
CREATE INDEX run_label_value ON run_label (name, value, run);

CREATE TABLE search_attribute (
    run {int} NOT NULL,
    name TEXT NOT NULL,
    item {int} NOT NULL,                     -- 0, or which one of a list
    type {int} NOT NULL,                     -- hf_search_attribute_type
    text TEXT,                               -- string, keyword, one of a keyword list
    number {int},                            -- int, bool (0 or 1), datetime (microseconds)
    real {real},                             -- float
    PRIMARY KEY (run, name, item)
) {rowless};
CREATE INDEX search_attribute_text ON search_attribute (name, text, run) WHERE text IS NOT NULL;
CREATE INDEX search_attribute_number ON search_attribute (name, number, run) WHERE number IS NOT NULL;
CREATE INDEX search_attribute_real ON search_attribute (name, real, run) WHERE real IS NOT NULL;

-- Failures that history recorded, for the groups that operators look at.
CREATE TABLE failure (
    run {int} NOT NULL,
    seq {int} NOT NULL,                      -- of the event
    namespace {int} NOT NULL,
    print TEXT NOT NULL,                     -- fingerprint: what failed, with what, numbers in the message masked
    step {int} NOT NULL,                     -- 0: none
    source {int} NOT NULL,                   -- hf_failure_source_kind
    name TEXT NOT NULL,                      -- of the activity, child or workflow type that failed
    type TEXT NOT NULL,                      -- of the failure
    message TEXT NOT NULL,
    handled {int} NOT NULL,
    at_us {int} NOT NULL,
    PRIMARY KEY (run, seq)
) {rowless};
CREATE INDEX failure_group ON failure (namespace, print, at_us);

-- ---- read-only views: public interface, the same on both engines, explained in docs/operate/sql.md. Times are
-- microseconds since 1970 UTC.
CREATE VIEW v_runs AS
SELECT s.run AS run, n.name AS namespace, i.id AS instance_id, r.number AS run_number,
    CASE WHEN i.current_run = s.run THEN 1 ELSE 0 END AS is_current_run, s.type AS workflow_type,
    s.business_key AS business_key, CASE s.status WHEN 1 THEN 'pending' WHEN 2 THEN 'running'
        WHEN 3 THEN 'waiting' WHEN 4 THEN 'cancelled' WHEN 5 THEN 'terminated' WHEN 6 THEN 'completed'
        WHEN 7 THEN 'failed' WHEN 8 THEN 'reserved' END AS status,
    CASE r.closed_reason WHEN 1 THEN 'completed' WHEN 2 THEN 'failed' WHEN 3 THEN 'cancelled'
        WHEN 4 THEN 'terminated' WHEN 5 THEN 'continued' WHEN 6 THEN 'timed_out'
        WHEN 7 THEN 'abandoned' END AS closed_reason,
    CASE s.wait_kind WHEN 1 THEN 'activity' WHEN 2 THEN 'update' WHEN 3 THEN 'signal' WHEN 4 THEN 'timer'
        WHEN 5 THEN 'condition' WHEN 6 THEN 'workflow-task' WHEN 7 THEN 'child' END AS wait_kind,
    CASE r.blocked WHEN 1 THEN 'replay' WHEN 2 THEN 'quarantine' END AS blocked, s.queue AS queue, s.compatibility AS compatibility, r.created_us AS started_us,
    r.closed_us AS closed_us, r.archived_us AS archived_us, r.last_us AS updated_us, r.last_seq AS event_count,
    r.history_bytes AS history_bytes, s.exception_count AS exception_count, s.fan_out AS fan_out,
    s.failure_print AS failure_fingerprint, s.labels AS labels, s.attributes AS search_attributes
FROM run_summary s JOIN run r ON r.key = s.run JOIN instance i ON i.key = s.instance
    JOIN namespace n ON n.key = s.namespace;
CREATE VIEW v_events AS
SELECT h.run AS run, h.first_seq AS first_sequence, h.first_seq + h.count - 1 AS last_sequence, h.count AS events,
    h.position AS position, length(h.body) AS bytes
FROM history h;
CREATE VIEW v_waits AS
SELECT t.run AS run, 'timer' AS kind, t.step AS step, NULL AS name, t.created_us AS opened_us, t.due_us AS deadline_us
FROM timer t WHERE t.closed_us IS NULL
UNION ALL
SELECT a.run, 'activity', a.step, a.type, a.scheduled_us, a.deadline_us FROM activity a WHERE a.closed_us IS NULL
UNION ALL
SELECT l.parent_run, 'child', l.step, i.id, l.created_us, NULL
FROM link l JOIN run c ON c.key = l.child_run JOIN run p ON p.key = l.parent_run
    JOIN instance i ON i.key = l.child_instance
WHERE l.kind = 1 AND l.step IS NOT NULL AND c.closed_us IS NULL AND p.closed_us IS NULL
UNION ALL
SELECT c.run, 'update', NULL, c.name, c.recorded_us, NULL FROM command c
WHERE c.type = 3 AND c.status = 1 AND c.closed_us IS NULL AND c.run IS NOT NULL
UNION ALL
SELECT s.run, 'signal', NULL, NULL, r.last_us, NULL FROM run_summary s JOIN run r ON r.key = s.run
WHERE s.ended = 0 AND s.open_signals > 0
UNION ALL
SELECT s.run, 'condition', NULL, NULL, r.last_us, NULL FROM run_summary s JOIN run r ON r.key = s.run
WHERE s.ended = 0 AND s.open_conditions > 0;
CREATE VIEW v_activities AS
SELECT a.run AS run, a.step AS step, a.type AS activity_type,
    CASE a.status WHEN 1 THEN 'pending' WHEN 2 THEN 'running' WHEN 3 THEN 'cancelled' WHEN 4 THEN 'completed'
        WHEN 5 THEN 'failed' END AS status, a.attempt AS attempt, a.owner AS worker,
    a.max_attempts AS max_attempts, a.lost_attempts AS lost_attempts, a.scheduled_us AS scheduled_us,
    a.started_us AS started_us, a.available_us AS available_us, a.deadline_us AS deadline_us, a.closed_us AS closed_us
FROM activity a;
CREATE VIEW v_failures AS
SELECT f.run AS run, f.seq AS sequence, f.print AS fingerprint, f.step AS step,
    CASE f.source WHEN 1 THEN 'activity_execution' WHEN 2 THEN 'child_workflow_run' WHEN 3 THEN 'workflow_run'
        WHEN 4 THEN 'workflow_command' WHEN 5 THEN 'workflow_update' WHEN 6 THEN 'timer'
        WHEN 7 THEN 'workflow_task' WHEN 8 THEN 'service_call' END AS source,
    f.name AS name, f.type AS failure_type, f.message AS message, f.handled AS handled, f.at_us AS at_us
FROM failure f;
CREATE VIEW v_tasks AS
SELECT t.key AS task, t.run AS run, CASE t.kind WHEN 1 THEN 'workflow' WHEN 2 THEN 'activity'
        WHEN 3 THEN 'timer' END AS task_type,
    CASE t.status WHEN 1 THEN 'ready' WHEN 2 THEN 'leased' WHEN 3 THEN 'cancelled' WHEN 4 THEN 'completed'
        WHEN 5 THEN 'failed' END AS status,
    t.queue AS queue, t.priority AS priority, t.available_us AS available_us, t.owner AS lease_owner,
    t.lease_until_us AS lease_expires_us, t.attempt AS attempt_count, t.repair_count AS repair_count,
    t.created_us AS created_us
FROM task t;

-- What happened in each minute and each hour of the last week, by the times of the events: a ring whose oldest points are
-- pruned. Counted when runs are folded; a moment in which nothing happened has no point.
CREATE TABLE metric_point (
    namespace {int} NOT NULL,
    span_us {int} NOT NULL,                  -- a minute or an hour
    at_us {int} NOT NULL,                    -- where it begins
    started {int} NOT NULL,
    completed {int} NOT NULL,
    failed {int} NOT NULL,                   -- runs, those that timed out included
    cancelled {int} NOT NULL,
    terminated {int} NOT NULL,
    continued {int} NOT NULL,
    failures {int} NOT NULL,                 -- of activities, each attempt that failed for good
    attempts {int} NOT NULL,                 -- of activities that began
    retries {int} NOT NULL,                  -- attempts that failed and are followed by another
    events {int} NOT NULL,
    PRIMARY KEY (namespace, span_us, at_us)
) {rowless};
