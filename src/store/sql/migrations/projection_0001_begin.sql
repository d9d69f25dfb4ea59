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
