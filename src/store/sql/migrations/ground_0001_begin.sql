-- Ground truth and open work. Times are microseconds since 1970 UTC; *_us columns hold them. Small codes (status,
-- kind, ...) are the stored numbers of src/model/*.def. Keys are dense and never reused: they come from blocks of
-- the counter table. There are no foreign keys: every row is written by one layer in one order, and each key would
-- cost an index probe per row; `holdfast verify` checks the same relations by query.

-- Facts about the store as a whole: store_id, created_us, ground_version, projection_version.
CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) {rowless};

-- One row per migration that ran; the checksum shows a migration that was edited after it ran.
CREATE TABLE migration (
    name TEXT NOT NULL PRIMARY KEY,
    checksum TEXT NOT NULL,
    applied_us {int} NOT NULL
) {rowless};

-- Key blocks: a node takes many numbers at once by moving `next`.
CREATE TABLE counter (
    name TEXT NOT NULL PRIMARY KEY,
    next {int} NOT NULL
) {rowless};
INSERT INTO counter (name, next) VALUES ('key', 1), ('position', 1);

CREATE TABLE namespace (
    key {int} NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_us {int} NOT NULL,
    retention_days {int} NOT NULL DEFAULT 30, -- closed runs are kept this long; 0: for ever
    description TEXT NOT NULL DEFAULT '',
    storage TEXT                             -- where big payloads go, JSON; null: they stay here
) {cold};

-- The thing a caller names. It has one run after another; current_run is null while only reserved.
CREATE TABLE instance (
    key {int} NOT NULL PRIMARY KEY,
    namespace {int} NOT NULL,
    id TEXT NOT NULL,
    shard {int} NOT NULL,
    type TEXT NOT NULL,
    business_key TEXT,
    current_run {int},
    run_count {int} NOT NULL,
    created_us {int} NOT NULL,
    retired_messages {int} NOT NULL DEFAULT 0, -- that went with runs which retention removed
    UNIQUE (namespace, id)
) {cold};

-- One generation. This row is the fence: every unit moves last_seq from the value it expects, and head is the hash
-- of the newest history chunk. Counters of commands and messages live here so that the same fence guards them.
CREATE TABLE run (
    key {int} NOT NULL PRIMARY KEY,
    instance {int} NOT NULL,
    number {int} NOT NULL,
    status {int} NOT NULL,
    closed_reason {int},
    blocked {int} NOT NULL DEFAULT 0,        -- not 0: an explicit blocked state, the run's wake source is a person
    last_seq {int} NOT NULL,
    head {blob} NOT NULL,
    last_us {int} NOT NULL,                  -- time of the newest event; event times do not decrease in a run
    history_bytes {int} NOT NULL,
    command_seq {int} NOT NULL,              -- last number given to a command of this run, rejected ones included
    message_seq {int} NOT NULL,              -- last number given to an accepted message; inherited by the next run
    message_cursor {int} NOT NULL,           -- newest message applied
    open_signals {int} NOT NULL DEFAULT 0,   -- messages that are not dealt with, counted so that limits cost nothing
    open_updates {int} NOT NULL DEFAULT 0,
    crash_count {int} NOT NULL DEFAULT 0,
    created_us {int} NOT NULL,
    closed_us {int},
    archived_us {int},
    paused_us {int},                         -- not null: its code and new attempts rest until a resume
    execution_deadline_us {int},
    run_deadline_us {int},
    queue TEXT NOT NULL,                     -- where its tasks go
    definition {int},                        -- what it was started with; null when its type is not known here
    UNIQUE (instance, number)
) {hot};
CREATE UNIQUE INDEX run_open ON run (instance) WHERE closed_us IS NULL;
CREATE INDEX run_deadline ON run ((CASE WHEN run_deadline_us IS NULL OR execution_deadline_us < run_deadline_us
    THEN execution_deadline_us ELSE run_deadline_us END), key)
    WHERE closed_us IS NULL AND (execution_deadline_us IS NOT NULL OR run_deadline_us IS NOT NULL);

CREATE INDEX run_closed ON run (closed_us, key) WHERE closed_us IS NOT NULL; -- for retention

-- Contract snapshots, once per fingerprint: what WorkflowStarted shows is composed from here.
CREATE TABLE definition (
    key {int} NOT NULL PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    body {blob} NOT NULL                     -- canonical JSON
) {cold};

-- History in append order, one chunk of events per unit, hash-chained within a run.
CREATE TABLE history (
    position {int} NOT NULL PRIMARY KEY,
    run {int} NOT NULL,
    first_seq {int} NOT NULL,
    count {int} NOT NULL,
    format {int} NOT NULL,
    body {blob} NOT NULL,
    hash {blob} NOT NULL
) {cold};
CREATE UNIQUE INDEX history_run ON history (run, first_seq);

-- Payloads too big for a chunk, owned by a run and found by the digest that the event carries.
CREATE TABLE payload (
    key {int} NOT NULL PRIMARY KEY,
    run {int} NOT NULL,
    digest {blob} NOT NULL,
    codec {int} NOT NULL,
    size {int} NOT NULL,                     -- bytes before compression
    compression {int} NOT NULL,              -- 0 none, 1 zstd
    body {blob} NOT NULL
) {cold};
CREATE UNIQUE INDEX payload_digest ON payload (run, digest);

-- Every command that was answered, accepted or rejected, with the life cycle of signals and updates.
CREATE TABLE command (
    key {int} NOT NULL PRIMARY KEY,
    instance {int} NOT NULL,
    run {int},
    type {int} NOT NULL,
    status {int} NOT NULL,
    outcome {int},
    rejection {int},
    scope {int} NOT NULL,
    source {int} NOT NULL,
    command_seq {int},
    message_seq {int},
    name TEXT,                               -- of the signal or update
    state {int},                             -- signal or update status
    recorded_us {int} NOT NULL,
    applied_us {int},
    closed_us {int},
    body {blob}                              -- canonical JSON: context, request, arguments
) {cold};
CREATE UNIQUE INDEX command_run ON command (run, command_seq);
CREATE UNIQUE INDEX command_message ON command (instance, message_seq);

-- Idempotency: the first command that carried a request id or dedup key, by 16-byte hash, for the instance's life.
CREATE TABLE dedup (
    instance {int} NOT NULL,
    hash {blob} NOT NULL,
    command {int} NOT NULL,
    PRIMARY KEY (instance, hash)
) {rowless};

-- Which instance a correlation key leads to, from its start until it closes; `scope` says after which ends the key
-- stays taken (bits: 1 completed, 2 any other end) until retention removes the instance.
CREATE TABLE correlation (
    namespace {int} NOT NULL,
    key TEXT NOT NULL,
    instance {int} NOT NULL,
    scope {int} NOT NULL,
    PRIMARY KEY (namespace, key)
) {rowless};
CREATE INDEX correlation_instance ON correlation (instance);

-- Who takes a place under a concurrency key, numbered from 0. A slot ends with its row or its lease, whichever comes
-- first; a process that holds slots renews them.
CREATE TABLE slot (
    namespace {int} NOT NULL,                -- of the run: the same key elsewhere is another one
    key TEXT NOT NULL,
    number {int} NOT NULL,
    run {int} NOT NULL,
    owner TEXT NOT NULL,
    lease_until_us {int} NOT NULL,
    PRIMARY KEY (namespace, key, number)
) {rowless};

-- Token buckets by name and partition: what was in it at that moment. One that is full is as good as none, and goes.
CREATE TABLE bucket (
    namespace {int} NOT NULL,
    key TEXT NOT NULL,
    tokens {int} NOT NULL,                   -- in millionths
    refilled_us {int} NOT NULL,
    full_us {int} NOT NULL,                  -- when it is full again, if nobody takes anything
    PRIMARY KEY (namespace, key)
) {rowless};

-- Facts another run left for this one; its next unit folds them into history and deletes the rows.
CREATE TABLE inbox (
    key {int} NOT NULL PRIMARY KEY,
    run {int} NOT NULL,
    kind {int} NOT NULL,
    source_run {int},
    created_us {int} NOT NULL,
    body {blob}
) {cold};
CREATE INDEX inbox_run ON inbox (run, key);

-- Messages between instances, by reference: a row in the sender's stream and one in the receiver's, each numbered within
-- its own (instance, stream). The run that sent it and its number there make a message the same message.
CREATE TABLE message (
    key {int} NOT NULL PRIMARY KEY,
    instance {int} NOT NULL,                 -- whose stream
    stream TEXT NOT NULL,
    seq {int} NOT NULL,
    direction {int} NOT NULL,                -- 1 to the instance, 2 from it
    state {int} NOT NULL,                    -- consume state; a sent one is consumed when it was handed over
    peer TEXT NOT NULL,                      -- id of the instance at the other end
    source_run {int} NOT NULL,
    ordinal {int} NOT NULL,
    reference TEXT NOT NULL,                 -- where the payload is: the sender's words
    created_us {int} NOT NULL,
    taken_run {int},                         -- who read it, in which step and when
    taken_step {int},
    taken_us {int}
) {cold};
CREATE UNIQUE INDEX message_stream ON message (instance, stream, seq);
CREATE UNIQUE INDEX message_source ON message (source_run, ordinal, direction);
CREATE INDEX message_unread ON message (instance, stream, seq) WHERE direction = 1 AND state = 1;
CREATE INDEX message_taken ON message (taken_run) WHERE taken_run IS NOT NULL;

-- Open work. A finished task is deleted. No index covers a column that a claim changes.
CREATE TABLE task (
    key {int} NOT NULL PRIMARY KEY,
    run {int} NOT NULL,
    kind {int} NOT NULL,
    status {int} NOT NULL,
    queue TEXT NOT NULL,
    priority {int} NOT NULL,
    available_us {int} NOT NULL,
    epoch {int} NOT NULL DEFAULT 0,          -- grows with each claim; only the newest may report
    token {blob},                            -- 16 random bytes of the claim
    owner TEXT,
    lease_until_us {int},
    attempt {int} NOT NULL DEFAULT 0,
    repair_count {int} NOT NULL DEFAULT 0,
    source_kind {int},                       -- what the task resumes
    source_key {int},
    created_us {int} NOT NULL,
    body {blob},
    trouble {int} NOT NULL DEFAULT 0,        -- 1: handing it over failed, 2: the claim failed
    repair_us {int}                          -- after trouble: not tried again before
) {hot};
CREATE UNIQUE INDEX task_workflow ON task (run, (CASE kind WHEN 1 THEN 0 ELSE key END)); -- one workflow task per run
CREATE INDEX task_queue ON task (queue, kind, priority, available_us, key);

CREATE TABLE timer (
    key {int} NOT NULL PRIMARY KEY,
    run {int} NOT NULL,
    step {int} NOT NULL,
    kind {int} NOT NULL,
    status {int} NOT NULL,
    due_us {int} NOT NULL,
    created_us {int} NOT NULL,
    closed_us {int}
) {cold};
CREATE UNIQUE INDEX timer_step ON timer (run, step);
CREATE INDEX timer_due ON timer (due_us, key) WHERE closed_us IS NULL;

CREATE TABLE activity (
    key {int} NOT NULL PRIMARY KEY,
    run {int} NOT NULL,
    step {int} NOT NULL,
    type TEXT NOT NULL,
    status {int} NOT NULL,
    attempt {int} NOT NULL,                  -- number of the newest attempt, 0 before the first
    max_attempts {int},                      -- null: no limit
    lost_attempts {int} NOT NULL DEFAULT 0,  -- attempts that ended with their worker; they do not use up the limit
    crash_count {int} NOT NULL DEFAULT 0,    -- those of them whose code was running when the process died
    missed_starts {int} NOT NULL DEFAULT 0,  -- schedule-to-start windows that passed; each uses up one of the limit
    deadline_us {int},                       -- the next of the four timeouts to pass
    close_deadline_us {int},                 -- schedule-to-close: never moves
    available_us {int},                      -- when the next attempt may begin; null while one is running
    scheduled_us {int} NOT NULL,
    started_us {int},
    closed_us {int},
    policy {blob},                           -- snapshot of retry policy and timeouts, canonical JSON
    owner TEXT                               -- the worker of another process that has the attempt; null: this engine, or none
) {hot};
CREATE UNIQUE INDEX activity_step ON activity (run, step);
CREATE INDEX activity_deadline ON activity (deadline_us) WHERE deadline_us IS NOT NULL;

-- Who is there to take tasks: one row per worker and queue, renewed before it expires. Only rows that have not expired
-- count; `scope` keeps fleets apart that share a store.
CREATE TABLE worker (
    name TEXT NOT NULL,
    queue TEXT NOT NULL,                     -- '*': any
    scope TEXT NOT NULL,                     -- compatibility namespace, '' when none is set
    host TEXT NOT NULL,
    process {int} NOT NULL,
    build_id TEXT,
    supported TEXT NOT NULL,                 -- markers separated by commas; '*': any
    recorded_us {int} NOT NULL,
    expires_us {int} NOT NULL,
    PRIMARY KEY (name, queue)
) {rowless};

-- What workers of other processes said of themselves: which types they know, whichever server they ask, and after a
-- restart. Rows that nobody renews for a week go.
CREATE TABLE registration (
    namespace {int} NOT NULL,
    worker TEXT NOT NULL,
    body {blob} NOT NULL,                    -- the registration, JSON
    seen_us {int} NOT NULL,
    PRIMARY KEY (namespace, worker)
) {rowless};

-- Builds of workers that operators have drained: they get no new tasks of the queue.
CREATE TABLE build (
    namespace {int} NOT NULL,
    queue TEXT NOT NULL,
    build_id TEXT NOT NULL,                  -- '': workers that say none
    drained_us {int},                        -- NULL: resumed
    promoted_us {int},                       -- NULL: never; new runs of the queue are the newest one's
    PRIMARY KEY (namespace, queue, build_id)
) {rowless};

-- Parent to child, and one run to the run that continues it.
CREATE TABLE link (
    key {int} NOT NULL PRIMARY KEY,
    kind {int} NOT NULL,
    parent_run {int} NOT NULL,
    step {int},
    child_instance {int} NOT NULL,
    child_run {int} NOT NULL,
    policy {int} NOT NULL,
    created_us {int} NOT NULL,
    call {int} NOT NULL DEFAULT 0,           -- key and time of the first link of the call: its id, whatever run follows
    call_us {int} NOT NULL DEFAULT 0,
    attempt {int} NOT NULL DEFAULT 1,        -- which run of the child's retries this is
    max_attempts {int} NOT NULL DEFAULT 0    -- 0: none is retried, -1: no limit
) {cold};
CREATE UNIQUE INDEX link_pair ON link (parent_run, child_run, kind);
CREATE INDEX link_child ON link (child_run);

-- When to start what. The revision is a number of its own for each change, so that a change can be told from any other:
-- whoever moves it from the value it read has the right to fire. A deleted schedule keeps its row and frees its id.
CREATE TABLE schedule (
    key {int} NOT NULL PRIMARY KEY,
    namespace {int} NOT NULL,
    id TEXT NOT NULL,
    status {int} NOT NULL,
    revision {int} NOT NULL,
    next_us {int},                           -- when it fires next; null: never
    events {int} NOT NULL,                   -- of its audit history
    fires {int} NOT NULL,                    -- runs it started
    latest_instance {int},                   -- the last of them
    created_us {int} NOT NULL,
    body {blob} NOT NULL                     -- canonical JSON: specification, action, counters, what waits
) {hot};
CREATE UNIQUE INDEX schedule_id ON schedule (namespace, id) WHERE status <> 3; -- deleted
CREATE INDEX schedule_next ON schedule (next_us) WHERE next_us IS NOT NULL;

-- What happened to a schedule, in the published form. A slot is a time that fired by itself: it does so once.
CREATE TABLE schedule_history (
    schedule {int} NOT NULL,
    sequence {int} NOT NULL,
    revision {int} NOT NULL,
    type {int} NOT NULL,
    recorded_us {int} NOT NULL,
    run {int},                               -- that was started
    slot_us {int},
    body {blob} NOT NULL,
    PRIMARY KEY (schedule, sequence)
) {rowless};
CREATE UNIQUE INDEX schedule_slot ON schedule_history (schedule, slot_us) WHERE slot_us IS NOT NULL;

-- Credentials of the server. Only the SHA-256 of a secret is kept, so that nobody who reads the store can use one.
CREATE TABLE token (
    id TEXT NOT NULL PRIMARY KEY,
    digest {blob} NOT NULL UNIQUE,
    label TEXT NOT NULL,
    role TEXT NOT NULL,
    namespaces TEXT NOT NULL,                -- "*", or names separated by commas
    created_us {int} NOT NULL,
    expires_us {int} NOT NULL,               -- 0: never
    revoked_us {int}
) {cold};

-- One command for many instances, worked through in steps; `at` items are done.
CREATE TABLE batch (
    key {int} NOT NULL PRIMARY KEY,
    namespace {int} NOT NULL,
    status {int} NOT NULL,
    at {int} NOT NULL,
    total {int} NOT NULL,
    next_us {int} NOT NULL,                  -- not before: its rate
    owner {int},                             -- the engine that works on it, until lease_until_us
    lease_until_us {int},
    epoch {int} NOT NULL,                    -- grows with each claim; only the newest may go on
    created_us {int} NOT NULL,
    closed_us {int},
    body {blob} NOT NULL                     -- canonical JSON: command, request, ids, rate, dry run
) {cold};
CREATE INDEX batch_open ON batch (next_us) WHERE status = 1;

-- What became of each item.
CREATE TABLE batch_item (
    batch {int} NOT NULL,
    number {int} NOT NULL,
    status {int} NOT NULL,
    id TEXT NOT NULL,
    outcome TEXT,
    reason TEXT,
    message TEXT,
    PRIMARY KEY (batch, number)
) {rowless};
-- Lists that operators keep. `system:` ids are the program's own and have no rows.
-- Search attributes that a namespace knows. What runs carry is in their history.
CREATE TABLE search_attribute_def (
    namespace {int} NOT NULL,
    name TEXT NOT NULL,
    type {int} NOT NULL,                     -- hf_search_attribute_type
    created_us {int} NOT NULL,
    PRIMARY KEY (namespace, name)
) {rowless};

CREATE TABLE saved_view (
    key {int} NOT NULL PRIMARY KEY,
    namespace {int} NOT NULL,
    scope TEXT NOT NULL,                     -- who shares: views of one scope are seen together
    bucket TEXT NOT NULL,
    name TEXT NOT NULL,
    owner TEXT NOT NULL,                     -- who may change it
    shared {int} NOT NULL,
    filters TEXT NOT NULL,                   -- canonical JSON
    filter_version {int} NOT NULL,
    created_us {int} NOT NULL,
    updated_us {int} NOT NULL
) {cold};
CREATE UNIQUE INDEX saved_view_name ON saved_view (namespace, scope, bucket, name);

-- Runs of other stores, as the bundles they left them in. Nothing here is ever worked on: ids, hashes and numbers are
-- those of the store they came from.
CREATE TABLE imported_run (
    key {int} NOT NULL PRIMARY KEY,
    namespace {int} NOT NULL,
    run_id TEXT NOT NULL,
    instance_id TEXT NOT NULL,
    type TEXT NOT NULL,
    events {int} NOT NULL,
    complete {int} NOT NULL,                 -- 1: the run was closed when it left
    exported_us {int} NOT NULL,
    imported_us {int} NOT NULL,
    size {int} NOT NULL,                     -- of the text, in bytes
    digest {blob} NOT NULL,                  -- SHA-256 of the text
    compression {int} NOT NULL,              -- as in payload
    body {blob} NOT NULL
) {cold};
CREATE UNIQUE INDEX imported_run_id ON imported_run (namespace, run_id);
CREATE INDEX imported_run_instance ON imported_run (namespace, instance_id);
